"""The matrix that a kernel SVM works on: the weighted sum of several measures, made symmetric."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from scipy.sparse import issparse
from sklearn.base import clone

from besvm._support.rows import SETTLE_ROWS, evenly_spaced, n_rows, take
from besvm._support.threads import slices
from besvm.blocks.contract import rows_for
from besvm.blocks.memory import CACHE_BYTES
from besvm.expand.expander import SMALL, FittedMeasure, SharedFeatures, as_dtype, needs_float64
from besvm.measures import Measure
from besvm.similarities.contract import Similarity
from besvm.similarities.precomputed import Precomputed
from besvm.similarities.registry import resolve
from besvm.similarities.vector import VectorSimilarity


@dataclass(frozen=True)
class Part:
    """One measure of the sum: its fitted similarity, and which of the transformers comes first."""

    label: str
    similarity: Similarity
    transformer: int | None
    weight: float


@dataclass
class Items:
    """Some items as every measure sees them, behind its features: as samples, and as exemplars."""

    rows: np.ndarray  # their numbers, for messages
    samples: list[Any]
    exemplars: list[FittedMeasure]

    def __len__(self) -> int:
        return len(self.rows)


@dataclass(frozen=True)
class Gram:
    """K = Σ_m w_m K_m for any items; a measure that is not symmetric counts as (s(a, b) + s(b, a)) / 2.

    Of a precomputed measure only one direction is known for new samples; its training matrix must be symmetric.
    """

    transformers: list[Any]
    parts: list[Part]
    dtype: np.dtype[Any]  # of the tiles

    @property
    def psd(self) -> bool:
        """Whether every matrix is declared positive semi-definite."""
        return all(part.similarity.psd for part in self.parts)

    @property
    def label(self) -> str:
        """What to call the sum in messages."""
        return " + ".join(part.label for part in self.parts)

    def look(self, X: Any) -> list[Any]:
        """Return what each measure sees of the samples X: themselves or their features, computed once."""
        return _in_dtype(self.parts, _features(self.transformers, self.parts, X), self.dtype)

    def items(self, seen: list[Any], rows: np.ndarray) -> Items:
        """Return the items ``rows`` of what :meth:`look` gave."""
        samples = [take(one, rows) for one in seen]
        exemplars = [
            rows if isinstance(part.similarity, Precomputed) else own
            for part, own in zip(self.parts, samples, strict=True)
        ]
        fitted = [
            FittedMeasure(part.label, part.similarity, own, rows, part.transformer)
            for part, own in zip(self.parts, exemplars, strict=True)
        ]
        return Items(rows, samples, fitted)

    def kept(self, seen: list[Any], rows: np.ndarray) -> Items:
        """Return the items that a fitted model keeps: of precomputed ones only the numbers."""
        items = self.items(seen, rows)
        items.samples = [
            None if isinstance(part.similarity, Precomputed) else own
            for part, own in zip(self.parts, items.samples, strict=True)
        ]
        return items

    def __call__(self, A: Items, B: Items) -> np.ndarray:
        """Return K between the items of A and of B, of shape (len(A), len(B))."""
        total = self._weighted(0, A, B)
        for m in range(1, len(self.parts)):
            total += self._weighted(m, A, B)
        return total

    def _weighted(self, m: int, A: Items, B: Items) -> np.ndarray:
        block, weight = self.measure(m, A, B), self.parts[m].weight
        return block if len(self.parts) == 1 and weight == 1 else block * self.dtype.type(weight)

    def measure(self, m: int, A: Items, B: Items) -> np.ndarray:
        """Return K_m between the items of A and of B, not weighted."""
        similarity = self.parts[m].similarity
        block = self.one_way(m, A, B)
        if A is B:
            return _halved(block + block.T)
        if similarity.symmetric or isinstance(similarity, Precomputed):
            return block
        return _halved(block + self.one_way(m, B, A).T)

    def one_way(self, m: int, A: Items, B: Items) -> np.ndarray:
        """Return the similarities of the samples A to the exemplars B by measure m, as they are."""
        return B.exemplars[m](A.samples[m], A.rows).astype(self.dtype, copy=False)


def _halved(block: np.ndarray) -> np.ndarray:
    block *= 0.5
    return block


def fit_gram(X: Any, y: np.ndarray | None, measures: list[Measure], weights: np.ndarray) -> tuple[Gram, list[Any]]:
    """Fit features and similarities on the rows of X; return the sum and what its measures see of X.

    Measures of weight 0 are left out.
    """
    shared = SharedFeatures(X, y)
    parts = []
    for measure, weight in zip(measures, weights, strict=True):
        if weight == 0:
            continue
        features, key = shared.of(measure)
        settle_on = X if features is None else features.transform(evenly_spaced(X, SETTLE_ROWS))
        similarity = clone(resolve(measure.similarity)).fit(settle_on)
        if isinstance(similarity, Precomputed):
            _check_precomputed(X)
        parts.append(Part(measure.label, similarity, key, float(weight)))
    seen = _features(shared.transformers, parts, X)
    plain = [one for part, one in zip(parts, seen, strict=True) if isinstance(part.similarity, VectorSimilarity)]
    double = n_rows(X) ** 2 <= SMALL or any(needs_float64(one) for one in plain if not issparse(one))
    dtype = np.dtype(np.float64 if double else np.float32)
    return Gram(shared.transformers, parts, dtype), _in_dtype(parts, seen, dtype)


def _features(transformers: list[Any], parts: list[Part], X: Any) -> list[Any]:
    features: dict[int | None, Any] = {None: X}
    for key in {part.transformer for part in parts} - {None}:
        features[key] = transformers[key].transform(X)  # type: ignore[index]
    return [features[part.transformer] for part in parts]


def _in_dtype(parts: list[Part], seen: list[Any], dtype: np.dtype[Any]) -> list[Any]:
    return [  # what is no plain vector goes to its similarity as it is
        as_dtype(one, dtype) if isinstance(part.similarity, VectorSimilarity) else one
        for part, one in zip(parts, seen, strict=True)
    ]


def _check_precomputed(X: Any) -> None:
    if X.shape[0] != X.shape[1]:
        raise ValueError(
            f"precomputed similarities must be square ({X.shape[0]} x {X.shape[0]}) to train a kernel SVM, "
            f"got {X.shape[0]} x {X.shape[1]}"
        )
    parts = slices(len(X), rows_for(CACHE_BYTES, len(X), X.itemsize))
    largest = max(np.abs(X[rows]).max() for rows in parts)
    for rows in parts:
        off = np.abs(X[rows] - X[:, rows].T)
        if off.max() <= 1e-5 * largest:
            continue
        i, j = np.unravel_index(off.argmax(), off.shape)
        i += rows.start
        raise ValueError(
            f"precomputed similarities must be symmetric for a kernel SVM, got {X[i, j]:g} in row {i}, column {j} and "
            f"{X[j, i]:g} in row {j}, column {i}; average both directions, of test rows too"
        )
