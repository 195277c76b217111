"""What all experiments share: the images, their features, and similarities that are computed once."""

from __future__ import annotations

import hashlib
from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property
from itertools import pairwise
from time import perf_counter
from typing import Any

import numpy as np

from besvm import __version__
from besvm.blocks import MemoryBlocks
from besvm.linear import LinearSVMClassifier
from besvm.reproduction.cache import MatrixCache
from besvm.reproduction.config import Config
from besvm.reproduction.costs import Costs
from besvm.measures import parse_shorthand
from besvm.normalize import MeanNormScaler, Nystrom, RawSimilarities, as_normalization
from besvm.similarities import Similarity, resolve
from besvm.solver.newton import solve_path
from besvm.solver.problem import Problem

Basis = list[np.ndarray]  # row numbers in pieces: the similarities to each piece are kept by themselves
CS = [0.1, 1.0, 10.0]
MAX_ITER = 100  # Newton steps; normalized features take about ten
CV_ITER = 5  # of them for each C where it is chosen: an order of three is wanted, not models
FORMAT = 2  # raise it whenever the same recipe gives other numbers: what was kept before is then computed again


@dataclass
class Fitted:
    """A linear SVM on normalized similarities, and how it did."""

    model: LinearSVMClassifier
    accuracy: float
    seconds: float  # normalizing and training

    def row(self) -> dict[str, Any]:
        """Return what a table shows."""
        return {
            "accuracy": self.accuracy,
            "train_seconds": round(self.seconds, 3),
            "passes": self.model.n_passes_,
            "converged": self.model.converged_,
        }


