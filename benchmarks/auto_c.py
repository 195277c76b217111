"""C="auto" against C = 1 and C = 10: accuracy on twenty data sets, and time as a multiple of one fit with that C.

BE-SVM with "rbf" and up to 300 random exemplars on standardized columns; a third of the rows are tested on.
"""

from __future__ import annotations

from time import perf_counter
from typing import Any

import numpy as np
from sklearn import datasets
from sklearn.preprocessing import StandardScaler

from besvm import BESVMClassifier

RUNS = 3  # of which the quickest counts
CLASSIFICATIONS = [  # rows, columns, informative ones, classes, share of flipped labels, distance of the classes
    (400, 20, 5, 2, 0.05, 1.0), (1000, 20, 10, 3, 0.0, 1.0), (3000, 50, 30, 5, 0.02, 1.0), (3000, 10, 8, 4, 0.1, 0.5),
    (6000, 30, 20, 10, 0.0, 1.0), (20_000, 50, 40, 10, 0.0, 1.0), (12_000, 20, 15, 3, 0.2, 1.0),
    (800, 100, 10, 2, 0.1, 1.0), (300, 200, 10, 2, 0.0, 1.0),
]  # fmt: skip


def data_sets() -> dict[str, tuple[np.ndarray, np.ndarray]]:
    """Return scikit-learn's small sets and some that it makes."""
    sets = {name: getattr(datasets, f"load_{name}")(return_X_y=True) for name in ("iris", "wine", "digits")}
    sets["breast cancer"] = datasets.load_breast_cancer(return_X_y=True)
    for seed, (n, d, informative, classes, flipped, distance) in enumerate(CLASSIFICATIONS):
        sets[f"classification {n:,} x {d}, {classes} classes"] = datasets.make_classification(
            n,
            d,
            n_informative=informative,
            n_redundant=0,
            n_classes=classes,
            flip_y=flipped,
            class_sep=distance,
            n_clusters_per_class=3 if classes < 10 else 2,
            random_state=seed,
        )
    sets["moons"] = datasets.make_moons(1500, noise=0.25, random_state=0)
    sets["circles"] = datasets.make_circles(1500, noise=0.15, factor=0.6, random_state=0)
    sets["gaussian quantiles"] = datasets.make_gaussian_quantiles(
        n_samples=4000, n_features=8, n_classes=4, random_state=0
    )
    sets["hastie"] = datasets.make_hastie_10_2(6000, random_state=0)
    sets["blobs"] = datasets.make_blobs(2000, 10, centers=12, cluster_std=6, random_state=0)
    X, along = datasets.make_swiss_roll(3000, noise=0.5, random_state=0)
    sets["swiss roll"] = X, (along * 1.5).astype(int) % 4
    X = np.random.default_rng(0).normal(size=(5000, 6))
    sets["xor of three"] = X, ((X[:, 0] > 0) ^ (X[:, 1] > 0) ^ (X[:, 2] > 0)).astype(int)
    return sets


def benchmark(quick: bool = False) -> list[dict[str, Any]]:
    """Return a row for every data set, and their means."""
    sets = data_sets()
    rows = [_compared(name, *sets[name]) for name in (list(sets)[:2] if quick else sets)]
    means = {key: float(np.mean([row[key] for row in rows])) for key in ("C = 1", "C = 10", "auto", "times one fit")}
    return [*rows, {"data": "mean", **means}]


def _compared(name: str, X: np.ndarray, y: np.ndarray) -> dict[str, Any]:
    order = np.random.default_rng(0).permutation(len(y))
    train, test = order[: 2 * len(y) // 3], order[2 * len(y) // 3 :]
    scaler = StandardScaler().fit(X[train])
    X = scaler.transform(X)

    def fitted(C: Any) -> BESVMClassifier:
        return BESVMClassifier("rbf", basis=min(300, len(train) // 2), C=C, random_state=0).fit(X[train], y[train])

    def seconds(C: Any) -> float:
        start = perf_counter()
        fitted(C)
        return perf_counter() - start

    auto = fitted("auto")
    scores = {f"C = {C:g}": fitted(C).score(X[test], y[test]) for C in (1.0, 10.0)}
    times = [[seconds(C) for C in ("auto", auto.C_)] for _ in range(RUNS)]
    ours, one = np.min(times, axis=0)
    return {"data": name, **scores, "auto": auto.score(X[test], y[test]), "C_": auto.C_, "times one fit": ours / one}
