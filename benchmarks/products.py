"""The two products of a pass, with few classes: compiled SIMD tiles against BLAS, from memory, on all threads.

P = `features @ weights`, then `features.T @ (active * P)`, block by block, as a step of conjugate gradients does them;
400 MB of float32 features.
Times are the best of seven, taken in turn. `of_peak` is the share of the processors' peak, that of a large matrix
product in the same run.
"""

from __future__ import annotations

from time import perf_counter
from typing import Any

import numpy as np

from benchmarks.rows import peak_operations
from besvm._support.threads import n_workers, workers
from besvm.blocks import MemoryBlocks
from besvm.solver import products

NUMBERS = 10**8
WIDTHS, CLASSES = (250, 1000, 4000), (3, 5, 10, 20, 40)
REPEATS = 7


def benchmark(quick: bool = False) -> list[dict[str, Any]]:
    """Return a row for every number of features and of classes."""
    widths, classes = ((64,), (10,)) if quick else (WIDTHS, CLASSES)
    numbers = 10**5 if quick else NUMBERS
    rng, peak = np.random.default_rng(0), peak_operations()
    rows = []
    for width in widths:
        features = rng.standard_normal((numbers // width, width), dtype=np.float32)
        for k in classes:
            seconds = _measured(features, rng.standard_normal((width, k), dtype=np.float32))
            row: dict[str, Any] = {"rows": len(features), "features": width, "classes": k}
            row |= {f"{name}_seconds": taken for name, taken in seconds.items()}
            row["times faster"] = seconds["blas"] / seconds["compiled"]
            row["of_peak"] = 4 * numbers * k / seconds["compiled"] / peak
            rows.append(row)
    return rows


def _measured(features: np.ndarray, weights: np.ndarray) -> dict[str, float]:
    """Return the seconds of both products by each way."""
    blocks, n_jobs = MemoryBlocks(features), n_workers()
    active = np.ones((len(features), weights.shape[1]), np.float32, order="F")
    best: dict[str, float] = {}
    for _ in range(REPEATS):
        for name, n in {"compiled": 10**12, "blas": 0}.items():  # rows of which a block is taken to be a part
            multiply = products.both_ways(weights, np.zeros(weights.shape[1], np.float32), n)
            start = perf_counter()
            with workers(n_jobs):
                for _ in blocks.map(lambda rows, block: multiply(block, active[rows])):  # noqa: B023
                    pass
            best[name] = min(best.get(name, np.inf), perf_counter() - start)
    return best
