"""Test accuracy by the solver's tolerance: with the default (1e-3), it no longer changes."""

from __future__ import annotations

from time import perf_counter
from typing import Any

from benchmarks.data import besvm_features, source
from besvm import LinearSVMClassifier


def benchmark(quick: bool = False) -> list[dict[str, Any]]:
    """Return accuracy, objective and passes for tolerances from 0.1 to 1e-5."""
    rows = []
    for n, n_basis, n_measures in [(1000, 50, 2)] if quick else [(10_000, 1000, 4), (50_000, 1000, 2)]:
        X, y, X_test, y_test = besvm_features(n, n_basis, n_measures, n_test=10_000)
        for tol in (1e-1, 1e-2, 1e-3, 1e-4, 1e-5):
            start = perf_counter()
            model = LinearSVMClassifier(tol=tol, probability=False).fit(X, y)
            rows.append(
                {
                    "shape": f"{n:,} x {X.shape[1]:,}",
                    "data": source(),
                    "tol": tol,
                    "test_accuracy": model.score(X_test, y_test),
                    "objective": float(model.objective_.sum()),
                    "passes": model.n_passes_,
                    "seconds": perf_counter() - start,
                }
            )
    return rows
