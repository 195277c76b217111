"""The sample beside an exemplar: what both look like, and how they match."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from besvm._support.rows import items, n_rows, take
from besvm._support.validation import described
from besvm.expand.expander import FittedMeasure
from besvm.expand.features import Samples
from besvm.explanations.exemplars import Basis, Exemplar
from besvm.explanations.looks import Look, kind_behind, look, look_behind
from besvm.explanations.models import Reading
from besvm.similarities import Match
from besvm.similarities.parts import PartSimilarity
from besvm.similarities.variants import column_apart


@dataclass(frozen=True, eq=False)
class Pair:
    """A sample and an exemplar, side by side.

    Attributes
    ----------
    sample, exemplar : Look
    match : Match
    region : int
        Of a part, which of the regions it was looked for in adds most: the place among ``match.places``.
    within : tuple of int or None
        Of a part whose whole row is shown: where in that it begins.
    """

    sample: Look
    exemplar: Look
    match: Match
    region: int = 0
    within: tuple[int, ...] | None = None


class Pairs:
    """Shows how one sample matches the exemplars of a model."""

    def __init__(self, reading: Reading, basis: Basis, pull: np.ndarray, prepared: Any, training: Any = None) -> None:
        self.reading, self.basis, self.pull, self.training = reading, basis, pull, training
        self.prepared = prepared
        self._samples = Samples(prepared, reading.map.expander.transformers)
        if training is not None:
            _check_training(reading, training)

    def __call__(self, exemplar: Any) -> Pair:
        """Return the sample and an exemplar; ``exemplar`` is one of the explanation's contributions."""
        number = exemplar.number
        place = int(self.basis.place[number])
        fitted = self.reading.map.expander.measures[self.basis.measure[number]]
        features = None if fitted.transformer is None else self.reading.map.expander.transformers[fitted.transformer]
        similarity = fitted.similarity
        column, _ = column_apart(features)
        raw = _only(self.prepared if column is None else described(column, self.prepared))
        if similarity.precomputed:
            return Pair(Look("none", ""), Look("none", ""), Match())
        own = take(fitted.exemplars, [place])
        if similarity.raw_exemplars:
            x, b = raw, _only(own if column is None else described(column, own))
        else:
            x, b = _only(self._samples.seen_by(similarity, fitted.transformer)), _only(own)
        match = similarity.show(x, b)
        region = self._region(fitted, number)
        if match.mirrored is not None:
            match = replace(match, caption="in the mirror" if match.mirrored[region] else "")
        kind = kind_behind(features, similarity.kind)
        shown, within = self._exemplar(fitted, features, place, exemplar, b)
        if match.exemplar is not None:
            shown = look(match.exemplar, kind)
        return Pair(look(raw if match.sample is None else match.sample, kind), shown, match, region, within)

    def _exemplar(
        self, fitted: FittedMeasure, features: Any, place: int, exemplar: Exemplar, b: Any
    ) -> tuple[Look, tuple[int, ...] | None]:
        """Return what an exemplar looks like, and where in its row it begins if the row is what is shown."""
        kind = kind_behind(features, fitted.similarity.kind)
        row = self._whole_row(fitted, place)
        if row is not None:
            column, _ = column_apart(features)
            return look(_only(row if column is None else described(column, row)), kind), exemplar.place
        return (look(b, kind) if features is None else look_behind(features, b, kind)), None

    def _whole_row(self, fitted: FittedMeasure, place: int) -> Any:
        """Return the training row that an exemplar is, or is a part of, as it came, where it is known; else None.

        That is where the training samples are given, or another measure keeps the row raw.
        """
        if not fitted.of_known_rows:
            return None
        assert fitted.rows is not None
        row = fitted.rows[place]
        if self.training is not None:
            return self.reading.prepared(take(self.training, [int(row)]))
        for other in self.reading.map.expander.measures:
            raw = _raw_exemplars(other)
            if raw is not None and other.of_known_rows and (found := np.flatnonzero(other.rows == row)).size:
                return take(raw, found[:1])
        return None

    def _region(self, fitted: FittedMeasure, number: int) -> int:
        """Return the region in which a part pulls most."""
        if not isinstance(fitted.similarity, PartSimilarity):
            return 0
        start, width = self.basis.starts[number], self.basis.widths[number]
        by_pool = self.pull[start : start + width].reshape(-1, fitted.similarity.n_regions)
        return int(np.abs(by_pool).max(axis=0).argmax())


def _raw_exemplars(fitted: FittedMeasure) -> Any:
    """Return the exemplars of a measure as they were before any features, if they are kept so, and whole."""
    if fitted.similarity.of_parts or fitted.similarity.precomputed:
        return None
    if fitted.similarity.raw_exemplars or fitted.transformer is None:
        return fitted.exemplars
    return getattr(fitted, "originals", None)


def _only(rows: Any) -> Any:
    """Return the only item of some rows."""
    return next(iter(items(rows)))


def _check_training(reading: Reading, training: Any) -> None:
    known = [fitted.rows for fitted in reading.map.expander.measures if fitted.of_known_rows]
    rows = [own.max() for own in known if own is not None and len(own)]
    n = n_rows(training)
    if rows and max(rows) >= n:
        raise ValueError(
            f"training must be the samples that the model was fitted on, but row {max(rows)} is an exemplar and there "
            f"are {n} rows"
        )
