"""Samples to raw similarities: fitted measures with their bases, side by side."""

from __future__ import annotations

import pickle
from collections.abc import Callable
from dataclasses import dataclass, replace
from typing import Any

import joblib
import numpy as np
from sklearn.base import clone
from sklearn.utils import Tags

from besvm._support.rows import SETTLE_ROWS, evenly_spaced, n_rows, take
from besvm.basis.choose import Exemplars, choose_rows
from besvm.blocks.plan import rows_per_block
from besvm.measures import Measure, as_measures
from besvm.similarities.contract import Similarity
from besvm.similarities.lookup import resolve
from besvm.similarities.precomputed import Precomputed
from besvm.similarities.vector import VectorSimilarity

SMALL = 1 << 18  # training features up to this many are float64: it costs nothing, and rounds nothing off


@dataclass
class FittedMeasure:
    """One measure with its basis: gives the raw similarities φ̃ of eq. besvm_feature_map."""

    label: str
    similarity: Similarity
    exemplars: Any  # as the similarity sees them: behind the features
    rows: np.ndarray | None  # of the training data; None for exemplars given outright
    transformer: int | None  # which of the expander's transformers comes first
    which: int = -1  # the basis: -1 for the shared one, else the measure's place
    places: np.ndarray | None = None  # in the list of exemplars given outright, where some have been dropped

    def __len__(self) -> int:
        return n_rows(self.exemplars)

    def __getstate__(self) -> dict[str, Any]:
        return {key: value for key, value in self.__dict__.items() if key != "_compare"}

    @property
    def numbers(self) -> np.ndarray:
        """What the exemplars are called: their training rows, or their places in the list that was given."""
        if self.rows is not None:
            return self.rows
        return np.arange(len(self)) if self.places is None else self.places

    def keep(self, columns: np.ndarray) -> FittedMeasure:
        """Return the measure with the exemplars where this mask is true."""
        name = "places" if self.rows is None else "rows"
        kept: dict[str, Any] = {name: self.numbers[columns]}
        return replace(self, exemplars=take(self.exemplars, np.flatnonzero(columns)), **kept)

    def __call__(self, samples: Any, first_row: int | np.ndarray) -> np.ndarray:
        """Return the similarity of every sample to every exemplar, checked; messages count from ``first_row``.

        Samples that do not follow each other come with all their row numbers instead.
        """
        if "_compare" not in self.__dict__:  # packing the basis is worth doing once
            self._compare = self.similarity.against(self.exemplars)
        block = np.asarray(self._compare(samples))
        expected = (n_rows(samples), len(self))
        if block.shape != expected:
            raise ValueError(
                f"the similarity {self.label!r} must return a matrix of shape {expected} "
                f"(samples, exemplars), got {block.shape}"
            )
        if block.dtype.kind not in "fiub":
            raise ValueError(f"the similarity {self.label!r} must return real numbers, got dtype {block.dtype}")
        if not np.isfinite(block.sum(dtype=np.float64 if block.dtype == np.float64 else None)):
            self._refuse_nonfinite(block, first_row)
        return block

    def _refuse_nonfinite(self, block: np.ndarray, first_row: int | np.ndarray) -> None:
        bad = np.argwhere(~np.isfinite(block))
        if len(bad):  # otherwise it was only the sum that overflowed
            i, j = bad[0]
            sample = first_row[i] if isinstance(first_row, np.ndarray) else first_row + i
            exemplar = f"exemplar {j}" if self.rows is None else f"exemplar {j} (training row {self.rows[j]})"
            raise ValueError(
                f"the similarity {self.label!r} must be finite, got {block[i, j]} "
                f"for the pair of {exemplar} and sample {sample}"
            )


