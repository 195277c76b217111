"""Two kernels learned together: their mixture by a line search, as the paper does it."""

from dataclasses import KW_ONLY, dataclass
from itertools import product
from typing import Any, ClassVar, Self

import numpy as np
from sklearn.model_selection import StratifiedKFold, check_cv

from besvm._support.parameters import atomic_fit, make_rng, shown
from besvm._support.progress import progress, say
from besvm._support.rows import n_rows
from besvm._support.threads import slices, workers
from besvm._support.units import show_bytes
from besvm._support.validation import check_weights
from besvm.baselines.gram import bytes_of_copies, fit_gram
from besvm.baselines.kernel import KernelSVMClassifier
from besvm.baselines.pairs import (
    OneVsOneClassifier,
    PairSolver,
    rows_of_classes,
    train_pairs,
    votes_of,
)
from besvm.blocks.plan import PairPlan, limit_bytes, plan_pairs
from besvm.blocks.stores import rows_per_block
from besvm.expand.training import TrainingSet, with_params_of
from besvm.measures import Measure
from besvm.similarities.lookup import resolve
from besvm.solver.votes import class_pairs, count_votes

ALPHAS = tuple(round(0.1 * step, 1) for step in range(11))


@dataclass(eq=False, repr=False)
class LineSearchMKL(OneVsOneClassifier):
    """A kernel SVM on the mixture K = α K₁ + (1 - α) K₂ of two measures, α by cross-validation.

    The procedure of section "Multiple Kernel Learning": every α of the list is tried on the same stratified folds, the
    most accurate one is kept, and the kernel SVM is trained again on all rows. The similarities of both measures are
    computed once for all α and folds (and once more, where they are needed, for the last training), with features
    fitted on all rows.

    Parameters
    ----------
    measures : list of two of str, Similarity, callable or Measure, default=("rbf", "linear")
        The two that are mixed.
    alphas : sequence of float, default=(0, 0.1, ..., 1)
        The α to try, between 0 and 1. Of equally accurate ones the nearest to 1/2 is kept, the smaller of two.
    cv : int, splitter or iterable, default=5
        The number of shuffled, stratified folds, or anything that scikit-learn takes for them.
    C : float, default=1.0
        Weight of the loss against the norm.
    spectrum : {None, "clip", "flip", "shift", "square", "ignore"}, default=None
        What to do about negative eigenvalues, as in :class:`KernelSVMClassifier`.
    class_weight : dict, "balanced" or None, default=None
        What the rows of every class weigh, as in ``SVC``.
    tol : float, default=1e-3
        LIBSVM's stopping tolerance.
    n_jobs : int, optional
        Threads; by default all that BLAS may use.
    memory_limit : int or str, optional
        Bytes, or text like "4 GB", that training may take beyond X; by default 70 % of what is free. The two n x n
        matrices must fit, and beside them the largest pair of classes of any fold.
    random_state : int, RandomState or None, default=None
        Shuffles the rows into folds.
    verbose : int, default=0
        0 shows a bar on a terminal only; 1 says what happens anywhere.

    Attributes
    ----------
    alpha_ : float
        The chosen α.
    cv_accuracy_ : ndarray of shape (n_alphas, n_folds)
    model_ : KernelSVMClassifier
        The chosen mixture, trained on all rows.
    classes_, pairs_
        As in :class:`KernelSVMClassifier`.

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

    _inside: ClassVar[str] = "model_"  # what analyses look at

    measures: Any = ("rbf", "linear")
    _: KW_ONLY
    alphas: Any = ALPHAS
    cv: Any = 5
    C: float = 1.0
    spectrum: str | None = None
    class_weight: Any = None
    tol: float = 1e-3
    n_jobs: int | None = None
    memory_limit: int | float | str | None = None
    random_state: Any = None
    verbose: int = 0

    @atomic_fit
    def fit(self, X: Any, y: Any, sample_weight: Any = None) -> Self:
        """Try every α on the folds, then train on all rows.

        X and y are as in :class:`KernelSVMClassifier`; ``sample_weight`` is what every row weighs in the loss, and in
        the accuracy on its fold. Rows of weight 0 are left out of both.
        """
        alphas = _check_alphas(self.alphas)
        measures, data = self._checked(X, y, sample_weight)
        if len(measures) != 2:
            raise ValueError(f"LineSearchMKL needs exactly two measures, got {len(measures)}")
        counts = check_weights(data.X, data.labels, data.classes, None, sample_weight, np.float64)
        folds = self._folds(data.labels, data.weights > 0)
        with workers(self.n_jobs):
            search = _Search(self, measures, alphas, data, counts, folds)
            accuracy = np.empty((len(alphas), len(folds)))
            with progress("trying mixtures", accuracy.size, self.verbose) as shown:
                for (i, alpha), j in product(enumerate(alphas), range(len(folds))):
                    accuracy[i, j] = search.accuracy(alpha, j)
                    shown.advance(1)
            del search  # the matrices make room for the last training
            alpha = _best(alphas, accuracy.mean(axis=1))
            say(self.verbose, f"alpha {alpha:g} is the most accurate: {accuracy.mean(axis=1).max():.4f}")
            model = with_params_of(self, KernelSVMClassifier, weights=(alpha, 1 - alpha)).fit(data.X, y, sample_weight)
        self.alpha_, self.cv_accuracy_, self.model_ = alpha, accuracy, model
        self.classes_, self.pairs_, self._vectors = model.classes_, model.pairs_, data.vectors
        return self

    def _folds(self, labels: np.ndarray, used: np.ndarray) -> list[tuple[np.ndarray, np.ndarray]]:
        """Return the rows to train on and those to judge by of every fold, none of them without weight."""
        cv = self.cv
        if isinstance(cv, (int, np.integer)) and not 2 <= cv <= len(labels):
            raise ValueError(f"cv must be a number of folds from 2 to {len(labels)} (the rows), got {shown(cv)}")
        if isinstance(cv, (int, np.integer)):
            seed = int(make_rng(self.random_state).integers(2**31 - 1))
            rows = np.flatnonzero(used)
            parts = StratifiedKFold(int(cv), shuffle=True, random_state=seed).split(rows, labels[rows])
            return [(rows[train], rows[test]) for train, test in parts]
        rows = np.arange(len(labels))
        try:
            parts = check_cv(cv, labels, classifier=True).split(np.empty((len(labels), 0)), labels)
            folds = [(rows[train][used[train]], rows[test][used[test]]) for train, test in parts]
        except (TypeError, ValueError, IndexError) as error:
            raise ValueError(
                f"cv must be a number of folds, a splitter or a list of (train, test) rows, got {shown(cv)}: {error}"
            ) from error
        if not folds or not all(len(train) and len(test) for train, test in folds):
            raise ValueError(
                "every fold of cv must have at least one row with a weight above 0 to train on, and one to test on"
            )
        return folds

    def _rows_each(self, X: Any) -> int:
        return self.model_._rows_each(X)

    def _decide(self, samples: Any, first_row: int) -> np.ndarray:
        return self.model_._decide(samples, first_row)


class _Search:
    """The matrices of both measures, and the accuracy of their mixtures on parts of them."""

    def __init__(
        self,
        params: LineSearchMKL,
        measures: list[Measure],
        alphas: list[float],
        data: TrainingSet,
        counts: np.ndarray,  # of the rows in the accuracy, for which class weights are not meant
        folds: list[tuple[np.ndarray, np.ndarray]],
    ) -> None:
        self.params, self.data, self.counts = params, data, counts
        self.psd = [bool(resolve(measure.similarity).psd) for measure in measures]
        self.train = [rows_of_classes(data, np.unique(train)) for train, _ in folds]
        self.test = [test for _, test in folds]
        everyone = rows_of_classes(data)
        trusted = all(self._trusted(alpha) for alpha in alphas)
        n, limit = n_rows(data.X), limit_bytes(params.memory_limit)
        held, what = 2 * 4 * n**2, f"the two {n:,} x {n:,} matrices"

        def plan(rows_of: list[np.ndarray], itemsize: int, held: int) -> PairPlan:
            return plan_pairs([len(rows) for rows in rows_of], itemsize, params.spectrum, trusted, limit, held)

        # What the folds or the last training will not have the memory for is refused before anything is computed.
        if held > limit:
            raise MemoryError(
                f"the search must stay within {show_bytes(limit)}, but {what} need {show_bytes(held)}; "
                "raise memory_limit or use fewer rows"
            )
        plan(everyone, 4, 0)
        try:
            self.plans = [plan(rows_of, 4, held) for rows_of in self.train]
        except MemoryError as error:
            raise MemoryError(f"{what} already take {show_bytes(held)} of memory, and {error}") from None
        most = max(one.need for one in self.plans)
        say(params.verbose, f"{what} take {show_bytes(held)}, the search {show_bytes(most)} in all")
        self.gram, seen = fit_gram(data.X, data.classes[data.labels], measures, np.ones(2), limit)
        plan(everyone, self.gram.dtype.itemsize, bytes_of_copies(seen))
        self.matrices = [np.empty((n, n), dtype=np.float32) for _ in measures]
        items = self.gram.items(seen, np.arange(n))
        with progress("similarities of all rows", 2 * n, params.verbose) as shown:
            for (m, K), rows in product(enumerate(self.matrices), slices(n, rows_per_block(n))):
                K[rows] = self.gram.one_way(m, self.gram.items(seen, np.arange(rows.start, rows.stop)), items)
                shown.advance(rows.stop - rows.start)
        for K in self.matrices:
            _symmetrize(K)

    def _trusted(self, alpha: float) -> bool:
        """Say whether all measures in the mixture declare themselves positive semi-definite."""
        return all(psd for psd, weight in zip(self.psd, (alpha, 1 - alpha), strict=True) if weight)

    def accuracy(self, alpha: float, fold: int) -> float:
        """Return the accuracy of the mixture on a fold, trained on the others."""
        data, params, rows_of, test = self.data, self.params, self.train[fold], self.test[fold]
        parts = zip(self.gram.parts, (alpha, 1 - alpha), strict=True)
        label = " + ".join(part.label for part, weight in parts if weight)
        solver = PairSolver(params.C, params.tol, params.spectrum, self._trusted(alpha), label, data.classes)

        def block(a: int, b: int) -> np.ndarray:
            return self._mixed(alpha, rows_of[a], rows_of[b])

        models = train_pairs(block, rows_of, data.weights, solver, self.plans[fold], verbose=0)
        votes = votes_of(models, data.labels, len(data.classes))
        right = 0.0
        for part in slices(len(test), rows_per_block(len(votes.exemplars))):
            rows = test[part]
            decisions = votes(self._mixed(alpha, rows, votes.exemplars))
            predicted = count_votes(decisions, class_pairs(votes.n_classes), votes.n_classes).argmax(axis=1)
            right += float(self.counts[rows][predicted == data.labels[rows]].sum())
        return right / float(self.counts[test].sum())

    def _mixed(self, alpha: float, A: np.ndarray, B: np.ndarray) -> np.ndarray:
        mixture = zip((alpha, 1 - alpha), self.matrices, strict=True)
        first, *others = [np.float32(weight) * K[np.ix_(A, B)] for weight, K in mixture if weight]
        return sum(others, start=first)


def _symmetrize(K: np.ndarray) -> None:
    """Replace K by (K + Kᵀ) / 2, some rows and columns at a time."""
    for rows in slices(len(K), 1024):
        both = 0.5 * (K[rows, rows.start :] + K[rows.start :, rows].T)
        K[rows, rows.start :], K[rows.start :, rows] = both, both.T


def _check_alphas(alphas: Any) -> list[float]:
    try:
        checked = [float(alpha) for alpha in alphas]
    except (TypeError, ValueError, OverflowError):
        checked = []
    if not checked or not all(0 <= alpha <= 1 for alpha in checked):
        raise ValueError(f"alphas must be numbers between 0 and 1, at least one, got {shown(alphas)}")
    return checked


def _best(alphas: list[float], accuracy: np.ndarray) -> float:
    """Return the most accurate α; of several, the nearest to 1/2, then the smaller."""
    tied = [alpha for alpha, right in zip(alphas, accuracy, strict=True) if right >= accuracy.max() - 1e-12]
    return min(tied, key=lambda alpha: (round(abs(alpha - 0.5), 9), alpha))
