"""Train an SVM with LIBSVM one pair of classes at a time, within a memory limit, and count the votes."""

from abc import ABC, abstractmethod
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from functools import lru_cache
from queue import SimpleQueue
from typing import Any, NamedTuple

import numpy as np
from scipy.linalg import LinAlgError, cholesky, eigvalsh
from sklearn.base import BaseEstimator, ClassifierMixin
from sklearn.svm import SVC
from sklearn.utils import Tags
from sklearn.utils.validation import check_is_fitted

from besvm._support.parameters import check_choice, check_loss_weight
from besvm._support.progress import progress
from besvm._support.rows import n_rows
from besvm._support.threads import n_workers, thread_map, workers
from besvm._support.validation import check_vectors
from besvm.blocks.fill import by_blocks
from besvm.blocks.plan import PairPlan
from besvm.expand.training import TrainingSet, mark_input, training_set
from besvm.measures import Measure, TunableMeasures, as_measures
from besvm.normalize.spectrum import SPECTRA, made_psd, rounding
from besvm.solver.votes import class_pairs, class_scores, count_votes

LEAST_TOL = 1e-13
SPECTRUM_CHOICES = (None, *SPECTRA, "ignore")
Block = Callable[[int, int], np.ndarray]  # (class a, class b) -> K of the rows of a against those of b


class PairModel(NamedTuple):
    """The SVM of one pair of classes; positive coefficients speak for the second."""

    support: np.ndarray  # the training rows that support it
    signed: np.ndarray  # their yα
    exemplars: np.ndarray  # the training rows that a new sample is compared with
    coef: np.ndarray  # what each of those similarities counts
    intercept: float
    squared_norm: float  # ‖w‖² = αᵀ Y K Y α; NaN if there was nothing to train


@dataclass(frozen=True)
class PairSolver:
    """The parameters that all pairs share."""

    C: float
    tol: float
    spectrum: str | None
    trusted: bool  # whether the similarity declares itself positive semi-definite
    label: str
    classes: np.ndarray

    def __call__(self, pair: tuple[int, int], K: np.ndarray, n_first: int, weights: np.ndarray) -> PairModel:
        """Train on the float64 matrix of a pair, the rows of the first class first; rows are numbered from 0."""
        K, carry = self.definite(pair, K)
        side = np.repeat([0, 1], [n_first, len(K) - n_first])
        cache = 1 + 4 * len(K) ** 2 / 2**20  # megabytes: all of it, so that no row is fetched twice
        signed, intercept = solve_pair(K, side, weights, self.C, self.tol, cache)
        coef = signed if carry is None else carry @ signed
        support, exemplars = np.flatnonzero(signed), np.flatnonzero(coef)
        norm = _squared_norm(K, signed)
        return PairModel(support, signed[support], exemplars, coef[exemplars], intercept, norm)

    def definite(self, pair: tuple[int, int], K: np.ndarray) -> tuple[np.ndarray, np.ndarray | None]:
        """Return K made positive semi-definite, and what does the same to new samples (None: nothing)."""
        if self.spectrum == "square":
            return made_psd(K, "square")
        if self.trusted or self.spectrum == "ignore":
            return K, None
        noise = rounding(K, np.float32)  # LIBSVM itself works on float32
        if _has_cholesky(K, noise):
            return K, None
        if self.spectrum is not None:
            return made_psd(K, self.spectrum, noise)
        values = eigvalsh(K)
        if values[0] < -noise:
            a, b = (self.classes[place] for place in pair)
            raise ValueError(
                f"the similarity {self.label!r} must be positive semi-definite for a kernel SVM, but between the rows "
                f"of classes {a!s} and {b!s} its smallest eigenvalue is {values[0]:.3g}, the largest {values[-1]:.3g}; "
                "set spectrum='clip', 'flip', 'shift' or 'square' to fix this, or 'ignore' to continue without a "
                "guarantee"
            )
        return K, None


def solve_pair(
    K: np.ndarray, side: np.ndarray, weights: np.ndarray, C: float, tol: float, cache: float
) -> tuple[np.ndarray, float]:
    """Return the signed dual variables yα and the intercept of one problem; LIBSVM keeps ``cache`` MB of K."""
    svc = SVC(C=C, kernel="precomputed", tol=tol, cache_size=cache).fit(K, side, weights)
    signed = np.zeros(len(K))
    signed[svc.support_] = svc.dual_coef_[0]
    return signed, float(svc.intercept_[0])


