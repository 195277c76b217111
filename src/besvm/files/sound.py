"""Whether the parts of a loaded model fit together: what a file says is not believed."""

from __future__ import annotations

from typing import Any

import numpy as np
from sklearn.base import BaseEstimator

from besvm.classifier import BESVMClassifier
from besvm.expand import Expander, FeatureMap, FittedMeasure
from besvm.expansion import BasisExpansion
from besvm.files.kinds import UnsoundError
from besvm.linear import MarginClassifier
from besvm.normalize import Affine, Identity, Normalizer, Rotation
from besvm.similarities.contract import Similarity

MOST_COLUMNS = 1 << 16  # that an exemplar gives: regions of samples, and more than any have


def check_sound(model: Any) -> None:
    """Refuse a model whose parts do not fit together, or whose numbers are not finite."""
    if hasattr(model, "steps"):
        for step in model.steps:
            _demand(isinstance(step, (tuple, list)) and len(step) == 2 and isinstance(step[0], str), "steps")
            check_sound(step[1])
    if isinstance(model, (BESVMClassifier, BasisExpansion)):
        _check_map(getattr(model, "_map", None))
    if isinstance(model, MarginClassifier):
        _check_margins(model)
    inside = vars(model) if isinstance(model, BaseEstimator) else {}
    votes = inside.get("_votes")
    if votes is not None:
        _demand(_numbers(votes.intercept, 1) and all(_numbers(coef, 2) for coef in votes.coefs), "the weights of pairs")
    for held in inside.values():
        if isinstance(held, BaseEstimator) and {"coef_", "_map", "_votes"} & set(vars(held)):  # it is trained
            check_sound(held)


def _check_margins(model: Any) -> None:
    held: Any = vars(model)
    classes, coef, intercept = (held.get(name) for name in ("classes_", "coef_", "intercept_"))
    _demand(isinstance(classes, np.ndarray) and classes.ndim == 1 and len(classes) > 1, "classes_")
    _demand(_numbers(coef, 2) and _numbers(intercept, 1), "coef_ and intercept_")
    n = len(classes)
    problems = 1 if n == 2 else n * (n - 1) // 2 if getattr(model, "_one_vs_one", False) else n
    _demand(len(coef) == len(intercept) == problems, "classes_ and coef_")
    slope = getattr(model, "probability_slope_", 1.0)
    _demand(isinstance(slope, float) and np.isfinite(slope) and slope > 0, "probability_slope_")
    if isinstance(model, BESVMClassifier):
        _demand(coef.shape[1] == model._map.expander.width, "coef_ and the exemplars")


def _check_map(feature_map: Any) -> None:
    _demand(isinstance(feature_map, FeatureMap) and isinstance(feature_map.expander, Expander), "the feature map")
    expander, normalizer = feature_map.expander, feature_map.normalizer
    _demand(isinstance(expander.dtype, np.dtype) and expander.dtype in (np.float32, np.float64), "the type of numbers")
    _demand(isinstance(expander.transformers, list) and isinstance(expander.measures, list), "the measures")
    for measure in expander.measures:
        _demand(isinstance(measure, FittedMeasure), "the measures")
        number = measure.transformer
        _demand(number is None or (type(number) is int and 0 <= number < len(expander.transformers)), "the features")
        _demand(isinstance(measure.similarity, Similarity) and isinstance(measure.label, str), "a similarity")
        each = measure.similarity.columns_each
        _demand(type(each) is int and 1 <= each <= MOST_COLUMNS, "the columns of exemplars")
        n = measure.n_exemplars
        for name in ("rows", "places"):
            held = getattr(measure, name)
            _demand(held is None or (_whole(held) and held.shape == (n,)), f"the {name} of exemplars")
        _demand(measure.at is None or (isinstance(measure.at, np.ndarray) and len(measure.at) == n), "places of parts")
        held = vars(measure).get("exemplars", measure.originals)
        if isinstance(held, np.ndarray) and not measure.similarity.missing:
            _demand(held.dtype.kind not in "fc" or bool(np.isfinite(held).all()), "exemplars")
    _check_normalizer(normalizer, expander)


def _check_normalizer(normalizer: Any, expander: Expander) -> None:
    _demand(isinstance(normalizer, Normalizer), "the normalization")
    if isinstance(normalizer, Affine):
        for held in (normalizer.mean, normalizer.scale):
            _demand(_numbers(held, 1) and len(held) == expander.width, "the normalization")
        _demand(bool((normalizer.scale != 0).all()), "the normalization")
    elif isinstance(normalizer, Rotation):
        _demand(normalizer.groups == expander.groups, "the normalization")
        sizes = [(width, width) for width in expander.widths]
        sound = all(_numbers(matrix, 2) for matrix in normalizer.matrices)
        _demand(sound and [matrix.shape for matrix in normalizer.matrices] == sizes, "the normalization")
    else:
        _demand(isinstance(normalizer, Identity) or type(normalizer).__module__.split(".")[0] != "besvm", "it")


def _numbers(held: Any, n_axes: int) -> bool:
    """Say whether these are finite numbers, in an array of so many axes."""
    return (
        isinstance(held, np.ndarray)
        and held.ndim == n_axes
        and held.dtype.kind == "f"
        and bool(np.isfinite(held).all())
    )


def _whole(held: Any) -> bool:
    return isinstance(held, np.ndarray) and held.dtype.kind in "iu"


def _demand(condition: bool, what: str) -> None:
    if not condition:
        raise UnsoundError(f"{what} must be there, finite, and fit the rest")