@dataclass
class Expander:
    """Several fitted measures side by side; measures with equal features share the work of computing them."""

    transformers: list[Any]
    measures: list[FittedMeasure]
    dtype: np.dtype[Any]  # of the features, and of the numbers they are computed from

    @property
    def groups(self) -> list[slice]:
        """The columns of each measure."""
        ends = np.cumsum([len(measure) for measure in self.measures])
        return [slice(int(end) - len(measure), int(end)) for measure, end in zip(self.measures, ends, strict=True)]

    @property
    def width(self) -> int:
        """The number of columns in all."""
        return sum(len(measure) for measure in self.measures)

    @property
    def rows_per_block(self) -> int:
        """How many samples to compare at a time."""
        asked = [m.similarity.rows_per_block for m in self.measures if m.similarity.rows_per_block]
        return min([rows_per_block(self.width), *asked])

    def __call__(self, X: Any, first_row: int = 0) -> np.ndarray:
        """Return the raw similarities of the samples X, of shape (len(X), width)."""
        out = np.empty((n_rows(X), self.width), dtype=self.dtype)
        features: dict[int | None, Any] = {None: X}
        for measure, columns in zip(self.measures, self.groups, strict=True):
            if len(measure) == 0:
                continue
            key = measure.transformer
            if key not in features:
                features[key] = self.transformers[key].transform(X)  # type: ignore[index]
            samples = features[key]
            if isinstance(measure.similarity, VectorSimilarity):  # anything else gets its samples as they are
                samples = as_dtype(samples, self.dtype)
            out[:, columns] = measure(samples, first_row)
        return out

    def within_basis(self, X: Any) -> list[np.ndarray]:
        """Return the similarities within the basis, K_mm, of every measure; X are the training rows."""
        matrices = []
        for measure in self.measures:
            if isinstance(measure.similarity, Precomputed) and measure.rows is None:
                raise ValueError(
                    "the similarities within the basis are not among the precomputed ones, which must be square "
                    f"({X.shape[0]} x {X.shape[0]}) for this, got {X.shape[0]} x {X.shape[1]}"
                )
            if measure.rows is None:
                exemplars = measure.exemplars
            else:
                exemplars = take(X, measure.rows)
                if measure.transformer is not None:
                    exemplars = self.transformers[measure.transformer].transform(exemplars)
                if isinstance(measure.similarity, VectorSimilarity):
                    exemplars = as_dtype(exemplars, self.dtype)
            matrices.append(np.asarray(measure(exemplars, 0), dtype=np.float64))
        return matrices

    def basis_labels(self, labels: np.ndarray) -> list[np.ndarray]:
        """Return the class numbers of every measure's exemplars, given those of the training rows."""
        if any(measure.rows is None for measure in self.measures):
            raise ValueError("the exemplars were given outright, so that their classes are not known; give row numbers")
        return [labels[measure.rows] for measure in self.measures]

    def keep(self, columns: np.ndarray) -> Expander:
        """Return the expander of the columns where this mask is true; a measure left with none does no more work."""
        measures = [m.keep(columns[group]) for m, group in zip(self.measures, self.groups, strict=True)]
        return replace(self, measures=measures)

    def feature_names(self) -> np.ndarray:
        """Return a name for every column: the measure, and the exemplar's training row (or its place)."""
        labels = [m.label for m in self.measures]
        names = []
        for place, measure in enumerate(self.measures):
            label = measure.label if labels.count(measure.label) == 1 else f"{measure.label}.{place}"
            names += [f"{label}_{number}" for number in measure.numbers]
        return np.array(names, dtype=object)


def n_different(measures: list[FittedMeasure]) -> int:
    """Return the number of different exemplars."""
    known: dict[int | None, list[np.ndarray]] = {}
    for measure in measures:  # rows of the training data are one set; every list of exemplars is a set of its own
        known.setdefault(measure.which if measure.rows is None else None, []).append(measure.numbers)
    return sum(len(np.unique(np.concatenate(numbers))) for numbers in known.values())


def as_dtype(X: Any, dtype: np.dtype[Any]) -> Any:
    """Return a block of floating-point numbers in ``dtype``; anything else as it is."""
    return X.astype(dtype) if getattr(X, "dtype", None) in (np.float32, np.float64) and X.dtype != dtype else X


class _Behind(Similarity):
    """A similarity behind its features: compares raw samples, so that a basis selector can use it."""

    def __init__(self, features: Any, similarity: Similarity) -> None:
        self.features = features
        self.similarity = similarity

    def __call__(self, A: Any, B: Any) -> np.ndarray:
        return self.similarity(self.features.transform(A), self.features.transform(B))

    def look(self, X: Any) -> tuple[Similarity, Any]:
        """Return the similarity alone and the features of X, for whoever compares the same samples many times."""
        return self.similarity, self.features.transform(X)


def fit_expander(
    X: Any,
    y: np.ndarray | None,
    measures: list[Measure],
    basis: Any,
    rng: np.random.Generator,
    weights: np.ndarray | None = None,
) -> Expander:
    """Fit features and similarities, choose the basis (once, where it is shared), and return the expander."""
    shared_features = SharedFeatures(X, y)
    fitted: list[FittedMeasure] = []
    shared: np.ndarray | Exemplars | None = None
    for place, measure in enumerate(measures):
        features, key = shared_features.of(measure)
        settle_on = X if features is None else features.transform(evenly_spaced(X, SETTLE_ROWS))
        similarity = clone(resolve(measure.similarity)).fit(settle_on)
        compares = similarity if features is None else _Behind(features, similarity)
        which = -1 if measure.basis is None else place
        if measure.basis is not None:
            chosen = _choose(measure.basis, X, y, compares, rng, weights)
        else:
            shared = chosen = _choose(basis, X, y, compares, rng, weights) if shared is None else shared
        rows = None if isinstance(chosen, Exemplars) else chosen
        exemplars = chosen.items if isinstance(chosen, Exemplars) else similarity.exemplars(X, chosen)
        if features is not None:
            exemplars = features.transform(exemplars)
        elif similarity.vectors and not isinstance(similarity, Precomputed):
            exemplars = _exemplar_vectors(exemplars, X)
        fitted.append(FittedMeasure(measure.label, similarity, exemplars, rows, key, which))
    vectors = [one for one in fitted if isinstance(one.similarity, VectorSimilarity)]
    small = n_rows(X) * sum(len(one) for one in fitted) <= SMALL
    double = small or any(needs_float64(one.exemplars) for one in vectors)
    dtype = np.dtype(np.float64 if double else np.float32)
    for one in vectors:
        one.exemplars = as_dtype(one.exemplars, dtype)
    return Expander(shared_features.transformers, fitted, dtype)


