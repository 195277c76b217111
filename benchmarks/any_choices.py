"""Choices for series, by cross-validation on training rows only: from distance to similarity, and which measures.

The first rows are the forms (how a distance becomes a similarity, and which share of the median distance is its
scale), the mean over all sets and four measures; the later ones are sets of measures, with the best form.
C is "auto" throughout. Test rows are not read.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from benchmarks.any_data import elastic, load

FORMS = {
    "negative": (1.0,),
    "exponential": (2.0, 1.0, 2 / 3, 1 / 3, 1 / 10),
    "gaussian": (2.0, 1.0, 1 / 2, 1 / 4),
    "inverse": (3.0, 1.0, 1 / 3, 1 / 10),
    "log": (1.0, 1 / 3, 1 / 10, 1 / 30),
}
FORMED = ("dtw", "msm", "twe", "erp")
SETS = {
    "dtw": ("dtw",),
    "dtw 10%": ("dtw 10%",),
    "ddtw": ("ddtw",),
    "wdtw": ("wdtw",),
    "erp": ("erp",),
    "msm": ("msm",),
    "twe": ("twe",),
    "lcss": ("lcss",),
    "edr": ("edr",),
    "sbd": ("sbd",),
    "msm, twe": ("msm", "twe"),
    "dtw 10%, ddtw, msm": ("dtw 10%", "ddtw", "msm"),
    "dtw 10%, ddtw, msm, twe": ("dtw 10%", "ddtw", "msm", "twe"),
    "dtw 10%, ddtw, msm, twe, erp": ("dtw 10%", "ddtw", "msm", "twe", "erp"),
    "dtw 10%, ddtw, msm, twe, sbd": ("dtw 10%", "ddtw", "msm", "twe", "sbd"),
    "ddtw 10%, wdtw, msm, twe, edr": ("ddtw 10%", "wdtw", "msm", "twe", "edr"),
    "dtw 10%, ddtw 10%, wdtw, erp, msm, twe": ("dtw 10%", "ddtw 10%", "wdtw", "erp", "msm", "twe"),
    "dtw 10%, ddtw 10%, wdtw, erp, msm, twe, edr, sbd": (
        *("dtw 10%", "ddtw 10%", "wdtw", "erp", "msm", "twe", "edr", "sbd"),
    ),
    "dtw 10%, ddtw 10%, wdtw, erp, msm, twe, sbd": ("dtw 10%", "ddtw 10%", "wdtw", "erp", "msm", "twe", "sbd"),
    "dtw 10%, ddtw, wdtw, erp, msm, twe, lcss, sbd": (
        *("dtw 10%", "ddtw", "wdtw", "erp", "msm", "twe", "lcss", "sbd"),
    ),
    "all": tuple(name for name in elastic.MEASURES if name not in elastic.NEEDS_EQUAL_LENGTHS),
}


def benchmark(quick: bool = False) -> list[dict[str, Any]]:
    """Return the mean accuracy on training rows left out, of every form and of every set of measures, and by set."""
    known = _distances(("Coffee", "GunPoint") if quick else load.SERIES)
    rows = []
    for how, shares in FORMS.items():
        for share in shares:
            found = {
                name: float(np.mean([_accuracy(ds, y, [m], (how, share)) for m in FORMED]))
                for name, (ds, y) in known.items()
            }
            rows.append(_row("form", f"{how}, {share:.3g} of the median", found))
    nearest = {
        name: float(np.mean([elastic.nearest_cross_validated(ds[m], y) for m in FORMED]))
        for name, (ds, y) in known.items()
    }
    rows.append(_row("form", "1-NN", nearest))
    for label, measures in SETS.items():
        rows.append(_row("set", label, {name: _accuracy(ds, y, measures) for name, (ds, y) in known.items()}))
    for measure in SETS["all"]:
        found = {name: elastic.nearest_cross_validated(ds[measure], y) for name, (ds, y) in known.items()}
        rows.append(_row("1-NN", measure, found))
    return rows


def _distances(names: Any) -> dict[str, Any]:
    found = {}
    for name in names:
        X, y = load.series(name)[:2]
        found[name] = {measure: elastic.distances(measure, X, X) for measure in SETS["all"]}, y
    return found


def _accuracy(ds: dict[str, np.ndarray], y: np.ndarray, measures: Any, form: Any = elastic.FORM) -> float:
    return elastic.cross_validated([elastic.similar(ds[m], elastic.median(ds[m]), *form) for m in measures], y)


def _row(choice: str, what: str, found: dict[str, float]) -> dict[str, Any]:
    return {"choice": choice, "what": what, "mean": float(np.mean(list(found.values())))} | found
