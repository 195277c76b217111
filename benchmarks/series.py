"""Parts of time series against Rocket and 1-NN with MSM, in one run: data sets that come with aeon, their own splits.

Needs aeon (pip install aeon); without it there is nothing to compare with. The length of the pieces and the form of
their similarity were chosen by cross-validation on the training rows of these sets.
"""

from __future__ import annotations

import warnings
from collections.abc import Callable
from typing import Any

import numpy as np

from benchmarks.timing import timed
from besvm import BESVMClassifier, recipes
from besvm._support.rows import take

NAMES = ("ACSF1", "ArrowHead", "BasicMotions", "GunPoint", "ItalyPowerDemand", "JapaneseVowels", "OSULeaf")
UNEQUAL = ("JapaneseVowels",)  # which Rocket does not take as it is


def benchmark(quick: bool = False) -> list[dict[str, Any]]:
    """Train and test each on each: accuracy, and the seconds that training and prediction took, after a first run."""
    from aeon.datasets import load_classification

    rows: list[dict[str, Any]] = []
    for name in NAMES[1:2] if quick else NAMES:
        train, test = (load_classification(name, split=part) for part in ("train", "test"))
        few = np.concatenate([np.flatnonzero(train[1] == label)[:3] for label in np.unique(train[1])])
        for method, make in _methods(name).items():
            with warnings.catch_warnings():
                warnings.simplefilter("ignore")
                make().fit(take(train[0], few), train[1][few]).predict(test[0][:2])  # compile
                found = timed(make(), *train, *test)
            rows.append({"data": name, "method": method, **found._asdict()})
    methods = dict.fromkeys(row["method"] for row in rows)
    for method in methods:  # over the sets that all of them take
        own = [row for row in rows if row["method"] == method and row["data"] not in UNEQUAL]
        columns = ("accuracy", "training_seconds", "prediction_seconds")
        rows.append({"data": "mean", "method": method} | {c: float(np.mean([row[c] for row in own])) for c in columns})
    return rows


def _methods(name: str) -> dict[str, Callable[[], Any]]:
    from aeon.classification.convolution_based import RocketClassifier
    from aeon.classification.distance_based import KNeighborsTimeSeriesClassifier

    methods: dict[str, Callable[[], Any]] = {
        f"besvm {size}": lambda size=size: BESVMClassifier(
            _fitting(recipes.series(size), name), random_state=0, probability=False
        )
        for size in recipes.SERIES
    }
    if name not in UNEQUAL:
        methods["Rocket"] = lambda: RocketClassifier(random_state=0, n_jobs=-1)
    methods["1-NN MSM"] = lambda: KNeighborsTimeSeriesClassifier(distance="msm", n_neighbors=1, n_jobs=-1)
    return methods


def _fitting(measures: list[Any], name: str) -> list[Any]:
    """Return the measures with pieces that the shortest series of the set, of seven moments, can hold."""
    return [m.set_params(similarity__length=6) for m in measures] if name in UNEQUAL else measures
