"""One column of records, or several: what a measure of its own compares."""

from typing import Any, Self

import numpy as np
from sklearn.base import BaseEstimator, TransformerMixin

from besvm._support.parameters import shown
from besvm._support.records import as_float, is_missing, is_number, place_of, row_name, values_of
from besvm._support.rows import n_rows

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
            values = values_of(X, self.column)
            return self._as_vectors(X, self.column, values) if self.vectors else _numbers_or_items(X, values)
        if not self.column:
            raise ValueError("column must name at least one column, got an empty list")
        several = [values_of(X, column) for column in self.column]
        if self.vectors:
            return np.hstack([self._as_vectors(X, *pair) for pair in zip(self.column, several, strict=True)])
        parts = [_numbers_or_items(X, values) for values in several]
        if all(isinstance(part, np.ndarray) for part in parts):
            return np.hstack(parts)
        if hasattr(X, "iloc"):
            return X.iloc[:, [place_of(X, column) for column in self.column]]
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
                        f"{got} in row {row_name(X, row)}; use a similarity for such items, or features that turn them "
                        "into numbers"
                    )
            out = np.stack([np.asarray(value) for value in out]).reshape(len(out), -1)
            out = out if out.dtype == np.float32 else out.astype(np.float64)
        finite = np.isfinite(out).all(axis=1)
        if not finite.all():
            row = int(finite.argmin())
            raise ValueError(
                f"column {column!r} must hold finite numbers to be compared as vectors, got "
                f"{shown(out[row][~np.isfinite(out[row])][0].item())} in row {row_name(X, row)}; remove such rows, "
                "put an imputer into features, or compare records with 'gower'"
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


def _numbers_or_items(X: Any, values: Any) -> Any:
    """Return a column of numbers as an array of shape (n, 1), in which missing ones are NaN; any other as a list."""
    dtype = getattr(values, "dtype", None)
    if getattr(dtype, "kind", "O") in NUMBERS:
        exact = np.float32 if dtype == np.float32 else np.float64
        if hasattr(values, "iloc"):
            return values.to_numpy(dtype=exact, na_value=np.nan).reshape(-1, 1)
        return np.asarray(values, dtype=exact).reshape(len(values), -1)
    items = list(values)
    numbers = [is_number(item) for item in items]
    if not any(numbers):
        return items
    for row, (item, number) in enumerate(zip(items, numbers, strict=True)):
        if not (number or is_missing(item)):
            first = items[numbers.index(True)]
            raise TypeError(
                f"a column must hold values of one kind, got the number {shown(first)} in row "
                f"{row_name(X, numbers.index(True))} and {shown(item)} in row {row_name(X, row)}"
            )
    return np.array([[as_float(item) if number else np.nan] for item, number in zip(items, numbers, strict=True)])


def _objects(values: Any) -> np.ndarray:
    out = np.empty(len(values), dtype=object)
    out[:] = list(values)
    return out
