"""Choose which training rows become the basis."""

from __future__ import annotations

from abc import ABC, abstractmethod
from dataclasses import dataclass
from importlib import import_module
from typing import TYPE_CHECKING, Any

import numpy as np
from scipy.sparse import issparse
from sklearn.base import BaseEstimator

from besvm._rows import n_rows, take
from besvm._validate import check_count
from besvm.similarities.base import Similarity
from besvm.similarities.precomputed import Precomputed

if TYPE_CHECKING:
    from besvm.data_driven import FarthestBasis, GradientBasis, PivotedBasis

__all__ = [
    "Exemplars",
    "FarthestBasis",
    "GradientBasis",
    "IndexBasis",
    "KMedoidsBasis",
    "PivotedBasis",
    "RandomBasis",
]
AUTO_SIZE = 1000


def __getattr__(name: str) -> Any:
    if name in __all__:  # the data-driven selectors need the solver, and this module must not
        return getattr(import_module("besvm.data_driven"), name)
    raise AttributeError(f"module 'besvm.basis' has no attribute {name!r}")


class BasisSelector(BaseEstimator, ABC):  # type: ignore[misc]
    """Abstract: a function (X, y, similarity, rng) -> row numbers, with its parameters."""

    @abstractmethod
    def __call__(self, X: Any, y: np.ndarray | None, similarity: Similarity, rng: np.random.Generator) -> np.ndarray:
        """Return the numbers of the chosen rows of X."""


class RandomBasis(BasisSelector):
    """Rows drawn at random ("Rand" in the paper).

    Parameters
    ----------
    n : int, optional
        How many rows in all. With class labels they are spread evenly over the classes, as far as the classes go.
    per_class : int, optional
        How many rows of each class, instead of ``n``.
    balanced : bool, default=True
        Whether ``n`` rows are spread evenly over the classes, rather than drawn whatever their class.

    Examples
    --------
    >>> from besvm.basis import RandomBasis
    >>> y = np.array([0] * 90 + [1] * 10)
    >>> rows = RandomBasis(8)(np.zeros((100, 1)), y, None, np.random.default_rng(0))
    >>> np.bincount(y[rows])
    array([4, 4])
    """

    def __init__(self, n: int | None = None, *, per_class: int | None = None, balanced: bool = True) -> None:
        self.n = n
        self.per_class = per_class
        self.balanced = balanced

    def __call__(self, X: Any, y: np.ndarray | None, similarity: Similarity, rng: np.random.Generator) -> np.ndarray:
        """Return random rows, in ascending order."""
        pools = _pools(self, n_rows(X), y if self.balanced or self.per_class is not None else None)
        chosen = [rng.choice(pool.rows, pool.quota, replace=False) for pool in pools]
        return np.sort(np.concatenate(chosen))


class IndexBasis(BasisSelector):
    """The first rows of each class ("Indx" in the paper): no chance involved.

    Parameters
    ----------
    n : int, optional
        How many rows in all, spread evenly over the classes; without labels, the first ``n``.
    per_class : int, optional
        How many rows of each class, instead of ``n``.

    Examples
    --------
    >>> from besvm.basis import IndexBasis
    >>> IndexBasis(per_class=2)(np.zeros((6, 1)), np.array([0, 0, 0, 1, 0, 1]), None, None)
    array([0, 1, 3, 5])
    """

    def __init__(self, n: int | None = None, *, per_class: int | None = None) -> None:
        self.n = n
        self.per_class = per_class

    def __call__(self, X: Any, y: np.ndarray | None, similarity: Similarity, rng: np.random.Generator) -> np.ndarray:
        """Return the first rows of every class, in ascending order."""
        return np.sort(np.concatenate([pool.rows[: pool.quota] for pool in _pools(self, n_rows(X), y)]))


class KMedoidsBasis(BasisSelector):
    """Medoids under the similarity itself ("K KMed" in the paper): kernel k-medoids.

    The distance is the one the similarity implies, d(i, j) = s(i, i) + s(j, j) - s(i, j) - s(j, i), which needs neither
    to be symmetric nor positive definite. Assignment and update alternate until no medoid moves.

    Parameters
    ----------
    n : int, optional
        How many medoids in all, spread evenly over the classes, which are clustered one by one.
    per_class : int, optional
        How many medoids of each class, instead of ``n``.
    max_iter : int, default=50
    max_rows : int, default=4000
        A class (or, without labels, the whole of X) with more rows is clustered on a random subsample of this size,
        since the similarity of all pairs is needed.

    Examples
    --------
    >>> from besvm.basis import KMedoidsBasis
    >>> from besvm.similarities import RBF
    >>> X = np.array([[0.0], [0.1], [0.2], [5.0], [5.1], [5.2]])
    >>> KMedoidsBasis(2)(X, None, RBF(gamma=1.0), np.random.default_rng(0))
    array([1, 4])
    """

    def __init__(
        self, n: int | None = None, *, per_class: int | None = None, max_iter: int = 50, max_rows: int = 4000
    ) -> None:
        self.n = n
        self.per_class = per_class
        self.max_iter = max_iter
        self.max_rows = max_rows

    def __call__(self, X: Any, y: np.ndarray | None, similarity: Similarity, rng: np.random.Generator) -> np.ndarray:
        """Return the medoids, in ascending order."""
        chosen = []
        for pool in _pools(self, n_rows(X), y):
            rows = pool.rows
            if len(rows) > max(self.max_rows, pool.quota):
                rows = np.sort(rng.choice(rows, max(self.max_rows, pool.quota), replace=False))
            chosen.append(rows[_medoids(_implied_distance(X, rows, similarity), pool.quota, self.max_iter, rng)])
        return np.sort(np.concatenate(chosen))


