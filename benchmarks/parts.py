"""How fast parts are found: operations per second of the products alone, compared with sgemm in the same run."""

from __future__ import annotations

from typing import Any

import numpy as np

from benchmarks.grid import _race
from besvm.similarities import Parts

SIDE, CHANNELS = 32, 3


def benchmark(quick: bool = False) -> list[dict[str, Any]]:
    """Time patches of CIFAR-10's shape: all 108 values compared, and 64 principal components; the best of seven."""
    n_samples, n_parts, repeats = (20, 50, 1) if quick else (400, 1024, 7)
    images = np.random.default_rng(0).random((n_samples, SIDE, SIDE, CHANNELS), dtype=np.float32)
    rows = []
    for size, components in ((6, None), (6, 64), (10, None), (10, 64)):
        for mirror in (False, True):
            parts = Parts(size, components=components, mirror=mirror).fit(images)
            basis = parts.draw(images, -(-n_parts // n_samples), np.random.default_rng(0)).items[:n_parts]
            compared = components or size * size * CHANNELS
            places = (SIDE - size + 1) ** 2
            operations = 2 * compared * places * n_parts * (1 + mirror) * n_samples
            name = f"P{size}{'|mirror' if mirror else ''}, {compared} values compared"
            rows += _race({name: parts.against(basis)}, images, operations, repeats)
    return rows
