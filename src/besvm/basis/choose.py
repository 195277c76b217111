"""What a user may pass as ``basis``, and the rows or exemplars it means."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Mapping, Set
from copy import copy
from dataclasses import dataclass, replace
from hashlib import blake2b
from typing import Any

import numpy as np
from scipy.sparse import issparse

from besvm._support.parameters import is_whole, shown
from besvm._support.row_source import RowSource
from besvm._support.rows import items, n_rows, take
from besvm.basis.contract import BasisSelector, BlindSelector, RandomBasis, RowClasses, check_size, subsample
from besvm.blocks.state import Values
from besvm.similarities.contract import Similarity

AUTO_SIZE = 1000


@dataclass(frozen=True)
class Chosen:
    """The exemplars: rows of the training data or, where ``rows`` is None, the items themselves."""

    rows: np.ndarray | None
    items: Any = None


@dataclass(frozen=True)
class Candidates:
    """What there is to choose from: the training rows, their classes, and what each weighs."""

    X: Any
    y: Any  # an array, None, or RowClasses where they are not in memory
    similarity: Similarity  # of the raw samples
    weights: Values | None = None
    room: float = np.inf  # bytes that choosing may take

    @property
    def elsewhere(self) -> RowClasses | None:
        """The classes of the rows, if they are not in memory."""
        return self.y if isinstance(self.y, RowClasses) else None

    @property
    def rows(self) -> np.ndarray:
        """The rows that weigh anything: only they may be chosen, since a weight of 0 is as good as no row."""
        return np.arange(n_rows(self.X)) if self.weights is None else np.flatnonzero(np.asarray(self.weights))

    @property
    def n(self) -> int:
        """How many rows weigh anything."""
        return len(self.rows) if self.elsewhere is None else sum(self.elsewhere.sizes)

    def some(self, at_most: int, rng: np.random.Generator) -> np.ndarray:
        """Return the rows that weigh anything, or ``at_most`` of them at random, in ascending order."""
        if self.elsewhere is None:
            return subsample(self.rows, at_most, rng)
        n = self.n
        ranks = np.arange(n) if n <= at_most else np.sort(rng.choice(n, at_most, replace=False))
        return self.elsewhere.together().rows_at([ranks])[0]

    def first(self) -> np.ndarray:
        """Return the first row that weighs anything."""
        return self.rows[:1] if self.elsewhere is None else self.elsewhere.together().rows_at([np.arange(1)])[0]

    def here(self) -> Candidates:
        """Return the same with all classes and weights in memory, for who looks at all of them."""
        if self.elsewhere is None:
            return self
        return replace(self, y=np.asarray(self.y), weights=None if self.weights is None else np.asarray(self.weights))


class _Choice(ABC):
    """One of the meanings of ``basis``."""

    @abstractmethod
    def __call__(self, among: Candidates, rng: np.random.Generator) -> Chosen:
        """Choose."""

    def named_rows(self, n: int) -> np.ndarray | None:
        """Return the rows, of n, that are named by number, checked; None if there are none."""
        return None


@dataclass(frozen=True)
class Exemplars(_Choice):
    """Exemplars given outright: things of the same kind as the samples, from anywhere.

    Parameters
    ----------
    items : samples
        The exemplars, as the measures compare them.

    Examples
    --------
    >>> from besvm import BasisExpansion
    >>> from besvm.basis import Exemplars
    >>> BasisExpansion("linear", basis=Exemplars([[1.0, 0.0]]), normalize=None).fit_transform([[3.0, 4.0]])
    array([[3.]], dtype=float32)
    """

    items: Any

    def __call__(self, among: Candidates, rng: np.random.Generator) -> Chosen:
        if among.similarity.precomputed:
            raise ValueError(
                "the basis of precomputed similarities must be row numbers, got exemplars; pass their rows instead"
            )
        return Chosen(None, self.items)


@dataclass(frozen=True)
class _Rows(_Choice):
    """Rows by number."""

    rows: Any

    def __call__(self, among: Candidates, rng: np.random.Generator) -> Chosen:
        return Chosen(self.named_rows(n_rows(among.X)))

    def named_rows(self, n: int) -> np.ndarray:
        return _checked_rows(self.rows, n, "basis rows")


@dataclass(frozen=True)
class _Selected(_Choice):
    """Rows that a selector, or a function of the user's, chooses from those that weigh anything."""

    selector: Any

    def __call__(self, among: Candidates, rng: np.random.Generator) -> Chosen:
        if among.elsewhere is not None and isinstance(self.selector, BlindSelector):
            return Chosen(self.selector.choose(among.elsewhere, rng))
        among = among.here()
        X, y, rows = among.X, among.y, among.rows
        if len(rows) < n_rows(X):  # the others it does not even see
            X, y = among.similarity.subset(X, rows), None if y is None else y[rows]
        selector = self.selector
        if isinstance(selector, BasisSelector):
            selector = copy(selector)  # what the user gave stays as it is
            selector.room = among.room
        chosen = _checked_rows(selector(X, y, among.similarity, rng), len(rows), "the selector's rows")
        return Chosen(rows[chosen])


