"""The recipes of images on all of CIFAR-10: trained on 50,000 images, tested once on the 10,000 test images.

The sets were chosen on fold 1 against fold 2 (`python -m benchmarks part_choices`) and on folds 1 to 4 against fold 5,
where "large" had .851.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from benchmarks.timing import alone, peak_gb, timed
from besvm import BESVMClassifier, recipes
from besvm.datasets import load_cifar10

LIMIT = "13 GB"  # and X, in a machine of 16 GB


def benchmark(quick: bool = False) -> list[dict[str, Any]]:
    """Train and test every size in a process of its own, so that each has its own peak of memory."""
    rows = []
    for size in recipes.IMAGES:
        rows.append(alone(_trained, size, quick))
    return rows


def _trained(size: str, quick: bool) -> dict[str, Any]:
    X, y, X_test, y_test = split(quick)
    classifier = BESVMClassifier(
        recipes.images(size), C=1.0, probability=False, memory_limit=LIMIT, random_state=0, verbose=1
    )
    found = timed(classifier, X, y, X_test, y_test)
    return {
        "recipe": size,
        "exemplars_and_parts": classifier.n_basis_,
        "columns": classifier.coef_.shape[1],
        "accuracy": found.accuracy,
        "training_seconds": found.training_seconds,
        "prediction_ms_an_image": found.each_ms(y_test),
        "peak_gb": peak_gb(),
        "converged": bool(classifier.converged_),
    }


def split(quick: bool) -> tuple[np.ndarray, np.ndarray, np.ndarray, np.ndarray]:
    """Return the training and the test images of CIFAR-10, or a few of them."""
    images, labels, fold = load_cifar10()
    train, test = fold < 5, fold == 5
    if quick:
        train[600:], test[50_300:] = False, False
    return images[train], labels[train], images[test], labels[test]
