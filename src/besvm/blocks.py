"""A tall matrix seen a block of rows at a time: in memory, on disk, or computed anew on every pass."""

from __future__ import annotations

import errno
import os
import shutil
import tempfile
import weakref
from abc import ABC, abstractmethod
from collections.abc import Callable, Iterator
from typing import Any, TypeVar

import numpy as np

from besvm._machine import show_bytes
from besvm._parallel import slices, thread_map

T = TypeVar("T")

CACHE_BYTES = 1 << 22  # a block that the second product of a pass still finds in the cache
COARSE_BYTES = 1 << 24  # a block whose product with itself is worth a matrix of its own
DISK_BYTES = 1 << 23  # long reads, yet small beside any memory limit
COMPUTE_BYTES = 1 << 24  # enough rows for a similarity to run at full speed


class RowBlocks(ABC):
    """A matrix of ``shape`` that is only ever read by ``map`` and ``sum``, a block of rows at a time."""

    shape: tuple[int, int]
    dtype: np.dtype[Any]

    @abstractmethod
    def map(self, fn: Callable[[slice, Any], T], coarse: bool = False) -> Iterator[T]:
        """Yield ``fn(rows, block)`` for every block, in row order.

        ``coarse`` asks for fewer, larger blocks: right where the result of ``fn`` is itself a large matrix.
        """

    @abstractmethod
    def update(self, fn: Callable[[slice, Any], np.ndarray]) -> None:
        """Replace every block by ``fn(rows, block)``, which may work in place."""

    def sum(self, fn: Callable[[slice, Any], tuple[Any, ...]], coarse: bool = False) -> tuple[Any, ...]:
        """Return the sums, item by item, of the tuples that ``fn`` gives; always added in row order."""
        totals: list[Any] = []
        for parts in self.map(fn, coarse):
            if not totals:
                totals = [np.array(part, dtype=np.float64) for part in parts]
            else:
                for total, part in zip(totals, parts, strict=True):
                    total += part
        return tuple(totals)

    def close(self) -> None:  # noqa: B027  (most stores have nothing to give back)
        """Give back whatever the matrix holds."""

    def __enter__(self) -> RowBlocks:
        return self

    def __exit__(self, *exc: object) -> None:
        self.close()


def _rows_for(n_bytes: int, n_columns: int, dtype: np.dtype[Any], multiple: int = 16) -> int:
    rows = n_bytes // max(1, n_columns * dtype.itemsize)
    return max(multiple, rows // multiple * multiple)


class MemoryBlocks(RowBlocks):
    """A matrix in memory, dense or in CSR form; never copied.

    Examples
    --------
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
        rows_each = _rows_for(COARSE_BYTES if coarse else CACHE_BYTES, self.shape[1], self.dtype)
        return thread_map(lambda rows: fn(rows, self.matrix[rows]), slices(self.shape[0], rows_each))

    def update(self, fn: Callable[[slice, Any], np.ndarray]) -> None:
        """Replace every block in place."""
        for rows, block in self.map(lambda rows, block: (rows, fn(rows, block))):
            if not np.may_share_memory(block, self.matrix):
                self.matrix[rows] = block


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
        self._slices = slices(shape[0], rows_each or _rows_for(COMPUTE_BYTES, shape[1], self.dtype))

    def map(self, fn: Callable[[slice, Any], T], coarse: bool = False) -> Iterator[T]:
        """Yield ``fn(rows, block)``; the blocks come one after the other, each computed on all threads."""
        for rows in self._slices:
            yield fn(rows, self._compute(rows))

    def update(self, fn: Callable[[slice, Any], np.ndarray]) -> None:
        """Apply ``fn`` to every block from now on, whenever it is computed."""
        compute = self._compute
        self._compute = lambda rows: fn(rows, compute(rows))
