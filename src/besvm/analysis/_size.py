"""How large a model is, as the paper counts: supporting exemplars and parameters."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from scipy.sparse import issparse
from sklearn.svm import SVC, LinearSVC, NuSVC
from sklearn.utils.validation import check_is_fitted

from besvm.classifier import BESVMClassifier, LinearSVMClassifier
from besvm.expander import FittedMeasure, n_different
from besvm.similarities.precomputed import Precomputed


@dataclass(frozen=True)
class ModelSize:
    """The size of a model.

    Attributes
    ----------
    exemplars : int
        What a new sample is compared with: the basis of a BE-SVM, the support vectors of a kernel SVM, 0 for a linear
        SVM.
    dimension : int or None
        The numbers that represent one exemplar, all measures together, a representation that several measures share
        counted once; of a linear SVM, the numbers of a sample. None for exemplars that are not arrays of numbers, such
        as strings, or are only known by their similarities.
    coefficients : int
        One for every exemplar and measure; of a linear SVM, one for every input.
    parameters : int or None
        The paper's count: exemplars · dimension + coefficients; of a linear SVM, its inputs. None if ``dimension`` is:
        a count without the exemplars would look smaller than it is.
    weights : int
        The learnt numbers of all classes or pairs together, which the paper leaves out.

    Examples
    --------
    >>> from besvm.analysis import ModelSize
    >>> print(ModelSize(exemplars=100, dimension=64, coefficients=200, parameters=6600, weights=2010))
    100 exemplars of 64 numbers and 200 coefficients: 6,600 parameters
    """

    exemplars: int
    dimension: int | None
    coefficients: int
    parameters: int | None
    weights: int

    def __str__(self) -> str:
        if not self.exemplars:
            return f"no exemplars: {self.parameters:,} parameters"
        if self.dimension is None:
            return f"{self.exemplars:,} exemplars that are not numbers, and {self.coefficients:,} coefficients"
        return (
            f"{self.exemplars:,} exemplars of {self.dimension:,} numbers and {self.coefficients:,} coefficients: "
            f"{self.parameters:,} parameters"
        )


def model_size(model: Any) -> ModelSize:
    """Return the number of supporting exemplars and of parameters of a fitted model, as the paper counts them.

    A linear SVM has as many parameters as inputs; a kernel SVM n_sv (d + 1), for d numbers in what its kernel compares;
    a BE-SVM B (d + M), for M measures on B exemplars. A representation that several measures share, such as the HOG
    cells of H4(2,0) and H4(0,1), is counted once, since it need be kept only once; the paper does not say.

    Parameters
    ----------
    model : estimator
        A fitted BESVMClassifier, DualBESVMClassifier, KernelSVMClassifier, LinearSVMClassifier, or scikit-learn's SVC,
        NuSVC or LinearSVC.

    Returns
    -------
    ModelSize

    Examples
    --------
    >>> from besvm import BESVMClassifier
    >>> from besvm.analysis import model_size
    >>> from sklearn.datasets import load_iris
    >>> X, y = load_iris(return_X_y=True)
    >>> print(model_size(BESVMClassifier(["rbf", "linear"], basis=30).fit(X, y)))
    30 exemplars of 4 numbers and 60 coefficients: 180 parameters
    """
    if isinstance(model, (LinearSVMClassifier, LinearSVC)):
        check_is_fitted(model, "coef_")
        inputs = int(model.n_features_in_)
        return ModelSize(0, inputs, inputs, inputs, model.coef_.size + model.intercept_.size)
    if isinstance(model, (SVC, NuSVC)):
        check_is_fitted(model, "support_")
        n_sv = len(model.support_)
        dimension = None if model.kernel == "precomputed" else int(model.n_features_in_)
        parameters = None if dimension is None else n_sv * (dimension + 1)
        return ModelSize(n_sv, dimension, n_sv, parameters, model.dual_coef_.size + model.intercept_.size)
    if not (isinstance(model, BESVMClassifier) or hasattr(model, "gram")):
        raise TypeError(
            "model_size counts a BESVMClassifier, DualBESVMClassifier, KernelSVMClassifier or LinearSVMClassifier, or "
            f"scikit-learn's SVC, NuSVC or LinearSVC, got a {type(model).__name__}"
        )
    check_is_fitted(model, "intercept_")
    weights = model.dual_coef_ if hasattr(model, "dual_coef_") else model.coef_
    return _size_of(_kept(model), weights.size + model.intercept_.size)


def _kept(model: Any) -> list[FittedMeasure]:
    """Return the measures of a fitted model with the exemplars that it keeps."""
    return model._expander.measures if hasattr(model, "_expander") else model._exemplars.exemplars


def _size_of(measures: list[FittedMeasure], weights: int) -> ModelSize:
    coefficients = sum(len(measure) for measure in measures)
    seen_by: dict[int | None, list[FittedMeasure]] = {}
    for measure in measures:
        seen_by.setdefault(measure.transformer, []).append(measure)
    exemplars = n_different(measures)
    dimensions = [_dimension(sharing[0]) for sharing in seen_by.values()]
    known = [d for d in dimensions if d is not None]
    if len(known) < len(dimensions):
        return ModelSize(exemplars, None, coefficients, None, weights)
    numbers = sum(n_different(sharing) * d for sharing, d in zip(seen_by.values(), known, strict=True))
    return ModelSize(exemplars, sum(known), coefficients, numbers + coefficients, weights)


def _dimension(measure: FittedMeasure) -> int | None:
    """Return how many numbers an exemplar is, behind the features; None if it is not made of numbers."""
    if isinstance(measure.similarity, Precomputed):
        return None
    if issparse(measure.exemplars):
        return int(measure.exemplars.shape[1])
    try:
        values = np.asarray(measure.exemplars)
    except ValueError:  # arrays of different shapes
        return None
    return int(np.prod(values.shape[1:], dtype=int)) if values.dtype.kind in "fiub" else None
