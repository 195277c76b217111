"""The recipes of images on all of CIFAR-10: trained on 50,000 images, tested once on the 10,000 test images.

The sets were chosen on fold 1 against fold 2 (`python -m benchmarks part_choices`) and on folds 1 to 4 against fold 5,
where "large" had .851.
"""

from __future__ import annotations

import multiprocessing
import resource
import time
from typing import Any

import numpy as np

from besvm import BESVMClassifier, recipes
from besvm.datasets import load_cifar10

LIMIT = "13 GB"  # and X, in a machine of 16 GB


def benchmark(quick: bool = False) -> list[dict[str, Any]]:
    """Train and test every size in a process of its own, so that each has its own peak of memory."""
    rows = []
    for size in recipes.IMAGES:
        with multiprocessing.get_context("spawn").Pool(1) as process:
            rows.append(process.apply(_trained, (size, quick)))
    return rows


def _trained(size: str, quick: bool) -> dict[str, Any]:
    X, y, X_test, y_test = split(quick)
    classifier = BESVMClassifier(
        recipes.images(size), C=1.0, probability=False, memory_limit=LIMIT, random_state=0, verbose=1
    )
    start = time.perf_counter()
    classifier.fit(X, y)
    trained = time.perf_counter()
    accuracy = classifier.score(X_test, y_test)
    done = time.perf_counter()
    return {
        "recipe": size,
        "exemplars_and_parts": classifier.n_basis_,
        "columns": classifier.coef_.shape[1],
        "accuracy": accuracy,
        "training_seconds": trained - start,
        "prediction_ms_an_image": 1000 * (done - trained) / len(y_test),
        "peak_gb": resource.getrusage(resource.RUSAGE_SELF).ru_maxrss * 1024 / 1e9,
        "converged": bool(classifier.converged_),
    }


def split(quick: bool) -> tuple[np.ndarray, np.ndarray, np.ndarray, np.ndarray]:
    """Return the training and the test images of CIFAR-10, or a few of them."""
    images, labels, fold = load_cifar10()
    train, test = fold < 5, fold == 5
    if quick:
        train[600:], test[50_300:] = False, False
    return images[train], labels[train], images[test], labels[test]
