"""What all experiments share: the images, their features, and similarities that are computed once."""

import hashlib
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from functools import cache, cached_property
from itertools import pairwise
from time import perf_counter
from typing import Any

import numpy as np

from besvm._support.threads import slices
from besvm.blocks import MemoryBlocks
from besvm.blocks.stores import rows_per_block
from besvm.features import FHOG
from besvm.linear import LinearSVMClassifier
from besvm.measures import parse_shorthand
from besvm.normalize import MeanNormScaler, Nystrom, RawSimilarities, as_normalization
from besvm.reproduction.cache import MatrixCache
from besvm.reproduction.sources import SOURCES
from besvm.similarities import Similarity, resolve
from besvm.solver.calibration import held_out_problem
from besvm.solver.newton import solve_path
from besvm.solver.problem import Problem

Row = dict[str, Any]  # of a table
Rows = Iterator[Row]
Table = list[Row]
Basis = list[np.ndarray]  # row numbers in pieces: the similarities to each piece are kept by themselves
CS = [0.1, 1.0, 10.0]
MAX_ITER = 100  # Newton steps; normalized features take about ten
CV_ITER = 5  # Newton steps for each C while it is chosen: enough to rank the three
TEST_FOLD = 5


@dataclass
class Fitted:
    """A linear SVM on normalized similarities, and how it did."""

    model: LinearSVMClassifier
    accuracy: float
    seconds: float  # normalizing and training

    def row(self) -> Row:
        """Return what a table shows."""
        return {
            "accuracy": self.accuracy,
            "train_seconds": round(self.seconds, 3),
            "passes": self.model.n_passes_,
            "converged": self.model.converged_,
        }


