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
from besvm.solver.votes import class_pairs

LEARNED = ("center_", "components_", "max_abs_", "mean_", "min_", "scale_", "statistics_", "var_")  # by features
MOST_COLUMNS = 1 << 16  # that an exemplar gives: regions of samples, and more than any have


def check_sound(model: Any) -> None:
    """Refuse a model whose parts do not fit together, or whose numbers are not finite."""
    inside = vars(model) if isinstance(model, BaseEstimator) else {}
    if hasattr(type(model), "named_steps"):
        _check_steps(inside.get("steps"))
        for _, step in model.steps:
            check_sound(step)
    ours = any(_of_package(base, "besvm") for base in type(model).mro())
    if isinstance(model, (BESVMClassifier, BasisExpansion)) or (ours and "_map" in inside):
        _demand(isinstance(getattr(model, "verbose", None), (int, float, np.number)), "verbose")
        _check_map(inside.get("_map"))
        _check_basis(inside)
    if isinstance(model, MarginClassifier):
        _check_margins(model)
    if ours and ("pairs_" in inside or inside.get("_one_vs_one")):
        _check_pairs(inside)
    if ours and "_axes" in inside:
        axes = inside["_axes"]
        _demand(isinstance(axes, list) and all(type(one) in (int, float) for one in axes), "the axes of samples")
    votes = inside.get("_votes")
    if votes is not None:
        _demand(_numbers(votes.intercept, 1) and all(_numbers(coef, 2) for coef in votes.coefs), "the weights of pairs")
    for held in inside.values():
        if isinstance(held, BaseEstimator) and {"coef_", "_map", "_votes"} & set(vars(held)):  # it is trained
            check_sound(held)


def _check_steps(steps: Any) -> None:
    """Refuse steps of a pipeline without a name, or that cannot do anything for those behind them."""
    _demand(isinstance(steps, list) and len(steps) > 0, "steps")
    for step in steps:
        _demand(isinstance(step, (tuple, list)) and len(step) == 2 and isinstance(step[0], str), "steps")
    for _, step in steps[:-1]:
        _check_features(step)


def _check_features(features: Any) -> None:
    """Refuse what cannot describe samples; a pipeline or a union of features must have sound ones."""
    inside = vars(features) if isinstance(features, BaseEstimator) else {}
    if hasattr(type(features), "named_steps"):
        _check_steps(inside.get("steps"))
        _check_features(features.steps[-1][1])
    elif hasattr(type(features), "named_transformers"):
        union: Any = inside.get("transformer_list")
        _check_steps(union)
        for _, part in union:
            _check_features(part)
    elif features is not None and features not in ("passthrough", "drop"):
        _demand(not isinstance(features, type) and callable(getattr(features, "transform", None)), "the features")
        for name in LEARNED if _of_package(type(features), "besvm", "sklearn") else ():
            numbers = isinstance(inside.get(name, 0), (np.ndarray, np.generic, float, int, type(None)))
            _demand(numbers, f"{name} of the features")


def _check_basis(inside: dict[str, Any]) -> None:
    """Refuse rows and classes of exemplars that are not as many as these are."""
    measures = inside["_map"].expander.measures
    for name in ("basis_rows_", "basis_labels_"):
        held = inside.get(name)
        _demand(held is None or (isinstance(held, list) and len(held) == len(measures)), name)
        for own, measure in zip(held or [], measures, strict=False):
            sound = isinstance(own, np.ndarray) and own.shape == (measure.n_exemplars,)
            _demand(own is None or sound, name)


def _check_pairs(inside: dict[str, Any]) -> None:
    """Refuse pairs that are not those of the classes."""
    classes: Any = inside.get("classes_")
    pairs: Any = inside.get("pairs_")
    _demand(isinstance(classes, np.ndarray) and isinstance(pairs, list), "pairs_")
    _demand(2 * len(pairs) == len(classes) * (len(classes) - 1) and pairs == class_pairs(len(classes)), "pairs_")


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
    for features in expander.transformers:
        _demand(isinstance(features, BaseEstimator) or hasattr(features, "transform"), "the features")
        _check_features(features)
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
        held = vars(measure).get("exemplars")  # originals may be anything that the features can take
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
        _demand(isinstance(normalizer, Identity) or not _of_package(type(normalizer), "besvm"), "it")


def _numbers(held: Any, n_axes: int) -> bool:
    """Say whether these are finite numbers, in an array of so many axes."""
    return (
        isinstance(held, np.ndarray)
        and held.ndim == n_axes
        and held.dtype.kind == "f"
        and bool(np.isfinite(held).all())
    )


def _of_package(cls: type, *names: str) -> bool:
    return cls.__module__.partition(".")[0] in names


def _whole(held: Any) -> bool:
    return isinstance(held, np.ndarray) and held.dtype.kind in "iu"


def _demand(condition: bool, what: str) -> None:
    if not condition:
        raise UnsoundError(f"{what} must be there, finite, and fit the rest")
