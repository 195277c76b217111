"""Fit measures: their features, their similarities' parameters, and the basis."""

from typing import Any

import numpy as np
from scipy.sparse import issparse
from sklearn.base import clone
from sklearn.utils.validation import has_fit_parameter

from besvm._support.rows import evenly_spaced, n_rows
from besvm._support.validation import shown
from besvm.basis.choose import Candidates, Chosen, choose_basis, is_auto
from besvm.expand.expander import Expander, FittedMeasure, in_dtype
from besvm.expand.features import Behind, SharedFeatures
from besvm.measures import Measure
from besvm.similarities.contract import Similarity
from besvm.similarities.lookup import resolve

SMALL = 1 << 18  # training features up to this many are float64: it costs nothing, and rounds nothing off


def settle(
    measure: Measure, shared: SharedFeatures, weights: np.ndarray | None = None
) -> tuple[Similarity, int | None]:
    """Fit the measure's features, then its similarity, on the rows of ``shared``; return this, and their number."""
    number = shared.number_of(measure)
    similarity = clone(resolve(measure.similarity))
    if number is not None:
        similarity = similarity.behind(shared.transformers[number])
    if similarity.settles:
        X = shared.X if similarity.raw_exemplars else shared.to_settle_on(number)
        options = {}
        if weights is not None and has_fit_parameter(similarity, "sample_weight"):
            options["sample_weight"] = weights if n_rows(X) == len(weights) else evenly_spaced(weights, n_rows(X))
        similarity = similarity.fit(X, **options)
    return similarity, number


def fit_expander(
    X: Any,
    y: np.ndarray | None,
    measures: list[Measure],
    basis: Any,
    rng: np.random.Generator,
    weights: np.ndarray | None = None,
) -> Expander:
    """Settle every measure, choose its basis (once, where it is shared), and return the expander."""
    shared = SharedFeatures(X, y)
    fitted: list[FittedMeasure] = []
    common: Chosen | None = None
    for place, measure in enumerate(measures):
        similarity, number = settle(measure, shared, weights)
        features = None if number is None else shared.transformers[number]
        own = measure.basis is not None
        if similarity.precomputed:  # with "auto", all its columns
            own |= is_auto(basis)
            among = Candidates(X if features is None else features.transform(X), y, similarity, weights)
        else:
            of_raw = similarity if features is None or similarity.raw_exemplars else Behind(features, similarity)
            among = Candidates(X, y, of_raw, weights)
        if own:
            chosen = choose_basis(basis if measure.basis is None else measure.basis, among, rng)
        else:
            common = chosen = choose_basis(basis, among, rng) if common is None else common
        one = FittedMeasure(
            label=measure.label,
            similarity=similarity,
            exemplars=chosen.items if chosen.rows is None else similarity.exemplars(X, chosen.rows),
            rows=chosen.rows,
            transformer=number,
            basis=place if own else -1,
        )
        one.exemplars = _checked(one, X, features)
        fitted.append(one)
    dtype = features_dtype(n_rows(X) * sum(one.width for one in fitted), [(m.similarity, m.exemplars) for m in fitted])
    for one in fitted:
        one.exemplars = in_dtype(one.similarity, one.exemplars, dtype)
    return Expander(shared.transformers, fitted, dtype)


def features_dtype(n_numbers: int, compared: list[tuple[Similarity, Any]]) -> np.dtype[Any]:
    """Return float64 for few features, or where float32 would round off what vectors differ by; else float32."""
    exact = any(similarity.any_float and _needs_float64(vectors) for similarity, vectors in compared)
    return np.dtype(np.float64 if n_numbers <= SMALL or exact else np.float32)


def _needs_float64(vectors: Any) -> bool:
    """Say whether float32 would round off what the vectors differ by, as with times in seconds since 1970."""
    if issparse(vectors) or getattr(vectors, "dtype", None) != np.float64:
        return False
    spread = vectors.std(axis=0)
    lost = np.finfo(np.float32).eps * np.abs(vectors).max(axis=0)
    return bool((lost > 1e-3 * spread)[spread > 0].any())


def _checked(measure: FittedMeasure, X: Any, features: Any) -> Any:
    """Return the exemplars as the similarity wants them, behind the features and finite."""
    similarity, exemplars = measure.similarity, measure.exemplars
    if features is not None and not (similarity.raw_exemplars or similarity.precomputed):
        exemplars = features.transform(exemplars)
    elif similarity.vectors and not similarity.precomputed:
        exemplars = _as_vectors(exemplars, X)
    if isinstance(exemplars, np.ndarray) and exemplars.dtype.kind == "f":
        broken = ~np.isfinite(exemplars).reshape(len(exemplars), -1).all(axis=1)
        if broken.any():
            name = measure.name_of(int(broken.argmax()))
            raise ValueError(
                f"the exemplars of {measure.label!r} must be finite, got NaN or infinity in {name}; "
                "remove or replace such rows"
            )
    return exemplars


def _as_vectors(exemplars: Any, X: Any) -> np.ndarray:
    vectors = exemplars.toarray() if issparse(exemplars) else np.asarray(exemplars)
    try:
        vectors = vectors if vectors.dtype == np.float32 else vectors.astype(np.float64)
    except (TypeError, ValueError):
        raise ValueError(f"the exemplars given as basis must be vectors of numbers, got {shown(exemplars)}") from None
    expected = X.shape[1:] if hasattr(X, "shape") else np.shape(X[0])
    if vectors.shape[1:] != expected:
        raise ValueError(
            f"the exemplars given as basis must have the shape {expected} of the samples, got {vectors.shape[1:]}"
        )
    return vectors
