"""Rows that differ from each other, or stand for many others, by what the similarity says."""

from __future__ import annotations

from abc import abstractmethod
from functools import cached_property
from typing import Any

import numpy as np

from besvm._support.rows import n_rows, take
from besvm._support.sizes import bytes_each
from besvm.basis.contract import BasisSelector, check_room, checked_similarities, pools_of, subsample
from besvm.blocks.estimates import PACKED
from besvm.similarities.contract import Similarity

COLUMNS_AT_ONCE = 64  # enough for the tiles of a similarity to run at full speed
SQUARES = 16  # bytes for every pair of rows: similarities, checked and copied, and the distances made of them
NOTHING = 1e-6  # a residual below this share of the largest is rounding


class _ClasswiseBasis(BasisSelector):
    """Abstract: rows chosen from every class by itself (or from all rows at once), each on a bounded subsample."""

    def __init__(
        self, n: float | None = None, *, per_class: float | None = None, balanced: bool = True, max_rows: int = 4000
    ) -> None:
        self.n = n
        self.per_class = per_class
        self.balanced = balanced
        self.max_rows = max_rows

    def __call__(self, X: Any, y: np.ndarray | None, similarity: Similarity, rng: np.random.Generator) -> np.ndarray:
        chosen = []
        for pool, quota in pools_of(self, n_rows(X), y):
            rows = subsample(pool, max(self.max_rows, quota), rng)
            if 0 < quota < len(rows):
                rows = subsample(rows, self._most_rows(len(rows), quota, bytes_each(X)), rng)
                rows = rows[self._choose(_Pairs(X, rows, similarity), quota, rng)]
            chosen.append(rows[:quota])
        return np.sort(np.concatenate(chosen))

    def _most_rows(self, n: int, quota: int, each: int) -> int:
        """Return how many of n rows, of so many bytes ``each``, there is room to choose from."""
        while self._takes(n, quota, each) > self.room and n > quota + 1:
            n = max(quota + 1, 3 * n // 4)
        what = f"choosing {quota:,} of {n:,} rows by {type(self).__name__}"
        check_room(what, self._takes(n, quota, each), self.room)
        return n

    def _takes(self, n: int, quota: int, each: int) -> int:
        """Return the bytes that choosing takes: the rows, and columns of similarities for the quota and some more."""
        return 2 * n * each + 8 * n * (quota + 6 * COLUMNS_AT_ONCE)

    @abstractmethod
    def _choose(self, pairs: _Pairs, quota: int, rng: np.random.Generator) -> np.ndarray:
        """Return the places of ``quota`` rows among those of ``pairs``."""


class PivotedBasis(_ClasswiseBasis):
    """Rows by randomly pivoted Cholesky (Chen, Epperly, Tropp and Webber 2023): diverse, yet no hunt for outliers.

    A row is drawn with probability proportional to what the rows before it leave unexplained of it: the diagonal of the
    residual of the similarity matrix, after all that lies in their span is taken out. The first row is drawn
    evenly and becomes the origin, since the features are centered later anyway, so that what counts is the distance
    d(i, j) = s(i, i) + s(j, j) - s(i, j) - s(j, i) and a negated distance is as good as a kernel.

    The similarity is symmetrized. It need not be positive definite: what the elimination takes from a row beyond
    all it had is noise of the negative eigenvalues, so residuals are clipped at 0 and the row is not drawn. If
    nothing is left before enough rows are found (copies, a low rank), the rest is drawn evenly.

    Parameters
    ----------
    n : int or float, optional
        How many rows in all, or which share of them.
    per_class : int or float, optional
        How many rows of each class, or which share of them, instead of ``n``.
    balanced : bool, default=True
        Whether ``n`` rows are spread evenly over the classes, which are then treated one by one.
    max_rows : int, default=4000
        A class (or the whole of X) with more rows is represented by a random subsample of this size, or of fewer
        where ``memory_limit`` asks for it; memory is ``max_rows`` times the number of rows wanted.

    Examples
    --------
    >>> import numpy as np
    >>> from besvm.basis import PivotedBasis
    >>> from besvm.similarities import RBF
    >>> X = np.array([[0.0]] * 97 + [[3.0], [6.0], [9.0]])
    >>> X[PivotedBasis(4)(X, None, RBF(gamma=1.0), np.random.default_rng(0))].ravel()
    array([0., 3., 6., 9.])
    """

    def _choose(
        self, pairs: _Pairs, quota: int, rng: np.random.Generator, at_once: int = COLUMNS_AT_ONCE
    ) -> np.ndarray:
        # Columns are computed for several draws at a time; a draw that the ones before it have made less likely is
        # rejected with the probability that keeps the distribution that of drawing one by one (Epperly, Tropp and
        # Webber 2024).
        n = len(pairs.rows)
        first = int(rng.integers(n))
        origin = pairs.columns(np.array([first]))[:, 0]
        left = np.maximum(pairs.own + pairs.own[first] - 2 * origin, 0)  # the diagonal, seen from the first row
        left[first] = 0
        nothing = NOTHING * left.max()
        factor = np.empty((n, quota))
        chosen = [first]
        while len(chosen) < quota and left.max() > nothing:
            before = left.copy()
            draws = rng.choice(n, min(at_once, 2 * (quota - len(chosen))), p=before / before.sum())
            places, where = np.unique(draws, return_inverse=True)
            columns = pairs.columns(places) - origin[:, None] - origin[places] + pairs.own[first]
            for place, column in zip(draws, where, strict=True):
                if len(chosen) == quota or left[place] <= nothing or rng.random() * before[place] > left[place]:
                    continue
                done = len(chosen) - 1
                residual = columns[:, column] - factor[:, :done] @ factor[place, :done]
                factor[:, done] = residual / np.sqrt(left[place])
                left = np.maximum(left - factor[:, done] ** 2, 0)
                left[place] = 0
                chosen.append(int(place))
        rest = np.setdiff1d(np.arange(n), chosen)
        return np.concatenate([chosen, rng.choice(rest, quota - len(chosen), replace=False)]).astype(np.intp)


class FarthestBasis(_ClasswiseBasis):
    """Rows as far apart as can be: each is the farthest from its nearest among those before it.

    The distance is the one the similarity implies, d(i, j) = s(i, i) + s(j, j) - s(i, j) - s(j, i), as in
    :class:`KMedoidsBasis`; it may be negative where the similarity is indefinite. Rare kinds of rows are sure to be
    found, and so are outliers and mislabeled rows; :class:`PivotedBasis` is milder.

    Parameters
    ----------
    n : int or float, optional
        How many rows in all, or which share of them.
    per_class : int or float, optional
        How many rows of each class, or which share of them, instead of ``n``.
    balanced : bool, default=True
        Whether ``n`` rows are spread evenly over the classes, which are then treated one by one.
    max_rows : int, default=4000
        A class (or the whole of X) with more rows is represented by a random subsample of this size, as in
        :class:`PivotedBasis`.

    Examples
    --------
    >>> import numpy as np
    >>> from besvm.basis import FarthestBasis
    >>> from besvm.similarities import NegativeDistance
    >>> X = np.array([[0.0], [0.1], [4.9], [5.0], [9.9], [10.0]])
    >>> rows = FarthestBasis(3)(X, None, NegativeDistance(), np.random.default_rng(0))
    >>> X[rows].round().ravel()
    array([ 0.,  5., 10.])
    """

    def _choose(
        self, pairs: _Pairs, quota: int, rng: np.random.Generator, at_once: int = COLUMNS_AT_ONCE
    ) -> np.ndarray:
        n = len(pairs.rows)
        known: dict[int, np.ndarray] = {}  # columns: those of the next best are computed along with each
        nearest = np.full(n, np.inf)
        chosen = [int(rng.integers(n))]
        while True:
            last = chosen[-1]
            if last not in known:
                if len(known) > quota + at_once:  # memory stays in proportion to the quota
                    known.clear()
                free = np.setdiff1d(np.arange(n), [*chosen, *known])
                likely = free[np.argsort(-nearest[free], kind="stable")[: at_once - 1]] if len(chosen) > 1 else free[:0]
                places = np.array([last, *likely])
                columns = pairs.columns(places).T
                known |= {int(place): column.copy() for place, column in zip(places, columns, strict=True)}
            nearest = np.minimum(nearest, pairs.own + pairs.own[last] - 2 * known.pop(last))
            nearest[last] = -np.inf
            if len(chosen) == quota:
                return np.array(chosen, dtype=np.intp)
            chosen.append(int(np.argmax(nearest)))


class KMedoidsBasis(_ClasswiseBasis):
    """Medoids under the similarity itself ("K KMed" in the paper): kernel k-medoids.

    The distance is the one the similarity implies, d(i, j) = s(i, i) + s(j, j) - s(i, j) - s(j, i), which needs neither
    to be symmetric nor positive definite. Assignment and update alternate until no medoid moves.

    Parameters
    ----------
    n : int or float, optional
        How many rows in all, or which share of them, spread evenly over the classes, which are clustered one by one.
    per_class : int or float, optional
        How many rows of each class, or which share of them, instead of ``n``.
    max_iter : int, default=50
        How often assignment and update may alternate.
    max_rows : int, default=4000
        As in :class:`PivotedBasis`, but the similarity of all pairs is needed.

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
        self, n: float | None = None, *, per_class: float | None = None, max_iter: int = 50, max_rows: int = 4000
    ) -> None:
        super().__init__(n, per_class=per_class, max_rows=max_rows)
        self.max_iter = max_iter

    def _takes(self, n: int, quota: int, each: int) -> int:
        return (1 + PACKED) * n * each + SQUARES * n**2

    def _choose(self, pairs: _Pairs, quota: int, rng: np.random.Generator) -> np.ndarray:
        everyone = np.arange(len(pairs.rows))
        S = pairs.compare(everyone, everyone, np.float32)
        distance = np.diag(S)[:, None] + np.diag(S) - S - S.T
        medoids = _spread_out(distance, quota, rng)
        for _ in range(self.max_iter):
            owner = np.argmin(distance[:, medoids], axis=1)
            owner[medoids] = np.arange(quota)  # a medoid stays with itself, whatever an indefinite similarity says
            moved = medoids.copy()
            for j in range(quota):
                members = np.flatnonzero(owner == j)
                moved[j] = members[np.argmin(distance[np.ix_(members, members)].sum(axis=0))]
            if np.array_equal(moved, medoids):
                break
            medoids = moved
        return medoids


class _Pairs:
    """The similarities of some rows: the diagonal, symmetrized columns, or any others, as they are asked for."""

    def __init__(self, X: Any, rows: np.ndarray, similarity: Similarity) -> None:
        self.rows = rows
        self.similarity, self.samples = similarity.prepared(similarity.subset(X, rows))

    @cached_property
    def own(self) -> np.ndarray:
        """The similarity of every row to itself."""
        n = len(self.rows)
        pieces = np.array_split(np.arange(n), -(-n // COLUMNS_AT_ONCE))
        return np.concatenate([np.diag(self.compare(piece, piece)) for piece in pieces])

    def columns(self, places: np.ndarray) -> np.ndarray:
        """Return (s(i, j) + s(j, i)) / 2 for every row i and the rows j at ``places``: an array (n, len(places))."""
        everywhere = np.arange(len(self.rows))
        columns = self.compare(everywhere, places)
        return columns if self.similarity.symmetric else (columns + self.compare(places, everywhere).T) / 2

    def compare(self, at: np.ndarray, exemplars: np.ndarray, dtype: Any = np.float64) -> np.ndarray:
        """Return the similarities of the rows at some places to those at others, checked."""
        samples = self.samples if len(at) == len(self.rows) else take(self.samples, at)
        kept = self.similarity.exemplars(self.samples, exemplars)
        return checked_similarities(self.similarity, samples, kept, self.rows[at], self.rows[exemplars], dtype)


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
