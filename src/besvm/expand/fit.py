"""Fit measures: their features, their similarities' parameters, and the basis."""

from typing import Any

import numpy as np
from scipy.sparse import issparse
from sklearn.base import clone
from sklearn.utils.validation import has_fit_parameter

from besvm._support.parameters import shown
from besvm._support.row_source import RowSource
from besvm._support.rows import evenly_spaced, n_rows, take
from besvm._support.sizes import bytes_each, bytes_of, large_one, some_to_settle_on
from besvm._support.validation import described
from besvm.basis.choose import Candidates, Chosen, choose_basis, is_auto
from besvm.basis.contract import BlindSelector, RowClasses
from besvm.blocks.estimates import PACKED
from besvm.blocks.plan import Limit, check_fits, limit_bytes
from besvm.blocks.state import Values
from besvm.expand.expander import Expander, FittedMeasure, in_dtype, naming
from besvm.expand.features import Behind, Samples, SharedFeatures
from besvm.expand.parts import choose_parts
from besvm.expand.precision import to_probe, working_dtype
from besvm.expand.room import COPIES, OURS, WORTH_MEASURING, describing_bytes, in_parts, measured, steps_of
from besvm.measures import Measure
from besvm.similarities.contract import Similarity
from besvm.similarities.lookup import resolve
from besvm.similarities.parts import PartSimilarity, Pieces

TAKEN = 3  # copies of the exemplars while they are chosen, checked and converted
ROOM_SHARE = 4  # the part of the limit that the features of all candidates for the basis may take is one of so many


def settle(measure: Measure, shared: SharedFeatures, weights: Values | None = None) -> tuple[Similarity, int | None]:
    """Fit the measure's features, then its similarity, on the rows of ``shared``; return this, and their number."""
    number = shared.number_of(measure)
    similarity = clone(resolve(measure.similarity))
    if number is not None:
        similarity = similarity.behind(shared.transformers[number])
    elif similarity.vectors:
        shared.refuse_records(similarity)
        if similarity.needs_scaling:
            shared.warn_of_uneven_columns(similarity)
    if similarity.settles:
        X = shared.X if similarity.raw_exemplars else shared.to_settle_on(number)
        if isinstance(X, RowSource) and not similarity.settles_on_sources:
            X = some_to_settle_on(X, bytes_each(X))
        options = {}
        if weights is not None and has_fit_parameter(similarity, "sample_weight"):
            options["sample_weight"] = weights if n_rows(X) == len(weights) else evenly_spaced(weights, n_rows(X))
        similarity = similarity.fit(X, **options)
    return similarity, number


def fit_expander(
    X: Any,
    y: np.ndarray | RowClasses | None,
    measures: list[Measure],
    basis: Any,
    rng: np.random.Generator,
    weights: Values | None = None,
    memory_limit: Limit = None,
) -> Expander:
    """Settle every measure, choose its basis (once, where it is shared), and return the expander.

    Exemplars, or features, that would take more memory than the limit are refused before they are computed.
    """
    shared = SharedFeatures(X, y, memory_limit, weights)
    limit = limit_bytes(memory_limit)
    room = limit / ROOM_SHARE
    fitted: list[FittedMeasure] = []
    common: Chosen | None = None
    originals = _Originals(X)
    alike: dict[str, Chosen] = {}  # the rows that equal selectors of several measures have chosen
    for place, measure in enumerate(measures):
        with naming(measure.label, len(measures)):
            similarity, number = settle(measure, shared, weights)
        features = None if number is None else shared.transformers[number]
        own = measure.basis is not None or similarity.of_parts
        pieces: Pieces | None = None
        if similarity.precomputed:  # with "auto", all its columns
            own |= is_auto(basis)
            among = Candidates(X if features is None else described(features, X), y, similarity, weights)
        else:
            raw = features is None or similarity.raw_exemplars
            of_raw = similarity if raw else Behind(features, similarity, room / ROOM_SHARE)
            among = Candidates(X, y, of_raw, weights, np.inf if memory_limit is None else limit - (0 if raw else room))
        meant = basis if measure.basis is None else measure.basis
        if isinstance(similarity, PartSimilarity):
            pieces = choose_parts(meant, similarity, features, among, rng)
            chosen = choose_basis(meant, among, rng) if pieces is None else Chosen(pieces.samples, pieces.items)
        elif own:
            recipe = repr(meant) if isinstance(meant, BlindSelector) else f"of measure {place}"
            chosen = alike[recipe] = alike.get(recipe) or choose_basis(meant, among, rng)
        else:
            common = chosen = choose_basis(basis, among, rng) if common is None else common
        n_exemplars = n_rows(chosen.items if chosen.rows is None else chosen.rows)
        if not (similarity.precomputed or similarity.of_parts):
            sample = large_one(X) if features is None else features.transform(large_one(X))
            each = bytes_each(X) if features is None else bytes_of(sample)
            probed = similarity.any_float and getattr(sample, "dtype", None) == np.float32  # packed in float64 as well
            need = (2 * PACKED if probed else TAKEN) * n_exemplars * each
            check_fits(f"the {n_exemplars:,} exemplars", need, memory_limit, "a smaller basis")
        one = FittedMeasure(
            label=measure.label,
            similarity=similarity,
            exemplars=chosen.items
            if chosen.rows is None or pieces is not None
            else originals.of(chosen.rows, similarity),
            rows=chosen.rows,
            at=None if pieces is None else pieces.places,
            transformer=number,
            basis=place if own else -1,
        )
        raw = one.exemplars
        one.exemplars = _checked(one, X, features)
        if one.exemplars is not raw and features is not None and _is_smaller(raw, one.exemplars):
            one.originals = raw
        fitted.append(one)
    rows = to_probe(X)
    some = Samples(take(X, rows), shared.transformers)
    dtype = working_dtype(
        n_rows(X) * sum(one.width for one in fitted),
        fitted,
        lambda: [some.seen_by(one.similarity, one.transformer) for one in fitted],
        rows,
    )
    for one in fitted:
        one.exemplars = in_dtype(one.similarity, one.exemplars, dtype)
    expander = Expander(shared.transformers, fitted, dtype)
    expander.row_bytes = row_bytes(expander, X)
    return expander


