"""What the templates show: figures, tables and charts, ready to be written."""

from __future__ import annotations

from typing import Any

import numpy as np

from besvm import __version__
from besvm._support.shares import wilson
from besvm.report import charts
from besvm.report.content import Content
from besvm.report.figures import calibration, confusion, per_class, worst_pairs
from besvm.report.spectra import MeasureSpectrum, spectra_of

FACTS = {  # kept with a model, and what to call them
    "source": "Trained on",
    "rows": "Training rows",
    "label": "Column of the classes",
    "pruned from": "Exemplars before pruning",
    "seed": "Seed",
    "besvm": "Trained with besvm",
    "sklearn": "and scikit-learn",
}
MATRIX = 20  # classes that a confusion matrix shows
PAIRS = 12  # of classes that are confused most


def overview(content: Content) -> dict[str, Any]:
    """Return the values that the page's template asks for."""
    right, n = content.right, len(content.data)
    low, high = wilson(int(right.sum()), n)
    matrix = confusion(content.truth, content.scores.predicted, len(content.classes))
    chances = content.scores.chances
    calibrated = None if chances is None else calibration(content.scores.confidence, right)
    return {
        "kind": content.data.kind,
        "n": n,
        "n_listed": len(content.listed),
        "n_right": int(right.sum()),
        "accuracy": float(right.mean()),
        "interval": (low, high),
        "classes": content.classes,
        "rows": per_class(matrix, content.classes),
        "matrix": _shown_matrix(matrix),
        "pairs": worst_pairs(matrix, PAIRS),
        "calibration": calibrated,
        "reliability": None if calibrated is None else charts.reliability(calibrated.bins),
        "spectra": _spectra(content),
        "curve": _curve(content),
        "facts": _facts(content),
        "exemplars": 0 if content.basis is None else len(content.basis),
        "half": _half(content),
        "note": "" if content.gallery is None else content.gallery.note,
        "version": __version__,
    }


def _shown_matrix(matrix: np.ndarray) -> dict[str, Any]:
    """Return the confusions of all classes or, of many, of those that have most, each with how dark it is drawn."""
    off = matrix - np.diag(np.diag(matrix))
    errors = off.sum(axis=0) + off.sum(axis=1)
    most = MATRIX if len(matrix) <= MATRIX else min(MATRIX, int((errors > 0).sum())) or MATRIX
    kept = np.sort(np.argsort(-errors, kind="stable")[:most])
    small = matrix[np.ix_(kept, kept)]
    largest = max(1, int(off.max()))
    totals = np.maximum(1, matrix[kept].sum(axis=1))
    rows = []
    for a, number in enumerate(kept.tolist()):
        cells = []
        for b, other in enumerate(kept.tolist()):
            count = int(small[a, b])
            dark = count / totals[a] if a == b else (count / largest) ** 0.5
            cells.append({"truth": number, "predicted": other, "count": count, "dark": round(100 * float(dark))})
        rows.append({"number": number, "cells": cells})
    return {"rows": rows, "numbers": kept.tolist(), "left_out": len(matrix) - len(kept)}


def _spectra(content: Content) -> list[tuple[MeasureSpectrum, charts.Chart | None]]:
    if content.reading is None:
        return []
    found = sorted(spectra_of(content.reading.map.expander), key=lambda one: one.found is None)
    return [(one, None if one.found is None else charts.spectrum_chart(one.found)) for one in found]


def _curve(content: Content) -> charts.Chart | None:
    if content.evidence is None or not content.evidence.curve:
        return None
    curves = [("as they are", content.evidence.curve)]
    if content.curve:
        curves.append(("refitted", content.curve))
    return charts.size_curve(curves)


def _half(content: Content) -> tuple[int, float] | None:
    """Return how many exemplars carry half of everything, and their share of all."""
    if content.evidence is None or not len(content.evidence.carries):
        return None
    carried = np.cumsum(np.sort(content.evidence.carries)[::-1])
    count = int(np.searchsorted(carried, 0.5 * carried[-1])) + 1
    return count, count / len(carried)


def _facts(content: Content) -> list[tuple[str, str]]:
    """Return what is known of the model, name by name."""
    facts = [("Kind of data", content.data.kind)] if content.data.kind != "anything" else []
    if content.data.source:
        facts.append(("Read from", content.data.source))
    reading = content.reading
    if reading is not None:
        expander, linear = reading.map.expander, reading.linear
        given = [f"{name} ({m.n_exemplars:,})" for name, m in zip(expander.labels, expander.measures, strict=True)]
        facts += [
            ("Measures (exemplars)", ", ".join(given)),
            ("Features", f"{expander.width:,}"),
            ("C", f"{linear.C_:g}" + (" (picked on held-out rows)" if hasattr(linear, "C_path_") else "")),
        ]
        if reading.one_vs_one:
            facts.append(("Classes", "one-vs-one: every pair of classes votes"))
    known = getattr(reading.estimator if reading is not None else None, "facts_", {}) or {}
    told = {**FACTS, **{key: str(key).capitalize() for key in known if key not in FACTS and key != "kind"}}
    return facts + [(told[key], _said(known[key])) for key in told if isinstance(known.get(key), (str, int, float))]


def _said(value: str | float) -> str:
    return f"{value:,}" if isinstance(value, int) and not isinstance(value, bool) else str(value)
