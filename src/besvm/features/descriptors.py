"""Descriptors of images on a grid of cells: FHOG, histograms of oriented gradients, and the mean color."""

from functools import reduce
from typing import Any, Self

import numpy as np
from sklearn.base import BaseEstimator, TransformerMixin

from besvm._support.parameters import check_choice, is_whole, shown
from besvm._support.validation import forget
from besvm.features.pixels import channels_of, describe

N_CHANNELS = 31
FIRST_UNDIRECTED, FIRST_TEXTURE = 18, 27
BRIGHTEST = 0.4  # no contrast-insensitive channel can be larger: half of four truncated values of 0.2
BORDERS = ("keep", "pad", "upsample")


class GridDescriptor(TransformerMixin, BaseEstimator):  # type: ignore[misc]
    """Abstract: turns images into grids of cells, and learns nothing from the data."""

    def fit(self, X: Any = None, y: Any = None) -> Any:
        """Do nothing but return self: a descriptor learns nothing from the data."""
        return self

    @property
    def mirror_order(self) -> np.ndarray | None:
        """The order of a cell's values in the mirror image; None where it stays."""
        return None

    def __sklearn_is_fitted__(self) -> bool:
        return True

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.requires_fit = False
        tags.input_tags.two_d_array = False
        tags.input_tags.three_d_array = True
        return tags


