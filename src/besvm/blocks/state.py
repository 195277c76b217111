"""What a solver keeps of every row, beside the block of features that the row belongs to."""

from __future__ import annotations

import threading
from abc import ABC, abstractmethod
from collections.abc import Callable, Iterable, Iterator
from typing import Any, TypeVar

import numpy as np

from besvm._support.row_source import RowSource
from besvm._support.threads import slices, thread_map

ROWS_EACH = 1 << 14  # of a block whose features are not looked at: what is kept of them fits the cache

Sums = tuple[Any, ...]
Values = np.ndarray | RowSource  # one value for each row: an array here, or where the rows are
Add = Callable[[Iterable[Sums]], Sums]
T = TypeVar("T")


def added(parts: Iterable[Sums]) -> Sums:
    """Return the sums, item by item, of these tuples, in their order."""
    totals: list[Any] = []
    for part in parts:
        if not totals:
            totals = [np.array(item, dtype=np.float64) for item in part]
        else:
            for total, item in zip(totals, part, strict=True):
                total += item
    return tuple(totals)


def joined(parts: Iterable[Sums]) -> Sums:
    """Return the arrays of these tuples, item by item, one behind the other."""
    return tuple(np.concatenate(items) for items in zip(*parts, strict=True))


class Rows(ABC):
    """A block of rows at work: its features (None where they were not asked for), and its arrays by name.

    An array may be replaced, also by one of another width; it must not be changed in place.
    """

    features: Any

    @property
    @abstractmethod
    def numbers(self) -> np.ndarray:
        """Where these rows are in the matrix."""

    @abstractmethod
    def __getitem__(self, name: str) -> np.ndarray:
        """Return what is kept of these rows under this name."""

    @abstractmethod
    def __setitem__(self, name: str, value: np.ndarray) -> None:
        """Keep this of these rows; the same in every block, or in none."""


class RowState(ABC):
    """Arrays by name with a row for each row of a matrix; they are worked on block by block, where the blocks are.

    What is sent to the blocks is a function of ``Rows``. It may keep arrays there, and returns what is to be summed:
    only that comes back.
    """

    blocks: Any  # of the matrix
    shape: tuple[int, int]
    dtype: np.dtype[Any]  # of its blocks as they are seen here
    sparse = False  # whether the blocks are CSR matrices

    def rewind(self) -> None:  # noqa: B027  (what lasts is simply written over)
        """Forget all but what was put here: what follows does not depend on it, should it have to be made again."""

    @abstractmethod
    def put(self, name: str, values: Values, dtype: Any = None) -> None:
        """Keep what is known of every row, in this dtype: an array, or values that are where the rows are."""

    @abstractmethod
    def sum(self, fn: Callable[[Rows], Sums], features: bool = True, coarse: bool = False, add: Add = added) -> Sums:
        """Return the sums, item by item, of what ``fn(rows)`` gives for every block; always added in row order.

        Without ``features`` the matrix is not read. ``coarse`` asks for larger blocks: right where the result is large.
        ``add`` says what a sum is: neighbours are added first, and sums of them later.
        """

    def collect(self, fn: Callable[[Rows], Sums], features: bool = False) -> Sums:
        """Return the arrays, item by item, that ``fn(rows)`` gives for every block, one behind the other."""
        return self.sum(fn, features, add=joined)

    @abstractmethod
    def each(self, fn: Callable[[Rows], None]) -> None:
        """Let ``fn(rows)`` work on what is kept of every block, at the latest when it is next asked for.

        Nothing comes back, and the matrix is not read, so that it can go along with whatever is sent next.
        """

    @abstractmethod
    def select(self, names: Iterable[str], columns: np.ndarray) -> None:
        """Keep only these columns of the arrays."""

    @abstractmethod
    def take(self, rows: np.ndarray, fn: Callable[[Rows], np.ndarray], features: bool = False) -> np.ndarray:
        """Return ``fn`` of these rows alone, in ascending order, as one array."""