def checked_similarities(
    similarity: Similarity,
    samples: Any,
    exemplars: Any,
    rows: np.ndarray,
    exemplar_rows: np.ndarray,
    dtype: Any = np.float64,
) -> np.ndarray:
    """Return the similarities of the samples (training rows ``rows``) to the exemplars, if they are sound."""
    S = np.array(similarity(samples, exemplars), dtype=dtype)  # a copy: it will be normalised in place
    if S.shape != (len(rows), len(exemplar_rows)):
        raise ValueError(
            f"the similarity {similarity.label!r} must return a matrix of shape {(len(rows), len(exemplar_rows))} "
            f"(samples, exemplars), got {S.shape}"
        )
    if not np.isfinite(S).all():
        i, j = np.argwhere(~np.isfinite(S))[0]
        raise ValueError(
            f"the similarity {similarity.label!r} must be finite, got {S[i, j]} "
            f"for the pair of training rows {exemplar_rows[j]} and {rows[i]}"
        )
    return S


def _implied_distance(X: Any, rows: np.ndarray, similarity: Similarity) -> np.ndarray:
    exemplars = similarity.exemplars(X, rows)
    S = checked_similarities(similarity, take(X, rows), exemplars, rows, rows, np.float32)
    own = np.diag(S)
    distance: np.ndarray = own[:, None] + own - S - S.T
    return distance


def _medoids(distance: np.ndarray, k: int, max_iter: int, rng: np.random.Generator) -> np.ndarray:
    n = len(distance)
    if k >= n:
        return np.arange(n)
    medoids = _spread_out(distance, k, rng)
    for _ in range(max_iter):
        owner = np.argmin(distance[:, medoids], axis=1)
        owner[medoids] = np.arange(k)  # a medoid stays with itself, whatever an indefinite similarity says
        moved = medoids.copy()
        for j in range(k):
            members = np.flatnonzero(owner == j)
            moved[j] = members[np.argmin(distance[np.ix_(members, members)].sum(axis=0))]
        if np.array_equal(moved, medoids):
            break
        medoids = moved
    return medoids


def _spread_out(distance: np.ndarray, k: int, rng: np.random.Generator) -> np.ndarray:
    """Return k starting medoids, each drawn with probability proportional to its distance from the ones before."""
    medoids = np.empty(k, dtype=np.intp)
    nearest = np.full(len(distance), np.inf)
    free = np.ones(len(distance), dtype=bool)
    for j in range(k):
        chance = np.where(free, np.maximum(nearest, 0), 0) if j else free.astype(float)
        if chance.sum() == 0:
            chance = free.astype(float)
        medoids[j] = rng.choice(len(distance), p=chance / chance.sum())
        free[medoids[j]] = False
        nearest = np.minimum(nearest, distance[:, medoids[j]])
    return medoids


# --- how many rows of which class -----------------------------------------------------------------------------


@dataclass(frozen=True)
class _Pool:
    """Rows of one class, and how many of them are wanted."""

    rows: np.ndarray
    quota: int


def _pools(selector: Any, n: int, y: np.ndarray | None) -> list[_Pool]:
    if (selector.n is None) == (selector.per_class is None):
        raise ValueError(f"{type(selector).__name__} takes either n or per_class, got {selector!r}")
    if selector.per_class is not None:
        if y is None:
            raise ValueError("per_class needs class labels; give y, or use n instead")
        wanted = check_count("per_class", selector.per_class)
        pools = []
        for label in np.unique(y):
            rows = np.flatnonzero(y == label)
            if wanted > len(rows):
                raise ValueError(
                    f"per_class must be at most {len(rows)} (the rows of class {label!s} to choose from), got {wanted}"
                )
            pools.append(_Pool(rows, wanted))
        return pools
    wanted = check_count("n", selector.n)
    if wanted > n:
        raise ValueError(f"the number of bases must be at most {n} (the rows to choose from), got {wanted}")
    if y is None:
        return [_Pool(np.arange(n), wanted)]
    rows_of = [np.flatnonzero(y == label) for label in np.unique(y)]
    quotas = _even_shares(wanted, [len(rows) for rows in rows_of])
    return [_Pool(rows, quota) for rows, quota in zip(rows_of, quotas, strict=True)]