def _squared_norm(K: np.ndarray, signed: np.ndarray) -> float:
    """Return αᵀ Y K Y α; one below 0 by no more than rounding errors is 0, so that the rest tell of an indefinite K."""
    value = float(signed @ (K @ signed))
    return 0.0 if 0 > value >= -rounding(K, np.float32) * float(signed @ signed) else value


def _has_cholesky(K: np.ndarray, noise: float) -> bool:
    raised = K.copy()
    np.fill_diagonal(raised, K.diagonal() + noise)
    try:
        cholesky(raised, lower=True, overwrite_a=True, check_finite=False)
    except LinAlgError:
        return False
    return True


def train_pairs(
    block: Block, rows_of: list[np.ndarray], weights: np.ndarray, solver: PairSolver, plan: PairPlan, verbose: int
) -> list[PairModel]:
    """Train the SVM of every pair of classes; ``rows_of`` lists the training rows of each, ``weights`` are per row.

    The blocks are computed by the calling thread, those between two classes when their turn comes, while ``plan.jobs``
    other threads train (LIBSVM lets go of Python's lock).
    """
    threads, pairs = n_workers(), class_pairs(len(rows_of))
    buffers: SimpleQueue[np.ndarray] = SimpleQueue()  # used again: of new matrices the allocator would keep as much
    for _ in range(plan.jobs):
        buffers.put(np.empty(plan.rows**2))

    @lru_cache(maxsize=None if plan.keep else 2)
    def within(a: int) -> np.ndarray:
        return block(a, a)

    def tasks() -> Iterator[tuple[int, int, list[np.ndarray]]]:
        for a, b in pairs:
            blocks = []
            if len(rows_of[a]) and len(rows_of[b]):
                with workers(threads):
                    blocks = [within(a), block(a, b), within(b)]
            yield a, b, blocks  # none, if a side is empty

    def train(task: tuple[int, int, list[np.ndarray]]) -> PairModel:
        a, b, blocks = task
        if not blocks:  # it always says the same
            always, none = float(len(rows_of[b]) > 0) - float(len(rows_of[a]) > 0), np.empty(0, dtype=np.intp)
            return PairModel(none, np.empty(0), none, np.empty(0), always, np.nan)
        rows = np.concatenate([rows_of[a], rows_of[b]])
        buffer = buffers.get()
        try:
            model = solver((a, b), _assembled(blocks, buffer), len(rows_of[a]), weights[rows])
        finally:
            buffers.put(buffer)
        return model._replace(support=rows[model.support], exemplars=rows[model.exemplars])

    models = []
    with workers(plan.jobs), progress("training pairs of classes", len(pairs), verbose) as shown:
        for model in thread_map(train, tasks()):
            models.append(model)
            shown.advance(1)
    return models


def _assembled(blocks: list[np.ndarray], buffer: np.ndarray) -> np.ndarray:
    within_a, between, within_b = blocks
    n_a, n = len(within_a), len(within_a) + len(within_b)
    K = buffer[: n * n].reshape(n, n)
    K[:n_a, :n_a], K[:n_a, n_a:] = within_a, between
    K[n_a:, :n_a], K[n_a:, n_a:] = between.T, within_b
    return K


@dataclass(frozen=True)
class Votes:
    """The decisions of all pairs from the similarities to the exemplars, which stand class by class.

    An exemplar takes part in the pairs of its own class alone, so its coefficients have n_classes - 1 columns.
    """

    n_classes: int
    exemplars: np.ndarray  # training rows
    places: list[slice]  # of each class's exemplars
    columns: list[np.ndarray]  # the pairs of each class
    coefs: list[np.ndarray]  # (exemplars of the class, pairs of the class)
    intercept: np.ndarray

    def __call__(self, K: np.ndarray) -> np.ndarray:
        """Return the decisions (n, n_pairs) from the similarities (n, exemplars): above 0 for a pair's second class."""
        out = np.tile(self.intercept, (len(K), 1))
        for places, columns, coef in zip(self.places, self.columns, self.coefs, strict=True):
            out[:, columns] += K[:, places] @ coef.astype(K.dtype, copy=False)
        return out

    def dense_coef(self) -> np.ndarray:
        """Return the coefficients as one matrix (exemplars, n_pairs)."""
        out = np.zeros((len(self.exemplars), len(self.intercept)))
        for places, columns, coef in zip(self.places, self.columns, self.coefs, strict=True):
            out[places, columns] = coef
        return out


