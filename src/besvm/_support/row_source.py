"""Rows that are read when they are asked for: the contract of a source, and arrays that live outside of memory."""

from __future__ import annotations

import mmap
import os
from abc import ABC, abstractmethod
from collections.abc import Callable, Iterable, Iterator, Sequence
from operator import index
from typing import Any

import numpy as np

from besvm._support.public import public

READ_BYTES = 1 << 23  # that are read at a time
NEAR_BYTES = 1 << 16  # rows that lie no farther apart are read in one go, with what lies between them

Part = Callable[[int, Any, Any], tuple[Any, ...]]  # of the number of the first of some rows, these, and values of each
Add = Callable[[Iterable[tuple[Any, ...]]], tuple[Any, ...]]


@public("besvm.sources")
class RowSource(ABC):
    """Abstract: rows that never have to be in memory together.

    A subclass says its ``shape`` (of samples that are no arrays: their number alone) and its ``dtype`` (of these:
    ``object``), and writes ``read``. What it gives is checked: a source keeps its length, and its rows their shape.

    ``source[10:20]`` reads rows, as an array or a list; ``source[[3, 1]]`` is a source of these rows, which reads
    nothing yet; ``source.take([3, 1])`` reads them, in the order of the file. ``np.asarray(source)`` reads everything.

    Parameters
    ----------
    shape : tuple of int
        The number of rows, and the shape of one row; of samples that are no arrays, their number alone.
    dtype : dtype
        Of the numbers; ``object`` for samples that are no arrays.

    Examples
    --------
    >>> import numpy as np
    >>> from besvm.sources import RowSource
    >>> class Squares(RowSource):
    ...     def read(self, first, stop):
    ...         return np.arange(first, stop)[:, None] ** 2.0
    >>> squares = Squares((1000, 1), np.float64)
    >>> squares[3:5], squares.take([10, 2]), len(squares[squares.take(range(1000))[:, 0] < 50])
    (array([[ 9.],
           [16.]]), array([[100.],
           [  4.]]), 8)
    """

    gap: int | None = None  # rows worth reading to come to the next one wanted; None: so many as are read quickly

    def __init__(self, shape: tuple[int, ...], dtype: Any) -> None:
        self.shape = tuple(map(int, shape))
        self.dtype = np.dtype(dtype)

    @abstractmethod
    def read(self, first: int, stop: int) -> Any:
        """Return the rows from ``first`` up to ``stop``, of which there is at least one."""

    def __len__(self) -> int:
        return self.shape[0]

    @property
    def ndim(self) -> int:
        """How many axes the rows have together."""
        return len(self.shape)

    @property
    def row_bytes(self) -> int:
        """The bytes of a row; of one that is no array, those of a reference to it."""
        return max(1, int(np.prod(self.shape[1:])) * self.dtype.itemsize)

    def __getitem__(self, rows: Any) -> Any:
        if isinstance(rows, tuple) and len(rows) == 2 and rows[1] is Ellipsis:  # as scikit-learn writes it
            rows = rows[0]
        if isinstance(rows, tuple):
            raise IndexError(
                f"a source is indexed by rows alone, got {len(rows)} indices; read rows, then choose columns"
            )
        if isinstance(rows, slice):
            first, stop, step = rows.indices(len(self))
            return self._checked(first, max(first, stop)) if step == 1 else SomeRows(self, np.arange(first, stop, step))
        if np.ndim(rows):
            return SomeRows(self, row_numbers(rows, len(self)))
        row = index(rows)
        if not -len(self) <= row < len(self):
            raise IndexError(f"there are {len(self)} rows, got {row}")
        row %= len(self)
        return self._checked(row, row + 1)[0]

    def __iter__(self) -> Iterator[Any]:
        each = max(1, READ_BYTES // self.row_bytes)
        for first in range(0, len(self), each):
            yield from self[first : first + each]

    def __array__(self, dtype: Any = None, copy: bool | None = None) -> np.ndarray:
        return np.asarray(self[:], dtype=dtype)

    def take(self, rows: Any) -> Any:
        """Return some rows, in any order; they are read in ascending order."""
        wanted, places = np.unique(row_numbers(rows, len(self)), return_inverse=True)
        near = max(1, NEAR_BYTES // self.row_bytes) if self.gap is None else self.gap
        runs = _runs(wanted, near, max(1, READ_BYTES // self.row_bytes))
        if self.dtype == object:
            found = [row for run in runs for row in _picked(self[run[0] : run[-1] + 1], run - run[0])]
            return [found[place] for place in places]
        out, done = np.empty((len(wanted), *self.shape[1:]), self.dtype), 0
        for run in runs:
            out[done : done + len(run)] = self[run[0] : run[-1] + 1][run - run[0]]
            done += len(run)
        return out if np.array_equal(places, np.arange(len(out))) else out[places]

    def sums(self, fn: Part, each: int, add: Add, beside: Any = None) -> tuple[Any, ...]:
        """Return what ``add`` makes of all ``fn(first, rows, values)``, at most so many rows ``each`` time.

        ``values`` are those of ``beside`` that belong to the rows, if it is given: an array, or a source. Where the
        rows are elsewhere, the function goes there; what it gives must be small.
        """
        return sums_of(fn, self, range(len(self)), each, add, beside)

    def cut(self, rows: Sequence[slice]) -> list[Any]:
        """Return blocks of rows, as they are sent to where others are."""
        return [self[some] for some in rows]

    def _checked(self, first: int, stop: int) -> Any:
        """Read rows, and refuse others than were promised."""
        if self.dtype == object:
            block = self.read(first, stop) if stop > first else []
            if len(block) != stop - first:
                raise ValueError(
                    f"a source must keep its length: rows {first} to {stop - 1} were asked for, got {len(block)} rows; "
                    "open it again"
                )
            return block
        wanted = (stop - first, *self.shape[1:])
        block = np.asarray(self.read(first, stop)) if stop > first else np.empty(wanted, self.dtype)
        if block.shape != wanted:
            raise ValueError(
                f"a source must keep its length and the shape of its rows: rows {first} to {stop - 1} must have shape "
                f"{wanted}, got {block.shape}; open it again, or keep only rows of that shape"
            )
        if not np.can_cast(block.dtype, self.dtype):
            raise ValueError(
                f"a source must keep its type, {self.dtype}, got {block.dtype} from row {first} on; convert the blocks"
            )
        return block.astype(self.dtype, copy=False)


def sums_of(fn: Part, rows: Any, numbers: range, each: int, add: Add, beside: Any) -> tuple[Any, ...]:
    """Return what ``add`` makes of ``fn`` of rows, which have these numbers, at most so many ``each`` time."""
    return add(
        fn(numbers[first], rows[first : first + each], None if beside is None else beside[first : first + each])
        for first in range(0, len(rows), each)
    )


def row_numbers(rows: Any, n: int) -> np.ndarray:
    """Return the numbers of some of n rows, given as numbers or as a mask; refuse all else, as NumPy does."""
    rows = np.asarray(rows)
    if rows.ndim != 1 or (len(rows) and rows.dtype.kind not in "biu"):
        raise IndexError(f"rows must be whole numbers or a mask, in one dimension, got {rows.dtype} of {rows.shape}")
    if rows.dtype == bool:
        if len(rows) != n:
            raise IndexError(f"a mask must have as many entries as there are rows, {n}, got {len(rows)}")
        return np.flatnonzero(rows)
    rows = rows.astype(np.intp)
    if len(rows) and not (-n <= rows.min() and rows.max() < n):
        raise IndexError(f"rows must lie between 0 and {n - 1}, got {rows.min()} to {rows.max()}")
    return np.asarray(rows % max(1, n))


class SomeRows(RowSource):
    """Some rows of another source, in any order, by their numbers."""

    def __init__(self, source: RowSource, rows: np.ndarray) -> None:
        super().__init__((len(rows), *source.shape[1:]), source.dtype)
        self.source, self.rows = source, rows

    def read(self, first: int, stop: int) -> Any:
        return self.source.take(self.rows[first:stop])


@public("besvm.sources")
class ArraySource(RowSource):
    """The rows of anything with a shape, a dtype and slices: np.memmap, a dataset of h5py, an array of zarr.

    Estimators wrap such arrays themselves; they can be given as they are.

    Parameters
    ----------
    array : np.memmap, h5py.Dataset, zarr.Array or the like
        What holds the rows.

    Examples
    --------
    >>> import numpy as np
    >>> from besvm.sources import ArraySource
    >>> source = ArraySource(np.arange(12.0).reshape(6, 2))
    >>> source.shape, source.take([5, 0])
    ((6, 2), array([[10., 11.],
           [ 0.,  1.]]))
    """

    def __init__(self, array: Any) -> None:
        shape = getattr(array, "shape", None)
        if not shape or not hasattr(array, "dtype") or not hasattr(array, "__getitem__"):
            raise TypeError(f"array must have a shape with rows, a dtype and slices, got a {type(array).__name__}")
        super().__init__(shape, array.dtype)
        self.array = array

    def __getstate__(self) -> dict[str, Any]:
        """Return where a mapped file is, not what is in it: whoever gets this must be able to open it.

        A private copy (mode "c") holds what is not in the file, and goes as it is.
        """
        array = self.array
        if not isinstance(array, np.memmap):
            return vars(self)
        if array.flags.c_contiguous and array.filename is not None and array.mode != "c":
            return vars(self) | {"array": (str(array.filename), _place_in_file(array))}
        return vars(self) | {"array": np.array(array, subok=False)}

    def __setstate__(self, state: dict[str, Any]) -> None:
        vars(self).update(state)
        if isinstance(self.array, tuple):
            path, offset = self.array
            self.array = np.memmap(path, self.dtype, "r", offset, self.shape)

    def read(self, first: int, stop: int) -> np.ndarray:
        if tuple(self.array.shape) != self.shape:
            raise ValueError(
                f"a source must keep its shape, {self.shape}, got {tuple(self.array.shape)}; open it again"
            )
        if not isinstance(self.array, np.memmap):
            return np.asarray(self.array[first:stop])
        _refuse_cut_short(self.array)
        block = np.array(self.array[first:stop], subok=False)
        _give_back(self.array)
        return block


class Vectors(RowSource):
    """A source of vectors as estimators want them: floating-point numbers, all finite, checked as they are read."""

    def __init__(self, source: RowSource, dtype: Any) -> None:
        super().__init__(source.shape, dtype)
        self.source = source

    def read(self, first: int, stop: int) -> np.ndarray:
        return _finite(self.source[first:stop], self.dtype, range(first, stop))

    def take(self, rows: Any) -> np.ndarray:
        return _finite(self.source.take(rows), self.dtype, rows)

    def sums(self, fn: Part, each: int, add: Add, beside: Any = None) -> tuple[Any, ...]:
        """Return what ``add`` makes of ``fn`` of the rows, where they are."""
        dtype = self.dtype

        def checked(first: int, rows: Any, values: Any) -> tuple[Any, ...]:
            return fn(first, _finite(np.asarray(rows), dtype, range(first, first + len(rows))), values)

        return self.source.sums(checked, each, add, beside)


def _finite(rows: np.ndarray, dtype: Any, numbers: Any) -> np.ndarray:
    """Return rows in this dtype; refuse those that are not finite, by their numbers."""
    block: np.ndarray = rows.astype(dtype, copy=False)
    with np.errstate(over="ignore", invalid="ignore"):
        total = block.sum()  # looks for NaN and infinity without an array of true and false
    if not np.isfinite(total):
        finite = np.isfinite(block).reshape(len(block), -1).all(axis=1)
        if not finite.all():
            row = int(finite.argmin())
            wrong = block[row][~np.isfinite(block[row])][0]
            raise ValueError(f"X must be finite, got {wrong} in row {numbers[row]}; remove or replace such rows")
    return block


def unchecked(X: Any) -> Any:
    """Return the source of vectors that are checked as they are read; all else as it is."""
    return X.source if isinstance(X, Vectors) else X


def is_dask(X: Any) -> bool:
    """Say whether X is a Dask collection; nothing is imported to find out."""
    return hasattr(X, "__dask_graph__") and type(X).__module__.partition(".")[0].startswith("dask")


def _runs(rows: np.ndarray, near: int, most: int) -> Iterator[np.ndarray]:
    """Cut ascending row numbers where the next one is far off, or where a run would be too long to read at once."""
    start = 0
    for place in range(1, len(rows) + 1):
        end = place == len(rows)
        if end or rows[place] - rows[place - 1] > near or rows[place] - rows[start] >= most:
            yield rows[start:place]
            start = place


def _picked(block: Any, places: np.ndarray) -> list[Any]:
    return [block[place] for place in places]


def _place_in_file(array: np.memmap[Any, Any]) -> int:
    """Return the byte at which a mapped array, which may be a part of another, begins in its file."""
    mapped = np.frombuffer(array._mmap, np.uint8)  # type: ignore[attr-defined]
    first = array.offset - array.offset % mmap.ALLOCATIONGRANULARITY  # of what is mapped
    return first + array.ctypes.data - mapped.ctypes.data


def _refuse_cut_short(array: np.memmap[Any, Any]) -> None:
    """Refuse a mapped file that has become shorter: reading what is gone would end the process."""
    try:
        there = os.stat(array.filename).st_size  # type: ignore[arg-type]
    except (OSError, TypeError):  # without a name, or removed: the system keeps what is mapped
        return
    needed = array.offset - array.offset % mmap.ALLOCATIONGRANULARITY + len(array._mmap)  # type: ignore[attr-defined]
    if there < needed:
        raise ValueError(
            f"a source must keep its length, but {str(array.filename)!r} was cut from {needed:,} to {there:,} bytes; "
            "restore it, and open it again"
        )


def _give_back(array: np.memmap[Any, Any]) -> None:
    """Let the system take back the pages of a mapped file; those of a private copy hold what is nowhere else."""
    pages = getattr(array, "_mmap", None)
    if pages is not None and array.mode != "c" and hasattr(mmap, "MADV_DONTNEED"):
        pages.madvise(mmap.MADV_DONTNEED)
