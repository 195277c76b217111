"""The two classifiers: composition of the parts, no mathematics."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable
from typing import Any, Self

import numpy as np
from scipy.special import expit, softmax
from sklearn.base import BaseEstimator, ClassifierMixin
from sklearn.utils import Tags
from sklearn.utils.metaestimators import available_if
from sklearn.utils.validation import check_is_fitted

from besvm._support.progress import progress, say
from besvm._support.rows import n_rows, span
from besvm._support.threads import slices, workers
from besvm._support.validation import (
    atomic_fit,
    check_choice,
    check_classes,
    check_count,
    check_positive,
    check_vectors,
    check_weights,
    forget,
    make_rng,
    validated,
)
from besvm.blocks import MemoryBlocks, RowBlocks
from besvm.blocks.plan import filled, plan
from besvm.expand.expander import Expander, fit_expander, mark_input, n_different
from besvm.expand.training import training_set
from besvm.measures import as_measures
from besvm.normalize.normalization import apply_in_place, check_normalize, fit_normalizer, normalizer_bytes
from besvm.solver.one_vs_one import fit_pairs, largest_pair
from besvm.solver.one_vs_rest import PENALTIES, LinearModel, drop_unused, fit_linear, n_columns, plan_work
from besvm.solver.problem import Intercept
from besvm.solver.votes import class_pairs, class_scores

MULTI_CLASS = ("ovr", "ovo", "ovo-own")


def _has_probabilities(self: Any) -> bool:
    return bool(self.probability)


class _MarginClassifier(ClassifierMixin, BaseEstimator, ABC):  # type: ignore[misc]
    """Abstract: classes and probabilities from ``decision_function``."""

    C: float
    penalty: str
    multi_class: str = "ovr"
    fit_intercept: bool
    penalize_intercept: bool
    tol: float
    max_iter: int
    probability: bool
    verbose: int
    classes_: np.ndarray

    def decision_function(self, X: Any) -> np.ndarray:
        """Return the margins of the samples: (n,) for two classes, (n, n_classes) for more.

        One-vs-one, a class's score is its votes plus less than half a vote for its margins, as in scikit-learn.
        """
        margins = self._margins(X)
        if len(self.classes_) == 2:
            return margins[:, 0]
        n_classes = len(self.classes_)
        return class_scores(margins, class_pairs(n_classes), n_classes) if self._one_vs_one else margins

    def predict(self, X: Any) -> np.ndarray:
        """Return the class of every sample."""
        margins = self.decision_function(X)
        best = (margins > 0).astype(int) if margins.ndim == 1 else margins.argmax(axis=1)
        predicted: np.ndarray = self.classes_[best]
        return predicted

    @available_if(_has_probabilities)  # type: ignore[untyped-decorator]
    def predict_proba(self, X: Any) -> np.ndarray:
        """Return the probability of every class, of shape (n, n_classes); the likeliest is the predicted one.

        The margins are scaled by one number, settled while fitting on rows that were held out, and passed through
        softmax (for two classes, the logistic function).
        """
        check_is_fitted(self, "classes_")
        if not hasattr(self, "probability_slope_"):
            raise AttributeError("the probabilities are settled while fitting; fit again with probability=True")
        scaled = self.probability_slope_ * self.decision_function(X)
        if scaled.ndim == 1:
            chance = expit(scaled)
            return np.column_stack([1 - chance, chance])
        probabilities: np.ndarray = softmax(scaled, axis=1)
        return probabilities

    @abstractmethod
    def _margins(self, X: Any) -> np.ndarray:
        """Return the margins of every problem, of shape (n, K)."""

    def _train(
        self, blocks: RowBlocks, classes: np.ndarray, labels: np.ndarray, weights: np.ndarray, **options: Any
    ) -> LinearModel:
        """Train on finished features, with the parameters that both classifiers have."""
        train: Callable[..., LinearModel] = fit_linear if self.multi_class == "ovr" or len(classes) == 2 else fit_pairs
        return train(
            blocks,
            labels,
            len(classes),
            weights,
            C=check_positive("C", self.C),
            penalty=self.penalty,
            intercept=_intercept(self.fit_intercept, self.penalize_intercept),
            tol=check_positive("tol", self.tol),
            max_iter=check_count("max_iter", self.max_iter),
            probability=self.probability,
            verbose=self.verbose,
            **options,
        )

    def _take(self, classes: np.ndarray, used: np.ndarray, model: LinearModel) -> None:
        """Remember what was learned; ``used`` are the class numbers of the rows that weigh anything."""
        result = model.result
        self.classes_ = classes
        self._one_vs_one = self.multi_class != "ovr" and len(classes) > 2
        self._penalty, self._has_rows = self.penalty, np.bincount(used, minlength=len(classes)) > 0
        self.coef_, self.intercept_ = model.coef, model.intercept
        forget(self, "probability_slope_", "pairs_")
        if self._one_vs_one:
            self.pairs_ = class_pairs(len(classes))
        if model.slope is not None:
            self.probability_slope_ = model.slope
        self.n_iter_, self.n_passes_ = max(1, result.n_iter), result.n_passes
        self.converged_ = bool(result.converged.all())
        self.gradient_norm_, self.objective_ = result.gradient_norm, result.objective


class LinearSVMClassifier(_MarginClassifier):
    """A linear SVM with squared hinge loss, one-vs-rest, all classes solved at once.

    Minimizes ½‖w‖² + C Σᵢ cᵢ max(0, 1 - yᵢ(w·xᵢ + b))² for every class (eq. besvm_primal), the objective of
    scikit-learn's ``LinearSVC``, by a preconditioned Newton method that reads the features a few dozen times and
    copies them never. Dense (float32 or float64) and CSR input.

    Parameters
    ----------
    C : float, default=1.0
        Weight of the loss against the norm.
    penalty : {"l2", "l1"}, default="l2"
        "l1" puts ‖w‖₁ in the place of ½‖w‖², LinearSVC's objective with ``penalty="l1"``: most weights are then zero.
    fit_intercept : bool, default=True
    penalize_intercept : bool, default=False
        True treats the intercept as the weight of a constant feature 1, as LIBLINEAR and LinearSVC do.
    class_weight : dict, "balanced" or None
        Every row weighs its sample weight times the weight of its own class, in every one-vs-rest problem: the
        positive side of class k weighs ``class_weight[k]``, and on its negative side each row keeps the weight of the
        class it belongs to. (LinearSVC with more than two classes weights the positive side only.)
    tol : float, default=1e-3
        The gradient's norm, relative to that at w = 0, at which a class has converged; for "l1", the duality gap
        relative to the objective.
    max_iter : int, default=100
        Newton steps.
    warm_start : bool, default=False
        Start from the last fit's solution: quick along a path of C.
    probability : bool, default=True
        Whether to settle ``predict_proba`` on held-out rows while fitting; False saves about a third of the time.
    n_jobs : int, optional
        Threads; by default all that BLAS may use.
    random_state : int, RandomState or None
        Accepted where LinearSVC takes it; nothing here is random.
    verbose : int, default=0

    Attributes
    ----------
    coef_ : ndarray of shape (K, D), K = 1 for two classes
    intercept_ : ndarray of shape (K,)
    classes_ : ndarray
    converged_ : bool
    gradient_norm_, objective_ : ndarray of shape (K,)
        The relative norm of the gradient (of the smallest subgradient, for "l1") and the objective of each problem.
    n_iter_, n_passes_ : int
        Newton steps, and how often the features were read.

    Examples
    --------
    >>> from besvm import LinearSVMClassifier
    >>> from sklearn.datasets import load_iris
    >>> X, y = load_iris(return_X_y=True)
    >>> bool(LinearSVMClassifier(C=1.0).fit(X, y).score(X, y) > 0.93)
    True
    """

    def __init__(
        self,
        C: float = 1.0,
        *,
        penalty: str = "l2",
        fit_intercept: bool = True,
        penalize_intercept: bool = False,
        class_weight: Any = None,
        tol: float = 1e-3,
        max_iter: int = 100,
        warm_start: bool = False,
        probability: bool = True,
        n_jobs: int | None = None,
        random_state: Any = None,
        verbose: int = 0,
    ) -> None:
        self.C = C
        self.penalty = penalty
        self.fit_intercept = fit_intercept
        self.penalize_intercept = penalize_intercept
        self.class_weight = class_weight
        self.tol = tol
        self.max_iter = max_iter
        self.warm_start = warm_start
        self.probability = probability
        self.n_jobs = n_jobs
        self.random_state = random_state
        self.verbose = verbose

    @atomic_fit
    def fit(self, X: Any, y: Any, sample_weight: Any = None) -> Self:
        """Train on the rows of X.

        Parameters
        ----------
        X : array or CSR matrix of shape (n, D)
        y : array of shape (n,)
        sample_weight : array of shape (n,), optional
            What every row weighs in the loss.
        """
        check_choice("penalty", self.penalty, PENALTIES)
        X = validated(self, X, accept_sparse="csr", dtype=(np.float64, np.float32))
        classes, labels = check_classes(X, y)
        weights = check_weights(X, labels, classes, self.class_weight, sample_weight, X.dtype)
        with workers(self.n_jobs):
            start = self._last_solution(X, classes) if self.warm_start else None
            model = self._train(MemoryBlocks(X), classes, labels, weights, start=start)
        self._take(classes, labels[weights > 0], model)
        return self

    def _last_solution(self, X: Any, classes: np.ndarray) -> tuple[np.ndarray, np.ndarray] | None:
        known = hasattr(self, "coef_") and np.array_equal(self.classes_, classes)
        return (self.coef_.T, self.intercept_) if known and self.coef_.shape[1] == X.shape[1] else None

    def _margins(self, X: Any) -> np.ndarray:
        check_is_fitted(self, "coef_")
        X = validated(self, X, accept_sparse="csr", dtype=(np.float64, np.float32), reset=False)
        margins: np.ndarray = X @ self.coef_.T.astype(X.dtype) + self.intercept_
        return margins

    def __sklearn_tags__(self) -> Tags:
        tags = super().__sklearn_tags__()
        tags.input_tags.sparse = True
        return tags


class BESVMClassifier(_MarginClassifier):
    """The Basis Expanding SVM: a large-margin classifier on similarities to a basis, whatever the similarity.

    Every sample is measured against the exemplars of the basis by one or several similarity measures (eq.
    besvm_feature_map); each measure's similarities are centered and divided by their mean norm (eq.
    besvm_feature_map_norm) and stand side by side; a linear SVM with squared hinge loss is trained on them,
    one-vs-rest (eq. besvm_primal). The similarity need not be positive definite, nor even symmetric, and X may be
    anything that it can compare.

    Parameters
    ----------
    measures : str, Similarity, callable, Measure, or a list of these, default="rbf"
    basis : default="auto"
        Which rows become exemplars, as in :class:`BasisExpansion`; shared by all measures that have none of their own.
    normalize : {"mean-norm", "z-score", None} or Nystrom, default="mean-norm"
    basis_weight : {None, "balanced"}, default=None
        As in :class:`BasisExpansion`: "balanced" takes away the pull toward classes with few exemplars.
    C : float, default=1.0
        1 is nearly always right after the mean-norm normalization.
    penalty : {"l2", "l1"}, default="l2"
        With "l1" most weights are zero, and the exemplars that no class uses are dropped from the model (not with
        ``Nystrom``, whose features are mixtures of all exemplars).
    multi_class : {"ovr", "ovo", "ovo-own"}, default="ovr"
        One problem for every class against the rest, or one for every pair of classes, on the rows of the two: with all
        exemplars ("ovo"), or only those of the two classes ("ovo-own"). One-vs-rest is as a rule faster and better.
    fit_intercept, penalize_intercept, class_weight, tol, max_iter, probability
        As in :class:`LinearSVMClassifier`.
    storage : {"auto", "memory", "disk", "recompute"}, default="auto"
        Where the n x B features live during training. "auto" takes memory if they fit ``memory_limit``, then disk,
        then computes them anew on every pass.
    memory_limit : int or str, optional
        Bytes, or text like "4 GB", that training may take beyond X; by default 70 % of what is free.
    n_jobs : int, optional
        Threads (processes, for a Python function); by default all that BLAS may use.
    random_state : int, RandomState or None
    verbose : int, default=0
        0 shows a bar on a terminal only; 1 says what happens anywhere.

    Attributes
    ----------
    basis_rows_ : list of ndarray or None
        For every measure, the training rows that are its exemplars (and that an "l1" penalty has left).
    n_basis_ : int
        The number of different exemplars.
    pairs_ : list of (int, int)
        Of a one-vs-one model with more than two classes: for every row of ``coef_``, the numbers (a, b) of its classes;
        its margin is positive for class b.
    coef_, intercept_, classes_, converged_, gradient_norm_, objective_, n_iter_, n_passes_
        As in :class:`LinearSVMClassifier`.
    storage_ : str
        Where the features lived.

    Examples
    --------
    >>> from besvm import BESVMClassifier
    >>> words = ["cat", "cart", "carts", "dog", "dogs", "dig"]
    >>> def shared_letters(a, b):
    ...     return len(set(a) & set(b))
    >>> clf = BESVMClassifier(shared_letters, basis=4, random_state=0)
    >>> clf.fit(words, ["c", "c", "c", "d", "d", "d"]).predict(["cats", "digs"])
    array(['c', 'd'], dtype='<U1')
    """

    def __init__(
        self,
        measures: Any = "rbf",
        *,
        basis: Any = "auto",
        normalize: Any = "mean-norm",
        basis_weight: str | None = None,
        C: float = 1.0,
        penalty: str = "l2",
        multi_class: str = "ovr",
        fit_intercept: bool = True,
        penalize_intercept: bool = False,
        class_weight: Any = None,
        tol: float = 1e-3,
        max_iter: int = 100,
        probability: bool = True,
        storage: str = "auto",
        memory_limit: int | float | str | None = None,
        n_jobs: int | None = None,
        random_state: Any = None,
        verbose: int = 0,
    ) -> None:
        self.measures = measures
        self.basis = basis
        self.normalize = normalize
        self.basis_weight = basis_weight
        self.C = C
        self.penalty = penalty
        self.multi_class = multi_class
        self.fit_intercept = fit_intercept
        self.penalize_intercept = penalize_intercept
        self.class_weight = class_weight
        self.tol = tol
        self.max_iter = max_iter
        self.probability = probability
        self.storage = storage
        self.memory_limit = memory_limit
        self.n_jobs = n_jobs
        self.random_state = random_state
        self.verbose = verbose

    @atomic_fit
    def fit(self, X: Any, y: Any, sample_weight: Any = None) -> Self:
        """Choose the basis, compute the similarities and train.

        Parameters
        ----------
        X : anything with a length and slices that the measures can compare
        y : array of shape (n,)
        sample_weight : array of shape (n,), optional
            What every row weighs in the loss and in the normalization.
        """
        check_choice("penalty", self.penalty, PENALTIES)
        check_choice("multi_class", self.multi_class, MULTI_CLASS)
        check_normalize(self.normalize, self.basis_weight, self.multi_class)
        check_positive("C", self.C)  # before anything is computed
        check_positive("tol", self.tol)
        measures = as_measures(self.measures)
        X, vectors, classes, labels, weights = training_set(self, measures, X, y, sample_weight)
        with workers(self.n_jobs):
            expander = fit_expander(X, classes[labels], measures, self.basis, make_rng(self.random_state), weights)
            n, width = n_rows(X), expander.width
            columns = n_columns(n, len(classes), self.probability)
            work, options = plan_work(self.penalty, n, width, columns, sparing=self.memory_limit is not None)
            work += normalizer_bytes(self.normalize, expander)
            if self.multi_class != "ovr" and len(classes) > 2:
                work += 4 * width * largest_pair(labels)
                if self.multi_class == "ovo-own":
                    options["basis_labels"] = _labels_of_pairs(expander, labels, classes)
            chosen = plan(n, width, work, self.storage, self.memory_limit)
            say(self.verbose, str(chosen))
            with filled(expander, X, chosen.storage, self.verbose) as blocks:
                normalizer = fit_normalizer(expander, blocks, X, labels, self.normalize, self.basis_weight, weights)
                apply_in_place(normalizer, blocks)
                model = self._train(blocks, classes, labels, weights, **options)
        if self.penalty == "l1":
            expander, normalizer, model = drop_unused(expander, normalizer, model)
        self._take(classes, labels[weights > 0], model)
        self._expander, self._normalizer, self._vectors = expander, normalizer, vectors
        self.basis_rows_ = [measure.rows for measure in expander.measures]
        self.n_basis_ = n_different(expander.measures)
        self.storage_ = chosen.storage
        return self

    def _margins(self, X: Any) -> np.ndarray:
        check_is_fitted(self, "coef_")
        X = check_vectors(self, X, self._vectors, reset=False)
        weights = self.coef_.T.astype(self._expander.dtype)
        margins = np.empty((n_rows(X), len(self.intercept_)))
        with workers(self.n_jobs), progress("predicting", n_rows(X), self.verbose) as shown:
            for rows in slices(n_rows(X), self._expander.rows_per_block):
                block = self._expander(span(X, rows), rows.start)
                if self._normalizer is not None:
                    block = self._normalizer(block)
                margins[rows] = block @ weights + self.intercept_
                shown.advance(rows.stop - rows.start)
        return margins

    def __sklearn_tags__(self) -> Tags:
        tags = super().__sklearn_tags__()
        mark_input(tags, lambda: self.measures, self.basis)
        return tags


def _labels_of_pairs(expander: Expander, labels: np.ndarray, classes: np.ndarray) -> np.ndarray:
    """Return the class of every column; no two classes may be without one."""
    own = np.concatenate(expander.basis_labels(labels))
    without = np.setdiff1d(np.arange(len(classes)), own)
    if len(without) > 1:
        a, b = classes[without[:2]]
        raise ValueError(
            f"multi_class='ovo-own' needs an exemplar of one of every two classes, but the basis holds none of {a!s} "
            f"and {b!s}; choose a basis of all classes, or multi_class='ovo'"
        )
    return own


def _intercept(fit_intercept: bool, penalize_intercept: bool) -> Intercept:
    if not fit_intercept:
        return "none"
    return "penalized" if penalize_intercept else "free"
