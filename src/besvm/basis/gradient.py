"""Rows that help to tell the classes apart."""

from dataclasses import replace
from math import ceil
from typing import Any

import numpy as np

from besvm._support.parameters import check_common, check_loss_weight
from besvm._support.rows import n_rows
from besvm._support.sizes import bytes_each
from besvm._support.threads import n_workers
from besvm._support.validation import check_block
from besvm.basis.contract import BasisSelector, RandomBasis, check_room, pools_of, subsample
from besvm.blocks import MemoryBlocks
from besvm.blocks.estimates import PACKED, last_rank, newton_bytes
from besvm.normalize.affine import fit_mean_norm
from besvm.similarities.contract import Similarity
from besvm.solver.newton import solve
from besvm.solver.problem import Problem, targets
from besvm.solver.result import Result

SIMILARITY = 16  # bytes for every similarity: as it comes, checked, and copied
SETTLED = 1e-2  # the tolerance of the solver: an order of the rows is wanted, not a model


class GradientBasis(BasisSelector):
    """Rows whose similarities the classifier misses most (after Keerthi, Chapelle and DeCoste 2006).

    From a random set of candidates, rows are added in rounds. A candidate's score is how fast the squared hinge loss
    of equation 6, summed over the classes, would fall by its column: the squared correlation of the column
    with the residuals max(0, 1 - y f), over its squared norm. Within a round, what the rows just added explain is
    taken out of the residuals, so that no two of them say the same; after it, the SVM is trained anew.

    Parameters
    ----------
    n : int or float, optional
        How many rows in all, or which share of them, whatever their class.
    per_class : int or float, optional
        How many rows of each class, or which share of them, instead of ``n``.
    C : float, default=1.0
        That of the classifier.
    oversample : float, default=4
        How many candidates for every row wanted, as far as there are rows; drawn evenly over the classes.
    n_rounds : int, default=8
        In how many rounds the rows are added, with a new classifier for each.
    max_rows : int, default=4000
        The loss is that of a random subsample of about this many rows, the classes in proportion; memory is
        ``max_rows`` times the candidates. Where ``memory_limit`` asks for it, there are fewer of both.

    Examples
    --------
    >>> from besvm import BESVMClassifier
    >>> from besvm.basis import GradientBasis
    >>> from sklearn.datasets import load_digits
    >>> X, y = load_digits(return_X_y=True)
    >>> clf = BESVMClassifier("rbf", basis=GradientBasis(50), random_state=0).fit(X[:900], y[:900])
    >>> clf.n_basis_, clf.score(X[900:], y[900:]) > 0.9
    (50, True)
    """

    def __init__(
        self,
        n: float | None = None,
        *,
        per_class: float | None = None,
        C: float = 1.0,
        oversample: float = 4,
        n_rounds: int = 8,
        max_rows: int = 4000,
    ) -> None:
        self.n = n
        self.per_class = per_class
        self.C = C
        self.oversample = oversample
        self.n_rounds = n_rounds
        self.max_rows = max_rows

    def __call__(self, X: Any, y: np.ndarray | None, similarity: Similarity, rng: np.random.Generator) -> np.ndarray:
        stage = _Stage(self, X, y, similarity, rng)
        total = int(stage.quotas.sum())
        n_rounds = min(self.n_rounds, total)
        gram = stage.features.T @ stage.features
        chosen = np.zeros(len(stage.rows), dtype=bool)
        solution: Result | None = None
        for number in range(n_rounds):
            wanted = (number + 1) * total // n_rounds - int(chosen.sum())
            correlation = stage.features.T @ stage.residuals(solution)  # (candidates, classes)
            chosen[_match(gram, correlation, chosen, stage.groups, stage.quotas, wanted)] = True
            if number < n_rounds - 1:
                solution = stage.train(chosen, solution)
        return np.sort(stage.rows[chosen])


