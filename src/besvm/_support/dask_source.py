"""Rows in the partitions of a Dask array, DataFrame or bag: read where they are, or on a cluster."""

from __future__ import annotations

import sys
from bisect import bisect_right
from collections.abc import Callable, Sequence
from itertools import pairwise
from typing import Any

import numpy as np

from besvm._support.extras import optional
from besvm._support.public import public
from besvm._support.row_source import Add, Part, RowSource, is_dask, row_numbers, sums_of


@public("besvm.sources")
class DaskSource(RowSource):
    """The rows of a Dask array, DataFrame, Series or bag, a partition at a time.

    Estimators wrap such collections themselves. Columns of numbers become vectors, a column of texts and the items of
    a bag a list. Needs the extra ``cluster``.

    Parameters
    ----------
    collection : dask.array.Array, dask.dataframe.DataFrame or Series, or dask.bag.Bag
        What holds the rows.

    Examples
    --------
    >>> from besvm.sources import DaskSource
    >>> import dask.array as da  # doctest: +SKIP
    >>> DaskSource(da.ones((1_000, 3), chunks=(100, 3)))[250:252]  # doctest: +SKIP
    array([[1., 1., 1.],
           [1., 1., 1.]])
    """

    def __init__(self, collection: Any) -> None:
        import dask

        check_workers(_current_client())
        self.partitions = _partitions(collection)  # delayed
        if hasattr(collection, "chunks") and not np.isnan(collection.chunks[0]).any():
            lengths = list(collection.chunks[0])
            one = collection[:1].compute()
        else:
            lengths = list(dask.compute(*[dask.delayed(len)(part) for part in self.partitions]))
            first = next((k for k, length in enumerate(lengths) if length), 0)
            one = dask.delayed(_head)(self.partitions[first]).compute()
        self.partitions = [part for part, length in zip(self.partitions, lengths, strict=True) if length]
        lengths = [length for length in lengths if length]
        self.ends = np.cumsum([0, *lengths]).tolist()
        one = as_samples(one)
        several = hasattr(collection, "columns") and not isinstance(one, list)
        self.columns = [str(name) for name in collection.columns] if several else None  # their names, of a frame
        shape, dtype = ((), np.dtype(object)) if isinstance(one, list) else (one.shape[1:], one.dtype)
        super().__init__((self.ends[-1], *shape), dtype)

    def head(self) -> Any:
        """Return the first row, with the names of its columns if they have any."""
        if self.columns is None:
            return self[:1]
        return optional("pandas", "a Dask DataFrame").DataFrame(self[:1], columns=self.columns)

    def read(self, first: int, stop: int) -> Any:
        import dask

        places = range(bisect_right(self.ends, first) - 1, bisect_right(self.ends, stop - 1))
        found = dask.compute(
            *[dask.delayed(_cut)(self.partitions[k], max(0, first - self.ends[k]), stop - self.ends[k]) for k in places]
        )
        return self._joined(found)

    def take(self, rows: Any) -> Any:
        """Return some rows, in any order, picked where the partitions are: only they travel, and all at once."""
        import dask

        wanted, places = np.unique(row_numbers(rows, len(self)), return_inverse=True)
        cuts = np.searchsorted(wanted, self.ends)
        found = dask.compute(
            *[
                dask.delayed(_picked)(part, wanted[cuts[k] : cuts[k + 1]] - self.ends[k])
                for k, part in enumerate(self.partitions)
                if cuts[k] < cuts[k + 1]
            ]
        )
        picked = self._joined(found) if found else self[:0]
        return [picked[place] for place in places] if self.dtype == object else picked[places]

    def sums(self, fn: Part, each: int, add: Add, beside: Any = None) -> tuple[Any, ...]:
        """Return what ``add`` makes of ``fn`` of the rows, computed where the partitions are."""
        import dask

        numbers = [range(*ends) for ends in pairwise(self.ends)]
        spans = [slice(rows.start, rows.stop) for rows in numbers]
        values = [None] * len(spans) if beside is None else _cut_to(beside, spans)
        send = dask.delayed(_sums_of_part, pure=False)
        tasks = [
            send(fn, part, rows, each, add, own)
            for part, rows, own in zip(self.partitions, numbers, values, strict=True)
        ]
        return add(dask.compute(*tasks))

    def hashes(self, fn: Callable[[Any], str]) -> list[str]:
        """Return ``fn`` of the rows of every partition, computed where it is: one text for each."""
        import dask

        return list(dask.compute(*[dask.delayed(_of_rows, pure=False)(fn, part) for part in self.partitions]))

    def _joined(self, parts: Sequence[Any]) -> Any:
        return [item for part in parts for item in part] if self.dtype == object else np.concatenate(parts)


