"""A matrix in a file of its own, removed when it is closed."""

from __future__ import annotations

import shutil
import tempfile
import weakref
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import numpy as np

from besvm._support.threads import slices, thread_map
from besvm.blocks.contract import RowBlocks, T, rows_for
from besvm.blocks.npy import NpyMatrix

DISK_BYTES = 1 << 23  # long reads, yet small beside any memory limit
ADVICE = "set TMPDIR to a larger disk, choose storage='recompute', or use a smaller basis"


class DiskBlocks(RowBlocks):
    """A matrix in a file of its own, mapped into memory one block at a time and removed when closed.

    ``folder`` is where the temporary folder is made: by default where Python's ``tempfile`` makes them. The rows are
    written to ``matrix``.
    """

    def __init__(self, shape: tuple[int, int], dtype: Any = np.float32, folder: Any = None) -> None:
        self.shape = shape
        self.dtype = np.dtype(dtype)
        own = tempfile.mkdtemp(prefix="besvm-", dir=folder)
        self._remove = weakref.finalize(self, shutil.rmtree, own, ignore_errors=True)
        try:
            self.matrix = NpyMatrix.create(Path(own) / "features.npy", shape, dtype, ADVICE)
        except BaseException:
            self.close()
            raise

    def map(self, fn: Callable[[slice, Any], T], coarse: bool = False) -> Iterator[T]:
        """Yield ``fn(rows, block)``, read and computed on all threads."""
        rows_each = rows_for(DISK_BYTES, self.shape[1], self.dtype.itemsize)
        return thread_map(lambda rows: fn(rows, self.matrix[rows]), slices(self.shape[0], rows_each))

    def update(self, fn: Callable[[slice, Any], np.ndarray]) -> None:
        """Rewrite the file block by block."""

        def rewrite(rows: slice, block: np.ndarray) -> None:
            self.matrix[rows] = fn(rows, block.copy())

        for _ in self.map(rewrite):
            pass

    def close(self) -> None:
        """Remove the folder."""
        self._remove()
