"""FHOG and CellColor on 32 x 32 color images: images per second, on all threads."""

from __future__ import annotations

from time import perf_counter
from typing import Any

import numpy as np

from besvm import FHOG, CellColor


def benchmark(quick: bool = False) -> list[dict[str, Any]]:
    """Return one row for every descriptor, the best of three."""
    n = 1000 if quick else 60_000
    images = np.random.default_rng(0).integers(0, 256, (n, 32, 32, 3), dtype=np.uint8)
    rows = []
    for descriptor in (FHOG(cell=8), FHOG(cell=4), FHOG(cell=8, border="pad"), CellColor(cell=4)):
        descriptor.fit_transform(images[:10])
        best = np.inf
        for _ in range(3):
            start = perf_counter()
            descriptor.fit_transform(images)
            best = min(best, perf_counter() - start)
        rows.append({"descriptor": repr(descriptor), "images": n, "seconds": best, "images_per_second": n / best})
    return rows