class SharedFeatures:
    """The fitted transformers of several measures; equal ones are fitted once."""

    def __init__(self, X: Any, y: np.ndarray | None) -> None:
        self.X, self.y = X, y
        self.transformers: list[Any] = []
        self._known: dict[str, int] = {}

    def of(self, measure: Measure) -> tuple[Any, int | None]:
        """Return the measure's fitted transformer and its number; (None, None) if it has none."""
        if measure.features is None:
            return None, None
        if isinstance(measure.features, type) or not hasattr(measure.features, "transform"):
            raise TypeError(
                f"features must be a transformer (an instance with fit and transform), got {measure.features!r}"
            )
        try:
            recipe = joblib.hash((type(measure.features), measure.features.get_params()))
        except (pickle.PicklingError, AttributeError, TypeError):  # a lambda in it: equal only to itself
            recipe = str(id(measure.features))
        if recipe not in self._known:
            self._known[recipe] = len(self.transformers)
            self.transformers.append(clone(measure.features).fit(self.X, self.y))
        key = self._known[recipe]
        return self.transformers[key], key


def needs_float64(exemplars: Any) -> bool:
    """Say whether float32 would round off what the exemplars differ by, as with times in seconds since 1970."""
    if getattr(exemplars, "dtype", None) != np.float64:
        return False
    spread = exemplars.std(axis=0)
    lost = np.finfo(np.float32).eps * np.abs(exemplars).max(axis=0)
    return bool((lost > 1e-3 * spread)[spread > 0].any())


def _choose(
    basis: Any,
    X: Any,
    y: np.ndarray | None,
    similarity: Similarity,
    rng: np.random.Generator,
    weights: np.ndarray | None,
) -> np.ndarray | Exemplars:
    if isinstance(similarity, Precomputed):
        n, n_columns = X.shape
        if isinstance(basis, str) and basis == "auto" and n != n_columns:
            return Exemplars(np.arange(n_columns))  # of items that are not among the rows
        if n != n_columns:
            raise ValueError(
                f"with a basis, precomputed similarities must be square ({n} x {n}), got {n} x {n_columns}; "
                "leave basis at 'auto' to use every column"
            )
    chosen = choose_rows(basis, X, y, similarity, rng, weights)
    if isinstance(similarity, Precomputed) and isinstance(chosen, Exemplars):  # given by the user
        raise ValueError("precomputed similarities need row numbers as basis, got exemplars")
    return chosen


def _exemplar_vectors(exemplars: Any, X: Any) -> np.ndarray:
    vectors = exemplars.toarray() if hasattr(exemplars, "toarray") else np.asarray(exemplars)
    vectors = vectors if vectors.dtype == np.float32 else vectors.astype(np.float64)
    expected = X.shape[1:] if hasattr(X, "shape") else np.shape(X[0])
    if vectors.shape[1:] != expected:
        raise ValueError(f"exemplars must have the shape {expected} of the samples, got {vectors.shape[1:]}")
    if not np.isfinite(vectors).all():
        raise ValueError("exemplars must be finite, got NaN or infinity")
    return vectors


def mark_input(tags: Tags, measures: Callable[[], Any], basis: Any) -> None:
    """Tell scikit-learn what X may be, from the measures; with unresolvable ones it is anything."""
    try:
        several = as_measures(measures())
        similarities = [resolve(measure.similarity) for measure in several]
    except (TypeError, ValueError):
        return
    vectors = all(s.vectors for s in similarities) and all(m.features is None for m in several)
    precomputed = any(isinstance(s, Precomputed) for s in similarities)
    tags.input_tags.two_d_array = vectors
    tags.input_tags.sparse = vectors and not precomputed
    tags.input_tags.pairwise = precomputed and not (isinstance(basis, str) and basis == "auto")
    tags.no_validation = not vectors
