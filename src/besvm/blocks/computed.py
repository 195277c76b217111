"""A matrix that is computed anew on every pass."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Any

import numpy as np

from besvm._support.threads import slices
from besvm.blocks.contract import RowBlocks, T, rows_for

COMPUTE_BYTES = 1 << 24  # enough rows for a similarity to run at full speed


def rows_per_block(width: int, itemsize: int = 4) -> int:
    """Return how many rows of features are worth computing at once."""
    return rows_for(COMPUTE_BYTES, width, itemsize)


class ComputedBlocks(RowBlocks):
    """A matrix that is computed anew on every pass: slow, and takes no room at all.

    ``compute(rows)`` returns the block of those rows; it may use all threads itself.
    """

    def __init__(
        self,
        shape: tuple[int, int],
        compute: Callable[[slice], np.ndarray],
        dtype: Any = np.float32,
        rows_each: int | None = None,
    ) -> None:
        self.shape = shape
        self.dtype = np.dtype(dtype)
        self._compute = compute
        self._slices = slices(shape[0], rows_each or rows_per_block(shape[1], self.dtype.itemsize))

    def map(self, fn: Callable[[slice, Any], T], coarse: bool = False) -> Iterator[T]:
        """Yield ``fn(rows, block)``; the blocks come one after the other, each computed on all threads."""
        for rows in self._slices:
            yield fn(rows, self._compute(rows))

    def update(self, fn: Callable[[slice, Any], np.ndarray]) -> None:
        """Apply ``fn`` to every block from now on, whenever it is computed."""
        compute = self._compute
        self._compute = lambda rows: fn(rows, compute(rows))
