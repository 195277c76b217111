"""One column of records, or several: what a measure of its own compares."""

from collections.abc import Mapping
from difflib import get_close_matches
from numbers import Real
from typing import Any, Self

import numpy as np
from sklearn.base import BaseEstimator, TransformerMixin

from besvm._support.rows import n_rows
from besvm._support.validation import is_whole, shown

NUMBERS = "biuf"  # kinds of dtypes


class Column(TransformerMixin, BaseEstimator):  # type: ignore[misc]
    """A column of records, as what is compared: put before the features of a measure by ``Measure(column=...)``.

    A column of numbers becomes an array of shape (n, 1), any other a list of its values: texts, arrays, sets. Several
    columns become an array of shape (n, k) if all are of numbers, and else stay records. It learns nothing.

    Parameters
    ----------
    column : str, int or list
        The name of a column of a DataFrame, of a field of a structured array, or of a key of dicts; the place of a
        column of an array or of a part of tuples (also of a DataFrame none of whose columns is called by that number).
        A list means several columns.
    vectors : bool, default=False
        Whether to give finite numbers alone, for a similarity of vectors: a column of arrays then becomes one array,
        and what is missing or no number is refused by name.

    Examples
    --------
    >>> import pandas as pd
    >>> from besvm.features import Column
    >>> people = pd.DataFrame({"name": ["Ann", "Bob"], "age": [31, 44], "height": [1.6, 1.8]})
    >>> Column("name").transform(people)
    ['Ann', 'Bob']
    >>> Column(["age", "height"]).transform(people)
    array([[31. ,  1.6],
           [44. ,  1.8]])
    """

    chooses_column = True  # so that variants of a sample are made of the column, and described then

    def __init__(self, column: Any, *, vectors: bool = False) -> None:
        self.column = column
        self.vectors = vectors

    def fit(self, X: Any, y: Any = None) -> Self:
        """Check that X has the column; there is nothing to learn."""
        self.transform(X)
        return self

    def transform(self, X: Any) -> Any:
        """Return the column of the records X, or the columns."""
        if not isinstance(self.column, list):
            values = _values(X, self.column)
            return self._as_vectors(X, self.column, values) if self.vectors else _numbers_or_items(X, values)
        if not self.column:
            raise ValueError("column must name at least one column, got an empty list")
        several = [_values(X, column) for column in self.column]
        if self.vectors:
            return np.hstack([self._as_vectors(X, *pair) for pair in zip(self.column, several, strict=True)])
        parts = [_numbers_or_items(X, values) for values in several]
        if all(isinstance(part, np.ndarray) for part in parts):
            return np.hstack(parts)
        if hasattr(X, "iloc"):
            return X.iloc[:, [_place(X, column) for column in self.column]]
        if getattr(X, "dtype", None) is not None and X.dtype.names:
            return X[self.column]
        records = np.empty((n_rows(X), len(several)), dtype=object)
        for place, values in enumerate(several):
            records[:, place] = _objects(values)
        return records

    def _as_vectors(self, X: Any, column: Any, values: Any) -> np.ndarray:
        """Return the finite numbers of a column, a row for each record; say in which one is something else."""
        out = _numbers_or_items(X, values)
        if not isinstance(out, np.ndarray):
            shape = np.shape(out[0]) if len(out) else ()
            for row, value in enumerate(out):
                kind = getattr(np.asarray(value), "dtype", np.dtype(object)).kind
                if np.ndim(value) == 0 or kind not in NUMBERS or np.shape(value) != shape:
                    got = shown(value) if np.ndim(value) == 0 or kind not in NUMBERS else f"the shape {np.shape(value)}"
                    raise ValueError(
                        f"column {column!r} must hold numbers, or arrays of one shape, to be compared as vectors, got "
                        f"{got} in row {_name(X, row)}; choose a similarity of such items, or features that make "
                        "numbers of them"
                    )
            out = np.stack([np.asarray(value) for value in out]).reshape(len(out), -1)
            out = out if out.dtype == np.float32 else out.astype(np.float64)
        finite = np.isfinite(out).all(axis=1)
        if not finite.all():
            row = int(finite.argmin())
            raise ValueError(
                f"column {column!r} must hold finite numbers to be compared as vectors, got "
                f"{shown(out[row][~np.isfinite(out[row])][0].item())} in row {_name(X, row)}; leave such rows out, put "
                "an imputer into features, or compare records by 'gower'"
            )
        return out

    def __sklearn_is_fitted__(self) -> bool:
        return True

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.requires_fit = False
        tags.no_validation = True
        tags.input_tags.two_d_array = False
        return tags


def _values(X: Any, column: Any) -> Any:
    """Return a column as X holds it: a Series, an array, or a list."""
    if hasattr(X, "iloc") and hasattr(X, "columns"):
        return X.iloc[:, _place(X, column)]
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


def _place(X: Any, column: Any) -> int:
    """Return the place of a column of a DataFrame."""
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


def _numbers_or_items(X: Any, values: Any) -> Any:
    """Return a column of numbers as an array of shape (n, 1), in which missing ones are NaN; any other as a list."""
    dtype = getattr(values, "dtype", None)
    if getattr(dtype, "kind", "O") in NUMBERS:
        exact = np.float32 if dtype == np.float32 else np.float64
        if hasattr(values, "iloc"):
            return values.to_numpy(dtype=exact, na_value=np.nan).reshape(-1, 1)
        return np.asarray(values, dtype=exact).reshape(len(values), -1)
    items = list(values)
    numbers = [_is_number(item) for item in items]
    if not any(numbers):
        return items
    for row, (item, number) in enumerate(zip(items, numbers, strict=True)):
        if not (number or _is_missing(item)):
            first = items[numbers.index(True)]
            raise TypeError(
                f"a column must hold values of one kind, got the number {shown(first)} in row "
                f"{_name(X, numbers.index(True))} and {shown(item)} in row {_name(X, row)}"
            )
    return np.array([[float(item) if number else np.nan] for item, number in zip(items, numbers, strict=True)])


def _is_number(item: Any) -> bool:
    return isinstance(item, (Real, np.bool_)) and item == item


def _is_missing(item: Any) -> bool:
    """Say whether an item stands for a missing value: None, NaN, pd.NA, pd.NaT."""
    if item is None:
        return True
    if hasattr(item, "__len__"):
        return False
    try:
        return not bool(item == item)
    except TypeError:  # pd.NA is neither
        return True


def _objects(values: Any) -> np.ndarray:
    out = np.empty(len(values), dtype=object)
    out[:] = list(values)
    return out


def _name(X: Any, row: int) -> Any:
    """Return what a message calls a row: of a DataFrame, its index, which a block of it keeps."""
    name = X.index[row] if hasattr(X, "iloc") else row
    return name.item() if isinstance(name, np.generic) else name
