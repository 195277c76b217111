"""How training time grows with the number of rows and of classes (LinearSVMClassifier, 1,000 features)."""

from __future__ import annotations

from pathlib import Path
from time import perf_counter
from typing import Any

import numpy as np

from benchmarks.data import mixture
from besvm import BasisExpansion, LinearSVMClassifier


def benchmark(quick: bool = False) -> list[dict[str, Any]]:
    """Return the seconds for 10,000, 20,000 and 40,000 rows, and for 5 to 40 classes."""
    unit = 500 if quick else 10_000
    rows = []
    X, _ = mixture(4 * unit)
    features = BasisExpansion("rbf", basis=min(1000, unit), random_state=0).fit_transform(X)
    for n in (unit, 2 * unit, 4 * unit):
        rows.append({"rows": n, "classes": 10, "seconds": _seconds(features[:n], _labels(X[:n], 10))})
    for classes in (5, 10, 20, 40):
        rows.append(
            {"rows": unit, "classes": classes, "seconds": _seconds(features[:unit], _labels(X[:unit], classes))}
        )
    return rows


def _labels(X: np.ndarray, n_classes: int) -> np.ndarray:
    """Return classes of equal difficulty, however many: the largest of some random directions, with noise."""
    rng = np.random.default_rng(1)
    return (X @ rng.normal(size=(X.shape[1], n_classes)) + rng.normal(scale=4.0, size=(len(X), n_classes))).argmax(
        axis=1
    )


def _seconds(features: np.ndarray, y: np.ndarray) -> float:
    def once() -> float:
        start = perf_counter()
        LinearSVMClassifier(probability=False).fit(features, y)
        return perf_counter() - start

    return min(once() for _ in range(3))


def plot(rows: list[dict[str, Any]], folder: Path) -> None:
    """Draw the two curves, each beside a straight line through its first point."""
    import matplotlib

    matplotlib.use("agg")
    import matplotlib.pyplot as plt

    figure, axes = plt.subplots(1, 2, figsize=(8, 3.2), layout="constrained")
    for axis, key, part in ((axes[0], "rows", rows[:3]), (axes[1], "classes", rows[3:])):
        x, y = [row[key] for row in part], [row["seconds"] for row in part]
        axis.plot(x, y, "o-", label="measured")
        axis.plot(x, [y[0] * value / x[0] for value in x], "--", color="gray", label="linear growth")
        axis.set(xlabel=key, ylabel="seconds to train", xlim=(0, None), ylim=(0, None))
        axis.spines[["top", "right"]].set_visible(False)
        axis.legend(frameon=False)
    figure.savefig(folder / "scaling.png", dpi=120)
    plt.close(figure)
