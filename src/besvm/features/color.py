"""The mean color of every cell of a grid."""

from __future__ import annotations

from functools import reduce
from typing import Any

import numpy as np

from besvm.features.descriptor import GridDescriptor
from besvm.features.pixels import describe


class CellColor(GridDescriptor):
    """The mean color of every cell: what gradients cannot see.

    Parameters
    ----------
    cell : int, default=4
        The side of a cell in pixels. Pixels right of or below the last whole cell are left out.

    Examples
    --------
    >>> import numpy as np
    >>> from besvm.features import CellColor
    >>> image = np.zeros((8, 8, 3), dtype=np.uint8)
    >>> image[:, 4:] = 255, 51, 0  # the right half is orange
    >>> CellColor(cell=4).transform(image)[0, 0]
    array([[0. , 0. , 0. ],
           [1. , 0.2, 0. ]], dtype=float32)
    """

    def __init__(self, cell: int = 4) -> None:
        self.cell = cell

    def transform(self, X: Any) -> np.ndarray | list[np.ndarray]:
        """Return the mean colors of the cells of images, given as for :meth:`FHOG.transform`.

        Returns
        -------
        array of shape (n, h // cell, w // cell, channels), float32
            From 0 (black) to 1 (white): integers divided by 255 (uint16: 65535), floats taken as they are.
            For a list, a list of arrays (h // cell, w // cell, channels).
        """
        return describe(X, self.cell, None, self._fill)

    def _fill(self, pixels: np.ndarray, out: np.ndarray) -> None:
        cell, (_, rows, columns, _) = self.cell, out.shape
        whole = pixels[:, :, : rows * cell, : columns * cell]
        # One strided sum per row and column of a cell: numpy is slow at means over axes as short as a cell.
        tall = reduce(np.add, (whole[:, :, k::cell] for k in range(cell)))
        total = reduce(np.add, (tall[:, :, :, k::cell] for k in range(cell)))  # (n, channels, rows, columns)
        out[:] = total.transpose(0, 2, 3, 1) / np.float32(255 * cell * cell)
