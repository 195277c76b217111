"""Cheaper whole exemplars: CIFAR-10, trained on fold 1 and judged on 5,000 images of fold 2.

Fewer principal components of HOG's channels, and penalties on displacements; 1,000 exemplars and their mirror images,
C = 1. The test images are not touched.
"""

from __future__ import annotations

import time
from typing import Any

import numpy as np
from sklearn.pipeline import make_pipeline

from besvm import FHOG, BasisExpansion, LinearSVMClassifier, MeanNormScaler, Measure
from besvm.basis import GradientBasis, RandomBasis
from besvm.datasets import load_cifar10
from besvm.features import CellPCA
from besvm.measures import mirrored
from besvm.similarities import Deformable

CHOICES: list[tuple[str, int | None, dict[str, Any]]] = [
    *(("H4(2,0)", n, {"rigid": 2, "local": 0}) for n in (None, 20, 16, 12, 8)),
    *(("H4(0,1)", n, {"rigid": 0, "local": 1}) for n in (None, 20, 16, 12, 8)),
    *(("H4(2,0)", 12, {"rigid": 2, "local": 0, "rigid_penalty": p}) for p in (0.003, 0.01, 0.03)),
    *(("H4(0,1)", 12, {"rigid": 0, "local": 1, "local_penalty": p}) for p in (0.0003, 0.001)),
    ("H4(2,0), gradient basis", 12, {"rigid": 2, "local": 0}),
]


def benchmark(quick: bool = False) -> list[dict[str, Any]]:
    """Train and judge with every choice: accuracy, and the seconds that comparing the 10,000 images took."""
    images, labels, fold = load_cifar10()
    train, judge = np.flatnonzero(fold == 0), np.flatnonzero(fold == 1)[:5000]
    n = 1000
    if quick:
        train, judge, n = train[:300], judge[:300], 20
    rows = []
    for name, components, options in CHOICES[:2] if quick else CHOICES:
        reduced = [] if components is None else [CellPCA(components)]
        features = make_pipeline(FHOG(cell=4), *reduced, MeanNormScaler())
        basis = GradientBasis(n, oversample=2, max_rows=3000) if "gradient" in name else RandomBasis(n)
        measure = mirrored(Measure(Deformable(**options), features=features))
        expansion = BasisExpansion(measure, basis=basis, random_state=0).fit(images[train], labels[train])
        expansion.transform(images[judge[:100]])  # compiled, loaded
        start = time.perf_counter()
        of_train = expansion.transform(images[train])
        seconds = time.perf_counter() - start
        classifier = LinearSVMClassifier(C=1.0, probability=False).fit(of_train, labels[train])
        penalty = options.get("rigid_penalty", options.get("local_penalty", 0.0))
        accuracy = classifier.score(expansion.transform(images[judge]), labels[judge])
        channels = components or 31
        rows.append(
            {"measure": name, "channels": channels, "penalty": penalty, "accuracy": accuracy, "seconds": seconds}
        )
    return rows