class View(Rows):
    """Some rows of arrays that are whole."""

    def __init__(self, state: LocalState, at: slice | np.ndarray, features: Any = None) -> None:
        self._state, self._at, self.features = state, at, features

    @property
    def numbers(self) -> np.ndarray:
        at, first = self._at, self._state.first_row
        return first + (np.arange(*at.indices(self._state.shape[0])) if isinstance(at, slice) else at)

    def __getitem__(self, name: str) -> np.ndarray:
        return self._state.arrays[name][self._at]

    def __setitem__(self, name: str, value: np.ndarray) -> None:
        self._state.like(name, value)[self._at] = value


class LocalState(RowState):
    """The arrays of a matrix whose blocks this process reads: whole, in memory.

    Examples
    --------
    >>> import numpy as np
    >>> from besvm.blocks import MemoryBlocks
    >>> state = MemoryBlocks(np.ones((5, 2))).state()
    >>> state.put("weights", np.arange(5.0))
    >>> state.sum(lambda rows: (rows["weights"] @ rows.features,))
    (array([10., 10.]),)
    """

    view: type[View] = View
    in_memory = True  # whether there is room for more arrays of all rows
    first_row = 0  # where the matrix begins, if it is a block of another one

    def __init__(self, blocks: Any, dtype: Any = None) -> None:
        self.blocks, self.shape, self.sparse = blocks, blocks.shape, blocks.sparse
        self.dtype = np.dtype(blocks.dtype if dtype is None else dtype)
        self.arrays: dict[str, np.ndarray] = {}
        self._lock = threading.Lock()

    def put(self, name: str, values: Values, dtype: Any = None) -> None:
        self.arrays[name] = np.asarray(values, dtype)

    def like(self, name: str, value: np.ndarray) -> np.ndarray:
        """Return the whole array of this name, made if there is none that can hold such a value."""
        with self._lock:
            known = self.arrays.get(name)
            if known is None or known.shape[1:] != value.shape[1:] or known.dtype != value.dtype:
                known = self.arrays[name] = self._made((self.shape[0], *value.shape[1:]), value.dtype)
        return known

    def _made(self, shape: tuple[int, ...], dtype: Any) -> Any:
        return np.empty(shape, dtype, order="F")

    def sum(self, fn: Callable[[Rows], Sums], features: bool = True, coarse: bool = False, add: Add = added) -> Sums:
        return add(self._parts(fn, features, coarse))

    def _parts(self, fn: Callable[[Rows], T], features: bool, coarse: bool = False) -> Iterator[T]:
        if features:
            return self.map(lambda at, block: fn(self.view(self, at, block)), coarse)
        return thread_map(lambda at: fn(self.view(self, at)), slices(self.shape[0], ROWS_EACH))

    def each(self, fn: Callable[[Rows], None]) -> None:
        for _ in self._parts(fn, features=False):
            pass

    def map(self, fn: Callable[[slice, Any], T], coarse: bool = False) -> Iterator[T]:
        """Yield ``fn(rows, block)`` for every block of the matrix, as it is seen here."""
        if self.blocks.dtype == self.dtype:
            return self.blocks.map(fn, coarse)
        return self.blocks.map(lambda at, block: fn(at, block.astype(self.dtype)), coarse)

    def select(self, names: Iterable[str], columns: np.ndarray) -> None:
        for name in names:
            self.arrays[name] = np.asfortranarray(self.arrays[name][:, columns])  # as all are: sums depend on it

    def take(self, rows: np.ndarray, fn: Callable[[Rows], np.ndarray], features: bool = False) -> np.ndarray:
        if not features:
            return fn(self.view(self, rows))

        def part(at: slice, block: Any) -> np.ndarray | None:
            here = rows[slice(*np.searchsorted(rows, [at.start, at.stop]))]
            every = len(here) == block.shape[0]
            return fn(self.view(self, here, block if every else block[here - at.start])) if len(here) else None

        out, end = np.empty((0, 0)), 0
        for one in self.map(part):
            if one is not None:
                if not end:
                    out = np.empty((len(rows), *one.shape[1:]), one.dtype)
                out[end : end + len(one)] = one
                end += len(one)
        return out

    def whole(self, name: str) -> np.ndarray:
        """Return an array."""
        return self.arrays[name]

    def all(self, fn: Callable[[Rows], T]) -> T:
        """Return ``fn`` of all rows at once."""
        return fn(self.view(self, slice(None)))
