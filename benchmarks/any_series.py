"""Time series: BE-SVM over elastic measures against 1-NN with the same distances, GAK, a clipped kernel SVM and Rocket.

Needs aeon and tslearn. Ten sets with their own splits. Distances are computed once a set and measure, and shared by all
that use them. The measures and the form of the similarity were chosen on training rows (`python -m benchmarks
any_choices`); C is chosen on training rows by every method that has one.
"""

from __future__ import annotations

import time
import warnings
from collections.abc import Callable
from typing import Any

import numpy as np

from benchmarks.any_data import elastic, load
from besvm import BESVMClassifier, recipes
from besvm.baselines import KernelSVMClassifier

ALONE = ("dtw", "erp", "msm", "twe")
SEVERAL = ("dtw 10%", "ddtw 10%", "wdtw", "erp", "msm", "twe", "edr", "sbd")
CHOSEN = "1-NN, chosen on training rows"
KERNEL = "twe"  # of the kernel SVM: the best single measure on training rows
CS = (0.1, 1.0, 10.0, 100.0, 1000.0)


def benchmark(quick: bool = False) -> list[dict[str, Any]]:
    """Return the test accuracy of every method on every set, and the seconds it took from the series on."""
    rows: list[dict[str, Any]] = []
    for name in ("Coffee",) if quick else load.SERIES:
        rows += _one_set(name)
    return rows


def _one_set(name: str) -> list[dict[str, Any]]:
    X, y, X_test, y_test = load.series(name)
    equal = isinstance(X, np.ndarray)
    rows: list[dict[str, Any]] = []

    def add(method: str, predict: Callable[[], np.ndarray], before: float = 0.0) -> None:
        start = time.perf_counter()
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")  # of the peers
            right = float(np.mean(predict() == y_test))
        seconds = before + time.perf_counter() - start
        rows.append({"data": name, "method": method, "accuracy": right, "seconds": seconds})

    matrices: dict[str, tuple[np.ndarray, np.ndarray]] = {}
    nearest: dict[str, float] = {}  # what each distance has on training rows that were left out
    apart: dict[str, np.ndarray] = {}
    middles: dict[str, float] = {}
    spent: dict[str, float] = {}
    measures = [m for m in elastic.MEASURES if equal or m not in elastic.NEEDS_EQUAL_LENGTHS]
    for measure in measures:
        elastic.distances(measure, X_test[:1], X[:2])  # compile
        start = time.perf_counter()
        d, d_test = elastic.distances(measure, X, X), elastic.distances(measure, X_test, X)
        spent[measure] = time.perf_counter() - start
        add(f"1-NN, {measure}", lambda d_test=d_test: y[d_test.argmin(axis=1)], spent[measure])
        nearest[measure], apart[measure] = elastic.nearest_cross_validated(d, y), d_test
        middles[measure] = middle = elastic.median(d)
        matrices[measure] = elastic.similar(d, middle), elastic.similar(d_test, middle)
        if measure in ALONE:
            add(f"BE-SVM, {measure}", lambda m=measure: _besvm([matrices[m]], y), spent[measure])
    chosen = max(measures, key=lambda measure: nearest[measure])
    add(CHOSEN, lambda: y[apart[chosen].argmin(axis=1)], sum(spent.values()))
    several = [matrices[measure] for measure in SEVERAL]
    add("BE-SVM, several measures", lambda: _besvm(several, y), sum(spent[m] for m in SEVERAL))
    add(f"kernel SVM, clipped, {KERNEL}", lambda: _kernel(*matrices[KERNEL], y), spent[KERNEL])
    add("tslearn's SVM, GAK", lambda: _gak(X, y, X_test))
    if equal:
        add("aeon's Rocket", lambda: _rocket(X, y, X_test))
    parts = _fitting(recipes.series("medium"), X)
    add("BE-SVM, parts", lambda: _trained(parts, X, y).predict(X_test))
    both = [*parts, *(elastic.measure(m, middles[m]) for m in SEVERAL)]
    add("BE-SVM, parts and several measures", lambda: _trained(both, X, y).predict(X_test))
    return rows


def _besvm(pairs: list[tuple[np.ndarray, np.ndarray]], y: np.ndarray) -> np.ndarray:
    train, test = zip(*pairs, strict=True)
    return elastic.besvm_on(train, y).predict(np.dstack(test))


def _trained(measures: list[Any], X: Any, y: np.ndarray) -> BESVMClassifier:
    return BESVMClassifier(measures, basis=1.0, probability=False, random_state=0).fit(X, y)


def _fitting(measures: list[Any], X: Any) -> list[Any]:
    """Return the measures with pieces that the shortest series can hold."""
    shortest = min(one.shape[-1] for one in X)
    return [m.set_params(similarity__length=min(m.similarity.length, shortest - 1)) for m in measures]


def _kernel(S: np.ndarray, S_test: np.ndarray, y: np.ndarray) -> np.ndarray:
    """Return what a kernel SVM on the clipped matrix predicts, with the C that is best on training rows left out."""

    def right(C: float) -> int:
        return sum(
            int((_clipped(C).fit(S[np.ix_(tr, tr)], y[tr]).predict(S[np.ix_(te, tr)]) == y[te]).sum())
            for tr, te in elastic.folds_of(y)
        )

    return _clipped(max(CS, key=right)).fit(S, y).predict(S_test)


def _clipped(C: float) -> KernelSVMClassifier:
    return KernelSVMClassifier("precomputed", spectrum="clip", C=C)


def _gak(X: Any, y: np.ndarray, X_test: Any) -> np.ndarray:
    """Return what TimeSeriesSVC predicts: its matrix and its gamma, computed once for all C that are tried."""
    from sklearn.model_selection import GridSearchCV
    from sklearn.svm import SVC
    from tslearn.metrics import cdist_gak, gamma_soft_dtw
    from tslearn.utils import to_time_series_dataset

    train, test = (to_time_series_dataset([np.asarray(one).T for one in part]) for part in (X, X_test))
    sigma = float(np.sqrt(gamma_soft_dtw(train, random_state=0) / 2))
    S, S_test = cdist_gak(train, sigma=sigma, n_jobs=-1), cdist_gak(test, train, sigma=sigma, n_jobs=-1)
    search = GridSearchCV(SVC(kernel="precomputed"), {"C": list(CS)}, cv=elastic.folds_of(y))
    return np.asarray(search.fit(S, y).predict(S_test))


def _rocket(X: Any, y: np.ndarray, X_test: Any) -> np.ndarray:
    from aeon.classification.convolution_based import RocketClassifier

    return np.asarray(RocketClassifier(random_state=0, n_jobs=-1).fit(X, y).predict(X_test))
