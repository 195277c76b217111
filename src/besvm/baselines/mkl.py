"""Two kernels learnt together: their mixture by a line search, as the paper does it."""

from __future__ import annotations

from itertools import product
from typing import Any, Self

import numpy as np
from sklearn.base import BaseEstimator, ClassifierMixin
from sklearn.model_selection import StratifiedKFold, check_cv
from sklearn.utils import Tags
from sklearn.utils.validation import check_is_fitted

from besvm._machine import show_bytes
from besvm._parallel import slices, workers
from besvm._progress import progress, say
from besvm._rows import n_rows
from besvm._validate import atomic_fit, check_choice, check_classes, check_positive, check_vectors, make_rng
from besvm._votes import class_pairs, count_votes
from besvm.baselines._gram import fit_gram
from besvm.baselines._pairs import (
    SPECTRUM_CHOICES,
    PairSolver,
    memory_limit_bytes,
    plan_pairs,
    rows_of_classes,
    train_pairs,
    votes_of,
)
from besvm.baselines.kernel import KernelSVMClassifier
from besvm.expander import mark_input
from besvm.measures import as_measures, compares_vectors
from besvm.storage import rows_per_block

ALPHAS = tuple(round(0.1 * step, 1) for step in range(11))


class LineSearchMKL(ClassifierMixin, BaseEstimator):  # type: ignore[misc]
    """A kernel SVM on the mixture K = α K₁ + (1 - α) K₂ of two measures, α by cross-validation.

    The procedure of section "Multiple Kernel Learning": every α of the list is tried on the same stratified folds, the
    most accurate one is kept, and the kernel SVM is trained again on all rows. The similarities of both measures are
    computed once for all α and folds (and once more, where they are needed, for the last training), with features
    fitted on all rows.

    Parameters
    ----------
    measures : list of two of str, Similarity, callable or Measure
    alphas : sequence of float, default=(0, 0.1, ..., 1)
        The α to try, between 0 and 1. Of equally accurate ones the nearest to 1/2 is kept, the smaller of two.
    cv : int, splitter or iterable, default=5
        The number of shuffled, stratified folds, or anything that scikit-learn takes for them.
    C, spectrum
        As in :class:`KernelSVMClassifier`.
    n_jobs : int, optional
        Threads; by default all that BLAS may use.
    memory_limit : int or str, optional
        Bytes, or text like "4 GB", that training may take beyond X; by default 70 % of what is free. The two n x n
        matrices must fit.
    random_state : int, RandomState or None
        Shuffles the rows into folds.
    verbose : int, default=0

    Attributes
    ----------
    alpha_ : float
        The chosen α.
    cv_accuracy_ : ndarray of shape (n_alphas, n_folds)
    model_ : KernelSVMClassifier
        The chosen mixture, trained on all rows.
    classes_ : ndarray

    Examples
    --------
    >>> from besvm.baselines import LineSearchMKL
    >>> from besvm.similarities import RBF
    >>> from sklearn.datasets import load_iris
    >>> X, y = load_iris(return_X_y=True)
    >>> mkl = LineSearchMKL([RBF(gamma=100.0), "linear"], random_state=0).fit(X, y)
    >>> mkl.cv_accuracy_.shape, mkl.alpha_ < 1  # with such a gamma every flower is like itself only
    ((11, 5), True)
    """

    def __init__(
        self,
        measures: Any = ("rbf", "linear"),
        *,
        alphas: Any = ALPHAS,
        cv: Any = 5,
        C: float = 1.0,
        spectrum: str | None = None,
        n_jobs: int | None = None,
        memory_limit: int | float | str | None = None,
        random_state: Any = None,
        verbose: int = 0,
    ) -> None:
        self.measures = measures
        self.alphas = alphas
        self.cv = cv
        self.C = C
        self.spectrum = spectrum
        self.n_jobs = n_jobs
        self.memory_limit = memory_limit
        self.random_state = random_state
        self.verbose = verbose

    @atomic_fit
    def fit(self, X: Any, y: Any) -> Self:
        """Try every α on the folds, then train on all rows.

        Parameters
        ----------
        X : anything with a length and rows that the measures can compare
        y : array of shape (n,)
        """
        check_choice("spectrum", self.spectrum, SPECTRUM_CHOICES)
        check_positive("C", self.C)
        alphas = _check_alphas(self.alphas)
        measures = as_measures(self.measures)
        if len(measures) != 2:
            raise ValueError(f"LineSearchMKL mixes exactly two measures, got {len(measures)}")
        X = check_vectors(self, X, compares_vectors(measures))
        classes, labels = check_classes(X, y)
        folds = self._folds(labels)
        with workers(self.n_jobs):
            search = _Search(self, X, classes, labels, measures)
            accuracy = np.empty((len(alphas), len(folds)))
            with progress("trying mixtures", accuracy.size, self.verbose) as shown:
                for (i, alpha), (j, fold) in product(enumerate(alphas), enumerate(folds)):
                    accuracy[i, j] = search.accuracy(alpha, *fold)
                    shown.advance(1)
            del search  # the matrices make room for the last training
            alpha = _best(alphas, accuracy.mean(axis=1))
            say(self.verbose, f"alpha {alpha:g} is the most accurate: {accuracy.mean(axis=1).max():.4f}")
            model = KernelSVMClassifier(
                self.measures,
                weights=(alpha, 1 - alpha),
                C=self.C,
                spectrum=self.spectrum,
                memory_limit=self.memory_limit,
                n_jobs=self.n_jobs,
                verbose=self.verbose,
            ).fit(X, y)
        self.alpha_, self.cv_accuracy_, self.model_, self.classes_ = alpha, accuracy, model, model.classes_
        return self

    def _folds(self, labels: np.ndarray) -> list[tuple[np.ndarray, np.ndarray]]:
        cv = self.cv
        if isinstance(cv, (int, np.integer)):
            seed = int(make_rng(self.random_state).integers(2**31 - 1))
            cv = StratifiedKFold(int(cv), shuffle=True, random_state=seed)
        return list(check_cv(cv, labels, classifier=True).split(np.empty((len(labels), 0)), labels))

    def predict(self, X: Any) -> np.ndarray:
        """Return the class of every sample."""
        return self._fitted(X).predict(X)

    def decision_function(self, X: Any) -> np.ndarray:
        """Return the decision values, as :meth:`KernelSVMClassifier.decision_function`."""
        return self._fitted(X).decision_function(X)

    def _fitted(self, X: Any) -> KernelSVMClassifier:
        check_is_fitted(self, "model_")
        check_vectors(self, X, self.model_._vectors, reset=False)
        return self.model_

    def __sklearn_tags__(self) -> Tags:
        tags = super().__sklearn_tags__()
        mark_input(tags, lambda: self.measures, None)
        return tags


