"""Parts of time series on growing numbers of series: seconds and peak memory, next to Rocket if aeon is installed.

The series are made here: two sine waves of random phases and, in one of three classes of bumps, a bump at a random
place; 150 moments and noise. A tenth as many are predicted.
"""

from __future__ import annotations

from importlib.util import find_spec
from typing import Any

import numpy as np

from benchmarks.timing import alone, peak_gb, timed
from besvm import BESVMClassifier, recipes

MOMENTS = 150
SIZES = (1_000, 10_000, 100_000)
MOST_FOR_ROCKET = 10_000  # whose 20,000 features of every series take 80 kB each


def benchmark(quick: bool = False) -> list[dict[str, Any]]:
    """Train and predict in a process of its own for each, so that each has its own peak of memory."""
    rows = []
    for n in (200,) if quick else SIZES:
        for method in ("besvm small", "Rocket"):
            if method == "Rocket" and (n > MOST_FOR_ROCKET or find_spec("aeon") is None):
                continue
            rows.append(alone(_measured, method, n))
    return rows


def make_series(n: int, rng: np.random.Generator) -> tuple[np.ndarray, np.ndarray]:
    """Return n series of shape (n, MOMENTS), and their classes."""
    y = rng.integers(3, size=n)
    t = np.arange(MOMENTS)
    X = rng.normal(scale=0.5, size=(n, MOMENTS)).astype(np.float32)
    for period in (31, 50):
        X += np.sin(2 * np.pi * (t / period + rng.random((n, 1)))).astype(np.float32)
    bump = np.array([np.hanning(25), np.hanning(25) ** 4, -np.hanning(25)], dtype=np.float32)
    for series, start, label in zip(X, rng.integers(MOMENTS - 25, size=n), y, strict=True):
        series[start : start + 25] += 3 * bump[label]
    return X, y


def _measured(method: str, n: int) -> dict[str, Any]:
    rng = np.random.default_rng(0)
    (X, y), (X_test, y_test) = make_series(n, rng), make_series(n // 10, rng)
    model: Any
    if method == "Rocket":
        from aeon.classification.convolution_based import RocketClassifier

        model = RocketClassifier(random_state=0, n_jobs=-1)
    else:
        model = BESVMClassifier(recipes.series("small"), probability=False, random_state=0)
    model.fit(X[:60], y[:60]).predict(X[:2])  # compiled, loaded
    found = timed(model, X, y, X_test, y_test)
    return {
        "series": n,
        "method": method,
        "accuracy": found.accuracy,
        "training_seconds": found.training_seconds,
        "prediction_ms_a_series": found.each_ms(y_test),
        "peak_gb": peak_gb(),
    }
