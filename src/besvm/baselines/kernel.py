"""The kernel SVM with any similarity: one-vs-one, hinge loss, trained by LIBSVM."""

from dataclasses import KW_ONLY, dataclass
from typing import Any, Self

import numpy as np
from sklearn.utils.validation import check_is_fitted

from besvm._support.parameters import atomic_fit, shown
from besvm._support.progress import say
from besvm._support.rows import n_rows
from besvm._support.sizes import bytes_each, large_one
from besvm._support.threads import workers
from besvm._support.validation import check_vectors
from besvm.baselines.gram import Seen, bytes_of_copies, fit_gram
from besvm.baselines.pairs import OneVsOneClassifier, PairSolver, rows_of_classes, train_pairs, votes_of
from besvm.blocks.plan import check_fits, limit_bytes, plan_pairs
from besvm.blocks.stores import rows_per_block
from besvm.expand.room import COPIES, describing_bytes, rows_of_work
from besvm.solver.votes import class_pairs


@dataclass(eq=False, repr=False)
class KernelSVMClassifier(OneVsOneClassifier):
    """A kernel SVM on any similarity: hinge loss, one-vs-one, by LIBSVM.

    Solves the dual of section "Background: SVM" for every pair of classes, as scikit-learn's ``SVC`` does, but on
    matrices computed by besvm, one pair at a time: only the n_a + n_b rows of a pair meet in one matrix, so that the
    memory is that of the largest pair. Prediction is one product with the rows that support any pair.

    A kernel SVM wants a positive semi-definite matrix. Anything else is refused, unless ``spectrum`` says how to go on.

    Parameters
    ----------
    measures : str, Similarity, callable, Measure, or a list of these, default="rbf"
        Several are added up, K = Σ weights[m] K_m. Asymmetric similarities count as (s(a, b) + s(b, a)) / 2, in
        training and in prediction; precomputed ones must be symmetric. A measure's own basis is not used.
    weights : sequence of float, optional
        What every measure weighs, at least 0; by default 1 / (number of measures) each.
    C : float, default=1.0
        Weight of the loss against the norm.
    spectrum : {None, "clip", "flip", "shift", "square", "ignore"}, default=None
        What to do about negative eigenvalues of a pair's matrix. None refuses them; similarities that declare
        themselves ``psd`` are trusted. "clip" sets them to zero, "flip" turns their sign, "shift" raises all
        eigenvalues until none is negative, "square" squares all of them (definite or not). New samples are treated
        alike: after "clip", "flip" and "square" prediction compares with all rows of a pair, not with its support
        vectors alone. "ignore" goes on as LIBSVM does, without a guarantee: the problem is not convex.
    class_weight : dict, "balanced" or None
        As in ``SVC``: every row weighs its sample weight times the weight of its class.
    tol : float, default=1e-3
        LIBSVM's stopping tolerance.
    memory_limit : int or str, optional
        Bytes, or text like "4 GB", that training may take beyond X; by default 70 % of what is free.
    n_jobs : int, optional
        Threads; by default all that BLAS may use.
    verbose : int, default=0
        0 shows a bar on a terminal only; 1 says what happens anywhere.

    Attributes
    ----------
    classes_ : ndarray
    pairs_ : list of (a, b)
        The pairs of places in ``classes_``, a < b. Decision values above 0 speak for b.
    alphas_ : list of (rows, signed)
        For every pair the training rows that support it, and their dual variables α, those of class a negated.
    intercept_ : ndarray of shape (n_pairs,)
    squared_norms_ : ndarray of shape (n_pairs,)
        ‖w‖² = αᵀ Y K Y α, with K as ``spectrum`` made it, see :func:`besvm.analysis.margins`; NaN for a pair of which
        one class has no rows of weight above 0. Below 0 it is no norm: K is indefinite, and "ignore" went on.
    support_ : ndarray
        The training rows that support any pair, ascending.
    n_support_ : ndarray of shape (n_classes,)
        How many of them each class has.
    exemplar_rows_ : ndarray of shape (n_exemplars,)
        The training rows that new samples are compared with, class by class.
    dual_coef_ : ndarray of shape (n_exemplars, n_pairs)
        What each similarity to an exemplar counts in each pair's decision.

    Examples
    --------
    >>> from besvm.baselines import KernelSVMClassifier
    >>> from sklearn.datasets import load_digits
    >>> X, y = load_digits(return_X_y=True)
    >>> clf = KernelSVMClassifier("rbf", C=10).fit(X[:900], y[:900])
    >>> bool(clf.score(X[900:], y[900:]) > 0.95)
    True
    >>> KernelSVMClassifier("sigmoid").fit(X[:50], y[:50] > 4)
    Traceback (most recent call last):
        ...
    ValueError: the similarity 'sigmoid' must be positive semi-definite for a kernel SVM, ...
    >>> KernelSVMClassifier("sigmoid", spectrum="flip").fit(X[:50], y[:50] > 4).pair_decision(X[50:52]).shape
    (2, 1)
    """

    measures: Any = "rbf"
    _: KW_ONLY
    weights: Any = None
    C: float = 1.0
    spectrum: str | None = None
    class_weight: Any = None
    tol: float = 1e-3
    memory_limit: int | float | str | None = None
    n_jobs: int | None = None
    verbose: int = 0

    @atomic_fit
    def fit(self, X: Any, y: Any, sample_weight: Any = None) -> Self:
        """Train the SVM of every pair of classes.

        Parameters
        ----------
        X : anything with a length and rows that the measures can compare
        y : array of shape (n,)
        sample_weight : array of shape (n,), optional
            What every row weighs in the loss.
        """
        measures, data = self._checked(X, y, sample_weight)
        mixture = check_mixture(self.weights, len(measures))
        classes, rows_of = data.classes, rows_of_classes(data)
        sizes = [len(rows) for rows in rows_of]
        with workers(self.n_jobs):
            limit = limit_bytes(self.memory_limit)
            plan_pairs(sizes, 4, self.spectrum, True, limit)  # refused before the features are computed, if at all
            gram, seen = fit_gram(data.X, classes[data.labels], measures, mixture, limit)
            plan = plan_pairs(sizes, gram.dtype.itemsize, self.spectrum, gram.psd, limit, bytes_of_copies(seen))
            say(self.verbose, str(plan))
            items = [gram.items(seen, rows) for rows in rows_of]
            solver = PairSolver(float(self.C), float(self.tol), self.spectrum, gram.psd, gram.label, classes)
            weights = data.weights
            models = train_pairs(lambda a, b: gram(items[a], items[b]), rows_of, weights, solver, plan, self.verbose)
        alphas = [(model.support, model.signed) for model in models]
        self._learned(data, class_pairs(len(classes)), alphas, [model.squared_norm for model in models])
        self._votes, self._gram, self._solver = votes_of(models, data.labels, len(classes)), gram, solver
        self.intercept_, self.exemplar_rows_ = self._votes.intercept, self._votes.exemplars
        self._exemplars = gram.kept(seen, self.exemplar_rows_)
        return self

    @property
    def dual_coef_(self) -> np.ndarray:
        """What each similarity to an exemplar counts in each pair's decision, of shape (n_exemplars, n_pairs)."""
        check_is_fitted(self, "classes_")
        return self._votes.dense_coef()

    def _rows_each(self, X: Any) -> int:
        asked = [part.similarity.rows_per_block for part in self._gram.parts if part.similarity.rows_per_block]
        each = COPIES * bytes_each(X)
        if n_rows(X):
            each += sum(describing_bytes(transformer, large_one(X)) for transformer in self._gram.transformers)
        return min([rows_per_block(len(self._exemplars)), rows_of_work(each), *asked])

    def _decide(self, samples: Any, first_row: int) -> np.ndarray:
        items = self._gram.items(self._gram.describe(samples), np.arange(n_rows(samples)))
        items.rows += first_row
        return self._votes(self._gram(items, self._exemplars))

    def gram(self, X: Any) -> np.ndarray:
        """Return the (n, n) matrix of the rows of X: weighted and symmetric, its spectrum as it is.

        Refused if it would take more than ``memory_limit``.
        """
        check_is_fitted(self, "classes_")
        n = n_rows(X)
        copies = 2 if len(self._gram.parts) == 1 else 3
        seen = self._described(X, f"the {n:,} x {n:,} matrix", copies * self._gram.dtype.itemsize * n**2)
        return self._matrix(seen, np.arange(n))

    def _described(self, X: Any, what: str, beside: int) -> list[Seen]:
        """Return what the measures compare of X, unless that and ``beside`` bytes are too much memory for ``what``."""
        X = check_vectors(self, X, self._vectors, reset=False)
        check_fits(what, beside, self.memory_limit)
        with workers(self.n_jobs):
            seen = self._gram.describe(X)
        check_fits(what, beside + bytes_of_copies(seen), self.memory_limit)
        return seen

    def _matrix(self, seen: list[Seen], rows: np.ndarray) -> np.ndarray:
        with workers(self.n_jobs):
            items = self._gram.items(seen, rows)
            return self._gram(items, items)

    def _pair_matrix(self, seen: list[Seen], pair: tuple[int, int], rows: np.ndarray) -> np.ndarray:
        """Return the matrix of the training rows of a pair, in float64 and with the spectrum that it was trained on."""
        K = self._matrix(seen, rows).astype(np.float64, copy=False)
        return K if self._solver.spectrum is None else self._solver.definite(pair, K)[0]


def check_mixture(weights: Any, n_measures: int) -> np.ndarray:
    """Return what each measure weighs, checked; by default all the same, 1 in all."""
    if weights is None:
        return np.full(n_measures, 1 / n_measures)
    try:
        mixture = np.asarray(weights, dtype=np.float64)
    except (TypeError, ValueError, OverflowError):
        mixture = np.array(np.nan)
    if mixture.shape != (n_measures,) or not (np.isfinite(mixture) & (mixture >= 0)).all() or not mixture.any():
        raise ValueError(
            f"weights must be {n_measures} finite numbers of at least 0, one for each measure, and not all 0, "
            f"got {shown(weights)}"
        )
    return mixture
