"""A tall matrix seen a block of rows at a time: the contract of every store."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable, Iterator
from typing import Any, TypeVar

import numpy as np

T = TypeVar("T")


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


def rows_for(n_bytes: int, n_columns: int, itemsize: int) -> int:
    """Return how many rows take about so many bytes: a multiple of 16, as products on blocks of rows like it.

    Examples
    --------
    >>> rows_for(1 << 20, 100, 4), rows_for(1, 100, 4)
    (2608, 16)
    """
    return max(16, n_bytes // max(1, n_columns * itemsize) // 16 * 16)
