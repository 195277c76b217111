"""One value for each row, on the workers of a Dask cluster: classes, weights and folds, beside the rows they are of."""

from __future__ import annotations

from bisect import bisect_right
from collections.abc import Callable, Sequence
from functools import partial
from itertools import pairwise
from typing import Any, Self

import numpy as np

from besvm._support.dask_source import DaskSource, check_workers
from besvm._support.row_source import RowSource, row_numbers
from besvm._support.threads import slices
from besvm.blocks.cluster_tasks import gathered, named


class ClusterValues(RowSource):
    """An array (n,) in parts that are futures of a Dask client, which the scheduler can make again.

    Parameters
    ----------
    client : distributed.Client
    parts : list of Future
        Of arrays, in row order.
    ends : list of int
        The row at which each of them begins, and the number of all rows.
    dtype : data-type
    """

    def __init__(self, client: Any, parts: Sequence[Any], ends: Sequence[int], dtype: Any) -> None:
        super().__init__((ends[-1],), dtype)
        self.client, self.parts, self.ends = client, list(parts), list(ends)

    @classmethod
    def of_array(cls, client: Any, values: np.ndarray, what: str) -> Self:
        """Return an array in memory, about one part for each thread of the workers; it goes out with the tasks."""
        n = len(values)
        rows = slices(n, max(1, -(-n // check_workers(client))))
        parts = [client.submit(np.array, values[some], key=named(f"{what} of rows", some)) for some in rows]
        return cls(client, parts, [0, *(some.stop for some in rows)], values.dtype)

    @classmethod
    def of_collection(cls, client: Any, collection: Any, read: Callable[[Any, int], np.ndarray], what: str) -> Self:
        """Return what ``read(partition, first_row)`` makes of the partitions of a Dask collection."""
        source = DaskSource(collection)
        found = zip(client.compute(source.partitions), pairwise(source.ends), strict=True)
        parts = [client.submit(read, part, ends[0], key=named(f"{what} of rows", slice(*ends))) for part, ends in found]
        return cls(client, parts, source.ends, object)

    def map(self, fn: Callable[..., np.ndarray], what: str, dtype: Any, *others: ClusterValues) -> ClusterValues:
        """Return ``fn`` of every part, and of the values of the same rows in others."""
        beside = [other.cut(self.rows) for other in others]
        parts = [
            self.client.submit(fn, *own, key=named(f"{what} of rows", rows))
            for rows, *own in zip(self.rows, self.parts, *beside, strict=True)
        ]
        return ClusterValues(self.client, parts, self.ends, dtype)

    def of_parts(self, fn: Callable[..., Any], *others: ClusterValues) -> list[Any]:
        """Return what ``fn`` gives for every part, and the values of the same rows in others: here, in row order."""
        return gathered(self.client, self.map(fn, "look at", object, *others).parts)

    @property
    def rows(self) -> list[slice]:
        """Where the parts are."""
        return [slice(*ends) for ends in pairwise(self.ends)]

    def cut(self, rows: Sequence[slice]) -> list[Any]:
        """Return the values of other blocks of rows, as futures."""
        if list(rows) == self.rows:
            return self.parts
        found = []
        for some in rows:
            places = range(bisect_right(self.ends, some.start) - 1, bisect_right(self.ends, some.stop - 1))
            first = self.ends[places[0]]
            cut = partial(_cut, some.start - first, some.stop - first)
            found.append(self.client.submit(cut, *(self.parts[k] for k in places), key=named("cut to rows", some)))
        return found

    def read(self, first: int, stop: int) -> np.ndarray:
        return np.asarray(gathered(self.client, self.cut([slice(first, stop)]))[0])

    def take(self, rows: Any) -> np.ndarray:
        """Return some values, in any order, picked where they are: only they travel."""
        wanted, places = np.unique(row_numbers(rows, len(self)), return_inverse=True)
        cuts = np.searchsorted(wanted, self.ends)
        found = [
            self.client.submit(_picked, part, wanted[a:b] - first, key=named("pick of rows", some))
            for part, first, some, (a, b) in zip(self.parts, self.ends, self.rows, pairwise(cuts), strict=False)
            if a < b
        ]
        picked = gathered(self.client, found)
        return np.concatenate(picked)[places] if picked else np.empty(0, self.dtype)


def spread_on(client: Any, rows: Sequence[slice], at: np.ndarray, values: np.ndarray, rest: Any) -> ClusterValues:
    """Return an array that is ``rest`` but at some rows, in ascending order: only those are sent."""
    parts = []
    for some in rows:
        here = slice(*np.searchsorted(at, [some.start, some.stop]))
        given = some.stop - some.start, at[here] - some.start, values[here], rest
        parts.append(client.submit(_filled, *given, key=named("folds of rows", some)))
    return ClusterValues(client, parts, [0, *(some.stop for some in rows)], values.dtype)


def _cut(first: int, stop: int, *parts: np.ndarray) -> np.ndarray:
    return np.concatenate(parts)[first:stop] if len(parts) > 1 else parts[0][first:stop]


def _picked(part: np.ndarray, places: np.ndarray) -> np.ndarray:
    return part[places]


def _filled(n: int, at: np.ndarray, values: np.ndarray, rest: Any) -> np.ndarray:
    out = np.full(n, rest, values.dtype)
    out[at] = values
    return out
