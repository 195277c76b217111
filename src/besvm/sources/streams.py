"""Rows that come one block after the other, and have to be read again from an earlier place to go back."""

from __future__ import annotations

import threading
from abc import abstractmethod
from collections.abc import Callable, Iterable, Iterator
from typing import Any, NamedTuple

import numpy as np
from scipy.sparse import issparse

from besvm._support.parameters import is_whole, shown
from besvm._support.row_source import RowSource


class _Place(NamedTuple):
    """Where a stream is being read: a block, the row it begins with, and what comes after it."""

    first: int
    block: Any
    rest: Iterator[Any]

    @property
    def stop(self) -> int:
        return self.first + len(self.block)


class Stream(RowSource):
    """Abstract: blocks in the order of their rows. Going on is quick; going back begins at an earlier block."""

    _place: _Place | None = None

    def __init__(self, shape: tuple[int, ...], dtype: Any) -> None:
        super().__init__(shape, dtype)
        self._lock = threading.Lock()

    @abstractmethod
    def begin(self, row: int) -> int:
        """Return the row that the nearest place to start from before ``row`` begins with."""

    @abstractmethod
    def blocks(self, first: int) -> Iterator[Any]:
        """Yield the blocks from such a place on."""

    def read(self, first: int, stop: int) -> Any:
        with self._lock:
            place, self._place = self._place, None  # whatever fails, is begun anew
            if place is None or first < place.first or self.begin(first) > place.stop:
                start = self.begin(first)
                place = self._next(start, self.blocks(start))
            parts = []
            while True:
                if place.stop > first:
                    parts.append(place.block[max(0, first - place.first) : stop - place.first])
                if place.stop >= stop:
                    break
                place = self._next(place.stop, place.rest)
            if stop == len(self):
                self._check_end(place)
            self._place = place
        if self.dtype == object:
            return [row for part in parts for row in part]
        return parts[0] if len(parts) == 1 else _joined(parts)

    def _next(self, first: int, rest: Iterator[Any]) -> _Place:
        for block in rest:
            if _length(block):
                return _Place(first, block if self.dtype == object else np.asarray(block), rest)
        raise ValueError(
            f"a source must keep its length, {len(self)} rows, got only {first}; pass the right number of rows, and "
            "begin again from the first row whenever the blocks are asked for"
        )

    def _check_end(self, place: _Place) -> None:
        more = place.stop - len(self) or next(filter(None, map(_length, place.rest)), 0)
        if more:
            raise ValueError(
                f"a source must keep its length, {len(self)} rows, got at least {len(self) + more}; "
                "pass the right number of rows"
            )

    def __getstate__(self) -> dict[str, Any]:
        return {name: value for name, value in vars(self).items() if name not in ("_lock", "_place")}

    def __setstate__(self, state: dict[str, Any]) -> None:
        vars(self).update(state)
        self._lock = threading.Lock()


def _length(block: Any) -> int:
    """Return how many rows a block has; refuse what is none."""
    if issparse(block) or not hasattr(block, "__len__"):
        raise TypeError(f"blocks must be arrays, or lists of samples, got a {type(block).__name__}; convert them")
    return len(block)


def _joined(parts: list[np.ndarray]) -> np.ndarray:
    shapes = sorted({part.shape[1:] for part in parts})
    if len(shapes) > 1:
        raise ValueError(
            f"all rows of a source must have the same shape, got blocks with rows of shape {shapes[0]} and "
            f"{shapes[1]}; make them equal"
        )
    return np.concatenate(parts)


class BlockSource(Stream):
    """Rows from a function that returns a new iterator of blocks whenever it is called.

    Parameters
    ----------
    make_blocks : callable
        Returns an iterator of blocks: arrays of the same width, or lists of anything, of any number of rows.
    n : int
        How many rows there are in all.

    Examples
    --------
    >>> import numpy as np
    >>> from besvm import BESVMClassifier
    >>> from besvm.sources import BlockSource
    >>> def blocks():
    ...     for number in range(10):
    ...         yield np.random.default_rng(number).normal(size=(20, 3))
    >>> source = BlockSource(blocks, 200)
    >>> source.shape
    (200, 3)
    >>> y = source[:][:, 0] > 0
    >>> BESVMClassifier("rbf", basis=20, random_state=0).fit(source, y).score(source, y) > 0.9
    True
    """

    def __init__(self, make_blocks: Callable[[], Iterable[Any]], n: int) -> None:
        if not callable(make_blocks):
            raise TypeError(
                "make_blocks must be a function that returns a new iterator of blocks on every call, got "
                f"{shown(make_blocks)}"
            )
        if not is_whole(n, 1):
            raise ValueError(f"n must be the number of rows, a whole number of at least 1, got {shown(n)}")
        self.make_blocks = make_blocks
        first = next((block for block in make_blocks() if _length(block)), None)
        if first is None:
            raise ValueError(f"make_blocks must yield {n} rows, got none")
        items = isinstance(first, (list, tuple)) or np.asarray(first).dtype == object
        shape, dtype = ((), object) if items else (np.shape(first)[1:], np.asarray(first).dtype)
        super().__init__((n, *shape), dtype)

    def begin(self, row: int) -> int:
        return 0

    def blocks(self, first: int) -> Iterator[Any]:
        return iter(self.make_blocks())
