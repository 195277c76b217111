"""LinearSVMClassifier, and what both classifiers have in common: classes and probabilities from margins."""

from abc import ABC, abstractmethod
from collections.abc import Callable
from typing import Any, Self

import numpy as np
from scipy.sparse import issparse
from scipy.special import expit, softmax
from sklearn.base import BaseEstimator, ClassifierMixin
from sklearn.utils import Tags
from sklearn.utils.validation import check_is_fitted, validate_data

from besvm._support.any_source import as_source
from besvm._support.available import available_if
from besvm._support.dask_source import in_memory, mapped
from besvm._support.parameters import atomic_fit, check_choice, check_loss_weight, shown
from besvm._support.public import public
from besvm._support.row_source import RowSource, is_dask
from besvm._support.threads import workers
from besvm._support.validation import check_classes, check_weights, forget, validated, validated_source
from besvm.blocks import MemoryBlocks, RowBlocks
from besvm.blocks.checkpoint import Checkpoint
from besvm.blocks.fill import by_blocks
from besvm.blocks.state import Values
from besvm.blocks.stores import SourceBlocks, SparseBlocks, rows_per_block
from besvm.solver.design import Intercept
from besvm.solver.journal import Journal
from besvm.solver.one_vs_one import fit_pairs
from besvm.solver.one_vs_rest import fit_linear
from besvm.solver.training import SOLVERS, LinearModel, Training
from besvm.solver.votes import class_pairs, class_scores


def _has_probabilities(self: Any) -> bool:
    return bool(self.probability)


class MarginClassifier(ClassifierMixin, BaseEstimator, ABC):  # type: ignore[misc]
    """Abstract: classes and probabilities from ``decision_function``."""

    C: Any
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
        if is_dask(X):
            check_is_fitted(self, "classes_")
            n_classes = len(self.classes_)
            return self._lazily(X, self.decision_function, np.float64, None if n_classes == 2 else n_classes)
        margins = self._margins(X)
        if len(self.classes_) == 2:
            return margins[:, 0]
        n_classes = len(self.classes_)
        return class_scores(margins, class_pairs(n_classes), n_classes) if self._one_vs_one else margins

    def predict(self, X: Any) -> np.ndarray:
        """Return the class of every sample; of a Dask collection, a Dask array computed when asked for."""
        if is_dask(X):
            check_is_fitted(self, "classes_")
            return self._lazily(X, self.predict, self.classes_.dtype)
        margins = self.decision_function(X)
        best = (margins > 0).astype(int) if margins.ndim == 1 else margins.argmax(axis=1)
        predicted: np.ndarray = self.classes_[best]
        return predicted

    @available_if(_has_probabilities)
    def predict_proba(self, X: Any) -> np.ndarray:
        """Return the probability of every class, of shape (n, n_classes); the likeliest is the predicted one.

        The margins are scaled by one number, settled while fitting on rows that were held out, and passed through
        softmax (for two classes, the logistic function).
        """
        check_is_fitted(self, "classes_")
        if not hasattr(self, "probability_slope_"):
            raise AttributeError(
                "predict_proba needs a model that was fitted with probability=True; set it and fit again"
            )
        if is_dask(X):
            return self._lazily(X, self.predict_proba, np.float64, len(self.classes_))
        return class_probabilities(self.probability_slope_ * self.decision_function(X))

    def score(self, X: Any, y: Any, sample_weight: Any = None) -> float:
        """Return the accuracy on samples and their classes, which may be Dask collections."""
        if is_dask(X):
            from sklearn.metrics import accuracy_score

            predicted = self.predict(X).compute()  # type: ignore[attr-defined]
            return float(accuracy_score(in_memory(y), predicted, sample_weight=in_memory(sample_weight)))
        return float(super().score(X, in_memory(y), in_memory(sample_weight)))

    def _lazily(self, X: Any, fn: Callable[[Any], np.ndarray], dtype: Any, width: int | None = None) -> Any:
        """Return the Dask array of ``fn`` of a collection; columns with other names than those of fit are refused."""
        named = hasattr(self, "feature_names_in_") and hasattr(X, "columns")
        if named:
            validate_data(self, X._meta, reset=False, skip_check_array=True)
        return mapped(X, fn, dtype, width, named)

    @abstractmethod
    def _margins(self, X: Any) -> np.ndarray:
        """Return the margins of every problem, of shape (n, K)."""

    def _train(
        self,
        blocks: RowBlocks,
        classes: np.ndarray,
        labels: Values,
        weights: Values,
        memory: dict[str, Any] | None = None,
        checkpoint: Checkpoint | None = None,
        **options: Any,
    ) -> LinearModel:
        """Train on finished features, with the parameters that both classifiers have."""
        training = Training(
            C=check_c(self.C),
            penalty=self.penalty,
            intercept=_intercept(self.fit_intercept, self.penalize_intercept),
            tol=float(self.tol),
            max_iter=int(self.max_iter),
            memory=memory or {},
            journal=None if checkpoint is None else Journal(checkpoint),
        )
        options |= {"probability": self.probability, "verbose": self.verbose}
        train: Callable[..., LinearModel] = fit_linear if self.multi_class == "ovr" or len(classes) == 2 else fit_pairs
        return train(blocks, labels, len(classes), weights, training, **options)

    def _take(self, classes: np.ndarray, has_rows: np.ndarray, model: LinearModel) -> None:
        """Remember what was learned; ``has_rows`` says whether any row of a class weighs anything."""
        ending = model.ending
        self.classes_ = classes
        self._one_vs_one = self.multi_class != "ovr" and len(classes) > 2
        self._penalty, self._has_rows = self.penalty, has_rows
        self.coef_, self.intercept_ = model.coef, model.intercept
        forget(self, "probability_slope_", "pairs_", "C_path_")
        self.C_ = float(self.C) if model.path is None else model.path.best
        if model.path is not None:
            self.C_path_ = model.path.tried
        if self._one_vs_one:
            self.pairs_ = class_pairs(len(classes))
        if model.slope is not None:
            self.probability_slope_ = model.slope
        self.n_iter_, self.n_passes_ = max(1, ending.n_iter), ending.n_passes
        self.converged_ = bool(ending.converged.all())
        self.gap_, self.objective_ = ending.gap, ending.objective


