"""RBF features of 50,000 samples and 2,000 exemplars, compared with the plain matrix product in the same run."""

from __future__ import annotations

from time import perf_counter
from typing import Any

import numpy as np

from besvm.similarities import RBF


def benchmark(quick: bool = False) -> list[dict[str, Any]]:
    """Return one row for every number of features: 64, that of H8 and that of H4."""
    n, n_basis = (2000, 200) if quick else (50_000, 2000)
    rng = np.random.default_rng(0)
    rows = []
    for d in (64, 496, 1984):
        X = rng.standard_normal((n, d), dtype=np.float32)
        basis = X[:n_basis].copy()
        similarities = RBF(gamma=1 / d).against(basis)
        similarities(X[:100])
        product = rbf = np.inf
        for _ in range(5):
            start = perf_counter()
            X @ basis.T
            middle = perf_counter()
            similarities(X)
            product, rbf = min(product, middle - start), min(rbf, perf_counter() - middle)
        rows.append({"features": d, "product_seconds": product, "rbf_seconds": rbf, "ratio": rbf / product})
    return rows
