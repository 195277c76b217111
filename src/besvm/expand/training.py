"""What estimators that compare samples take as X: told to scikit-learn, and checked at the public edge."""

from typing import Any, NamedTuple

import numpy as np
from sklearn.utils import Tags

from besvm._support.dask_source import in_memory
from besvm._support.validation import check_classes, check_two_weigh, check_vectors, check_weights
from besvm.blocks.state import Values
from besvm.measures import Measure, as_measures, compares_vectors
from besvm.similarities.lookup import resolve


class TrainingSet(NamedTuple):
    """Samples with their classes and weights."""

    X: Any
    vectors: bool | str | None  # whether the samples are plain vectors, which scikit-learn can check, or series
    classes: np.ndarray
    labels: np.ndarray  # every row's number of its class
    weights: np.ndarray


def training_set(estimator: Any, measures: list[Measure], X: Any, y: Any, sample_weight: Any) -> TrainingSet:
    """Check what was given to ``estimator.fit``; its ``class_weight`` is part of the weights."""
    vectors = compares_vectors(measures)
    X = check_vectors(estimator, X, vectors)
    classes, labels = check_classes(X, in_memory(y))
    weights = check_weights(X, labels, classes, estimator.class_weight, in_memory(sample_weight), np.float64)
    return TrainingSet(X, vectors, classes, labels, weights)


class Targets(NamedTuple):
    """The classes of rows and what each weighs: arrays, or on a cluster, where the rows are."""

    classes: np.ndarray  # (K,)
    labels: Values  # (n,) every row's number of its class
    weights: Values  # (n,)
    y: Any  # every row's class, as a basis is chosen by
    has_rows: np.ndarray  # (K,) whether any row of a class weighs anything


def targets_of(X: Any, y: Any, class_weight: Any, sample_weight: Any, client: Any = None) -> Targets:
    """Check the classes and weights of the rows of X; with a ``client`` they go to its workers, or stay there."""
    if client is None:
        classes, labels = check_classes(X, in_memory(y))
        weights = check_weights(X, labels, classes, class_weight, in_memory(sample_weight), np.float64)
        has_rows = np.bincount(labels[weights > 0], minlength=len(classes)) > 0
        return Targets(classes, labels, weights, classes[labels], has_rows)
    from besvm.expand.cluster_targets import ClusterClasses, classes_on, weights_on

    classes, numbers = classes_on(client, X, y)
    weights_there = weights_on(client, X, classes, numbers, class_weight, sample_weight)
    known = ClusterClasses(numbers, classes, weights_there)
    check_two_weigh(classes, np.array(known.sizes))
    return Targets(classes, numbers, weights_there, known, np.array(known.sizes) > 0)


def with_params_of(estimator: Any, cls: Any, **params: Any) -> Any:
    """Return a new ``cls`` with those parameters of the estimator that it has as well, and with ``params``."""
    known = cls().get_params(deep=False)
    shared = {name: value for name, value in estimator.get_params(deep=False).items() if name in known}
    return cls(**shared | params)


def mark_input(tags: Tags, measures: Any, basis: Any) -> None:
    """Tell scikit-learn what X may be, from the measures; with unresolvable ones it is anything."""
    try:
        several = as_measures(measures)
        similarities = [resolve(measure.similarity) for measure in several]
    except (TypeError, ValueError):
        return
    vectors = compares_vectors(several) is True
    precomputed = any(similarity.precomputed for similarity in similarities)
    square = precomputed and all(measure.transformer is None for measure in several)
    tags.input_tags.two_d_array = vectors
    tags.input_tags.sparse = vectors and not precomputed
    tags.input_tags.pairwise = square and not (isinstance(basis, str) and basis == "auto")
    tags.no_validation = not vectors
