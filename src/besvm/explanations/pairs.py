"""The sample beside an exemplar: what both look like, and how they match."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from besvm._support.rows import items, n_rows, take
from besvm._support.validation import described
from besvm.expand.expander import FittedMeasure
from besvm.expand.features import Samples
from besvm.explanations.exemplars import Basis, Exemplar, leading
from besvm.explanations.looks import Look, kind_behind, look, look_behind, value_text
from besvm.explanations.models import Reading
from besvm.similarities import Match
from besvm.similarities.variants import column_apart

MOST_COLUMNS = 40  # of vectors whose values are listed; longer ones are drawn


@dataclass(frozen=True, eq=False)
class Pair:
    """A sample and an exemplar, side by side.

    Attributes
    ----------
    sample, exemplar : Look
    match : Match
        Of a part, in the region that pulls most on the class looked at.
    within : tuple of int or None
        Of a part whose whole row is shown: where in that it begins.

    Examples
    --------
    >>> import besvm
    >>> words, y = ["cat", "cart", "carts", "dog", "dogs", "dig"], ["c", "c", "c", "d", "d", "d"]
    >>> model = besvm.BESVMClassifier("edit", basis=[0, 3], C=1.0).fit(words, y)
    >>> why = besvm.explain(model, "cats")
    >>> pair = why.pair(why.contributions[0])
    >>> "".join(pair.sample.data), "".join(pair.exemplar.data)
    ('cats', 'dog')
    """

    sample: Look
    exemplar: Look
    match: Match
    within: tuple[int, ...] | None = None


class Pairs:
    """Shows how one sample matches the exemplars of a model."""

    def __init__(
        self, reading: Reading, basis: Basis, pulls: dict[Any, np.ndarray], prepared: Any, training: Any = None
    ) -> None:
        self.reading, self.basis, self.training = reading, basis, training
        self.prepared, self.pulls = prepared, pulls  # what every column adds, class by class
        self._samples = Samples(prepared, reading.map.expander.transformers)
        if training is not None:
            _check_training(reading, training)

    def __call__(self, exemplar: Any, cls: Any) -> Pair:
        """Return the sample and an exemplar, one of the explanation's contributions, as they speak for a class."""
        number = exemplar.number
        place = int(self.basis.place[number])
        fitted = self.reading.map.expander.measures[self.basis.measure[number]]
        features = None if fitted.transformer is None else self.reading.map.expander.transformers[fitted.transformer]
        similarity = fitted.similarity
        column, _ = column_apart(features)
        raw = _only(self.prepared if column is None else described(column, self.prepared))
        if similarity.precomputed:
            return Pair(Look("none", ""), Look("none", ""), Match())
        x, b = as_compared(fitted, features, self._samples, 0, place)
        match = similarity.show(x, b).of_column(self._column(number, cls))
        kind = kind_behind(features, similarity.kind)
        shown, within = self._exemplar(fitted, features, place, exemplar, b)
        if match.exemplar is not None:
            shown = look(match.exemplar, kind)
        pair = Pair(look(raw if match.sample is None else match.sample, kind), shown, match, within)
        return self._by_column(pair, raw, x, b) if similarity.kind == "vectors" else pair

    def _by_column(self, pair: Pair, raw: Any, x: Any, b: Any) -> Pair:
        """Return vectors of few numbers as values by name; how alike two are is judged as the measure sees them."""
        if pair.match.values or pair.exemplar.kind != "series" or len(pair.exemplar.data) > 1:
            return pair
        kept = pair.exemplar.data[0].tolist()
        alike_in_form = np.shape(raw) == np.shape(x) == np.shape(b) == (len(kept),)
        if len(kept) > MOST_COLUMNS or not alike_in_form:
            return pair
        named = list(getattr(raw, "_fields", self.reading.columns))
        raw = [float(value) for value in raw]
        names = named if len(named) == len(raw) else [f"column {number}" for number in range(1, len(raw) + 1)]
        apart = np.abs(np.asarray(x, dtype=np.float64) - np.asarray(b, dtype=np.float64))
        alike = 1 - apart / (apart.max() or 1.0)
        return replace(
            pair,
            sample=_values(names, raw),
            exemplar=_values(names, kept),
            match=replace(pair.match, values=list(zip(names, raw, kept, alike.tolist(), strict=True))),
        )

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

    def _column(self, number: int, cls: Any) -> int:
        """Return which of an exemplar's columns pulls most."""
        start, width = self.basis.starts[number], self.basis.widths[number]
        return int(leading(self.pulls[cls][start : start + width]))


def as_compared(fitted: FittedMeasure, features: Any, samples: Samples, k: int, place: int) -> tuple[Any, Any]:
    """Return sample k and the exemplar at ``place`` as the similarity of a measure shows them.

    That is behind the measure's features or, with ``raw_exemplars``, before them.
    """
    similarity, kept = fitted.similarity, take(fitted.exemplars, [place])
    if not similarity.raw_exemplars:
        return _only(take(samples.seen_by(similarity, fitted.transformer), [k])), _only(kept)
    column, _ = column_apart(features)
    x, b = (one if column is None else described(column, one) for one in (take(samples.behind(None), [k]), kept))
    return _only(x), _only(b)


def _raw_exemplars(fitted: FittedMeasure) -> Any:
    """Return the exemplars of a measure as they were before any features, if they are kept so, and whole."""
    if fitted.similarity.of_parts or fitted.similarity.precomputed:
        return None
    if fitted.similarity.raw_exemplars or fitted.transformer is None:
        return fitted.exemplars
    return fitted.originals


def _values(names: list[str], values: list[float]) -> Look:
    return Look("values", [(name, value_text(value)) for name, value in zip(names, values, strict=True)])


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
            f"are only {n} rows"
        )
