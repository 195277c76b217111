"""What a sample or an exemplar looks like: an image, a series, a text, values by name, or nothing but a name."""

from __future__ import annotations

from collections.abc import Mapping, Set
from dataclasses import dataclass
from typing import Any

import numpy as np

from besvm._support.parameters import shown
from besvm.expand.room import steps_of
from besvm.features import FHOG, CellColor, CellPCA, Pixels
from besvm.features.descriptors import GridDescriptor
from besvm.similarities.graph_forms import n_nodes
from besvm.similarities.variants import column_apart

DRAWN_CELL = 16  # pixels of a HOG cell that is drawn
LONGEST_TEXT = 400  # characters that are shown


@dataclass(frozen=True, eq=False)
class Look:
    """What there is to see of an item.

    Attributes
    ----------
    kind : {"image", "series", "text", "values", "none"}
    data : object
        An array of uint8 (h, w) or (h, w, 3); an array (channels, moments); a list of texts, which are the characters
        or the tokens; a list of pairs (name, value); or a line about it.

    Examples
    --------
    >>> from besvm.explanations import Look
    >>> Look("values", [("age", "42"), ("city", "Oslo")]).kind
    'values'
    """

    kind: str
    data: Any


def look(item: Any, kind: str = "") -> Look:
    """Return what an item looks like; ``kind`` is the kind of data that is compared, as a similarity says it."""
    if kind == "graphs":
        return Look("none", graph_text(item))
    if isinstance(item, str):
        return Look("text", list(item))
    if isinstance(item, Set):
        return Look("text", [", ".join(sorted(map(str, item)))])
    if isinstance(item, Mapping):
        return Look("values", [(str(name), value_text(value)) for name, value in item.items()])
    if hasattr(item, "_fields"):
        return Look("values", [(str(name), value_text(value)) for name, value in zip(item._fields, item, strict=True)])
    if isinstance(item, np.void) and item.dtype.names:
        if "values" in item.dtype.names:  # a part of a series
            return Look("series", np.asarray(item["values"]))
        return Look("values", [(name, value_text(item[name])) for name in item.dtype.names])
    return _look_of_numbers(item, kind)


def graph_text(item: Any) -> str:
    """Return how large a graph is, in words.

    Examples
    --------
    >>> graph_text([("a", "b"), ("b", "c")])
    'a graph of 3 nodes'
    """
    n = n_nodes(item)
    return f"a graph of {n:,} node{'' if n == 1 else 's'}"


def _look_of_numbers(item: Any, kind: str) -> Look:
    try:
        array = np.asarray(item)
    except ValueError:  # lists of different lengths
        array = np.array(None)
    if array.dtype.kind in "US" and array.ndim == 1:
        return Look("text", [str(token) for token in array.tolist()])
    if array.dtype.kind not in "buif" or not array.size or array.ndim == 0:
        return Look("none", shown(item))
    if array.ndim == 2 and kind == "distributions":
        return Look("none", f"{len(array):,} points of {array.shape[1]:,} numbers")
    if array.ndim == 3 or (array.ndim == 2 and kind != "series"):
        return Look("image", as_image(array))
    return Look("series", np.atleast_2d(array).astype(np.float64)) if array.ndim <= 2 else Look("none", shown(item))


def value_text(value: Any) -> str:
    """Return what to write of a value of a record, or of anything that is not drawn.

    Examples
    --------
    >>> value_text(0.1 + 0.2), value_text({"b", "a"}), value_text(None)
    ('0.3', '{a, b}', '–')
    """
    if value is None:
        return "–"
    if isinstance(value, (float, np.floating)):
        return f"{value:.4g}"
    if isinstance(value, np.ndarray):
        return np.array2string(value, precision=3, threshold=20, edgeitems=6)
    if isinstance(value, Set):
        return "{" + ", ".join(sorted(map(str, value))) + "}"
    return str(value)


def as_image(array: np.ndarray) -> np.ndarray:
    """Return a grid of numbers as an image: uint8, (h, w) or (h, w, 3).

    Whole numbers up to 255 and fractions up to 1 are levels of color; anything else is stretched to these.
    """
    if array.ndim == 3 and array.shape[2] != 3:
        array = array[:, :, 0] if array.shape[2] == 1 else array.mean(axis=2)
    if array.dtype == np.uint8:
        return array
    values = np.nan_to_num(array.astype(np.float64))
    low, high = float(values.min()), float(values.max())
    if array.dtype.kind == "f" and low >= 0 and high <= 1:
        low, high = 0.0, 1.0
    elif array.dtype.kind in "iu" and low >= 0 and high <= 255:
        low, high = 0.0, 255.0
    elif array.dtype == np.uint16:
        low, high = 0.0, 65535.0
    scaled = (values - low) / (high - low) if high > low else np.zeros_like(values)
    return np.rint(255 * scaled).astype(np.uint8)


def look_behind(features: Any, item: Any, kind: str = "") -> Look:
    """Return what is known of the looks of an item from its features: what undoing them, step by step, gives.

    HOG cells are drawn as strokes along their edges. Where a step cannot be undone, there is nothing to see.
    """
    _, features = column_apart(features)
    if features is None:
        return look(item, kind)
    several: Any = np.asarray(item)[None] if not hasattr(item, "toarray") else item
    for step in reversed(steps_of(features)):
        if isinstance(step, FHOG):
            return Look("image", FHOG.render(np.asarray(several[0]), DRAWN_CELL))
        if isinstance(step, (CellColor, Pixels)):
            return Look("image", as_image(np.clip(several[0], 0, 1)))
        if isinstance(step, CellPCA):
            several = np.asarray(several) @ step.components_.T + step.mean_
        elif hasattr(step, "inverse_transform"):
            try:
                several = step.inverse_transform(several)
            except Exception:  # a transformer of anyone's: there is nothing to see then, and that is all
                return Look("none", "")
        else:
            return Look("none", "")
    return look(several[0], kind)


def kind_behind(features: Any, kind: str) -> str:
    """Return the kind of data that raw samples are: images, if the features describe these."""
    _, features = column_apart(features)
    images = features is not None and isinstance(steps_of(features)[0], GridDescriptor)
    return "images" if images else kind
