"""What the classifiers that compare samples train on, checked at the public edge."""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np

from besvm._support.validation import check_classes, check_vectors, check_weights
from besvm.measures import Measure, compares_vectors


class TrainingSet(NamedTuple):
    """Samples with their classes and weights."""

    X: Any
    vectors: bool  # whether the samples are plain vectors, which scikit-learn can check
    classes: np.ndarray
    labels: np.ndarray  # every row's number of its class
    weights: np.ndarray


def training_set(estimator: Any, measures: list[Measure], X: Any, y: Any, sample_weight: Any) -> TrainingSet:
    """Check what was given to ``estimator.fit``; its ``class_weight`` is part of the weights."""
    vectors = compares_vectors(measures)
    X = check_vectors(estimator, X, vectors)
    classes, labels = check_classes(X, y)
    weights = check_weights(X, labels, classes, estimator.class_weight, sample_weight, np.float64)
    return TrainingSet(X, vectors, classes, labels, weights)
