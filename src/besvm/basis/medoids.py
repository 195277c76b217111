"""Medoids under the similarity itself."""

from __future__ import annotations

from typing import Any

import numpy as np

from besvm._support.rows import n_rows
from besvm.basis.contract import BasisSelector, checked_similarities, pools_of
from besvm.similarities.contract import Similarity


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
    >>> import numpy as np
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
        for pool in pools_of(self, n_rows(X), y):
            rows = pool.rows
            if len(rows) > max(self.max_rows, pool.quota):
                rows = np.sort(rng.choice(rows, max(self.max_rows, pool.quota), replace=False))
            chosen.append(rows[_medoids(_implied_distance(X, rows, similarity), pool.quota, self.max_iter, rng)])
        return np.sort(np.concatenate(chosen))


def _implied_distance(X: Any, rows: np.ndarray, similarity: Similarity) -> np.ndarray:
    similarity, samples = similarity.prepared(similarity.subset(X, rows))
    exemplars = similarity.exemplars(samples, np.arange(len(rows)))
    S = checked_similarities(similarity, samples, exemplars, rows, rows, np.float32)
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
