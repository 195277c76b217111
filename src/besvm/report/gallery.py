"""The exemplars for people to look at: as they were, if that is still known, and else as the model keeps them."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

from besvm._support.rows import items, n_rows, take
from besvm.expand import FittedMeasure
from besvm.explanations.looks import Look, kind_behind, look, look_behind
from besvm.report.basis import Basis

KINDS = {"image": "images", "series": "series", "text": "text", "values": "records", "none": "anything"}  # of looks
UNKNOWN = "The model keeps its exemplars in a form that cannot be drawn; give the training data, and they are shown."
PRECOMPUTED = "The similarities were precomputed: the exemplars are known by their columns alone."
BEHIND = "Exemplars are drawn from their features, which is all the model keeps; give the training data to see them."


@dataclass(frozen=True)
class Gallery:
    """What can be shown of the exemplars.

    Attributes
    ----------
    items : anything with rows
        What is drawn.
    shown : ndarray of shape (exemplars,)
        The row of ``items`` to draw for each; -1: none.
    kind : str
        What the items are.
    whole : bool
        Whether they are whole samples, in which the place of a part can be marked.
    note : str
        How the pictures came about, if they are not the exemplars themselves.
    """

    items: Any
    shown: np.ndarray
    kind: str
    whole: bool
    note: str = ""


def gallery_of(basis: Basis, kind: str, training: Any = None) -> Gallery:
    """Return what can be shown of a model's exemplars; ``training`` are the samples that it was fitted with."""
    rows = basis.rows
    known = rows >= 0
    shown = np.full(len(basis), -1, dtype=np.intp)
    if training is None or not known.any():
        return _from_model(basis, kind, shown)
    if rows.max() >= n_rows(training):
        raise ValueError(
            f"training must be the data that the model was fitted on, with at least {rows.max() + 1} rows, "
            f"got {n_rows(training)}"
        )
    different, shown[known] = np.unique(rows[known], return_inverse=True)
    return Gallery(take(training, different), shown, kind, whole=True)


def _from_model(basis: Basis, kind: str, shown: np.ndarray) -> Gallery:
    """Show what the model has kept of every exemplar: before features, if one of its measures has it so."""
    measures = basis.expander.measures
    places = sorted(range(len(measures)), key=lambda m: (not _is_raw(measures[m]), -_detail(measures[m])))
    drawn: list[Any] = []
    form, note = "", ""
    for m in places:
        measure, numbers = measures[m], basis.of_measure[m]
        new = np.flatnonzero(shown[numbers] < 0)
        if measure.similarity.precomputed or not len(new):
            continue
        looks = [_look(basis, measure, item) for item in items(take(measure.exemplars, new))]
        form = form or next((one.kind for one in looks if len(one.data)), "")
        for number, one in zip(numbers[new], looks, strict=True):
            if one.kind == form and len(one.data):
                shown[number] = len(drawn)
                drawn.append(_item(one))
                note = note or ("" if _is_raw(measure) else BEHIND)
    if not drawn:
        return Gallery([], shown, "anything", False, PRECOMPUTED if kind == "precomputed" else UNKNOWN)
    return Gallery(drawn, shown, "vectors" if (form, kind) == ("series", "vectors") else KINDS[form], False, note)


def _detail(measure: FittedMeasure) -> int:
    """Return how many numbers there are of an exemplar: the more cells, the more there is to see."""
    return int(getattr(measure.exemplars, "size", 0)) // max(1, measure.n_exemplars)


def _is_raw(measure: FittedMeasure) -> bool:
    return measure.transformer is None or measure.similarity.raw_exemplars


def _look(basis: Basis, measure: FittedMeasure, item: Any) -> Look:
    features = None if measure.transformer is None else basis.expander.transformers[measure.transformer]
    kind = kind_behind(features, measure.similarity.kind)
    return look(item, kind) if _is_raw(measure) else look_behind(features, item, kind)


def _item(one: Look) -> Any:
    if one.kind == "text":
        return ("" if all(len(token) == 1 for token in one.data) else " ").join(one.data)
    return dict(one.data) if one.kind == "values" else one.data
