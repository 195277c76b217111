"""Columns of records, whatever holds them: a data frame, an array, a list of dicts or tuples."""

from collections.abc import Mapping
from difflib import get_close_matches
from numbers import Real
from typing import Any

import numpy as np

from besvm._support.parameters import is_whole, shown
from besvm._support.rows import n_rows


def is_frame(X: Any) -> bool:
    """Say whether X is a data frame, or something that is used like one."""
    return hasattr(X, "iloc") and hasattr(X, "columns")


def names_of(X: Any) -> list[Any]:
    """Return what the columns of records are called: by names, or by their places."""
    if is_frame(X):
        return list(X.columns)
    names = getattr(getattr(X, "dtype", None), "names", None)
    if names is not None:
        return list(names)
    if isinstance(X, np.ndarray) and X.ndim == 2:
        return list(range(X.shape[1]))
    first = X[0] if n_rows(X) and not hasattr(X, "shape") else None
    if isinstance(first, Mapping):
        return list(first)
    if isinstance(first, tuple):
        return list(getattr(first, "_fields", range(len(first))))
    got = type(X if first is None else first).__name__
    raise TypeError(f"records must be a DataFrame, an array with two axes, dicts or tuples, got {got}")


def values_of(X: Any, column: Any) -> Any:
    """Return a column as X holds it: a Series, an array, or a list."""
    if is_frame(X):
        return X.iloc[:, place_of(X, column)]
    names = getattr(getattr(X, "dtype", None), "names", None)
    if names is not None:
        if column not in names:
            raise _unknown(column, names)
        return X[column]
    if isinstance(X, np.ndarray) and X.ndim > 1:
        if not (is_whole(column) and -X.shape[1] <= column < X.shape[1]):
            raise _unknown(column, range(X.shape[1]))
        return X[:, column]
    return [_part(row, column, place) for place, row in enumerate(X)]


def place_of(X: Any, column: Any) -> int:
    """Return the place of a column of a data frame."""
    found = np.flatnonzero([name == column for name in X.columns])
    if len(found) > 1:
        raise ValueError(f"X must have one column {column!r}, got {len(found)}; rename them")
    if len(found):
        return int(found[0])
    if is_whole(column) and -X.shape[1] <= column < X.shape[1]:
        return int(column)
    raise _unknown(column, X.columns)


def _part(row: Any, column: Any, place: int) -> Any:
    if isinstance(row, Mapping):
        if column not in row:
            raise _unknown(column, row)
        return row[column]
    if isinstance(row, tuple):
        if isinstance(column, str) and column in getattr(row, "_fields", ()):
            return getattr(row, column)
        if is_whole(column) and -len(row) <= column < len(row):
            return row[column]
        raise _unknown(column, getattr(row, "_fields", range(len(row))))
    raise TypeError(
        f"column={column!r} needs records (a DataFrame, a structured array, dicts, tuples), "
        f"got a {type(row).__name__} in row {place}"
    )


def _unknown(column: Any, known: Any) -> ValueError:
    names = list(known)
    near = get_close_matches(str(column), [str(name) for name in names], n=1, cutoff=0.5)
    hint = f"did you mean {near[0]!r}?" if near else f"its columns are {shown(names)}"
    return ValueError(f"X has no column {shown(column)}; {hint}")


def is_number(item: Any) -> bool:
    """Say whether an item is a real number, True and False among them, and not NaN."""
    return isinstance(item, (Real, np.bool_)) and item == item


def as_float(item: Any) -> float:
    """Return a real number as a float; infinity if it is a whole number that no float can hold."""
    try:
        return float(item)
    except OverflowError:
        return float("inf" if item > 0 else "-inf")


def is_missing(item: Any) -> bool:
    """Say whether an item stands for a missing value: None, NaN, pd.NA, pd.NaT."""
    if item is None:
        return True
    if hasattr(item, "__len__"):
        return False
    try:
        return not bool(item == item)
    except TypeError:  # pd.NA is neither
        return True


def row_name(X: Any, row: int) -> Any:
    """Return what a message calls a row: of a data frame, its index, which a block of it keeps."""
    name = X.index[row] if hasattr(X, "iloc") else row
    return name.item() if isinstance(name, np.generic) else name
