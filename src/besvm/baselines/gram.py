"""The matrix that a kernel SVM works on: the weighted sum of several measures, made symmetric."""

from dataclasses import dataclass
from typing import Any

import numpy as np

from besvm._support.rows import evenly_spaced, n_rows, take
from besvm._support.sizes import bytes_of, large_one
from besvm._support.threads import slices
from besvm.blocks.estimates import COPIES, copies_bytes
from besvm.blocks.plan import check_fits
from besvm.blocks.stores import CACHE_BYTES, rows_for
from besvm.expand.expander import FittedMeasure, in_dtype
from besvm.expand.features import Samples, SharedFeatures
from besvm.expand.fit import settle
from besvm.expand.precision import PROBE_ROWS, working_dtype
from besvm.measures import Measure
from besvm.similarities.contract import Similarity
from besvm.similarities.precomputed import Precomputed


@dataclass(frozen=True)
class Term:
    """One measure of the sum: its fitted similarity, and which of the transformers comes first."""

    label: str
    similarity: Similarity
    transformer: int | None
    weight: float


@dataclass(frozen=True)
class Seen:
    """All samples as one measure compares them: as samples and, where that is another form, as exemplars."""

    samples: Any
    exemplars: Any


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
    parts: list[Term]
    dtype: np.dtype[Any]  # of the tiles

    @property
    def psd(self) -> bool:
        """Whether every matrix is declared positive semi-definite."""
        return all(part.similarity.psd for part in self.parts)

    @property
    def label(self) -> str:
        """What to call the sum in messages."""
        return " + ".join(part.label for part in self.parts)

    def describe(self, X: Any) -> list[Seen]:
        """Return what each measure compares of the samples X: themselves or their features, computed once."""
        seen = _seen(self.parts, Samples(X, self.transformers))
        return _in_dtype(self.parts, seen, self.dtype)

    def items(self, seen: list[Seen], rows: np.ndarray) -> Items:
        """Return the items ``rows`` of what :meth:`describe` gave."""
        samples = [take(one.samples, rows) for one in seen]
        fitted = []
        for part, one, own in zip(self.parts, seen, samples, strict=True):
            shared = one.exemplars is one.samples and not part.similarity.precomputed
            exemplars = own if shared else part.similarity.exemplars(one.exemplars, rows)
            fitted.append(FittedMeasure(part.label, part.similarity, exemplars, rows, part.transformer))
        return Items(rows, samples, fitted)

    def kept(self, seen: list[Seen], rows: np.ndarray) -> Items:
        """Return the items that a fitted model keeps: of precomputed ones only the numbers."""
        items = self.items(seen, rows)
        items.samples = [
            None if part.similarity.precomputed else own for part, own in zip(self.parts, items.samples, strict=True)
        ]
        return items

    def __call__(self, A: Items, B: Items) -> np.ndarray:
        """Return K between the items of A and of B, of shape (len(A), len(B))."""
        total = self._weighted(0, A, B)
        for m in range(1, len(self.parts)):
            total += self._weighted(m, A, B)
        return total

    def _weighted(self, m: int, A: Items, B: Items) -> np.ndarray:
        block, weight = self._measure(m, A, B), self.parts[m].weight
        return block if len(self.parts) == 1 and weight == 1 else block * self.dtype.type(weight)

    def _measure(self, m: int, A: Items, B: Items) -> np.ndarray:
        """Return K_m between the items of A and of B, not weighted."""
        similarity = self.parts[m].similarity
        block = self.one_way(m, A, B)
        if A is B:
            return _halved(block + block.T)
        if similarity.symmetric or similarity.precomputed:
            return block
        return _halved(block + self.one_way(m, B, A).T)

    def one_way(self, m: int, A: Items, B: Items) -> np.ndarray:
        """Return the similarities of the samples A to the exemplars B by measure m, as they are."""
        return B.exemplars[m](A.samples[m], A.rows, self.dtype)


def _halved(block: np.ndarray) -> np.ndarray:
    block *= 0.5
    return block


def fit_gram(
    X: Any, y: np.ndarray | None, measures: list[Measure], weights: np.ndarray, limit: int
) -> tuple[Gram, list[Seen]]:
    """Fit features and similarities on the rows of X; return the sum and what its measures compare of X.

    Measures of weight 0 are left out. Features that would take more bytes than the limit, with the copies of them that
    training makes, are refused before they are computed.
    """
    n, shared = n_rows(X), SharedFeatures(X, y, limit)
    parts = []
    for measure, weight in zip(measures, weights, strict=True):
        if weight == 0:
            continue
        similarity, number = settle(measure, shared)
        if similarity.of_parts:
            raise ValueError(
                f"a kernel SVM compares whole samples, but the exemplars of {measure.label!r} are parts of them; "
                "use BESVMClassifier"
            )
        parts.append(Term(measure.label, similarity, number, float(weight)))
    one_row = [bytes_of(transformer.transform(large_one(X))) for transformer in shared.transformers]
    check_fits(f"the features of {n:,} rows", COPIES * n * sum(one_row), limit)
    seen = _seen(parts, Samples(X, shared.transformers))
    for part, one in zip(parts, seen, strict=True):
        if part.similarity.precomputed:
            _check_precomputed(part.similarity.matrix(one.samples) if isinstance(part.similarity, Precomputed) else X)
    some = Gram(shared.transformers, parts, np.dtype(np.float64)).items(seen, evenly_spaced(np.arange(n), PROBE_ROWS))
    dtype = working_dtype(n**2, some.exemplars, lambda: some.samples, some.rows)
    return Gram(shared.transformers, parts, dtype), _in_dtype(parts, seen, dtype)


def _seen(parts: list[Term], samples: Samples) -> list[Seen]:
    return [
        Seen(
            samples.seen_by(part.similarity, part.transformer),
            samples.behind(None if part.similarity.raw_exemplars else part.transformer),
        )
        for part in parts
    ]


def _in_dtype(parts: list[Term], seen: list[Seen], dtype: np.dtype[Any]) -> list[Seen]:
    out = []
    for part, one in zip(parts, seen, strict=True):
        samples = in_dtype(part.similarity, one.samples, dtype)
        same = one.exemplars is one.samples
        out.append(Seen(samples, samples if same else in_dtype(part.similarity, one.exemplars, dtype)))
    return out


def bytes_of_copies(seen: list[Seen]) -> int:
    """Return what training copies of the items take."""
    return copies_bytes([form for one in seen for form in (one.samples, one.exemplars)])


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
            f"{X[j, i]:g} in row {j}, column {i}; average both directions, for test rows too"
        )
