"""What each choice about parts is worth: CIFAR-10, trained on fold 1 and tested on 5,000 images of fold 2.

The test images are not touched. Every row changes one thing of the first: 400 random patches of 6 x 6 pixels and their
mirror images, 3 x 3 regions, whitened, the best place of each region, C = 1.
"""

from __future__ import annotations

import time
from typing import Any

import numpy as np

from besvm import FHOG, BasisExpansion, LinearSVMClassifier, Measure
from besvm.basis import GradientBasis, KMeansBasis, KMedoidsBasis, RandomBasis
from besvm.datasets import load_cifar10
from besvm.features import Pixels
from besvm.similarities import Parts

CHANGES: list[tuple[str, dict[str, Any]]] = [
    ("400 random 6 x 6, 3 x 3 regions", {}),
    ("100 parts", {"basis": RandomBasis(100)}),
    ("200 parts", {"basis": RandomBasis(200)}),
    ("800 parts", {"basis": RandomBasis(800)}),
    ("4 x 4", {"size": 4}),
    ("5 x 5", {"size": 5}),
    ("8 x 8", {"size": 8}),
    ("10 x 10", {"size": 10}),
    ("1 region", {"regions": 1}),
    ("2 x 2 regions", {"regions": 2}),
    ("4 x 4 regions", {"regions": 4}),
    ("not mirrored", {"mirror": False}),
    ("not whitened", {"whiten": None}),
    ("whiten = 0.03", {"whiten": 0.03}),
    ("whiten = 0.3", {"whiten": 0.3}),
    ("32 components", {"components": 32}),
    ("all 108 values", {"components": None}),
    ("mean instead of best", {"pool": "mean"}),
    ("best and mean", {"pool": ("max", "mean")}),
    ("stride 2", {"stride": 2}),
    ("k-means", {"basis": KMeansBasis(400)}),
    ("k-medoids", {"basis": KMedoidsBasis(400)}),
    ("gradient", {"basis": GradientBasis(400, oversample=3, max_rows=3000)}),
    ("HOG, 3 x 3 cells of 4", {"features": FHOG(cell=4), "size": 3, "contrast": None, "components": 96}),
]


def benchmark(quick: bool = False) -> list[dict[str, Any]]:
    """Train and judge with every change: accuracy, and the seconds that features and training took."""
    images, labels, fold = load_cifar10()
    train, judge = np.flatnonzero(fold == 0), np.flatnonzero(fold == 1)[:5000]
    if quick:
        train, judge = train[:300], judge[:300]
    rows = []
    for name, change in CHANGES[:2] if quick else CHANGES:
        options = {"size": 6, "mirror": True} | change
        basis, features = options.pop("basis", RandomBasis(400)), options.pop("features", Pixels())
        expansion = BasisExpansion(Measure(Parts(**options), features=features), basis=basis, random_state=0)
        start = time.perf_counter()
        of_train = expansion.fit_transform(images[train], labels[train])
        of_judge = expansion.transform(images[judge])
        compared = time.perf_counter()
        classifier = LinearSVMClassifier(C=1.0, probability=False).fit(of_train, labels[train])
        trained = time.perf_counter()
        rows.append(
            {
                "choice": name,
                "columns": of_train.shape[1],
                "accuracy": classifier.score(of_judge, labels[judge]),
                "features_seconds": compared - start,
                "training_seconds": trained - compared,
            }
        )
    return rows