class Lab:
    """The data of one reproduction and the matrices computed from them.

    The features are centered and scaled with the statistics of the first fold whatever the number of folds trained on,
    so that a similarity is the same number in every experiment and is computed once.

    Parameters
    ----------
    images : (n, h, w, 3) uint8 array
    labels : (n,) int array
    fold : (n,) int array
        0 to 4 for training, 5 for testing.
    config : Config
        Of every fold the first ``config.rows_per_fold`` rows are used.
    cache : MatrixCache
    memory_limit : int, optional
        Bytes that the whole reproduction may take; by default what the machine has.
    """

    def __init__(
        self,
        images: np.ndarray,
        labels: np.ndarray,
        fold: np.ndarray,
        config: Config,
        cache: MatrixCache,
        memory_limit: int | None = None,
    ) -> None:
        rows = np.concatenate([np.flatnonzero(fold == k)[: config.rows_per_fold] for k in range(6)])
        self.images, self.labels, self.fold = images[rows], labels[rows], fold[rows]
        self.config, self.cache, self.memory_limit = config, cache, memory_limit
        self.costs = Costs(self)
        self._features: dict[tuple[int, str | None], np.ndarray] = {}

    @cached_property
    def fingerprint(self) -> str:
        """A hash of the data."""
        digest = hashlib.sha256()
        for array in (self.images, self.labels, self.fold):
            digest.update(repr((array.shape, array.dtype.str)).encode())
            digest.update(np.ascontiguousarray(array).tobytes())
        return digest.hexdigest()[:16]

    @cached_property
    def n_classes(self) -> int:
        """The number of classes."""
        return len(np.unique(self.labels))

    @property
    def model_limit(self) -> int | None:
        """The bytes that are left for a model beside the images and their features; None: no limit was set."""
        return None if self.memory_limit is None else max(1, self.memory_limit - self.costs.base_memory)

    def train_rows(self, n_folds: int = 1) -> np.ndarray:
        """Return the rows of the first folds."""
        return np.flatnonzero(self.fold < n_folds)

    @cached_property
    def test_rows(self) -> np.ndarray:
        """The rows of the test fold."""
        return np.flatnonzero(self.fold == 5)

    # --- bases ---------------------------------------------------------------------------------------------------

    def index_basis(self, per_class: int) -> Basis:
        """Return the first rows of every class ("Indx"), in pieces that larger bases share."""
        own = [np.flatnonzero((self.labels == c) & (self.fold == 0)) for c in range(self.n_classes)]
        ends = [0, *(step for step in self.config.steps if step < per_class), per_class]
        return [np.concatenate([rows[start:end] for rows in own]) for start, end in pairwise(ends)]

    # --- features and similarities -----------------------------------------------------------------------------------

    def features(self, cell: int, norm: str | None = "mean-norm") -> np.ndarray:
        """Return the FHOG features of all images, (n, h, w, 31), normalized by the statistics of the first fold."""
        from besvm.features import FHOG

        if (cell, None) not in self._features:
            self._features[cell, None] = np.asarray(FHOG(cell=cell).transform(self.images))
        if (cell, norm) not in self._features:
            for key in [key for key in self._features if key[0] == cell and key[1] is not None]:
                del self._features[key]  # one normalized copy of each resolution is enough
            raw = self._features[cell, None]
            first = raw[self.train_rows()]
            if norm == "mean-norm":
                scaled = MeanNormScaler().fit(first).transform(raw)
            else:
                scale = first.std(axis=0)
                scaled = (raw - first.mean(axis=0)) / np.where(scale > 0, scale, 1)
            self._features[cell, norm] = scaled
        return self._features[cell, norm]

    def similarities(
        self, label: str, rows: np.ndarray, basis: np.ndarray, norm: str | None = "mean-norm"
    ) -> np.ndarray:
        """Return the similarities of some rows to some exemplars, from the cache if they are there."""
        recipe = self.recipe(label, rows, basis, norm)
        cell, similarity = self.measure(label)

        def compute() -> np.ndarray:
            from besvm._support.threads import slices
            from besvm.blocks.computed import rows_per_block

            features = self.features(cell, norm)
            compare = similarity.against(features[basis])
            out = np.empty((len(rows), len(basis)), dtype=np.float32)
            for part in slices(len(rows), rows_per_block(len(basis))):
                out[part] = compare(features[rows[part]])
            return out

        return self.cache.get(recipe, (len(rows), len(basis)), compute)

    def features_per_image(self, cell: int) -> int:
        """Return the dimensionality of the features."""
        _, height, width, _ = self.images.shape
        return 31 * (height // cell) * (width // cell)

    def recipe(self, label: str, rows: np.ndarray, basis: np.ndarray, norm: str | None) -> dict[str, Any]:
        """Return all that a matrix of similarities depends on."""
        return {
            "made by": maker(),
            "data": self.fingerprint,
            "measure": described(label),
            "features": norm,
            "rows": _digest(rows),
            "basis": _digest(basis),
        }

    @staticmethod
    def measure(label: str) -> tuple[int, Similarity]:
        """Return the cell size and the similarity of the paper's shorthand."""
        measure = parse_shorthand(label)
        return measure.features[0].cell, resolve(measure.similarity)

    def expansion(
        self, labels: Sequence[str], folds: Sequence[int], basis: Basis, norm: str | None = "mean-norm"
    ) -> np.ndarray:
        """Return the raw similarities of the rows of some folds to a basis, the measures side by side."""
        pieces = [np.flatnonzero(self.fold == k) for k in folds]
        width = sum(len(piece) for piece in basis)
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
        normalize: str | Nystrom | None = "mean-norm",
        norm: str | None = "mean-norm",
        max_iter: int = MAX_ITER,
        known: Fitted | None = None,
    ) -> Fitted:
        """Train on the first folds and score on the test fold; C = None chooses it by cross-validation.

        ``known`` is returned if its C is chosen.
        """
        X = self.expansion(labels, range(n_folds), basis, norm)
        X_test = self.expansion(labels, [5], basis, norm)
        y = self.labels[self.train_rows(n_folds)]
        start = perf_counter()
        self._normalize(X, X_test, len(labels), basis, normalize)
        chosen = self.best_cost(X, y) if C is None else C
        if known is not None and chosen == known.model.C:
            return known
        model = LinearSVMClassifier(C=chosen, probability=False, max_iter=max_iter).fit(X, y)
        seconds = perf_counter() - start
        return Fitted(model, float(model.score(X_test, self.labels[self.test_rows])), seconds)

    def _normalize(
        self, X: np.ndarray, X_test: np.ndarray, n_measures: int, basis: Basis, normalize: str | Nystrom | None
    ) -> None:
        """Normalize both in place, with what is learned from the training rows, each measure for itself."""
        width = X.shape[1] // n_measures
        groups = [slice(k * width, (k + 1) * width) for k in range(n_measures)]
        within = np.searchsorted(self.train_rows(), np.concatenate(basis))  # a basis is of the first fold
        raw = RawSimilarities(
            blocks=MemoryBlocks(X),
            groups=groups,
            weights=None,
            basis_labels=lambda: [self.labels[self.train_rows()][within]] * n_measures,
            within=lambda: [X[within, group] for group in groups],
        )
        normalizer = as_normalization(normalize).learn(raw)
        for several in (raw.blocks, MemoryBlocks(X_test)):
            normalizer.apply(several)

    def best_cost(self, X: np.ndarray, y: np.ndarray) -> float:
        """Return the C with the best cross-validated accuracy; the columns of all folds are solved at once."""
        n_folds = self.config.cv_folds
        fold = np.empty(len(y), dtype=np.int8)
        for c in range(self.n_classes):
            rows = np.flatnonzero(y == c)
            fold[rows] = np.arange(len(rows)) % n_folds
        left_out = np.repeat(np.arange(n_folds, dtype=np.int8), self.n_classes)
        problem = Problem(y, np.tile(np.arange(self.n_classes), n_folds), np.ones(len(y)), fold, left_out)
        accuracies = []
        for result in solve_path(MemoryBlocks(X), problem, CS, tol=1e-2, max_iter=CV_ITER):
            columns = fold[:, None].astype(int) * self.n_classes + np.arange(self.n_classes)
            margins = np.take_along_axis(result.margins, columns, axis=1)
            accuracies.append(float((margins.argmax(axis=1) == y).mean()))
        return CS[int(np.argmax(accuracies))]


def maker() -> str:
    """Return the version of what computes the cells and the matrices."""
    return f"besvm {__version__}, format {FORMAT}"


def described(label: str) -> str:
    """Return the features and the similarity of a measure with all of their parameters, defaults too.

    Examples
    --------
    >>> described("H8R")
    "FHOG{'border': 'keep', 'cell': 8} RBF{'gamma': 1.0}"
    """
    measure = parse_shorthand(label)
    parts = (measure.features[0], resolve(measure.similarity))
    return " ".join(f"{type(part).__name__}{dict(sorted(part.get_params().items()))}" for part in parts)


def _digest(rows: np.ndarray) -> str:
    return hashlib.sha256(np.ascontiguousarray(rows, dtype=np.int64).tobytes()).hexdigest()[:16]