@dataclass(eq=False, repr=False)
class Lab:
    """The data of one reproduction and the matrices computed from them.

    The features are centered and scaled with the statistics of the first fold whatever the number of folds trained on,
    so that a similarity is the same number in every experiment and is computed once.

    A lab does not know the sizes of the experiments: what a cell needs of them is an argument of its function, and so
    part of the key under which the cell is kept.
    """

    images: np.ndarray  # (n, h, w, 3)
    labels: np.ndarray
    fold: np.ndarray  # of each image: 0 to 4 for training, 5 for testing
    cache: MatrixCache
    memory_limit: int | None = None  # bytes that the whole reproduction may take; None: what the machine has
    _features: dict[tuple[int, str | None], np.ndarray] = field(default_factory=dict, init=False)

    @cached_property
    def fingerprint(self) -> str:
        """A hash of the data."""
        return digest(self.images, self.labels, self.fold)

    @cached_property
    def n_classes(self) -> int:
        """The number of classes."""
        return len(np.unique(self.labels))

    @property
    def base_memory(self) -> int:
        """The bytes that the images and their features take, raw and normalized, beside any cell."""
        features = sum(self.features_per_image(cell) for cell in (8, 4))
        return self.images.nbytes + 2 * 4 * len(self.images) * features

    @property
    def model_limit(self) -> int | None:
        """The bytes that are left for a model beside the images and their features; None: no limit was set."""
        return None if self.memory_limit is None else max(1, self.memory_limit - self.base_memory)

    def rows_of(self, fold: int) -> np.ndarray:
        """Return the rows of one fold."""
        return np.flatnonzero(self.fold == fold)

    def train_rows(self, n_folds: int = 1) -> np.ndarray:
        """Return the rows of the first folds, one fold after the other."""
        return np.concatenate([self.rows_of(fold) for fold in range(n_folds)])

    @cached_property
    def test_rows(self) -> np.ndarray:
        """The rows of the test fold."""
        return self.rows_of(TEST_FOLD)

    def index_basis(self, per_class: int, sizes: Sequence[int]) -> Basis:
        """Return the first rows of every class ("Indx"), in pieces that end at ``sizes``, so that bases share them."""
        own = [np.flatnonzero((self.labels == c) & (self.fold == 0)) for c in range(self.n_classes)]
        ends = [0, *(size for size in sizes if size < per_class), per_class]
        return [np.concatenate([rows[start:end] for rows in own]) for start, end in pairwise(ends)]

    # --- features and similarities -----------------------------------------------------------------------------------

    def features_per_image(self, cell: int) -> int:
        """Return the number of HOG features of an image."""
        _, height, width, _ = self.images.shape
        return 31 * (height // cell) * (width // cell)

    def features(self, cell: int, norm: str | None = "mean-norm") -> np.ndarray:
        """Return the HOG features of all images, (n, h, w, 31), normalized by the statistics of the first fold."""
        if (cell, None) not in self._features:
            self._features[cell, None] = np.asarray(FHOG(cell=cell).transform(self.images))
        if (cell, norm) not in self._features:
            for key in [key for key in self._features if key[0] == cell and key[1] is not None]:
                del self._features[key]  # one normalized copy of each resolution is enough
            self._features[cell, norm] = normalized_features(self._features[cell, None], self.train_rows(), norm)
        return self._features[cell, norm]

    def flat_features(self, cell: int) -> np.ndarray:
        """Return the normalized features, a vector for every image."""
        return self.features(cell).reshape(len(self.images), -1)

    def similarities(
        self, label: str, rows: np.ndarray, basis: np.ndarray, norm: str | None = "mean-norm"
    ) -> np.ndarray:
        """Return the similarities of some rows to some exemplars, from the cache if they are there."""
        recipe, shape = self.recipe(label, rows, basis, norm), (len(rows), len(basis))
        cell, similarity = cell_and_similarity(label)
        return self.cache.get(recipe, shape, lambda: compared(similarity, self.features(cell, norm), rows, basis))

    def recipe(self, label: str, rows: np.ndarray, basis: np.ndarray, norm: str | None) -> dict[str, Any]:
        """Return all that a matrix of similarities depends on."""
        recipe = {"code": matrix_code(), "data": self.fingerprint, "measure": label, "features": norm}
        return recipe | {"rows": digest(rows), "basis": digest(basis)}

    def expansion(
        self, labels: Sequence[str], folds: Sequence[int], basis: Basis, norm: str | None = "mean-norm"
    ) -> np.ndarray:
        """Return the raw similarities of the rows of some folds to a basis, the measures side by side."""
        pieces = [self.rows_of(fold) for fold in folds]
        width = sum(map(len, basis))
        out = np.empty((sum(map(len, pieces)), width * len(labels)), dtype=np.float32)
        top = 0
        for rows in pieces:
            left = 0
            for label in labels:
                for exemplars in basis:
                    block = self.similarities(label, rows, exemplars, norm)
                    out[top : top + len(rows), left : left + len(exemplars)] = block
                    left += len(exemplars)
            top += len(rows)
        return out

    # --- training ----------------------------------------------------------------------------------------------------

    def fit(
        self,
        labels: Sequence[str],
        basis: Basis,
        n_folds: int = 1,
        *,
        C: float | None = 1.0,
        cv_folds: int = 5,
        normalize: str | Nystrom | None = "mean-norm",
        norm: str | None = "mean-norm",
        max_iter: int = MAX_ITER,
        known: Fitted | None = None,
    ) -> Fitted:
        """Train on the first folds and score on the test fold; C = None chooses it by ``cv_folds``-fold validation.

        ``known`` is returned if its C is chosen.
        """
        X = self.expansion(labels, range(n_folds), basis, norm)
        X_test = self.expansion(labels, [TEST_FOLD], basis, norm)
        y = self.labels[self.train_rows(n_folds)]
        start = perf_counter()
        in_basis = np.searchsorted(self.rows_of(0), np.concatenate(basis))  # all exemplars are of the first fold
        normalize_in_place(X, X_test, in_basis, len(labels), normalize)
        chosen = best_cost(X, y, self.n_classes, cv_folds) if C is None else C
        if known is not None and chosen == known.model.C:
            return known
        model = LinearSVMClassifier(C=chosen, probability=False, max_iter=max_iter).fit(X, y)
        seconds = perf_counter() - start
        return Fitted(model, float(model.score(X_test, self.labels[self.test_rows])), seconds)


def fitted(lab: Lab, labels: Sequence[str], basis: Basis, n_folds: int = 1, **options: Any) -> Row:
    """Return what a table shows of :meth:`Lab.fit`."""
    return lab.fit(labels, basis, n_folds, **options).row()


def cell_and_similarity(label: str) -> tuple[int, Similarity]:
    """Return the cell size and the similarity of the paper's shorthand."""
    found = parse_shorthand(label)
    return found.features[0].cell, resolve(found.similarity)


def normalized_features(raw: np.ndarray, first: np.ndarray, norm: str | None) -> np.ndarray:
    """Return features normalized by the statistics of the rows ``first``."""
    if norm == "mean-norm":
        return MeanNormScaler().fit(raw[first]).transform(raw)
    scale = raw[first].std(axis=0)
    return (raw - raw[first].mean(axis=0)) / np.where(scale > 0, scale, 1)


def compared(similarity: Similarity, features: np.ndarray, rows: np.ndarray, basis: np.ndarray) -> np.ndarray:
    """Return the similarities of some rows to some others."""
    compare = similarity.against(features[basis])
    out = np.empty((len(rows), len(basis)), dtype=np.float32)
    for part in slices(len(rows), rows_per_block(len(basis))):
        out[part] = compare(features[rows[part]])
    return out


@cache
def matrix_code() -> str:
    """Return a hash of the code that makes a matrix of similarities."""
    return SOURCES.hash_of(FHOG, normalized_features, cell_and_similarity, compared)


def normalize_in_place(
    X: np.ndarray, X_test: np.ndarray, in_basis: np.ndarray, n_measures: int, normalize: str | Nystrom | None
) -> None:
    """Normalize both with what is learned from X, each measure for itself; ``in_basis`` are the exemplars in X."""
    width = X.shape[1] // n_measures
    groups = [slice(k * width, (k + 1) * width) for k in range(n_measures)]
    raw = RawSimilarities(MemoryBlocks(X), groups, None, list, lambda: [X[in_basis, group] for group in groups])
    normalizer = as_normalization(normalize).learn(raw)
    for several in (raw.blocks, MemoryBlocks(X_test)):
        normalizer.apply(several)


def best_cost(X: np.ndarray, y: np.ndarray, n_classes: int, n_folds: int) -> float:
    """Return the C with the best cross-validated accuracy; the columns of all folds are solved at once."""
    fold = np.empty(len(y), dtype=np.int8)
    for c in range(n_classes):
        rows = np.flatnonzero(y == c)
        fold[rows] = np.arange(len(rows)) % n_folds
    problem = held_out_problem(Problem(y, np.arange(n_classes), np.ones(len(y))), fold, n_folds)
    columns = fold[:, None].astype(int) * n_classes + np.arange(n_classes)  # those that leave the row out
    accuracies = []
    for result in solve_path(MemoryBlocks(X), problem, CS, tol=1e-2, max_iter=CV_ITER):
        margins = np.take_along_axis(result.margins, columns, axis=1)
        accuracies.append(float((margins.argmax(axis=1) == y).mean()))
    return CS[int(np.argmax(accuracies))]


def digest(*arrays: np.ndarray) -> str:
    """Return a hash of arrays."""
    found = hashlib.sha256()
    for array in arrays:
        found.update(repr((array.shape, array.dtype.str)).encode())
        found.update(np.ascontiguousarray(array).tobytes())
    return found.hexdigest()[:16]
