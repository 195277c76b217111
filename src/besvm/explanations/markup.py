"""An explanation as a piece of HTML that needs nothing else: what a notebook shows."""

from __future__ import annotations

from base64 import b64encode
from html import escape
from typing import Any

import numpy as np

from besvm._support.png import png
from besvm.explanations.contribution import Contribution, signed
from besvm.explanations.looks import Look, value_text
from besvm.explanations.marks import Line, Mark, Run, image_marks, runs, series_lines, text_runs
from besvm.explanations.pairs import Pair

FOR, AGAINST, MARKED, OTHERS = "#0b6e99", "#d9730d", "#e0a100", "#9b9a97"
SIDE = 96  # pixels of an image
WIDE, HIGH = 260, 84  # pixels of a series
LISTED = 12  # values of a record, and classes, that are shown
COLORS = {"sample": "currentColor", "exemplar": FOR, "part": AGAINST, "link": "#9b9a97"}
CELL = 'style="text-align:left;vertical-align:middle;padding:4px 12px 4px 0"'


def html(explanation: Any, cls: Any, top: int) -> str:
    """Return the explanation of one class, with the ``top`` exemplars for and against it."""
    first = (explanation.towards(cls, 1) or explanation.against(cls, 1) or [None])[0]
    sample = "" if first is None else _picture(explanation.pair(first, cls).sample, [])
    parts = [
        '<div style="font:14px/1.45 system-ui,sans-serif;max-width:90em">',
        f"<p style='margin:0 0 8px'>Predicted: <b>{escape(str(explanation.prediction))}</b></p>",
        '<div style="display:flex;gap:24px;flex-wrap:wrap;align-items:center">',
        f"<div>{sample}</div><div>{_decisions(explanation, cls)}</div></div>",
        '<div style="display:flex;gap:32px;flex-wrap:wrap;align-items:flex-start">',
        _list(explanation, f"towards {cls}", cls, explanation.towards(cls, top), FOR),
        _list(explanation, f"away from {cls}", cls, explanation.against(cls, top), AGAINST),
        f"</div>{_sum(explanation, cls)}</div>",
    ]
    return "".join(parts)


def _decisions(explanation: Any, cls: Any) -> str:
    ranked = sorted(explanation.classes, key=lambda c: -explanation.decision[c])[:LISTED]
    largest = max(abs(explanation.decision[c]) for c in ranked) or 1.0
    rows = []
    for c in ranked:
        name = f"<b>{escape(str(c))}</b>" if c == cls else escape(str(c))
        chance = "" if explanation.probability is None else f"{100 * explanation.probability[c]:.0f} %"
        value = explanation.decision[c]
        rows.append(
            f"<tr><td {CELL}>{name}</td><td {CELL}>{_bar(value / largest, FOR if c == cls else OTHERS)}</td>"
            f"<td {CELL}>{signed(value)}</td><td {CELL}>{chance}</td></tr>"
        )
    return f"<table style='border-collapse:collapse;font:inherit'>{''.join(rows)}</table>"


def _bar(share: float, color: str) -> str:
    width = max(1, round(80 * min(1.0, abs(share))))
    return (
        f'<span style="display:inline-block;height:10px;width:{width}px;background:{color};border-radius:2px"></span>'
    )


def _list(explanation: Any, title: str, cls: Any, found: list[Contribution], color: str) -> str:
    largest = max((abs(one.contribution[cls]) for one in explanation.contributions), default=0.0) or 1.0
    rows = []
    for one in found:
        pair = explanation.pair(one, cls)
        value = one.contribution[cls]
        rows.append(
            f"<tr><td {CELL}>{_bar(value / largest, color)}<br>{signed(value)} ({100 * one.share[cls]:+.1f} %)<br>"
            f"<small>{_about(one, pair)}</small></td><td {CELL}>{_both(pair)}</td></tr>"
        )
    inside = "".join(rows) or f"<tr><td {CELL}>nothing</td></tr>"
    title = f"<h4 style='margin:12px 0 4px'>{escape(title)}</h4>"
    return f"<div>{title}<table style='border-collapse:collapse;font:inherit'>{inside}</table></div>"


def _about(one: Contribution, pair: Pair) -> str:
    label = "" if one.label is None else f" ({one.label})"
    lines = [f"{one.name}{label}", f"{one.measure}: {one.compared}", pair.match.words]
    return "<br>".join(escape(line) for line in lines if line)


def _sum(explanation: Any, cls: Any) -> str:
    by_measure = ", ".join(f"{name} {signed(values[cls])}" for name, values in explanation.measures.items())
    text = f"All exemplars: {by_measure}; constant {signed(explanation.constant[cls])}; together "
    return f"<p style='margin:10px 0 0'>{escape(text)}<b>{signed(explanation.decision[cls])}</b></p>"