@public("besvm")
class LinearSVMClassifier(MarginClassifier):
    """A linear SVM with squared hinge loss, one-vs-rest, all classes solved at once.

    Minimizes ½‖w‖² + C Σᵢ cᵢ max(0, 1 - yᵢ(w·xᵢ + b))² for every class (equation 6 of the paper), the objective of
    scikit-learn's ``LinearSVC``, by a preconditioned Newton method that reads the features a few dozen times and never
    copies them. Dense (float32 or float64) and CSR input.

    Parameters
    ----------
    C : float or "auto", default=1.0
        Weight of the loss against the norm. "auto" picks it by the log loss on held-out rows, among powers of ten.
    penalty : {"l2", "l1"}, default="l2"
        "l1" puts ‖w‖₁ in the place of ½‖w‖², LinearSVC's objective with ``penalty="l1"``: most weights are then zero.
    fit_intercept : bool, default=True
        Whether to fit an intercept b for every class.
    penalize_intercept : bool, default=False
        True treats the intercept as the weight of a constant feature 1, as LIBLINEAR and LinearSVC do.
    class_weight : dict, "balanced" or None
        Every row weighs its sample weight times the weight of its own class, in every one-vs-rest problem: the
        positive side of class k weighs ``class_weight[k]``, and on its negative side each row keeps the weight of the
        class it belongs to. (LinearSVC with more than two classes weights the positive side only.)
    tol : float, default=1e-3
        How far the objective may be above its minimum, as a share of itself: a class has converged once the duality
        gap proves that.
    max_iter : int, default=500
        Newton steps.
    warm_start : bool, default=False
        Start from the last fit's solution: quick along a path of C.
    probability : bool, default=True
        Whether to calibrate probabilities on held-out rows while fitting; False saves time.
    n_jobs : int, optional
        Threads; by default all that BLAS may use.
    random_state : int, RandomState or None
        Accepted where LinearSVC takes it; nothing here is random.
    verbose : int, default=0
        0: a progress bar, in a terminal only. 1: messages as well, also outside a terminal.

    Attributes
    ----------
    coef_ : ndarray of shape (K, D), K = 1 for two classes
    intercept_ : ndarray of shape (K,)
    classes_ : ndarray
    converged_ : bool
    C_ : float
        The C trained with, and for C="auto" ``C_path_``: a dict of what was tried ("C") and its "accuracy" and
        "log_loss" on held-out rows.
    objective_, gap_ : ndarray of shape (K,)
        The objective of each problem, and the share of it that it may be above the minimum.
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
        C: float | str = 1.0,
        *,
        penalty: str = "l2",
        fit_intercept: bool = True,
        penalize_intercept: bool = False,
        class_weight: Any = None,
        tol: float = 1e-3,
        max_iter: int = 500,
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
        X : array, CSR matrix or source (:mod:`besvm.sources`) of shape (n, D)
            A source is read anew on every pass.
        y : array of shape (n,)
        sample_weight : array of shape (n,), optional
            What every row weighs in the loss.
        """
        check_choice("penalty", self.penalty, tuple(SOLVERS))
        X = self._checked(X)
        classes, labels = check_classes(X, y)
        weights = check_weights(X, labels, classes, self.class_weight, sample_weight, X.dtype)
        with workers(self.n_jobs):
            start = self._last_solution(X, classes) if self.warm_start else None
            model = self._train(_as_blocks(X), classes, labels, weights, start=start)
        self._take(classes, np.bincount(labels[weights > 0], minlength=len(classes)) > 0, model)
        return self

    def _last_solution(self, X: Any, classes: np.ndarray) -> tuple[np.ndarray, np.ndarray] | None:
        known = hasattr(self, "coef_") and np.array_equal(self.classes_, classes)
        return (self.coef_.T, self.intercept_) if known and self.coef_.shape[1] == X.shape[1] else None

    def _margins(self, X: Any) -> np.ndarray:
        check_is_fitted(self, "coef_")
        X = self._checked(X, reset=False)
        weights = self.coef_.T.astype(X.dtype)
        if issparse(X):
            margins: np.ndarray = X @ weights + self.intercept_
            return margins
        # arrays by the blocks of sources: where a row lies in a product changes its last digits on some processors
        out, rows_each = np.empty((X.shape[0], weights.shape[1])), rows_per_block(X.shape[1], X.dtype.itemsize)
        return by_blocks(X, lambda block, _: block @ weights + self.intercept_, out, rows_each, "predicting")

    def _checked(self, X: Any, reset: bool = True) -> Any:
        options: dict[str, Any] = {"dtype": (np.float64, np.float32), "reset": reset}
        source = None if isinstance(X, np.memmap) else as_source(X)  # a mapped array is a view of its file already
        if source is not None:
            return validated_source(self, source, **options)
        return validated(self, X, accept_sparse="csr", **options)

    def __sklearn_tags__(self) -> Tags:
        tags = super().__sklearn_tags__()
        tags.input_tags.sparse = True
        return tags


def _as_blocks(X: Any) -> RowBlocks:
    if isinstance(X, RowSource):
        return SourceBlocks(X)
    return SparseBlocks(X) if issparse(X) else MemoryBlocks(X)


def class_probabilities(scaled: np.ndarray) -> np.ndarray:
    """Return the probability of every class, (n, n_classes), from decision values times the slope."""
    if scaled.ndim == 1:
        chance = expit(scaled)
        return np.column_stack([1 - chance, chance])
    return np.asarray(softmax(scaled, axis=1))


def check_c(C: Any) -> Any:
    """Return C, or "auto"; refuse what is neither that nor a positive number."""
    if isinstance(C, str):
        if C != "auto":
            raise ValueError(f"C must be 'auto' or a positive number, got {shown(C)}")
        return C
    return check_loss_weight(C)


def _intercept(fit_intercept: bool, penalize_intercept: bool) -> Intercept:
    if not fit_intercept:
        return "none"
    return "penalized" if penalize_intercept else "free"
