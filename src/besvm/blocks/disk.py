"""A matrix in a file of its own."""

from __future__ import annotations

import errno
import os
import shutil
import tempfile
import weakref
from collections.abc import Callable, Iterator
from typing import Any

import numpy as np

from besvm._support.threads import slices, thread_map
from besvm._support.units import show_bytes
from besvm.blocks.contract import DISK_BYTES, RowBlocks, T, _rows_for


class DiskBlocks(RowBlocks):
    """A matrix in a file of its own, mapped into memory one block at a time and removed when closed.

    ``folder`` is where the temporary folder is made: by default where Python's ``tempfile`` makes them.
    """

    def __init__(self, shape: tuple[int, int], dtype: Any = np.float32, folder: str | None = None) -> None:
        self.shape = shape
        self.dtype = np.dtype(dtype)
        self._slices = slices(shape[0], _rows_for(DISK_BYTES, shape[1], self.dtype))
        self._folder = tempfile.mkdtemp(prefix="besvm-", dir=folder)
        self._remove = weakref.finalize(self, shutil.rmtree, self._folder, ignore_errors=True)
        self._path = os.path.join(self._folder, "features")
        try:
            self._reserve()
        except BaseException:
            self.close()
            raise

    @property
    def n_bytes(self) -> int:
        """The size of the file."""
        return self.shape[0] * self.shape[1] * self.dtype.itemsize

    def _reserve(self) -> None:
        """Take the space now: writing to a mapped file on a full disk would kill the process."""
        with open(self._path, "wb") as file, self._explained():
            if hasattr(os, "posix_fallocate"):
                os.posix_fallocate(file.fileno(), 0, max(1, self.n_bytes))
            else:
                for _ in range(0, self.n_bytes, DISK_BYTES):
                    file.write(bytes(DISK_BYTES))

    def _explained(self) -> _DiskFull:
        return _DiskFull(self._folder, self.n_bytes)

    def write(self, rows: slice, block: np.ndarray) -> None:
        """Store the rows ``rows``."""
        data = np.ascontiguousarray(block, dtype=self.dtype)
        with open(self._path, "r+b") as file, self._explained():
            file.seek(rows.start * self.shape[1] * self.dtype.itemsize)
            file.write(data.data)

    def _open(self, rows: slice, mode: Any = "r") -> np.memmap[Any, Any]:
        offset = rows.start * self.shape[1] * self.dtype.itemsize
        shape = (rows.stop - rows.start, self.shape[1])
        return np.memmap(self._path, dtype=self.dtype, mode=mode, offset=offset, shape=shape)

    def map(self, fn: Callable[[slice, Any], T], coarse: bool = False) -> Iterator[T]:
        """Yield ``fn(rows, block)``, read and computed on all threads."""
        return thread_map(lambda rows: fn(rows, np.asarray(self._open(rows))), self._slices)

    def update(self, fn: Callable[[slice, Any], np.ndarray]) -> None:
        """Rewrite the file block by block."""

        def rewrite(rows: slice) -> None:
            mapped = self._open(rows, "r+")
            mapped[:] = fn(rows, np.asarray(mapped))

        for _ in thread_map(rewrite, self._slices):
            pass

    def close(self) -> None:
        """Remove the folder."""
        self._remove()


class _DiskFull:
    """Turns the system's "no space" into a sentence that says how much was wanted and what to do."""

    def __init__(self, folder: str, n_bytes: int) -> None:
        self.folder = folder
        self.n_bytes = n_bytes

    def __enter__(self) -> None: ...

    def __exit__(self, kind: Any, error: Any, trace: Any) -> None:
        if isinstance(error, OSError) and error.errno in (errno.ENOSPC, errno.EFBIG, errno.EDQUOT):
            try:
                free = f"{show_bytes(shutil.disk_usage(self.folder).free)} free"
            except OSError:
                free = "too little free"
            raise OSError(
                error.errno,
                f"the features need {show_bytes(self.n_bytes)} of disk and {self.folder} would not take them ({free}); "
                "set TMPDIR to a larger disk, choose storage='recompute', or use a smaller basis",
            ) from error
