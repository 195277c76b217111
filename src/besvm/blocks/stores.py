"""A tall matrix seen a block of rows at a time: the contract, and the stores that keep it."""

from __future__ import annotations

import weakref
from abc import ABC, abstractmethod
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any, TypeVar

import numpy as np

from besvm._support.row_source import RowSource
from besvm._support.threads import begun_ahead, slices, thread_map
from besvm.blocks.npy import NpyMatrix
from besvm.blocks.row_files import FileState
from besvm.blocks.state import LocalState, RowState, Values, added

T = TypeVar("T")
CACHE_BYTES = 1 << 22  # a block that the second product of a pass still finds in the cache
COARSE_BYTES = 1 << 24  # a block whose product with itself is worth a matrix of its own
COMPUTE_BYTES = 1 << 24  # enough rows for a similarity to run at full speed
SPARSE_BLOCKS = 8  # of a CSR matrix at most
WORK_BYTES = 1 << 26  # what the rows of a block may take while they are computed, with all that this makes beside them
DISK_BYTES = 1 << 22  # long reads, yet several at a time are small beside any memory limit
READERS = 2  # threads that read ahead: one waits for the disk while the other copies
Part = np.ndarray | NpyMatrix  # what can be joined with others
ADVICE = "set TMPDIR to a larger disk, choose storage='recompute', or use a smaller basis"


class RowBlocks(ABC):
    """A matrix of ``shape`` that is only ever read by ``map`` and ``sum``, a block of rows at a time."""

    shape: tuple[int, int]
    dtype: np.dtype[Any]
    sparse = False  # whether the blocks are CSR matrices
    rows_folder: Path | None = None  # where what a solver keeps of the rows goes, if not into memory

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
        return added(self.map(fn, coarse))

    def state(self, dtype: Any = None) -> RowState:
        """Return what a solver keeps of the rows: nothing yet. It sees the blocks in ``dtype``, by default as is."""
        if self.rows_folder is None:
            return LocalState(self, dtype)
        return FileState(self, dtype, self.rows_folder)

    def spread(self, at: np.ndarray, values: np.ndarray, rest: Any) -> Values:
        """Return one value for each row, where the rows are: ``rest`` but at some rows, in ascending order."""
        out = np.full(self.shape[0], rest, values.dtype)
        out[at] = values
        return out

    def close(self) -> None:  # noqa: B027  (most stores have nothing to give back)
        """Give back whatever the matrix holds."""

    def __enter__(self) -> RowBlocks:
        return self

    def __exit__(self, *exc: object) -> None:
        self.close()


