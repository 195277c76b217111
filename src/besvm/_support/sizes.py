"""How many bytes samples take, whatever they are."""

import sys
from typing import Any

import numpy as np
from scipy.sparse import issparse

from besvm._support.rows import SETTLE_ROWS, evenly_spaced, n_rows, take
from besvm._support.validation import described

LOOKED_AT = 1000  # items of a list, to find a large one
SETTLE_BYTES = 1 << 26  # what the rows that settle a similarity's parameters may take


def bytes_of(X: Any) -> int:
    """Return the bytes that samples take."""
    if issparse(X):
        return int(X.data.nbytes + X.indices.nbytes + X.indptr.nbytes)
    if isinstance(X, np.ndarray) and X.dtype != object:
        return X.nbytes
    if hasattr(X, "memory_usage"):
        return int(np.sum(X.memory_usage(deep=True)))
    if isinstance(X, (list, tuple, np.ndarray)):
        return sum(map(_bytes_of_one, X))
    return 0


def _bytes_of_one(item: Any) -> int:
    return int(getattr(item, "nbytes", 0)) or sys.getsizeof(item)


def bytes_each(X: Any) -> int:
    """Return the bytes of a large one of the samples; of sparse ones, the mean of 64 consecutive large ones."""
    if issparse(X):
        run = min(64, max(1, n_rows(X)))
        entries = int(np.diff(np.append(X.indptr[::run], X.indptr[-1])).max(initial=0)) // run + 1
        return entries * (X.dtype.itemsize + X.indices.itemsize)
    return bytes_of(large_one(X))


def large_one(X: Any) -> Any:
    """Return X with a single row: the largest of those that are looked at."""
    place = 0
    if issparse(X):
        place = int(np.diff(X.indptr).argmax())
    elif isinstance(X, (list, tuple)) or getattr(X, "dtype", None) == np.dtype(object):
        some = evenly_spaced(np.arange(n_rows(X)), LOOKED_AT)
        place = int(some[np.argmax([_bytes_of_one(item) for item in take(X, some)])])
    elif hasattr(X, "iloc") and hasattr(X, "columns"):  # only what a column of objects holds differs in size
        some = evenly_spaced(np.arange(n_rows(X)), LOOKED_AT)
        columns = [X.iloc[some, k] for k, dtype in enumerate(X.dtypes) if dtype == np.dtype(object)]
        sizes = [sum(map(_bytes_of_one, values)) for values in zip(*columns, strict=True)]
        place = int(some[np.argmax(sizes)]) if sizes else 0
    return take(X, [place])


def some_described(transformer: Any, X: Any) -> Any:
    """Return the features of what a similarity is settled on: 5,000 of the rows of X, or fewer if they are large."""
    each = bytes_of(transformer.transform(large_one(X)))
    return described(transformer, some_to_settle_on(X, each))


def some_to_settle_on(X: Any, each: int) -> Any:
    """Return 5,000 of the rows of X, or fewer if what becomes of each takes many bytes; in memory, whatever X is."""
    return evenly_spaced(X, min(SETTLE_ROWS, max(2, SETTLE_BYTES // max(1, each))))