def _both(pair: Pair) -> str:
    """Return the sample and the exemplar as they match."""
    if pair.match.values:
        return _values(pair.match.values)
    if pair.sample.kind == pair.exemplar.kind == "series":
        return _series(series_lines(pair))
    if pair.sample.kind == "text" or pair.exemplar.kind == "text":
        return "<br>".join(f"<span>{_text(some)}</span>" for some in text_runs(pair) if some)
    marks = image_marks(pair)
    both = [("sample", pair.sample)] if pair.sample.kind == pair.exemplar.kind == "image" else []
    both.append(("exemplar", pair.exemplar))
    return " ".join(_picture(seen, [mark for mark in marks if mark.on == on]) for on, seen in both)


def _picture(seen: Look, marks: list[Mark]) -> str:
    if seen.kind == "image":
        return _image(seen.data, marks)
    if seen.kind == "series":
        lines = [Line(np.arange(len(one)), _stretched(one, seen.data), "sample") for one in seen.data]
        return _series(lines)
    if seen.kind == "text":
        return f"<span>{_text(runs(seen, []))}</span>"
    if seen.kind == "values":
        return "<br>".join(f"{escape(name)}: {escape(value)}" for name, value in seen.data[:LISTED])
    return escape(str(seen.data))


def _stretched(one: np.ndarray, every: np.ndarray) -> np.ndarray:
    low, high = every.min(), every.max()
    return (one - low) / ((high - low) or 1.0)


def _image(image: np.ndarray, marks: list[Mark]) -> str:
    height, width = image.shape[:2]
    scale = SIDE / max(height, width)
    data = b64encode(png(image)).decode()
    thick = 1.5 / scale
    shapes = []
    for m in marks:
        if m.kind == "arrow":
            shapes.append(
                f'<line x1="{m.x:.2f}" y1="{m.y:.2f}" x2="{m.x + m.width:.2f}" y2="{m.y + m.height:.2f}" '
                f'stroke="{MARKED}" stroke-width="{thick:.3f}"/><circle cx="{m.x + m.width:.2f}" '
                f'cy="{m.y + m.height:.2f}" r="{1.5 * thick:.3f}" fill="{MARKED}"/>'
            )
            continue
        dashes = f' stroke-dasharray="{3 * thick:.3f}"' if m.dashed else ""
        look = f'fill="none" stroke="{MARKED}" stroke-width="{thick:.3f}"{dashes}'
        if m.kind == "cell":
            look = f'fill="{MARKED}" fill-opacity="{0.45 * m.strength:.2f}"'
        shapes.append(f'<rect x="{m.x:.2f}" y="{m.y:.2f}" width="{m.width:.2f}" height="{m.height:.2f}" {look}/>')
    return (
        f'<svg width="{width * scale:.0f}" height="{height * scale:.0f}" viewBox="0 0 {width} {height}">'
        f'<image href="data:image/png;base64,{data}" width="{width}" height="{height}" '
        f'style="image-rendering:pixelated"/>{"".join(shapes)}</svg>'
    )


def _series(lines: list[Line]) -> str:
    longest = max((float(line.x.max()) for line in lines), default=1.0) or 1.0
    shapes = []
    for line in sorted(lines, key=lambda one: one.kind != "link"):
        x, y = 2 + line.x / longest * (WIDE - 4), 2 + (1 - line.y) * (HIGH - 4)
        points = " ".join(f"{a:.1f},{b:.1f}" for a, b in zip(x, y, strict=True))
        width = {"part": 2.5, "link": 0.5}.get(line.kind, 1.2)
        shapes.append(f'<polyline points="{points}" fill="none" stroke="{COLORS[line.kind]}" stroke-width="{width}"/>')
    return f'<svg width="{WIDE}" height="{HIGH}" viewBox="0 0 {WIDE} {HIGH}">{"".join(shapes)}</svg>'


def _text(some: list[Run]) -> str:
    mark = f'<mark style="background:{MARKED}66;color:inherit;padding:0;white-space:pre-wrap">'
    return "".join(f"{mark}{escape(run.text)}</mark>" if run.matched else escape(run.text) for run in some)


def _values(values: list[tuple[Any, Any, Any, float]]) -> str:
    rows = [
        f"<tr><td {CELL}>{escape(str(name))}</td><td {CELL}>{escape(value_text(x))}</td>"
        f"<td {CELL}>{escape(value_text(b))}</td><td {CELL}>{_bar(alike, FOR)}</td></tr>"
        for name, x, b, alike in sorted(values, key=lambda one: -one[3])[:LISTED]
    ]
    return f"<table style='border-collapse:collapse;font-size:12px'>{''.join(rows)}</table>"
