"""Rows in the partitions of a Dask array, DataFrame or bag: read where they are, or on a cluster."""

from __future__ import annotations

from bisect import bisect_right
from collections.abc import Callable
from typing import Any

import numpy as np

from besvm._support.public import public
from besvm._support.row_source import RowSource, is_dask


@public("besvm.sources")
class DaskSource(RowSource):
    """The rows of a Dask array, DataFrame, Series or bag, a partition at a time.

    Estimators wrap such collections themselves. Columns of numbers become vectors, a column of texts and the items of
    a bag a list. Needs the extra ``cluster``.

    Parameters
    ----------
    collection : dask.array.Array, dask.dataframe.DataFrame or Series, or dask.bag.Bag

    Examples
    --------
    >>> from besvm.sources import DaskSource
    >>> import dask.array as da  # doctest: +SKIP
    >>> DaskSource(da.ones((1_000, 3), chunks=(100, 3)))[250:252]  # doctest: +SKIP
    array([[1., 1., 1.],
           [1., 1., 1.]])
    """

    gap = 1 << 14  # rows within a partition are had together

    def __init__(self, collection: Any) -> None:
        import dask

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
        shape, dtype = ((), np.dtype(object)) if isinstance(one, list) else (one.shape[1:], one.dtype)
        super().__init__((self.ends[-1], *shape), dtype)

    def read(self, first: int, stop: int) -> Any:
        import dask

        places = range(bisect_right(self.ends, first) - 1, bisect_right(self.ends, stop - 1))
        found = dask.compute(
            *[dask.delayed(_cut)(self.partitions[k], max(0, first - self.ends[k]), stop - self.ends[k]) for k in places]
        )
        return [item for part in found for item in part] if self.dtype == object else np.concatenate(found)


def as_samples(part: Any) -> Any:
    """Return the rows of a partition: an array, or a list of anything."""
    if hasattr(part, "iloc"):
        texts = part.ndim == 1 or part.shape[1] == 1
        part = part.to_numpy()
        if part.dtype.kind not in "biuf":
            if not texts:
                raise ValueError(
                    "a Dask DataFrame must have columns of numbers, or one column of texts, got others beside it; "
                    "select the columns to be compared"
                )
            return part.reshape(len(part)).tolist()
    return part if isinstance(part, np.ndarray) else list(part)


def _partitions(collection: Any) -> list[Any]:
    if hasattr(collection, "chunks"):
        if collection.ndim > 1:
            collection = collection.rechunk(dict.fromkeys(range(1, collection.ndim), -1))
        return list(collection.to_delayed().ravel())
    return list(collection.to_delayed())


def _head(part: Any) -> Any:
    return part.iloc[:1] if hasattr(part, "iloc") else list(part)[:1]


def _cut(part: Any, first: int, stop: int) -> Any:
    return as_samples(part)[first:stop]


def in_memory(y: Any) -> Any:
    """Return labels or weights that may be a Dask collection as what it holds."""
    return y.compute() if is_dask(y) else y


def mapped(X: Any, fn: Callable[[Any], np.ndarray], dtype: Any, width: int | None = None) -> Any:
    """Return the Dask array of ``fn`` of every partition of a collection: (n,), or (n, width)."""
    import dask
    import dask.array as da

    send = dask.delayed(fn, pure=False)
    parts = _partitions(X)
    lengths = X.chunks[0] if hasattr(X, "chunks") else [np.nan] * len(parts)
    more = () if width is None else (width,)
    done = [
        da.from_delayed(dask.delayed(_of_samples)(send, part), (length, *more), dtype)
        for part, length in zip(parts, lengths, strict=True)
    ]
    return da.concatenate(done, allow_unknown_chunksizes=True)


def _of_samples(fn: Callable[[Any], np.ndarray], part: Any) -> np.ndarray:
    return fn(as_samples(part))
