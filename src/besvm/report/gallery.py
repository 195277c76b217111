"""The exemplars for people to look at: as they were, if that is still known, and else as the model keeps them."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

from besvm._support.rows import items, n_rows, take
from besvm.expand import FittedMeasure
from besvm.features import FHOG, CellColor, Pixels
from besvm.report.basis import Basis
from besvm.report.data import kind_of

STROKE = 12  # pixels of a cell of gradients, drawn
UNKNOWN = "The model keeps its exemplars in a form that cannot be drawn; give the training data, and they are shown."
PRECOMPUTED = "The similarities were precomputed: the exemplars are known by their columns alone."
GRADIENTS = "Exemplars are drawn from their gradients, which is what the model keeps; give the training data to see them."
COLORS = "Of exemplars, the mean colors of their cells are shown: that is what the model keeps."


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
            f"training must be the data that the model was fitted with, of at least {rows.max() + 1} rows, "
            f"got {n_rows(training)}"
        )
    different, shown[known] = np.unique(rows[known], return_inverse=True)
    return Gallery(take(training, different), shown, kind, whole=True)


def _from_model(basis: Basis, kind: str, shown: np.ndarray) -> Gallery:
    """Show what the model has kept, of every exemplar in the form that looks most like a sample."""
    ways = []
    for measure, numbers in zip(basis.expander.measures, basis.of_measure, strict=True):
        found = _looks(basis, measure, kind)
        if found is not None and len(numbers):
            ways.append((*found, numbers))
    if not ways:
        return Gallery([], shown, "anything", False, PRECOMPUTED if kind == "precomputed" else UNKNOWN)
    ways.sort(key=lambda way: bool(way[2]))  # without a note first
    same = [way for way in ways if way[1] == ways[0][1]]
    drawn: list[Any] = []
    notes: dict[str, None] = {}
    for several, _, note, numbers in same:
        new = np.flatnonzero(shown[numbers] < 0)
        if len(new):
            shown[numbers[new]] = len(drawn) + np.arange(len(new))
            drawn += items(take(several, new))
            notes[note] = None
    alone = len(same) == 1 and len(drawn) == n_rows(same[0][0])
    return Gallery(same[0][0] if alone else drawn, shown, same[0][1], False, " ".join(filter(None, notes)))


def _looks(basis: Basis, measure: FittedMeasure, kind: str) -> tuple[Any, str, str] | None:
    """Return the exemplars of a measure as they can be shown, what kind they are, and a note; None if they cannot."""
    similarity, kept = measure.similarity, measure.exemplars
    if similarity.precomputed:
        return None
    features = None if measure.transformer is None else basis.expander.transformers[measure.transformer]
    if similarity.of_parts:
        return _parts_look(kept, features, kind)
    if features is None or similarity.raw_exemplars:
        return kept, kind if kind in ("records", "text", "sequences") else kind_of(kept, similarity.kind or kind), ""
    if isinstance(features, FHOG):
        return np.stack([FHOG.render(grid, STROKE) for grid in kept]), "images", GRADIENTS
    if isinstance(features, (CellColor, Pixels)):
        return np.clip(kept, 0, 1), "images", COLORS if isinstance(features, CellColor) else ""
    return None


def _parts_look(kept: Any, features: Any, kind: str) -> tuple[Any, str, str] | None:
    if kind in ("text", "sequences"):
        return [str(one) for one in kept], "text", ""
    if getattr(kept, "dtype", None) is not None and kept.dtype.names:
        return kept["values"], "series", ""
    drawable = features is None or isinstance(features, (Pixels, CellColor))
    return (np.clip(kept, 0, 1), "images", "") if kind == "images" and drawable else None