def rows_for(n_bytes: int, n_columns: int, itemsize: int) -> int:
    """Return how many rows take about so many bytes: a multiple of 16, as products on blocks of rows like it."""
    return max(16, n_bytes // max(1, n_columns * itemsize) // 16 * 16)


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
        return thread_map(lambda rows: fn(rows, self.matrix[rows]), slices_of(self, coarse))

    def update(self, fn: Callable[[slice, Any], np.ndarray]) -> None:
        for rows, block in self.map(lambda rows, block: (rows, fn(rows, block))):
            if not np.may_share_memory(block, self.matrix):
                self.matrix[rows] = block


class SparseBlocks(RowBlocks):
    """A CSR matrix in memory; blocks are views of its rows, few enough that their results are quickly summed."""

    sparse = True

    def __init__(self, matrix: Any) -> None:
        self.matrix = matrix
        self.shape = matrix.shape
        self.dtype = matrix.dtype
        n_blocks = min(SPARSE_BLOCKS, 1 + matrix.nnz // max(1 << 18, matrix.shape[1]))
        rows_each = max(1, -(-self.shape[0] // n_blocks))
        self._views = [(rows, self._view(rows)) for rows in slices(self.shape[0], rows_each)]

    def map(self, fn: Callable[[slice, Any], T], coarse: bool = False) -> Iterator[T]:
        """Yield ``fn(rows, block)``, computed on all threads."""
        return thread_map(lambda view: fn(*view), self._views)

    def _view(self, rows: slice) -> Any:
        ends = self.matrix.indptr[rows.start : rows.stop + 1]
        span = slice(ends[0], ends[-1])
        # behind a memoryview, as SciPy copies what it knows to be less than half of another array
        data, indices = (np.asarray(memoryview(part[span])) for part in (self.matrix.data, self.matrix.indices))
        parts = data, indices, ends - ends[0]
        return type(self.matrix)(parts, shape=(len(ends) - 1, self.shape[1]), copy=False)

    def update(self, fn: Callable[[slice, Any], np.ndarray]) -> None:
        """Refuse: the matrix is the caller's, and its zeros would not stay zeros."""
        raise TypeError("sparse features cannot be changed; normalize them before you pass them")


class SourceBlocks(RowBlocks):
    """The vectors of a source as a matrix: read anew on every pass, a few blocks ahead of the work on them."""

    def __init__(self, source: RowSource) -> None:
        self.source = source
        self.shape = source.shape[0], source.shape[1]
        self.dtype = source.dtype

    def map(self, fn: Callable[[slice, Any], T], coarse: bool = False) -> Iterator[T]:
        """Yield ``fn(rows, block)``, computed on all threads; one of them reads, in the order of the rows."""
        blocks = ((rows, self.source[rows]) for rows in slices_of(self, coarse))
        return thread_map(lambda read: fn(*read), blocks)

    def update(self, fn: Callable[[slice, Any], np.ndarray]) -> None:
        """Refuse: the rows are the caller's."""
        raise TypeError("a source cannot be changed; normalize its rows before you pass it")


def rows_per_block(width: int, itemsize: int = 4) -> int:
    """Return how many rows of features are worth computing at once."""
    return rows_for(COMPUTE_BYTES, width, itemsize)


class ComputedBlocks(RowBlocks):
    """A matrix that is computed anew on every pass: slow, and takes no room at all.

    ``compute(rows)`` returns the block of those rows; it may use all threads itself, since blocks come one by one.
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
        for rows in self._slices:
            yield fn(rows, self._compute(rows))

    def update(self, fn: Callable[[slice, Any], np.ndarray]) -> None:
        compute = self._compute  # from now on, fn follows whenever a block is computed
        self._compute = lambda rows: fn(rows, compute(rows))


class Buffers:
    """Room for blocks that is used again, once nobody holds the block or a part of it: what is freed here and there by
    many threads, the allocator keeps.
    """

    def __init__(self, n_bytes: int) -> None:
        self.n_bytes = n_bytes
        self._free: list[bytearray] = []

    def array(self, shape: tuple[int, int], dtype: np.dtype[Any]) -> np.ndarray:
        """Return an array that nobody else holds, of at most so many bytes, filled with anything."""
        try:
            room = self._free.pop()
        except IndexError:
            room = bytearray(self.n_bytes)
        flat = np.frombuffer(
            room, dtype, shape[0] * shape[1]
        )  # the base of all its views, as their memory is not its own
        weakref.finalize(flat, self._free.append, room).atexit = False
        return flat.reshape(shape)


class DiskBlocks(RowBlocks):
    """A matrix in a file without a name, read ahead of the work on its blocks, and gone when closed.

    ``folder`` is where the file takes its space: by default where Python's ``tempfile`` makes them. The rows are
    written to ``matrix``.
    """

    def __init__(self, shape: tuple[int, int], dtype: Any = np.float32, folder: Any = None) -> None:
        self.shape = shape
        self.dtype = np.dtype(dtype)
        self.matrix = NpyMatrix.temporary(folder, shape, dtype, ADVICE)
        self._rows_each = rows_for(DISK_BYTES, shape[1], self.dtype.itemsize)
        self._buffers = Buffers(self._rows_each * shape[1] * self.dtype.itemsize)

    def map(self, fn: Callable[[slice, Any], T], coarse: bool = False) -> Iterator[T]:
        """Yield ``fn(rows, block)``, computed on all threads while others read the next blocks."""
        with begun_ahead(self._read, slices(self.shape[0], self._rows_each), READERS) as coming:
            yield from thread_map(lambda read: fn(*read.result()), coming)

    def _read(self, rows: slice) -> tuple[slice, np.ndarray]:
        block = self._buffers.array((rows.stop - rows.start, self.shape[1]), self.dtype)
        self.matrix.read_into(rows, block)
        return rows, block

    def update(self, fn: Callable[[slice, Any], np.ndarray]) -> None:
        def rewrite(rows: slice, block: np.ndarray) -> None:
            self.matrix[rows] = fn(rows, block)

        for _ in self.map(rewrite):
            pass

    def close(self) -> None:
        self.matrix.close()


class JoinedBlocks(RowBlocks):
    """Some rows of several parts, as one matrix; the blocks of one part are views, those of several are joined.

    Examples
    --------
    >>> import numpy as np
    >>> both = JoinedBlocks([np.zeros((4, 1)), np.ones((4, 2))], slice(1, 4))
    >>> both.shape, both.sum(lambda rows, block: (block.sum(axis=0),))
    ((3, 3), (array([0., 3., 3.]),))
    """

    def __init__(self, parts: list[Part], rows: slice) -> None:
        self.parts = parts
        self.first = rows.start
        self.shape = (rows.stop - rows.start, sum(part.shape[1] for part in parts))
        self.dtype = np.result_type(*[part.dtype for part in parts])

    def _there(self, rows: slice) -> slice:
        return slice(self.first + rows.start, self.first + rows.stop)

    def _read(self, rows: slice) -> np.ndarray:
        there = self._there(rows)
        return self.parts[0][there] if len(self.parts) == 1 else np.hstack([part[there] for part in self.parts])

    def map(self, fn: Callable[[slice, Any], T], coarse: bool = False) -> Iterator[T]:
        return thread_map(lambda rows: fn(rows, self._read(rows)), slices_of(self, coarse))

    def update(self, fn: Callable[[slice, Any], np.ndarray]) -> None:
        ends = np.cumsum([part.shape[1] for part in self.parts])[:-1]
        for rows, block in self.map(lambda rows, block: (rows, fn(rows, block.copy()))):
            for part, columns in zip(self.parts, np.split(block, ends, axis=1), strict=True):
                part[self._there(rows)] = columns