class _Auto(_Choice):
    """Up to 1,000 random rows, classes balanced and, of vectors, none twice; all columns of precomputed similarities.

    A square matrix of precomputed similarities is no exception: cross-validation cuts its rows and leaves the columns,
    and must make the same kind of model from what is left.
    """

    def __call__(self, among: Candidates, rng: np.random.Generator) -> Chosen:
        X = among.X
        if among.similarity.precomputed:
            columns = np.arange(X.shape[1])
            return Chosen(columns) if X.shape[0] == X.shape[1] else Chosen(None, columns)
        select = RandomBasis(min(AUTO_SIZE, among.n))
        if among.elsewhere is None:
            rows = among.rows
            rows = rows[select(rows, None if among.y is None else among.y[rows], among.similarity, rng)]
        else:
            rows = select.choose(among.elsewhere, rng)
        if among.similarity.vectors:
            rows = rows[_first_of_copies(X, rows)]
        return Chosen(rows)


def _first_of_copies(X: Any, rows: np.ndarray) -> list[int]:
    """Return the places of the rows that differ from all before them, looked at one by one: they may be wide."""
    places: dict[bytes, int] = {}
    apart = issparse(X) or isinstance(X, RowSource)  # of an array, rows are views
    for place, vector in enumerate(items(take(X, rows) if apart else (X[row] for row in rows))):
        places.setdefault(blake2b((np.asarray(vector) + 0.0).tobytes()).digest(), place)  # no -0.0
    return list(places.values())


def as_choice(basis: Any) -> _Choice:
    """Return what a user means by "auto", a number, row numbers, exemplars, a selector or a function."""
    if isinstance(basis, np.ndarray) and basis.ndim == 0:
        basis = basis.item()
    if isinstance(basis, _Choice):
        return basis
    if isinstance(basis, str) and basis == "auto":
        return _Auto()
    if isinstance(basis, (int, float, complex, np.number)) and not isinstance(basis, bool):
        check_size("basis", basis)
        return _Selected(RandomBasis(basis))  # type: ignore[arg-type]
    if isinstance(basis, type):
        raise TypeError(
            f"basis must be an instance, got the class {basis.__name__}; write {basis.__name__}(...) with parentheses"
        )
    if callable(basis):
        return _Selected(basis)
    if isinstance(basis, (bool, str, bytes, Set, Mapping)) or not hasattr(basis, "__len__"):
        raise ValueError(
            f"basis must be 'auto', a number, a share, row numbers, exemplars or a selector, got {shown(basis)}"
        )
    return _Rows(basis) if _looks_like_rows(basis) else Exemplars(basis)


def is_auto(basis: Any) -> bool:
    """Say whether a user leaves the choice to us."""
    return isinstance(as_choice(basis), _Auto)


def choose_basis(basis: Any, among: Candidates, rng: np.random.Generator) -> Chosen:
    """Return the exemplars that a user's ``basis`` means, checked."""
    choice = as_choice(basis)
    if among.similarity.precomputed and not isinstance(choice, _Auto):
        n, n_columns = among.X.shape[:2]
        if n != n_columns:
            raise ValueError(
                f"precomputed similarities must be square ({n} x {n}) when you choose a basis, got {n} x {n_columns}; "
                "use basis='auto' to take every column as an exemplar"
            )
    return choice(among, rng)


def _looks_like_rows(basis: Any) -> bool:
    if isinstance(basis, np.ndarray):
        return basis.ndim == 1 and basis.dtype.kind in "iub"
    return isinstance(basis, (list, tuple, range)) and all(map(is_whole, basis))


def _checked_rows(rows: Any, n: int, what: str) -> np.ndarray:
    rows = np.asarray(rows)
    if rows.ndim == 1 and rows.dtype == bool and len(rows) == n:
        rows = np.flatnonzero(rows)
    if rows.ndim != 1 or len(rows) == 0 or rows.dtype.kind not in "iu":
        raise ValueError(f"{what} must be a list of at least one row number, got {shown(rows)}")
    outside = rows[(rows < 0) | (rows >= n)]
    if len(outside):
        raise ValueError(f"{what} must be between 0 and {n - 1} (there are {n} rows), got {outside[0]}")
    values, counts = np.unique(rows, return_counts=True)
    if counts.max() > 1:
        raise ValueError(f"{what} must not repeat, got row {values[counts.argmax()]} {counts.max()} times")
    return rows.astype(np.intp)