def _even_shares(total: int, sizes: list[int]) -> list[int]:
    """Split ``total`` as evenly as the sizes allow; what a small class lacks goes to the others."""
    shares = [0] * len(sizes)
    left = total
    for place, i in enumerate(sorted(range(len(sizes)), key=lambda i: sizes[i])):
        share = min(sizes[i], left // (len(sizes) - place))
        shares[i] = share
        left -= share
    return shares


# --- what a user may pass as ``basis`` -------------------------------------------------------------------------


@dataclass(frozen=True)
class Exemplars:
    """Exemplars given outright: things of the same kind as the samples, from anywhere.

    Examples
    --------
    >>> from besvm import BasisExpansion
    >>> from besvm.basis import Exemplars
    >>> BasisExpansion("linear", basis=Exemplars([[1.0, 0.0]]), normalize=None).fit_transform([[3.0, 4.0]])
    array([[3.]], dtype=float32)
    """

    items: Any


def choose_rows(
    basis: Any,
    X: Any,
    y: np.ndarray | None,
    similarity: Similarity,
    rng: np.random.Generator,
    weights: np.ndarray | None = None,
) -> np.ndarray | Exemplars:
    """Return the rows of X (or the exemplars) that a user's ``basis`` means, checked."""
    n = n_rows(X)
    if isinstance(basis, Exemplars):
        return basis
    if isinstance(basis, str):
        if basis != "auto":
            raise ValueError(f"basis must be 'auto', a number, row numbers, exemplars or a selector, got {basis!r}")
        return _auto_rows(X, y, similarity, rng, _weighty(n, weights))
    if isinstance(basis, (int, np.integer)) and not isinstance(basis, bool):
        basis = RandomBasis(int(basis))
    if callable(basis):
        return _selected(basis, X, y, similarity, rng, _weighty(n, weights))
    if basis is None or isinstance(basis, (bool, float)):
        raise ValueError(f"basis must be 'auto', a number, row numbers, exemplars or a selector, got {basis!r}")
    rows = row_numbers(basis, n)
    return Exemplars(basis) if rows is None else rows


def row_numbers(basis: Any, n: int) -> np.ndarray | None:
    """Return the rows, of n, that a user's ``basis`` names by number, checked; None if it is anything else."""
    return _checked_rows(basis, n, "basis rows") if _looks_like_rows(basis) else None


def _weighty(n: int, weights: np.ndarray | None) -> np.ndarray:
    """Return the rows that weigh anything: only they may be chosen, since a weight of 0 is as good as no row."""
    return np.arange(n) if weights is None else np.flatnonzero(weights)


def _selected(
    selector: Any,
    X: Any,
    y: np.ndarray | None,
    similarity: Similarity,
    rng: np.random.Generator,
    candidates: np.ndarray,
) -> np.ndarray:
    """Return what a selector chooses from the candidates, which are all that it sees of X."""
    if len(candidates) < n_rows(X):
        X = take(X, candidates)
        X = X[:, candidates] if isinstance(similarity, Precomputed) else X
        y = None if y is None else y[candidates]
    rows = _checked_rows(selector(X, y, similarity, rng), len(candidates), "the selector's rows")
    return candidates[rows]


def _auto_rows(
    X: Any, y: np.ndarray | None, similarity: Similarity, rng: np.random.Generator, candidates: np.ndarray
) -> np.ndarray:
    """Return up to 1,000 random rows, classes balanced, none without weight and (of vectors) none twice."""
    select = RandomBasis(min(AUTO_SIZE, len(candidates)))
    rows = candidates[select(candidates, None if y is None else y[candidates], similarity, rng)]
    if similarity.vectors:
        vectors = X[rows].toarray() if issparse(X) else np.asarray(take(X, rows))
        rows = rows[np.sort(np.unique(vectors, axis=0, return_index=True)[1])]
    return rows


def _looks_like_rows(basis: Any) -> bool:
    if isinstance(basis, np.ndarray):
        return basis.ndim == 1 and basis.dtype.kind in "iub"
    return isinstance(basis, (list, tuple, range)) and all(
        isinstance(row, (int, np.integer)) and not isinstance(row, bool) for row in basis
    )


def _checked_rows(rows: Any, n: int, what: str) -> np.ndarray:
    rows = np.asarray(rows)
    if rows.ndim == 1 and rows.dtype == bool and len(rows) == n:
        rows = np.flatnonzero(rows)
    if rows.ndim != 1 or len(rows) == 0 or rows.dtype.kind not in "iu":
        raise ValueError(f"{what} must be a list of at least one row number, got {rows!r}")
    outside = rows[(rows < 0) | (rows >= n)]
    if len(outside):
        raise ValueError(f"{what} must lie between 0 and {n - 1} (there are {n} rows), got {outside[0]}")
    values, counts = np.unique(rows, return_counts=True)
    if counts.max() > 1:
        raise ValueError(f"{what} must all differ, got row {values[counts.argmax()]} {counts.max()} times")
    return rows.astype(np.intp)
