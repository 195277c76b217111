"""Items of any kind as the page draws them: pictures, lines or words."""

from typing import Any

import numpy as np

from besvm._support.rows import n_rows
from besvm.report.data import texts_of
from besvm.report.lines import draw_lines
from besvm.report.payload import Payload, smallest_unsigned
from besvm.report.pictures import draw_sheets

TEXT_BYTES = 4_000_000  # that all texts of a page may have together
LONGEST, SHORTEST = 4000, 200  # characters that are shown of a text


def add_items(payload: Payload, name: str, X: Any, kind: str) -> dict[str, Any]:
    """Add all items of X to the payload, and return what the page's program needs to know to draw them."""
    if n_rows(X) == 0 or kind == "precomputed":
        return {"form": "none"}
    if kind == "images":
        return _pictures(payload, name, X)
    if kind in ("series", "vectors"):
        return _lines(payload, name, X, kind)
    return {"form": "texts", **_texts(payload, name, texts_of(X, kind))}


def _pictures(payload: Payload, name: str, X: Any) -> dict[str, Any]:
    sheets = draw_sheets(X)
    for k, data in enumerate(sheets.files):
        payload.add_picture(f"{name}-sheet-{k}", data, sheets.mime)
    alike = len(np.unique(sheets.sizes, axis=0)) == len(np.unique(sheets.scale)) == 1
    payload.add_array(f"{name}-sizes", sheets.sizes[:1] if alike else sheets.sizes)
    payload.add_array(f"{name}-scale", sheets.scale[:1] if alike else sheets.scale)
    drawn = {"each": sheets.each, "columns": sheets.columns, "step": sheets.step}
    return {"form": "pictures", "alike": alike, "side": int(sheets.sizes.max()), **drawn}


def _lines(payload: Payload, name: str, X: Any, kind: str) -> dict[str, Any]:
    lines = draw_lines(X)
    payload.add_array(f"{name}-lines", lines.values)
    payload.add_array(f"{name}-range", np.column_stack([lines.low, lines.high]))
    payload.add_array(f"{name}-lengths", smallest_unsigned(lines.lengths))
    _, channels, points = lines.values.shape
    words = texts_of(X, kind) if kind == "vectors" else []
    read = _texts(payload, name, words) if any(words) else {}
    return {"form": "lines", "channels": channels, "points": points, **read}


def _texts(payload: Payload, name: str, texts: list[str]) -> dict[str, Any]:
    most = int(np.clip(TEXT_BYTES // max(1, len(texts)), SHORTEST, LONGEST))
    payload.add_json(f"{name}-texts", [text if len(text) <= most else text[: most - 1] + "…" for text in texts])
    return {"texts": True}