def votes_of(models: list[PairModel], labels: np.ndarray, n_classes: int) -> Votes:
    """Put the models of all pairs together."""
    used = np.unique(np.concatenate([model.exemplars for model in models]))
    exemplars = used[np.argsort(labels[used], kind="stable")]
    ends = np.cumsum(np.bincount(labels[exemplars], minlength=n_classes))
    starts = np.append(0, ends[:-1])
    place = np.empty(len(labels), dtype=np.intp)
    place[exemplars] = np.arange(len(exemplars)) - starts[labels[exemplars]]
    pairs = np.array(class_pairs(n_classes))
    columns = [np.flatnonzero((pairs == c).any(axis=1)) for c in range(n_classes)]
    coefs = [np.zeros((end - start, n_classes - 1)) for start, end in zip(starts, ends, strict=True)]
    for number, (pair, model) in enumerate(zip(pairs, models, strict=True)):
        for c in pair:
            own = labels[model.exemplars] == c
            coefs[c][place[model.exemplars[own]], np.searchsorted(columns[c], number)] = model.coef[own]
    places = [slice(int(start), int(end)) for start, end in zip(starts, ends, strict=True)]
    return Votes(n_classes, exemplars, places, columns, coefs, np.array([model.intercept for model in models]))


def rows_of_classes(data: TrainingSet, rows: np.ndarray | None = None) -> list[np.ndarray]:
    """Return the rows of each class among these, by default among all that weigh anything."""
    rows = np.flatnonzero(data.weights) if rows is None else rows
    return [rows[data.labels[rows] == c] for c in range(len(data.classes))]


class OneVsOneClassifier(TunableMeasures, ClassifierMixin, BaseEstimator, ABC):  # type: ignore[misc]
    """Abstract: a classifier that decides every pair of classes, in ``pairs_``, and counts the votes."""

    def _checked(self, X: Any, y: Any, sample_weight: Any) -> tuple[list[Measure], TrainingSet]:
        """Check the parameters that all of these have, and what was given to ``fit``."""
        check_loss_weight(self.C)
        if self.tol < LEAST_TOL:
            raise ValueError(
                f"tol must be at least {LEAST_TOL:g}, because rounding keeps LIBSVM from reaching less, got "
                f"{self.tol!r}"
            )
        check_choice("spectrum", getattr(self, "spectrum", None), SPECTRUM_CHOICES)
        measures = as_measures(self.measures)
        return measures, training_set(self, measures, X, y, sample_weight)

    def _learned(self, data: TrainingSet, pairs: list[tuple[int, int]], alphas: list[Any], norms: Any) -> None:
        """Remember the classes, and what supports every pair."""
        self.classes_, self.pairs_, self.alphas_, self.squared_norms_ = data.classes, pairs, alphas, np.array(norms)
        self.support_ = np.unique(np.concatenate([rows for rows, _ in alphas]))
        self.n_support_ = np.bincount(data.labels[self.support_], minlength=len(data.classes))
        self._vectors, self._row_class = data.vectors, np.where(data.weights > 0, data.labels, -1)

    @abstractmethod
    def _decide(self, samples: Any, first_row: int) -> np.ndarray:
        """Return the decisions of all pairs on some consecutive samples, of which the first has this number."""

    @abstractmethod
    def _rows_each(self, X: Any) -> int:
        """Return how many samples to decide on at a time."""

    def pair_decision(self, X: Any) -> np.ndarray:
        """Return the decision value of every pair, of shape (n, n_pairs): above 0 for the pair's second class."""
        check_is_fitted(self, "classes_")
        X = check_vectors(self, X, self._vectors, reset=False)
        with workers(self.n_jobs):
            out = np.empty((n_rows(X), len(self.pairs_)))
            return by_blocks(X, self._decide, out, self._rows_each(X), "predicting", self.verbose)

    def decision_function(self, X: Any) -> np.ndarray:
        """Return the decision values as SVC does: (n,) for two classes, above 0 for the second, else (n, n_classes).

        For more than two classes they are the votes of every class, and a fraction below a third for the sum of the
        decisions of its pairs, which tells ties apart.
        """
        decisions = self.pair_decision(X)
        return decisions[:, 0] if len(self.classes_) == 2 else class_scores(decisions, self.pairs_, len(self.classes_))

    def predict(self, X: Any) -> np.ndarray:
        """Return the class of every sample: the one with the most votes, of several the first, as LIBSVM does."""
        votes = count_votes(self.pair_decision(X), self.pairs_, len(self.classes_))
        return self.classes_[votes.argmax(axis=1)]

    def __sklearn_tags__(self) -> Tags:
        tags = super().__sklearn_tags__()
        mark_input(tags, self.measures, getattr(self, "basis", None))
        return tags