def as_samples(part: Any) -> Any:
    """Return the rows of a partition: an array, or a list of anything."""
    if hasattr(part, "iloc"):
        dtypes = [part.dtype] if part.ndim == 1 else list(part.dtypes)
        if all(getattr(dtype, "kind", "O") in "biuf" for dtype in dtypes):
            plain = all(
                isinstance(dtype, np.dtype) for dtype in dtypes
            )  # others have marks of their own for what is missing
            mixed = any(dtype.kind == "b" for dtype in dtypes) and any(dtype.kind != "b" for dtype in dtypes)
            return part.to_numpy() if plain and not mixed else part.to_numpy(dtype=np.float64, na_value=np.nan)
        if len(dtypes) > 1:
            raise ValueError(
                "a Dask DataFrame must have columns of numbers, or one column of texts, got other columns as well; "
                "select the columns to be compared"
            )
        return part.to_numpy().reshape(len(part)).tolist()
    return part if isinstance(part, np.ndarray) else list(part)


def _partitions(collection: Any) -> list[Any]:
    if hasattr(collection, "chunks"):
        if collection.ndim > 1:
            collection = collection.rechunk(dict.fromkeys(range(1, collection.ndim), -1))
        return list(collection.to_delayed().ravel())
    return list(collection.to_delayed())


def _head(part: Any) -> Any:
    if hasattr(part, "iloc"):
        return part.iloc[:1]
    return part[:1] if isinstance(part, np.ndarray) else list(part)[:1]


def _cut_to(values: Any, spans: list[slice]) -> list[Any]:
    """Return the values of blocks of rows: parts of an array, or what a source sends."""
    return values.cut(spans) if isinstance(values, RowSource) else [values[some] for some in spans]


def _sums_of_part(fn: Part, part: Any, numbers: range, each: int, add: Add, values: Any) -> tuple[Any, ...]:
    return sums_of(fn, as_samples(part), numbers, each, add, values)


def _of_rows(fn: Callable[[Any], str], part: Any) -> str:
    return fn(as_samples(part))


def _cut(part: Any, first: int, stop: int) -> Any:
    return as_samples(part)[first:stop]


def _picked(part: Any, places: np.ndarray) -> Any:
    samples = as_samples(part)
    return [samples[place] for place in places] if isinstance(samples, list) else samples[places]


def in_memory(y: Any) -> Any:
    """Return labels or weights that may be a Dask collection as what it holds."""
    return y.compute() if is_dask(y) else y


def mapped(X: Any, fn: Callable[[Any], np.ndarray], dtype: Any, width: int | None = None, named: bool = False) -> Any:
    """Return the Dask array of ``fn`` of every partition of a collection: (n,), or (n, width).

    If ``named``, ``fn`` is given the vectors of a frame with the names of their columns.
    """
    import dask
    import dask.array as da

    send = dask.delayed(fn, pure=False)
    parts = _partitions(X)
    lengths = X.chunks[0] if hasattr(X, "chunks") else [np.nan] * len(parts)
    more = () if width is None else (width,)
    none = np.empty((0, *more), dtype)
    done = [
        da.from_delayed(dask.delayed(_of_samples)(send, part, none, named), (length, *more), dtype)
        for part, length in zip(parts, lengths, strict=True)
    ]
    return da.concatenate(done, allow_unknown_chunksizes=True)


def _of_samples(fn: Callable[[Any], np.ndarray], part: Any, none: np.ndarray, named: bool) -> np.ndarray:
    samples = as_samples(part)
    if not len(samples):
        return none
    if named and hasattr(part, "columns") and isinstance(samples, np.ndarray):
        samples = type(part)(samples, columns=[str(name) for name in part.columns])
    return fn(samples)


def address_of(client: Any) -> str:
    """Return the address of the scheduler, as far as it is known."""
    scheduler = getattr(client, "scheduler", None)
    return str(getattr(scheduler, "address", "an unknown address"))


def check_workers(client: Any) -> int:
    """Return how many threads the workers of a cluster have together; refuse one without workers, which would wait."""
    if client is None:
        return 0
    n_threads = sum(client.nthreads().values())
    if not n_threads:
        raise ConnectionError(f"the cluster at {address_of(client)} has no workers; start some, then fit again")
    return n_threads


def _current_client() -> Any:
    """Return the client that computes Dask collections; None if this process does."""
    distributed = sys.modules.get("distributed")
    try:
        return None if distributed is None else distributed.default_client()
    except ValueError:
        return None
