"""Elastic distances between the series of a set, and what is learnt from them: shared by any_series and any_choices."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
from sklearn.base import clone
from sklearn.model_selection import StratifiedKFold

from besvm import BESVMClassifier
from besvm.similarities import DDTW, DTW, EDR, ERP, LCSS, MSM, SBD, TWE, WDTW, SeriesEuclidean
from besvm.similarities.distance import HOW

MEASURES = {
    "euclidean": SeriesEuclidean(),
    "dtw": DTW(),
    "dtw 10%": DTW(window=0.1),
    "ddtw": DDTW(),
    "ddtw 10%": DDTW(window=0.1),
    "wdtw": WDTW(),
    "erp": ERP(),
    "msm": MSM(),
    "twe": TWE(),
    "lcss": LCSS(),
    "edr": EDR(),
    "sbd": SBD(),
}
NEEDS_EQUAL_LENGTHS = ("euclidean",)
FORM = ("exponential", 1.0)  # how distances become similarities, and the share of their median that is the scale
FOLDS = 5


def distances(name: str, X: Any, X_train: Any) -> np.ndarray:
    """Return the distances of X to all of X_train by the measure of this name, (len(X), len(X_train))."""
    measure = clone(MEASURES[name]).fit(X_train)
    return np.asarray(measure.distances_to(X_train)(X), dtype=np.float64)


def median(d: np.ndarray) -> float:
    """Return the median distance between training series that differ; 1 if none do."""
    d = d[np.triu_indices(len(d), 1)]
    d = d[(d > 0) & np.isfinite(d)]
    return float(np.median(d)) if len(d) else 1.0


def similar(d: np.ndarray, middle: float, how: str = FORM[0], share: float = FORM[1]) -> np.ndarray:
    """Return distances as similarities, with a share of their median as the scale."""
    with np.errstate(over="ignore", under="ignore"):
        return HOW[how][0](d / (share * middle))


def measure(name: str, middle: float) -> Any:
    """Return the similarity of this name in the form that was chosen; ``middle`` is the median distance."""
    return clone(MEASURES[name]).set_params(how=FORM[0], scale=FORM[1] * middle)


def besvm_on(matrices: Sequence[np.ndarray], y: np.ndarray, C: float | str = "auto") -> BESVMClassifier:
    """Return a BE-SVM whose exemplars are all training rows, trained on their similarities under every measure."""
    classifier = BESVMClassifier(["precomputed"] * len(matrices), C=C, probability=False, random_state=0)
    return classifier.fit(np.dstack(matrices), y)


def folds_of(y: np.ndarray) -> list[tuple[np.ndarray, np.ndarray]]:
    """Return the folds of cross-validation on training rows."""
    return list(StratifiedKFold(FOLDS, shuffle=True, random_state=0).split(y, y))


def cross_validated(matrices: Sequence[np.ndarray], y: np.ndarray, C: float | str = "auto") -> float:
    """Return the share of training rows that a BE-SVM trained on the other folds gets right."""
    right = 0
    for train, test in folds_of(y):
        classifier = besvm_on([S[np.ix_(train, train)] for S in matrices], y[train], C)
        right += int((classifier.predict(np.dstack([S[np.ix_(test, train)] for S in matrices])) == y[test]).sum())
    return right / len(y)


def nearest_cross_validated(d: np.ndarray, y: np.ndarray) -> float:
    """Return the share of training rows that are of the class of the nearest row in the other folds."""
    right = sum(int((y[tr][d[np.ix_(te, tr)].argmin(axis=1)] == y[te]).sum()) for tr, te in folds_of(y))
    return right / len(y)
