"""One class against the rest, or every pair of classes: BE-SVM on fold 1 of CIFAR-10 (10 x 100 exemplars)."""

from __future__ import annotations

from time import perf_counter
from typing import Any

from benchmarks.data import SETS
from besvm import BESVMClassifier
from besvm.basis import IndexBasis
from besvm.datasets import load_cifar10

WAYS = {
    "ovr": "one-vs-rest",
    "ovo": "one-vs-one, all exemplars",
    "ovo-pair-basis": "one-vs-one, exemplars of the two classes",
}


def benchmark(quick: bool = False) -> list[dict[str, Any]]:
    """Return accuracy and times of the three ways."""
    images, labels, fold = load_cifar10()
    n, per_class = (500, 5) if quick else (10_000, 100)
    train, test = slice(0, n), fold == 5
    rows = []
    for n_measures in (1,) if quick else (1, 4):
        for multi_class, way in WAYS.items():
            clf = BESVMClassifier(
                SETS[n_measures],
                basis=IndexBasis(per_class=per_class),
                C=1.0,
                multi_class=multi_class,
                probability=False,
            )
            start = perf_counter()
            clf.fit(images[train], labels[train])
            fitted = perf_counter()
            rows.append(
                {
                    "measures": " + ".join(SETS[n_measures]),
                    "way": way,
                    "problems": len(clf.intercept_),
                    "test_accuracy": clf.score(images[test], labels[test]),
                    "fit_seconds": fitted - start,
                    "predict_seconds": perf_counter() - fitted,
                }
            )
    return rows
