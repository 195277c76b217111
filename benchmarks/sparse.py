"""The L1 penalty: its solver against LinearSVC(penalty="l1"), and a large pruned basis against a small one.

The first rows race the two solvers on the same features, to the same objective (C = 1, penalized intercept, ten
classes). The others train BE-SVM with H8R on the first fold of CIFAR-10: L1 over 10 x 250 exemplars, along a path of
C, and L2 over as many and over 10 x 100.
"""

from __future__ import annotations

import warnings
from time import perf_counter
from typing import Any

import numpy as np
from sklearn.svm import LinearSVC

from benchmarks.data import besvm_features, mixture, source
from besvm import BESVMClassifier, LinearSVMClassifier
from besvm.basis import IndexBasis
from besvm.datasets import load_cifar10

SHAPES = [(10_000, 1000, 1), (10_000, 1000, 4)]  # rows, bases, measures
SOLVERS = {
    'LinearSVMClassifier(penalty="l1")': lambda: LinearSVMClassifier(
        penalty="l1", penalize_intercept=True, probability=False
    ),
    'LinearSVC(penalty="l1", tol=1e-3)': lambda: LinearSVC(
        penalty="l1", dual=False, tol=1e-3, random_state=0, max_iter=10_000
    ),
}
MODELS = [
    *(("l2", per_class, C) for per_class in (100, 250) for C in (1.0, 3.0)),
    *(("l1", 250, C) for C in (0.03, 0.1, 0.3, 1.0, 3.0)),
]


def benchmark(quick: bool = False) -> list[dict[str, Any]]:
    """Return the race, one row for every shape and solver, then one row for every model."""
    rows = []
    for shape in [(1000, 50, 1)] if quick else SHAPES:
        rows += _race(*shape)
    X, y, X_test, y_test = _data(quick)
    for penalty, per_class, C in MODELS:
        if quick:
            per_class //= 10
        rows.append(_model(penalty, per_class, C, X, y, X_test, y_test))
    return rows


def _race(n: int, n_basis: int, n_measures: int) -> list[dict[str, Any]]:
    X, y, X_test, y_test = besvm_features(n, n_basis, n_measures, n_test=2000)
    results = []
    for name, make in SOLVERS.items():
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")  # LIBLINEAR's, which may stop early and is then judged as it is
            make().fit(X[:200, :50], y[:200])  # load what is loaded lazily
            start = perf_counter()
            model = make().fit(X, y)
            seconds = perf_counter() - start
        results.append((name, model, seconds, _objective(model, X, y)))
    best, ours = min(objective for *_, objective in results), results[0][2]
    return [
        {
            "data": f"{source()}, {n:,} x {X.shape[1]:,}",
            "model": name,
            "C": 1.0,
            "train_seconds": seconds,
            "times slower than ours": seconds / ours,
            "objective above the best": objective / best - 1,
            "non-zeros": int(np.count_nonzero(model.coef_)),
            "test_accuracy": float(model.score(X_test, y_test)),
        }
        for name, model, seconds, objective in results
    ]


def _objective(model: Any, X: np.ndarray, y: np.ndarray) -> float:
    """Return the objective of all classes together, in float64 from the margins on."""
    margins = X @ model.coef_.T.astype(np.float32) + model.intercept_
    signs = np.where(y[:, None] == model.classes_, 1, -1)
    loss = (np.maximum(0, 1 - signs * margins).astype(np.float64) ** 2).sum()
    return float(np.abs(model.coef_).sum() + np.abs(model.intercept_).sum() + loss)


def _data(quick: bool) -> tuple[Any, ...]:
    n, n_test = (1000, 500) if quick else (10_000, 10_000)
    try:
        images, labels, fold = load_cifar10()
    except FileNotFoundError:
        X, y = mixture(n + n_test)
        return X[:n], y[:n], X[n:], y[n:]
    return images[fold == 0][:n], labels[fold == 0][:n], images[fold == 5][:n_test], labels[fold == 5][:n_test]


def _model(penalty: str, per_class: int, C: float, X: Any, y: Any, X_test: Any, y_test: Any) -> dict[str, Any]:
    measure = "H8R" if source() == "CIFAR-10" else "rbf"
    model = BESVMClassifier(measure, basis=IndexBasis(per_class=per_class), penalty=penalty, C=C, random_state=0)
    start = perf_counter()
    model.fit(X, y)
    trained = perf_counter()
    accuracy = float(model.score(X_test, y_test))
    predicted = perf_counter()
    return {
        "data": f"{source()}, {len(X):,} rows, {measure}",
        "model": f"BE-SVM, {penalty.upper()} over 10 x {per_class}",
        "C": C,
        "train_seconds": trained - start,
        "non-zeros": int(np.count_nonzero(model.coef_)),
        "test_accuracy": accuracy,
        "exemplars kept": model.n_basis_,
        "predict_seconds": predicted - trained,
    }
