"""Scale: 20,000 series and 20,000 strings, 500 exemplars, 100,000 predictions; next to tslearn's SVM on fewer.

Needs rapidfuzz, and tslearn for the peer. The series, of length 150, are GunPoint's, each warped in time and with noise
of its own; the strings are first names with letters changed at random. So the sizes are real and the accuracies are not
worth comparing. Every row ran in a process of its own, for its own peak of memory.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import numpy as np

from benchmarks.any_data import load
from benchmarks.timing import alone, peak_gb, timed
from besvm import BESVMClassifier
from besvm.similarities import DTW, Edit

TRAIN, TEST, BASIS = 20_000, 100_000, 500
PEER_SIZES = (100, 200, 400, 800, 1600, 3200)
PEER_SECONDS = 120  # of one size, after which no larger one is tried
MEASURES = {"series": DTW(window=0.1), "strings": Edit()}


def benchmark(quick: bool = False) -> list[dict[str, Any]]:
    """Return seconds and peak memory of each, and what the peer would take at the same size by its growth so far."""
    share = 100 if quick else 1
    rows = [alone(_ours, kind, TRAIN // share, TEST // share) for kind in MEASURES]
    for n in PEER_SIZES[:2] if quick else PEER_SIZES:
        rows.append(alone(_theirs, n, TEST // share))
        if rows[-1]["train_seconds"] + rows[-1]["predict_seconds"] > PEER_SECONDS:
            break
    peers = rows[len(MEASURES) :]
    return [*rows, extrapolated(peers[-1], TRAIN // share, TEST // share)]


def extrapolated(row: dict[str, Any], n: int, n_test: int) -> dict[str, Any]:
    """Return what pairs of series cost at another size: training grows as n², prediction as n times the test rows."""
    growth = n / row["train"]
    return {
        "method": row["method"] + ", extrapolated",
        "data": row["data"],
        "train": n,
        "predict": n_test,
        "train_seconds": row["train_seconds"] * growth**2,
        "predict_seconds": row["predict_seconds"] * growth * n_test / row["predict"],
        "peak_gb": 8 * n * n_test / 1e9,  # the matrix of prediction, float64
    }


def _ours(kind: str, n: int, n_test: int) -> dict[str, Any]:
    (X, y), (X_test, y_test) = made(kind, n, 0), made(kind, n_test, 1)
    classifier = BESVMClassifier(MEASURES[kind], basis=BASIS if n > BASIS else n // 2, random_state=0)
    BESVMClassifier(MEASURES[kind], basis=5, random_state=0).fit(X[:40], y[:40]).predict(X[:2])  # compile
    return _timed(f"BESVMClassifier({MEASURES[kind]!r})", kind, classifier, X, y, X_test, y_test)


def _theirs(n: int, n_test: int) -> dict[str, Any]:
    from tslearn.svm import TimeSeriesSVC

    n_test = min(n_test, n)  # prediction grows with both, and is extrapolated
    (X, y), (X_test, y_test) = made("series", n, 0), made("series", n_test, 1)
    X, X_test = X[:, :, None], X_test[:, :, None]
    TimeSeriesSVC(random_state=0, n_jobs=-1).fit(X[:20], y[:20]).predict(X[:2])  # compile
    return _timed("tslearn's TimeSeriesSVC", "series", TimeSeriesSVC(random_state=0, n_jobs=-1), X, y, X_test, y_test)


def _timed(method: str, kind: str, classifier: Any, X: Any, y: Any, X_test: Any, y_test: Any) -> dict[str, Any]:
    found = timed(classifier, X, y, X_test, y_test)
    return {
        "method": method,
        "data": kind,
        "train": len(y),
        "predict": len(y_test),
        "accuracy": found.accuracy,
        "train_seconds": found.training_seconds,
        "predict_seconds": found.prediction_seconds,
        "peak_gb": peak_gb(),
    }


def made(kind: str, n: int, seed: int) -> tuple[Any, np.ndarray]:
    """Return n samples resampled from the real ones, and their classes; another seed gives others."""
    rng = np.random.default_rng(seed)
    if kind == "series":
        X, y, X_test, y_test = load.series("GunPoint")
        real, labels = np.concatenate([X, X_test])[:, 0], np.concatenate([y, y_test])
        chosen = rng.integers(len(real), size=n)
        return np.stack([_warped(real[i], rng) for i in chosen]).astype(np.float32), labels[chosen]
    names, genders = load.names()
    chosen = rng.integers(len(names), size=n)
    return ["".join(_misspelt(names[i], rng)) for i in chosen], genders[chosen]


def _warped(series: np.ndarray, rng: np.random.Generator) -> np.ndarray:
    moments = np.linspace(0, 1, len(series))
    bent = moments + rng.uniform(-0.1, 0.1) * np.sin(np.pi * moments)
    return np.interp(bent, moments, series) + 0.1 * rng.normal(size=len(series))


def _misspelt(name: str, rng: np.random.Generator) -> Iterator[str]:
    for letter in name:
        yield chr(rng.integers(97, 123)) if rng.random() < 0.1 else letter
