"""Records: rows of numbers, categories and dates, some of them missing."""

from collections.abc import Mapping
from typing import Any, ClassVar, Self

import numpy as np

from besvm._support.parameters import check_choice, is_number, shown
from besvm._support.records import names_of, values_of
from besvm._support.rows import n_rows, take
from besvm._support.threads import slices, thread_map
from besvm.similarities.contract import register
from besvm.similarities.distance import HOW, Distances, DistanceSimilarity
from besvm.similarities.match import Match
from besvm.similarities.record_columns import Values, codes_of, read

TILE_ROWS = 64
FARTHEST = 1e6  # ranges: what lies farther out is as far, so that float32 holds it


@register("gower")
class Gower(DistanceSimilarity):
    """How alike two records are, column by column, by Gower's measure.

    As defined in [1]_, s(b, x) = Σ w_k s_k / Σ w_k over the columns k in which neither record's value is missing. For
    numbers, dates and durations, ``s_k = max(0, 1 - |b_k - x_k| / range)``, with the range that the column has in the
    training rows: a new value may lie outside it, and two values that are farther apart than the range are not alike
    at all. For categories (texts, True and False, pandas' categories) s_k is 1 if they are equal and else 0, also of
    those that no training row has; so it is for a column that is constant in training. Two records that have no column
    in common get 0.

    s is positive semi-definite where nothing is missing, and in general not.

    X is a DataFrame, a structured array, an array with two axes, or a list of dicts or tuples. The columns are those of
    the training rows; in new ones they may come in another order, and more columns are left aside.

    Parameters
    ----------
    weights : dict or list, optional
        What each column weighs: by name (1 where none is given), or in order. A column of weight 0 is not looked at.
    categories : list, optional
        Columns of numbers that stand for categories, so that only being equal counts.
    how : {"exponential", "gaussian", "inverse", "log", "negative", "complement"}, default="exponential"
        "complement" is s itself, a sum over the columns: a classifier of it cannot tell what depends on two columns at
        once. The others make a similarity of the distance 1 - s, as in :class:`FromDistance`.
    scale : float or "auto", default="auto"
        Of all but "complement", as in :class:`FromDistance`.

    Attributes
    ----------
    columns_ : list
        The columns that are compared.
    families_ : list of str
        What each holds: "number", "date", "duration", "truth value", "text", ...
    lowest_, ranges_ : ndarray
        The least value of each column and the length of its range; NaN where only being equal counts.

    References
    ----------
    .. [1] Gower. A General Coefficient of Similarity and Some of Its Properties. Biometrics 27(4), 1971.

    Examples
    --------
    >>> import pandas as pd
    >>> from besvm.similarities import Gower
    >>> X = pd.DataFrame({"age": [20, 30, None], "city": ["Rome", "Oslo", "Rome"]})
    >>> Gower(how="complement").fit(X)(X, X)
    array([[1., 0., 1.],
           [0., 1., 0.],
           [1., 0., 1.]], dtype=float32)
    """

    kind: ClassVar[str] = "records"
    missing: ClassVar[bool] = True

    def __init__(
        self, weights: Any = None, categories: Any = None, *, how: str = "exponential", scale: float | str = "auto"
    ) -> None:
        self.weights = weights
        self.categories = categories
        self.how = how
        self.scale = scale

    def fit(self, X: Any, sample_weight: Any = None) -> Self:
        """Find out what the columns hold, and their ranges; rows of weight 0 do not count."""
        check_choice("how", self.how, (*HOW, "complement"))
        if sample_weight is not None:
            X = take(X, np.flatnonzero(np.asarray(sample_weight) > 0))
        names = names_of(X)
        if not names:
            raise ValueError("records must have at least one column to be compared by, got none; add one")
        weights = self._weights(names)
        categories = self._categories(names)
        self.columns_ = [name for name, weight in zip(names, weights, strict=True) if weight > 0]
        self.weights_ = weights[weights > 0]
        self.families_: list[str | None] = []
        bounds = []
        for name in self.columns_:
            values = read(X, name, values_of(X, name), True if name in categories else None)
            self.families_.append(values.family)
            bounds.append((np.nan, np.nan))
            if not (values.categories or values.family is None):
                low, high = float(np.nanmin(values.items)), float(np.nanmax(values.items))
                if low < high and np.isfinite(high - low):
                    bounds[-1] = low, high - low
        self.lowest_, self.ranges_ = np.array(bounds).T
        if self.how != "complement":
            super().fit(X)
        return self

    def against(self, basis: Any) -> Distances:
        if self.how != "complement":
            return super().against(basis)
        distances = self.distances_to(basis)
        return lambda A: np.subtract(1, d := distances(A), out=d)

    def distances_to(self, basis: Any) -> Distances:
        from besvm.similarities.record_kernels import gower_tile

        if not hasattr(self, "ranges_"):
            raise ValueError("Gower needs the training rows to find the ranges of the columns; call fit(X) first")
        n = len(self.columns_)
        if any(held.shape != (n,) for held in (self.weights_, self.lowest_, self.ranges_)):
            raise ValueError(f"there must be a weight and a range for each of {n} columns; call fit(X) again")
        measured = np.isfinite(self.ranges_)
        columns = self._read(basis)
        exemplars = self._scaled(columns)  # (exemplars, p)
        items = [column.items for column in columns if column.categories]
        known = [{item: code for code, item in enumerate(dict.fromkeys(one))} for one in items]
        codes = self._coded(items, known, n_rows(basis))  # (exemplars, q)
        packed = (
            np.ascontiguousarray(np.nan_to_num(exemplars).T),
            _packed_weights(~np.isnan(exemplars), self.weights_[measured]),
            np.ascontiguousarray(codes.T),
            _packed_weights(codes >= 0, self.weights_[~measured]),
        )

        def distances(A: Any) -> np.ndarray:
            columns = self._read(A)
            numbers = self._scaled(columns)
            items = [column.items for column in columns if column.categories]
            own = self._coded(items, known, len(numbers))
            out = np.empty((len(numbers), len(exemplars)), dtype=np.float32)

            def work(rows: slice) -> None:
                gower_tile(numbers[rows], own[rows], *packed, out[rows])

            for _ in thread_map(work, slices(len(out), TILE_ROWS)):
                pass
            return out

        return distances

    def bytes_a_row(self, sample: int, n_exemplars: int) -> int:
        return 4 * sample + 4 * n_exemplars

    def show(self, x: Any, b: Any) -> Match:
        both = [{name: _value(record, name, k) for k, name in enumerate(self.columns_)} for record in (x, b)]
        columns = self._read(both)
        values = []
        for name, column, extent in zip(self.columns_, columns, self.ranges_, strict=True):
            here, there = column.items
            missing = any(one is None or one != one for one in (here, there))
            alike = 0.0 if missing else float(here == there)
            if not (missing or column.categories):
                alike = max(0.0, 1 - abs(here - there) / extent)
            values.append((name, both[0][name], both[1][name], alike))
        return Match(values=values)

    def _read(self, X: Any) -> list[Values]:
        """Return the values of every column, which must be of the family that it had in training."""
        out = []
        for name, family, extent in zip(self.columns_, self.families_, self.ranges_, strict=True):
            values = read(X, name, values_of(X, name), bool(np.isnan(extent)))
            if not _agree(family, values.family):
                raise TypeError(
                    f"column {name!r} must hold {family} values, as in the training rows, got {values.family} values"
                )
            out.append(values)
        return out

    def _scaled(self, columns: list[Values]) -> np.ndarray:
        """Return the columns that have a range, as float32 in units of that, NaN where missing: (records, p)."""
        chosen = np.flatnonzero(np.isfinite(self.ranges_))
        out = np.empty((_length(columns), len(chosen)), dtype=np.float32)
        for place, column in enumerate(chosen):
            numbers = columns[column].items
            with np.errstate(over="ignore"):
                units = (numbers - self.lowest_[column]) / self.ranges_[column]
            out[:, place] = np.clip(units, -FARTHEST, FARTHEST)
        return out

    def _coded(self, items: list[list[Any]], known: list[dict[Any, int]], n: int) -> np.ndarray:
        """Return the categories as numbers: (records, q)."""
        out = np.empty((n, len(items)), dtype=np.int32)
        for place, (one, codes) in enumerate(zip(items, known, strict=True)):
            out[:, place] = codes_of(one, codes)
        return out

    def _weights(self, names: list[Any]) -> np.ndarray:
        given = self.weights
        if given is None:
            return np.ones(len(names))
        if isinstance(given, Mapping):
            self._check_known("weights", list(given), names)
            given = [given.get(name, 1.0) for name in names]
        given = list(given) if hasattr(given, "__iter__") and not isinstance(given, str) else given
        right = isinstance(given, list) and len(given) == len(names) and all(is_number(w) and w >= 0 for w in given)
        if not (right and any(given)):
            raise ValueError(
                f"weights must be a finite number >= 0 for each of the {len(names)} columns, not all 0, "
                f"got {shown(self.weights)}"
            )
        return np.array(given, dtype=np.float64)

    def _categories(self, names: list[Any]) -> list[Any]:
        if self.categories is None:
            return []
        if isinstance(self.categories, str) or not hasattr(self.categories, "__iter__"):
            raise TypeError(f"categories must be a list of columns, got {shown(self.categories)}")
        self._check_known("categories", list(self.categories), names)
        return list(self.categories)

    @staticmethod
    def _check_known(what: str, columns: list[Any], names: list[Any]) -> None:
        for column in columns:
            if column not in names:
                raise ValueError(f"{what} must name columns of X, which are {shown(names)}, got {shown(column)}")


def _agree(fitted: str | None, found: str | None) -> bool:
    """Say whether values of one family can be compared with those of another: True and False are numbers too."""
    if fitted is None or found is None or fitted == found:
        return True
    return {fitted, found} == {"number", "truth value"}


def _value(record: Any, name: Any, place: int) -> Any:
    """Return a value of one record by the name of its column; by its place, where pandas had to rename it."""
    if hasattr(record, "_fields"):
        return getattr(record, name) if isinstance(name, str) and name in record._fields else record[place]
    return record[name]


def _length(columns: list[Values]) -> int:
    return len(columns[0].items)


def _packed_weights(there: np.ndarray, weights: np.ndarray) -> np.ndarray:
    """Return what every column of every exemplar weighs, 0 where its value is missing: (columns, exemplars)."""
    return np.ascontiguousarray((there * weights).T, dtype=np.float32)
