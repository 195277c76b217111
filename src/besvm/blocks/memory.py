"""A matrix in memory."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Any

import numpy as np

from besvm._support.threads import slices, thread_map
from besvm.blocks.contract import RowBlocks, T, rows_for

CACHE_BYTES = 1 << 22  # a block that the second product of a pass still finds in the cache
COARSE_BYTES = 1 << 24  # a block whose product with itself is worth a matrix of its own


def slices_of(blocks: RowBlocks, coarse: bool) -> list[slice]:
    """Return the blocks of rows of a matrix that is read as if it were in memory."""
    n_bytes = COARSE_BYTES if coarse else CACHE_BYTES
    return slices(blocks.shape[0], rows_for(n_bytes, blocks.shape[1], blocks.dtype.itemsize))


class MemoryBlocks(RowBlocks):
    """A matrix in memory, dense or in CSR form; never copied.

    Examples
    --------
    >>> import numpy as np
    >>> blocks = MemoryBlocks(np.ones((5, 2)))
    >>> blocks.sum(lambda rows, block: (block.sum(axis=0), len(block)))
    (array([5., 5.]), array(5.))
    """

    def __init__(self, matrix: Any) -> None:
        self.matrix = matrix
        self.shape = matrix.shape
        self.dtype = matrix.dtype

    def map(self, fn: Callable[[slice, Any], T], coarse: bool = False) -> Iterator[T]:
        """Yield ``fn(rows, block)``, computed on all threads."""
        return thread_map(lambda rows: fn(rows, self.matrix[rows]), slices_of(self, coarse))

    def update(self, fn: Callable[[slice, Any], np.ndarray]) -> None:
        """Replace every block in place."""
        for rows, block in self.map(lambda rows, block: (rows, fn(rows, block))):
            if not np.may_share_memory(block, self.matrix):
                self.matrix[rows] = block