class _Search:
    """The matrices of both measures, and the accuracy of their mixtures on parts of them."""

    def __init__(self, params: LineSearchMKL, X: Any, classes: np.ndarray, labels: np.ndarray, measures: Any) -> None:
        self.params, self.classes, self.labels = params, classes, labels
        n = n_rows(X)
        self.limit = memory_limit_bytes(params.memory_limit)
        need = 2 * 4 * n**2
        if need > self.limit:
            raise MemoryError(
                f"the search must stay within {show_bytes(self.limit)}, but the two {n:,} x {n:,} matrices need "
                f"{show_bytes(need)}; raise memory_limit or use fewer rows"
            )
        say(params.verbose, f"the two {n:,} x {n:,} matrices take {show_bytes(need)}")
        self.gram, seen = fit_gram(X, classes[labels], measures, np.ones(2))
        everyone = self.gram.items(seen, np.arange(n))
        self.matrices = [np.empty((n, n), dtype=np.float32) for _ in measures]
        rows_each = rows_per_block(n)
        with progress("similarities of all rows", 2 * n, params.verbose) as shown:
            for (m, K), rows in product(enumerate(self.matrices), slices(n, rows_each)):
                some = self.gram.items(seen, np.arange(rows.start, rows.stop))
                K[rows] = self.gram.one_way(m, some, everyone)
                shown.advance(rows.stop - rows.start)
        for K in self.matrices:
            _symmetrise(K)

    def accuracy(self, alpha: float, train: np.ndarray, test: np.ndarray) -> float:
        """Return the accuracy on the rows ``test`` of the mixture trained on the rows ``train``."""
        used = np.zeros(len(self.labels), dtype=bool)
        used[train] = True
        rows_of = rows_of_classes(self.labels, len(self.classes), used)
        parts = [part for part, weight in zip(self.gram.parts, (alpha, 1 - alpha), strict=True) if weight]
        trusted = all(part.similarity.psd for part in parts)
        spectrum = self.params.spectrum
        held = sum(K.nbytes for K in self.matrices)
        plan = plan_pairs([len(rows) for rows in rows_of], 4, spectrum, trusted, self.limit, held)
        label = " + ".join(part.label for part in parts)
        solver = PairSolver(self.params.C, 1e-3, spectrum, trusted, label, self.classes)
        models = train_pairs(
            lambda a, b: self._mixed(alpha, rows_of[a], rows_of[b]),
            rows_of,
            np.ones(len(self.labels)),
            solver,
            plan,
            verbose=0,
        )
        votes = votes_of(models, self.labels, len(self.classes))
        right = 0
        for part in slices(len(test), rows_per_block(len(votes.exemplars))):
            decisions = votes(self._mixed(alpha, test[part], votes.exemplars))
            votes_cast = count_votes(decisions, class_pairs(len(self.classes)), len(self.classes))
            right += int((votes_cast.argmax(axis=1) == self.labels[test[part]]).sum())
        return right / len(test)

    def _mixed(self, alpha: float, A: np.ndarray, B: np.ndarray) -> np.ndarray:
        weighted = [
            np.float32(weight) * K[np.ix_(A, B)]
            for weight, K in zip((alpha, 1 - alpha), self.matrices, strict=True)
            if weight
        ]
        return sum(weighted[1:], start=weighted[0])


def _symmetrise(K: np.ndarray) -> None:
    """Replace K by (K + Kᵀ) / 2, some rows and columns at a time."""
    for rows in slices(len(K), 1024):
        both = 0.5 * (K[rows, rows.start :] + K[rows.start :, rows].T)
        K[rows, rows.start :], K[rows.start :, rows] = both, both.T


def _check_alphas(alphas: Any) -> list[float]:
    try:
        checked = [float(alpha) for alpha in alphas]
    except (TypeError, ValueError):
        checked = []
    if not checked or not all(0 <= alpha <= 1 for alpha in checked):
        raise ValueError(f"alphas must be numbers between 0 and 1, at least one, got {alphas!r}")
    return checked


def _best(alphas: list[float], accuracy: np.ndarray) -> float:
    """Return the most accurate α; of several, the nearest to 1/2, then the smaller."""
    tied = [alpha for alpha, right in zip(alphas, accuracy, strict=True) if right >= accuracy.max() - 1e-12]
    return min(tied, key=lambda alpha: (round(abs(alpha - 0.5), 9), alpha))
