"""Rows of anything: arrays, sparse matrices, data frames, lists, sources, or any object with len and slicing."""

from collections import deque
from collections.abc import Mapping, Sequence, Set
from typing import Any

import numpy as np
from scipy.sparse import issparse

from besvm._support.row_source import RowSource

SETTLE_ROWS = 5000  # rows that settle a similarity's parameters where features must be computed for it first


def refuse_no_rows(X: Any, name: str = "X") -> None:
    """Refuse what has a length but no rows: a set, a dict, one text, or one graph."""
    if isinstance(X, (Set, Mapping, str, bytes)) and not hasattr(X, "shape"):  # a sparse matrix may be a dict
        raise TypeError(f"{name} must have rows in an order (an array, a list, ...), got a {type(X).__name__}")
    if hasattr(type(X), "nodes") and hasattr(type(X), "is_directed"):
        raise TypeError(f"{name} must hold samples, got a single {type(X).__name__}; put it into a list")


def n_rows(X: Any) -> int:
    """Return the number of samples in ``X``."""
    if isinstance(X, (str, bytes)):
        raise TypeError(f"X must hold samples, got a single {type(X).__name__}; put it into a list")
    if len(getattr(X, "shape", ())) > 0:
        return int(X.shape[0])
    if hasattr(X, "shape") or not hasattr(X, "__len__"):
        raise TypeError(f"X must have a length and slices (an array, a list, ...), got {type(X).__name__}")
    refuse_no_rows(X)
    if not hasattr(X, "__getitem__") or isinstance(X, deque):
        raise TypeError(f"X must have slices (an array, a list, ...), got {type(X).__name__}; pass list(X)")
    return len(X)


def axes_of(X: Any) -> list[float]:
    """Return the numbers of axes that samples have: 1 of a vector or a list, 0 of a text or anything without parts.

    Nothing is known of the samples of a container of the user's own.
    """
    if isinstance(X, RowSource) and X.dtype == object:
        X = X[:1]
    if isinstance(X, (list, tuple)) or (getattr(X, "dtype", None) == np.dtype(object) and X.ndim == 1):
        return sorted({_axes(item) for item in X})
    return [X.ndim - 1] if hasattr(X, "ndim") else []


def are_records(X: Any) -> bool:
    """Say whether the samples of X are records whose parts have names: dicts, or those of a structured array."""
    return isinstance(next(iter(X[:1]), None), (Mapping, np.void))


def have_one_channel(X: Any) -> bool:
    """Say whether samples of two axes are series of one channel, as the first of them is."""
    return np.shape(next(iter(X[:1])))[:-1] == (1,)


def _axes(item: Any) -> float:
    if isinstance(item, (list, tuple)):  # an empty one may hold anything
        return 1 + (_axes(item[0]) if item else np.inf)
    return float(getattr(item, "ndim", 0))


def take(X: Any, rows: Sequence[int] | np.ndarray) -> Any:
    """Return the samples ``rows`` of ``X``, in that order, in X's own kind of container where it has one."""
    rows = np.asarray(rows, dtype=np.intp)
    if isinstance(X, np.ndarray) or issparse(X):
        return X[rows]
    if isinstance(X, RowSource):
        return X.take(rows)
    if hasattr(X, "iloc"):
        return X.iloc[rows]
    return [X[int(row)] for row in rows]


def span(X: Any, rows: slice) -> Any:
    """Return consecutive samples of ``X``; a view where X can give one."""
    return X.iloc[rows] if hasattr(X, "iloc") else X[rows]


def whole_series(X: Any) -> Any:
    """Return a list of series (channels, moments) where X is a data frame with a row for each time point of each of
    them.

    Its index has two levels then, the series and the time point, as sktime's has. All else stays as it is.
    """
    if getattr(X, "ndim", 0) != 2 or getattr(getattr(X, "index", None), "nlevels", 1) != 2:
        return X
    return [one.to_numpy().T for _, one in X.groupby(level=0, sort=False)]


def items(X: Any) -> Any:
    """Return the samples of ``X`` one by one: rows of a data frame as named tuples, of a sparse matrix as arrays."""
    if issparse(X):
        return (X[[row]].toarray()[0] for row in range(X.shape[0]))
    return X.itertuples(index=False) if hasattr(X, "itertuples") else iter(X)


def check_one_shape(X: Any, what: str) -> None:
    """Refuse a list of arrays of different shapes, which no array can hold."""
    if isinstance(X, (list, tuple)):
        shapes = {np.shape(item) for item in X if hasattr(item, "shape")}
        if len(shapes) > 1:
            first, second, *_ = sorted(shapes)
            raise ValueError(
                f"{what} must all have one shape here, got {first} and {second}; resize or crop them first"
            )


def evenly_spaced(X: Any, at_most: int) -> Any:
    """Return ``X`` itself if it is short enough, else ``at_most`` of its samples spread over the whole of it.

    Those of a source are in memory then.
    """
    n = n_rows(X)
    if n <= at_most:
        return X[:] if isinstance(X, RowSource) else X
    return take(X, np.linspace(0, n - 1, at_most).astype(int))
