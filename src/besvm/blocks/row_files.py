"""What a solver keeps of every row, in files: for more rows than memory holds even the state of."""

from __future__ import annotations

import os
import weakref
from collections.abc import Iterable
from pathlib import Path
from tempfile import TemporaryFile, gettempdir
from typing import Any

import numpy as np

from besvm._support.threads import slices
from besvm.blocks.npy import disk_full_explained
from besvm.blocks.state import ROWS_EACH, LocalState

ADVICE = "set TMPDIR to a larger disk, or raise memory_limit"


class RowFile:
    """An array of (n, K) in a file without a name, which the system takes back however this process ends.

    It is read and written a block of rows at a time, by several threads at once.
    """

    def __init__(self, folder: Any, shape: tuple[int, int], dtype: Any) -> None:
        self.shape, self.dtype = shape, np.dtype(dtype)
        self._row = shape[1] * self.dtype.itemsize
        self._file = TemporaryFile(dir=folder)  # noqa: SIM115  (closed with this object)
        weakref.finalize(self, self._file.close)
        n_bytes = shape[0] * self._row
        with disk_full_explained(Path(folder or gettempdir()), n_bytes, ADVICE, "the rows of the solver"):
            if n_bytes and hasattr(os, "posix_fallocate"):
                os.posix_fallocate(self._file.fileno(), 0, n_bytes)  # now, rather than fail after hours of work
            else:
                self._file.truncate(n_bytes)

    def __getitem__(self, rows: slice | np.ndarray) -> np.ndarray:
        """Return rows, a column in one piece, as arrays in memory have it: sums depend on it."""
        if not isinstance(rows, slice):
            return np.asfortranarray(np.memmap(self._file, self.dtype, "r", 0, self.shape)[rows])
        start, stop, _ = rows.indices(self.shape[0])
        out = np.empty((stop - start, self.shape[1]), self.dtype)
        left, place = _bytes_of(out), start * self._row
        while left:
            got = os.preadv(self._file.fileno(), [left], place)
            left, place = left[got:], place + got
        return np.asfortranarray(out)

    def __setitem__(self, rows: slice, value: np.ndarray) -> None:
        data = _bytes_of(np.ascontiguousarray(value, dtype=self.dtype))
        place = rows.start * self._row
        while data:
            written = os.pwritev(self._file.fileno(), [data], place)
            data, place = data[written:], place + written


def _bytes_of(array: np.ndarray) -> memoryview:
    return array.data.cast("B") if array.size else memoryview(b"")


class FileState(LocalState):
    """The arrays of a matrix whose blocks this process reads, those with several columns in files."""

    in_memory = False

    def __init__(self, blocks: Any, dtype: Any, folder: Path | None) -> None:
        super().__init__(blocks, dtype)
        self._folder = folder

    def _made(self, shape: tuple[int, ...], dtype: Any) -> Any:
        return RowFile(self._folder, (shape[0], shape[1]), dtype) if len(shape) == 2 else super()._made(shape, dtype)

    def select(self, names: Iterable[str], columns: np.ndarray) -> None:
        kept = np.flatnonzero(columns) if columns.dtype == bool else columns
        for name in names:
            known: Any = self.arrays[name]
            fewer: Any = self._made((self.shape[0], len(kept)), known.dtype)
            for rows in slices(self.shape[0], ROWS_EACH):
                fewer[rows] = known[rows][:, kept]
            self.arrays[name] = fewer
