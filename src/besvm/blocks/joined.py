"""Several tall matrices, each in memory or in a file, joined column by column and seen as one."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Any, Protocol

import numpy as np

from besvm._support.threads import thread_map
from besvm.blocks.contract import RowBlocks, T
from besvm.blocks.memory import slices_of


class Part(Protocol):
    """What can be joined with others: an array, or a matrix in a file."""

    @property
    def shape(self) -> Any: ...
    @property
    def dtype(self) -> Any: ...
    def __getitem__(self, rows: slice) -> np.ndarray: ...
    def __setitem__(self, rows: slice, block: np.ndarray) -> None: ...


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
        """Yield ``fn(rows, block)``, computed on all threads."""
        return thread_map(lambda rows: fn(rows, self._read(rows)), slices_of(self, coarse))

    def update(self, fn: Callable[[slice, Any], np.ndarray]) -> None:
        """Replace every block, in each of the parts."""
        ends = np.cumsum([part.shape[1] for part in self.parts])[:-1]
        for rows, block in self.map(lambda rows, block: (rows, fn(rows, block.copy()))):
            for part, columns in zip(self.parts, np.split(block, ends, axis=1), strict=True):
                part[self._there(rows)] = columns