class _Stage:
    """Candidates for the basis, and the normalized similarities to them of the rows that the loss is taken on."""

    def __init__(
        self, selector: Any, X: Any, y: np.ndarray | None, similarity: Similarity, rng: np.random.Generator
    ) -> None:
        if y is None:
            raise ValueError(f"{type(selector).__name__} needs class labels; pass y, or use PivotedBasis")
        check_common(selector)
        self.C = check_loss_weight(selector.C)
        pools = pools_of(selector, n_rows(X), y)
        labels = np.unique(y, return_inverse=True)[1]
        max_rows, oversample = _within_room(selector, sum(quota for _, quota in pools), labels.max() + 1, X, similarity)
        if selector.per_class is None:
            total = sum(quota for _, quota in pools)
            some = RandomBasis(min(n_rows(X), ceil(oversample * total)))
            self.rows = some(X, y, similarity, rng)  # of the candidates
            self.groups, self.quotas = np.zeros(len(self.rows), dtype=int), np.array([total])
        else:
            each = [subsample(rows, ceil(oversample * quota), rng) for rows, quota in pools]
            self.rows = np.concatenate(each)
            self.groups, self.quotas = labels[self.rows], np.array([quota for _, quota in pools])
        share = min(1.0, max_rows / n_rows(X))
        rows_of = [np.flatnonzero(labels == label) for label in range(labels.max() + 1)]
        if len(rows_of) < 2:
            raise ValueError(f"{type(selector).__name__} needs rows of at least two classes, got only one class")
        # in proportion, but some of every class
        on = np.concatenate([subsample(rows, int(np.ceil(share * len(rows))), rng) for rows in rows_of])
        positive = np.array([1]) if len(rows_of) == 2 else np.arange(len(rows_of))
        self.problem = Problem(labels[on], positive, np.ones(len(on)))
        self.each = similarity.columns_each
        self.features = check_block(
            similarity.between_rows(X, on, self.rows),
            (len(on), self.each * len(self.rows)),
            f"the similarity {similarity.label!r}",
            lambda i, j: f"training rows {self.rows[j // self.each]} and {on[i]}",
            np.float32,
        ).copy()  # it is normalized in place
        blocks = MemoryBlocks(self.features)
        fit_mean_norm(blocks, [slice(0, self.features.shape[1])]).apply(blocks)

    def train(self, chosen: np.ndarray, start: Result | None) -> Result:
        """Train on the columns of some candidates, scaled to the norm of the whole; the others get weights of zero."""
        columns = chosen.repeat(self.each)
        scale = np.sqrt(len(columns) / columns.sum())
        features = self.features[:, columns] * np.float32(scale)
        first = None if start is None else (start.coef[columns] / scale, start.intercept)
        result = solve(MemoryBlocks(features), self.problem, self.C, tol=SETTLED, start=first)
        coef = np.zeros((len(columns), result.coef.shape[1]))
        coef[columns] = scale * result.coef
        return replace(result, coef=coef, preconditioner=None)

    def residuals(self, solution: Result | None) -> np.ndarray:
        """Return y max(0, 1 - y f), of shape (rows, classes); without a solution, that of the best constant."""
        signs = targets(np.asarray(self.problem.labels), self.problem.positive)
        margins = signs.mean(axis=0) if solution is None else solution.margins
        return (signs * np.maximum(1 - signs * margins, 0)).astype(np.float32)


def _within_room(selector: Any, wanted: int, n_classes: int, X: Any, similarity: Similarity) -> tuple[int, float]:
    """Return how many rows, and how many candidates for each one wanted, there is room for; refuse if for none."""
    n, each = n_rows(X), bytes_each(X)
    rows, oversample = min(selector.max_rows, n), max(1.0, selector.oversample)

    def takes() -> int:
        candidates = min(n, ceil(oversample * wanted))
        width, kept = (similarity.columns_each * number for number in (candidates, wanted))
        compared = (2 * rows + (1 + PACKED) * candidates) * each + SIMILARITY * rows * width
        trained = newton_bytes(rows, kept, n_classes, 4, "memory", n_workers(), last_rank(kept + 1))
        return max(compared, 4 * width * (rows + width) + 8 * rows * kept + trained)

    while takes() > selector.room and (rows > wanted or oversample > 1):
        if rows > wanted:
            rows = max(wanted, 3 * rows // 4)
        else:
            oversample = max(1.0, 0.75 * oversample)
    check_room(f"choosing {wanted:,} of {n:,} rows by {type(selector).__name__}", takes(), selector.room)
    return rows, oversample


def _match(
    gram: np.ndarray, correlation: np.ndarray, taken: np.ndarray, groups: np.ndarray, quotas: np.ndarray, wanted: int
) -> np.ndarray:
    """Return the ``wanted`` candidates that one after the other explain most of the residuals, within the quotas.

    ``correlation`` (columns, classes) is that of the columns with the residuals; taking a column out of these
    changes it by a multiple of a row of ``gram``, so that the residuals themselves are not needed.
    """
    each = len(gram) // len(taken)  # columns of a candidate
    norms = np.maximum(np.diag(gram), np.finfo(np.float32).tiny)
    room = quotas - np.bincount(groups[taken], minlength=len(quotas))
    open_ = ~taken
    correlation = correlation.astype(np.float64)
    added: list[int] = []
    while len(added) < wanted:
        gain = ((correlation**2).sum(axis=1) / norms).reshape(-1, each).sum(axis=1)
        best = int(np.argmax(np.where(open_ & (room > 0)[groups], gain, -1.0)))
        for column in range(best * each, (best + 1) * each):
            correlation -= np.outer(gram[column] / norms[column], correlation[column])
        open_[best] = False
        room[groups[best]] -= 1
        added.append(best)
    return np.array(added, dtype=np.intp)