class FHOG(GridDescriptor):
    r"""Histograms of oriented gradients with 31 channels, after Felzenszwalb et al. [1]_.

    The image is cut into cells of ``cell`` x ``cell`` pixels and every cell becomes 31 numbers:

    ======== ==============================================================================================
    channels meaning
    ======== ==============================================================================================
    0 - 17   gradients by direction, 20° apart: 0 is dark to bright from left to right, then clockwise as
             seen on the screen (rows count downwards)
    18 - 26  gradients by orientation: channel 18 + o joins the directions o and o + 9, so that bright on
             dark and dark on bright look the same
    27 - 30  texture: all the gradients of the cell, relative to the block of 2 x 2 cells to its lower
             right, upper right, lower left and upper left
    ======== ==============================================================================================

    With :math:`h_o` the gradient lengths a cell collects in direction o, :math:`e = \sum_{o<9} (h_o + h_{o+9})^2` its
    energy, and :math:`n_b` one over the root of the summed energy of the four cells of block b (plus 1e-4),

    .. math:: f_o = \tfrac12 \sum_{b=1}^4 \min(n_b h_o, 0.2), \qquad
              f_{27+b} = 0.2357 \sum_{o<18} \min(n_b h_o, 0.2).

    Parameters
    ----------
    cell : int, default=8
        The side of a cell in pixels.
    border : {"keep", "pad", "upsample"}, default="keep"
        A cell at the border of the image lacks some of the neighbors it is normalized by.

        - "keep" lets the nearest cell of the image stand in for a missing one: not a proper neighbor, but consistent
          for all images, which is what the paper's experiments rely on.
        - "pad" repeats the border pixels for one cell on every side, and leaves the added cells out again: the
          neighbors see edges that cross the border go straight on.
        - "upsample", the fix the paper proposes, enlarges the image bilinearly by one cell on every side, and leaves
          the outer cells out: all have true neighbors, but the outermost strip is seen only through them.

        The grid has the same size in all three.

    Notes
    -----
    Where the definition leaves room:

    - A gradient is the difference of the two pixels on either side, in the channel where it is longest (the first of
      equals). At the border of the image the pixel itself stands in for the one outside.
    - A gradient goes to the nearest of the 18 directions, and is shared bilinearly between the four nearest cells;
      shares of cells outside are lost. A purely vertical gradient lies half-way between two directions and goes to the
      one of lower number, so that it is not mirrored along with its image.
    - Every cell is kept, unlike in the original code, which drops the outer ones: 32 x 32 pixels give 4 x 4 cells of 8
      pixels. Pixels right of or below the last whole cell do not vote.
    - Integers are gray levels 0..255 (uint16: 0..65535), floats 0..1. Contrast is normalized away, so another scale
      gives the same features, unless its gradients are below some 1e-4 of white and drown in rounding.
    - Features of a cell have no names: no ``get_feature_names_out``, and ``set_output`` does not apply.

    References
    ----------
    .. [1] Felzenszwalb, Girshick, McAllester, Ramanan. Object Detection with Discriminatively Trained
       Part-Based Models. PAMI 32(9), 2010.

    Examples
    --------
    >>> import numpy as np
    >>> from besvm.features import FHOG
    >>> images = np.random.default_rng(0).integers(0, 256, (5, 32, 32, 3), dtype=np.uint8)
    >>> FHOG(cell=8).transform(images).shape
    (5, 4, 4, 31)
    >>> ramp = np.tile(np.arange(24.0) / 24, (24, 1))  # brighter from left to right: direction 0
    >>> int(FHOG().transform(ramp)[0, 1, 1].argmax())
    0
    """

    def __init__(self, cell: int = 8, *, border: str = "keep") -> None:
        self.cell = cell
        self.border = border

    def transform(self, X: Any) -> np.ndarray | list[np.ndarray]:
        """Return the features of images.

        Parameters
        ----------
        X : array or list of arrays
            (n, h, w) or (n, h, w, 3) for n images, (h, w) or (h, w, 3) for one. An array of three axes whose last is 3
            (or 1) is one image with channels; any other is n gray images. Images of different sizes come as a list.

        Returns
        -------
        array of shape (n, h // cell, w // cell, 31), float32
            With n = 1 for a single image. For a list, a list of arrays (h // cell, w // cell, 31).
        """
        check_choice("border", self.border, BORDERS)
        return describe(X, self.cell, N_CHANNELS, self._fill)

    @property
    def mirror_order(self) -> np.ndarray:
        """The channels in the order that they have in the mirror image: left and right change places."""
        directed = (FIRST_UNDIRECTED // 2 - np.arange(FIRST_UNDIRECTED)) % FIRST_UNDIRECTED
        undirected = -np.arange(FIRST_TEXTURE - FIRST_UNDIRECTED) % (FIRST_TEXTURE - FIRST_UNDIRECTED)
        return np.concatenate([directed, FIRST_UNDIRECTED + undirected, FIRST_TEXTURE + np.array([2, 3, 0, 1])])

    def _fill(self, pixels: np.ndarray, out: np.ndarray) -> None:
        from besvm.features.kernels import hog_block

        cell = int(self.cell)
        if self.border == "keep":
            hog_block(pixels, cell, out)
            return
        n, rows, columns, _ = out.shape
        enlarged = _pad(pixels, cell) if self.border == "pad" else _upsample(pixels, cell)
        with_outer_cells = np.empty((n, rows + 2, columns + 2, N_CHANNELS), dtype=np.float32)
        hog_block(enlarged, cell, with_outer_cells)
        out[:] = with_outer_cells[:, 1:-1, 1:-1]

    @staticmethod
    def render(features: Any, size: int = 24) -> np.ndarray:
        """Draw features for people to look at: each cell a bundle of strokes along the edges it sees.

        A stroke is as bright as the square of the contrast-insensitive channel of its orientation, on a scale
        that is the same for all pictures, so that they can be compared.

        Parameters
        ----------
        features : array or list of arrays
            One image's features (h, w, 31), or those of several, which are drawn side by side.
        size : int, default=24
            The side of a drawn cell in pixels.

        Returns
        -------
        array of shape (h * size, w * size), uint8
            The picture, black where there is nothing. Several are parted by max(1, size // 4) gray columns.

        Examples
        --------
        >>> import numpy as np
        >>> from besvm.features import FHOG
        >>> image = np.add.outer(np.arange(32.0), np.arange(48.0)) / 80
        >>> FHOG.render(FHOG(cell=8).transform(image)).shape
        (96, 144)
        """
        if not is_whole(size, 3):
            raise ValueError(f"size must be a whole number of at least 3 pixels, got {shown(size)}")
        pictures = [_draw(grid[:, :, FIRST_UNDIRECTED:FIRST_TEXTURE], int(size)) for grid in _as_grids(features)]
        return _side_by_side(pictures, gap=max(1, int(size) // 4))


class Pixels(GridDescriptor):
    """The colors of the pixels themselves, as a grid of numbers from 0 to 1: what parts of images are cut from.

    Examples
    --------
    >>> import numpy as np
    >>> from besvm.features import Pixels
    >>> Pixels().transform(np.full((1, 2, 2, 3), 255, np.uint8))[0, 0, 0]
    array([1., 1., 1.], dtype=float32)
    """

    def transform(self, X: Any) -> np.ndarray | list[np.ndarray]:
        """Return the pixels of images, given as to :class:`FHOG`: an array (n, h, w, channels), or a list of such."""
        return describe(X, 1, None, self._fill)

    @staticmethod
    def _fill(pixels: np.ndarray, out: np.ndarray) -> None:
        np.multiply(pixels.transpose(0, 2, 3, 1), np.float32(1 / 255), out=out)


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

    def fit(self, X: Any = None, y: Any = None) -> Self:
        """Remember whether the images are gray or in color: the two cannot be compared."""
        forget(self, "channels_")
        if X is not None:
            self.channels_ = channels_of(X)
        return self

    def transform(self, X: Any) -> np.ndarray | list[np.ndarray]:
        """Return the mean colors of the cells of images, given as for :meth:`FHOG.transform`.

        Returns
        -------
        array of shape (n, h // cell, w // cell, channels), float32
            From 0 (black) to 1 (white): integers divided by 255 (uint16: 65535), floats taken as they are.
            For a list, a list of arrays (h // cell, w // cell, channels).
        """
        other = channels_of(X) - getattr(self, "channels_", channels_of(X))
        if other:
            wanted, got = ("gray", "color") if other == {3} else ("color", "gray")
            raise ValueError(
                f"images must be {wanted} like those used in fit, got {got} images; convert one or the other"
            )
        return describe(X, self.cell, None, self._fill)

    def _fill(self, pixels: np.ndarray, out: np.ndarray) -> None:
        cell, (_, rows, columns, _) = self.cell, out.shape
        whole = pixels[:, :, : rows * cell, : columns * cell]
        # One strided sum per row and column of a cell: numpy is slow at means over axes as short as a cell.
        tall = reduce(np.add, (whole[:, :, k::cell] for k in range(cell)))
        total = reduce(np.add, (tall[:, :, :, k::cell] for k in range(cell)))  # (n, channels, rows, columns)
        out[:] = total.transpose(0, 2, 3, 1) / np.float32(255 * cell * cell)


def _pad(pixels: np.ndarray, cell: int) -> np.ndarray:
    """Repeat the border pixels of (n, channels, h, w) for one cell on every side."""
    for axis in (2, 3):
        length = pixels.shape[axis]
        pixels = pixels.take(np.clip(np.arange(-cell, length + cell), 0, length - 1), axis)
    return pixels


def _upsample(pixels: np.ndarray, cell: int) -> np.ndarray:
    """Enlarge the whole cells of (n, channels, h, w) so that there are two more cells in each direction."""
    for axis in (2, 3):
        n_cells = pixels.shape[axis] // cell
        last = n_cells * cell - 1
        places = (np.arange((n_cells + 2) * cell) + 0.5) * n_cells / (n_cells + 2) - 0.5
        places = np.clip(places, 0, last)
        before = places.astype(np.intp)
        share = (places - before).astype(np.float32).reshape(-1, *(1,) * (3 - axis))
        start, end = pixels.take(before, axis), pixels.take(np.minimum(before + 1, last), axis)
        pixels = start + share * (end - start)
    return pixels


def _as_grids(features: Any) -> list[np.ndarray]:
    """Return one image's features, or several images', as a list of (h, w, 31)."""
    single = isinstance(features, np.ndarray) and features.ndim == 3
    several = [features] if single or not hasattr(features, "__iter__") else features
    grids = [np.asarray(grid) for grid in several]
    for grid in grids:
        if grid.ndim != 3 or grid.shape[2] != N_CHANNELS or grid.dtype.kind not in "fiub":
            raise ValueError(
                f"features must be numbers of shape (h, w, {N_CHANNELS}), one image or several, "
                f"got {grid.dtype} of shape {grid.shape}; pass what FHOG.transform returned"
            )
    if not grids:
        raise ValueError("features must have at least one image, got none")
    return grids


def _strokes(size: int) -> np.ndarray:
    """Return (9, size, size) in 0..1: stroke o runs along the edges whose gradient points 20·o degrees."""
    y, x = np.mgrid[:size, :size] - (size - 1) / 2
    angles = np.arange(9)[:, None, None] * np.pi / 9
    off_line = np.abs(x * np.cos(angles) + y * np.sin(angles))
    along_line = np.abs(y * np.cos(angles) - x * np.sin(angles))
    half_width = max(0.5, size / 24)
    # Distances beyond the stroke fade over one pixel, so slanted strokes look smooth.
    return np.clip(half_width + 0.5 - off_line, 0, 1) * np.clip(size / 2 - along_line, 0, 1)


def _draw(orientations: np.ndarray, size: int) -> np.ndarray:
    """Return a uint8 picture (h·size, w·size) of a grid (h, w, 9) of orientation strengths."""
    height, width, _ = orientations.shape
    # The strongest stroke wins where strokes cross: their sum would be a blob in the middle of every cell.
    picture = np.zeros((height, size, width, size), dtype=np.float32)
    for stroke, strength in zip(_strokes(size), np.moveaxis(orientations, 2, 0), strict=True):
        np.maximum(picture, strength[:, None, :, None] * stroke[None, :, None, :], out=picture)
    # Squared, so that the main orientation stands out of the even rest.
    levels = np.round(255 * np.clip(picture / BRIGHTEST, 0, 1) ** 2)
    return levels.astype(np.uint8).reshape(height * size, width * size)


def _side_by_side(pictures: list[np.ndarray], gap: int) -> np.ndarray:
    """Put pictures in a row on black, their tops aligned, ``gap`` gray columns between them."""
    height = max(len(picture) for picture in pictures)
    line = np.full((height, gap), 96, dtype=np.uint8)
    padded = [np.pad(picture, ((0, height - len(picture)), (0, 0))) for picture in pictures]
    return np.hstack([part for picture in padded for part in (line, picture)][1:])
