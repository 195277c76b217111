"""LinearSVMClassifier on rows whose k-th singular value is proportional to k^-falls: where the time of a fit goes.

Ten classes, C = 1, no probabilities, float32; X is random with singular values that fall as k^-`falls`, and the classes
are those of a random linear rule with noise. `preconditioner_seconds` are those of making preconditioners and of their
Hessians, `pass_seconds` those of all passes over X, and `product_seconds` those of as many times the two bare products
of a pass by BLAS, on the same X. Every row ran in a process of its own; the better of two fits.
"""

from __future__ import annotations

from time import perf_counter
from typing import Any

import numpy as np

from benchmarks.timing import alone
from besvm import LinearSVMClassifier
from besvm.blocks.state import LocalState
from besvm.solver import newton
from besvm.solver.preconditioner import Preconditioner

SHAPES = ((200_000, 1000), (50_000, 2000), (20_000, 10_000))
FALLS = (0.35, 0.7)
CLASSES = 10


def benchmark(quick: bool = False) -> list[dict[str, Any]]:
    """Return a row for every shape and spectrum."""
    shapes = ((2000, 50),) if quick else SHAPES
    return [alone(_measured, *shape, falls) for shape in shapes for falls in FALLS]


def _measured(n: int, width: int, falls: float) -> dict[str, Any]:
    X, y = made(n, width, falls)
    LinearSVMClassifier(probability=False).fit(X[:3000], y[:3000])  # compiled, loaded
    return min((_fitted(X, y, falls) for _ in range(2)), key=lambda row: row["seconds"])


def made(n: int, width: int, falls: float) -> tuple[np.ndarray, np.ndarray]:
    """Return rows with such a spectrum, and their classes."""
    rng = np.random.default_rng(0)
    X = rng.standard_normal((n, width), dtype=np.float32)
    X *= np.arange(1, width + 1, dtype=np.float32) ** np.float32(-falls)
    scores = X @ rng.standard_normal((width, CLASSES), dtype=np.float32)
    scores += 0.5 * scores.std() * rng.standard_normal(scores.shape, dtype=np.float32)
    return X, scores.argmax(axis=1)


def _fitted(X: np.ndarray, y: np.ndarray, falls: float) -> dict[str, Any]:
    spent = {"preconditioner": 0.0, "pass": 0.0}
    undo = [
        _timed(newton, "precondition", spent, "preconditioner"),
        _timed(Preconditioner, "at", spent, "preconditioner"),
        _timed(LocalState, "sum", spent, "pass"),
    ]
    start = perf_counter()
    model = LinearSVMClassifier(probability=False).fit(X, y)
    seconds = perf_counter() - start
    for put_back in undo:
        put_back()
    W = np.ones((X.shape[1], CLASSES), np.float32)
    start = perf_counter()
    X.T @ (X @ W)
    products = perf_counter() - start
    return {
        "rows": X.shape[0],
        "features": X.shape[1],
        "falls": falls,
        "seconds": seconds,
        "preconditioner_seconds": spent["preconditioner"],
        "pass_seconds": spent["pass"],
        "product_seconds": model.n_passes_ * products,
        "passes": model.n_passes_,
        "gap": float(model.gap_.max()),
    }


def _timed(owner: Any, name: str, spent: dict[str, float], what: str) -> Any:
    """Count the seconds of a function; return what undoes it. Sums that do not read X count nowhere."""
    function = getattr(owner, name)

    def timed(*args: Any, **options: Any) -> Any:
        start = perf_counter()
        try:
            return function(*args, **options)
        finally:
            if what != "pass" or (options.get("features", True) if len(args) < 3 else args[2]):
                spent[what] += perf_counter() - start

    setattr(owner, name, timed)
    return lambda: setattr(owner, name, function)