class _Originals:
    """The training rows that are exemplars; measures that share a basis share them, too."""

    def __init__(self, X: Any) -> None:
        self.X = X
        self._last: tuple[Any, Any] = (None, None)

    def of(self, rows: np.ndarray, similarity: Similarity) -> Any:
        """Return what a similarity keeps of the chosen rows."""
        if type(similarity).exemplars is not Similarity.exemplars:
            return similarity.exemplars(self.X, rows)
        if self._last[0] is not rows:
            self._last = rows, take(self.X, rows)
        return self._last[1]


def _is_smaller(raw: Any, described: Any) -> bool:
    """Say whether samples, as arrays, take no more memory than their features."""
    arrays = isinstance(raw, np.ndarray) and isinstance(described, np.ndarray)
    return arrays and raw.dtype != object and raw.nbytes <= described.nbytes


def row_bytes(expander: Expander, X: Any) -> int:
    """Return the bytes that computing the raw similarities of one of the samples X takes.

    Similarities of ours say what they take, and so do our features; others are measured.
    """
    one = large_one(X)
    samples = Samples(one, expander.transformers)
    total = sum(describing_bytes(transformer, one) for transformer in expander.transformers)
    known = all(isinstance(step, OURS) for transformer in expander.transformers for step in steps_of(transformer))
    comparing = 0
    for measure in expander.measures:
        seen = samples.seen_by(measure.similarity, measure.transformer)
        sample = bytes_each(X) if seen is one else bytes_of(seen)
        own = measure.similarity.bytes_a_row(sample, measure.n_exemplars)
        known = known and own is not None
        comparing = max(comparing, own or COPIES * sample)
    total += comparing + 2 * expander.dtype.itemsize * expander.width
    return total if known or n_rows(X) < WORTH_MEASURING else max(total, measured(expander, one))


def _checked(measure: FittedMeasure, X: Any, features: Any) -> Any:
    """Return the exemplars as the similarity wants them, behind the features and finite."""
    similarity, exemplars = measure.similarity, measure.exemplars
    if features is not None and not (similarity.raw_exemplars or similarity.precomputed or similarity.of_parts):
        exemplars = in_parts(features, exemplars)
    elif similarity.vectors and not similarity.precomputed:
        exemplars = _as_vectors(exemplars, X)
    numbers = isinstance(exemplars, np.ndarray) or issparse(exemplars)
    if numbers and exemplars.dtype.kind == "f" and not similarity.missing:
        finite = [np.isfinite(row.data if issparse(row) else row).all() for row in exemplars]
        if not all(finite):
            name = measure.name_of(finite.index(False))
            raise ValueError(
                f"the exemplars of {measure.label!r} must be finite, got NaN or infinity in {name}; "
                "remove or replace those rows"
            )
    return exemplars


def _as_vectors(exemplars: Any, X: Any) -> Any:
    vectors = exemplars.tocsr() if issparse(exemplars) else np.asarray(exemplars)
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
