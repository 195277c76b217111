"""How large a model is, as the paper counts: supporting exemplars and parameters."""

from dataclasses import dataclass
from typing import Any

import numpy as np
from scipy.sparse import issparse
from sklearn.kernel_approximation import Nystroem
from sklearn.pipeline import Pipeline
from sklearn.svm import SVC, LinearSVC, NuSVC
from sklearn.utils.validation import check_is_fitted

from besvm._support.wrapped import unwrap
from besvm.baselines.dual import DualBESVMClassifier
from besvm.baselines.kernel import KernelSVMClassifier
from besvm.classifier import BESVMClassifier
from besvm.expand.expander import FittedMeasure, n_different
from besvm.linear import LinearSVMClassifier

LINEAR = (LinearSVMClassifier, LinearSVC)
DUAL = (KernelSVMClassifier, SVC, NuSVC)  # with coefficients for exemplars, and not for features
NYSTROEM = ([Nystroem, LinearSVC], [Nystroem, LinearSVMClassifier])  # the steps of a pipeline that can be counted


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
        One for every exemplar and measure; of a kernel SVM, one for every support vector; of a linear SVM, one for
        every input.
    parameters : int or None
        The paper's count: exemplars · dimension + coefficients; of a linear SVM, its inputs. None if ``dimension`` is:
        a count without the exemplars would look smaller than it is.
    weights : int
        The learned numbers of all classes or pairs together, which the paper leaves out.

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

    A linear SVM has as many parameters as inputs; a kernel SVM n_sv (d + 1), for d numbers in what its kernels compare;
    a BE-SVM B (d + M), for M measures on B exemplars. A representation that several measures share, such as the HOG
    cells of H4(2,0) and H4(0,1), is counted once, since it need be kept only once; the paper does not say. Nyström
    features count as a BE-SVM's, since their normalization can be multiplied into the coefficients: B (d + 1).

    Parameters
    ----------
    model : estimator
        A fitted BESVMClassifier, DualBESVMClassifier, KernelSVMClassifier, LinearSVMClassifier, or scikit-learn's SVC,
        NuSVC or LinearSVC, or a pipeline of its Nystroem and a linear SVM. Of a GridSearchCV, GreedySelection,
        LineSearchMKL or JitteredClassifier, the model inside is counted.

    Returns
    -------
    ModelSize
        The numbers of exemplars, of weights and of parameters.

    Examples
    --------
    >>> from besvm import BESVMClassifier
    >>> from besvm.analysis import model_size
    >>> from sklearn.datasets import load_iris
    >>> X, y = load_iris(return_X_y=True)
    >>> print(model_size(BESVMClassifier(["rbf", "linear"], basis=30).fit(X, y)))
    30 exemplars of 4 numbers and 60 coefficients: 180 parameters
    """
    model = unwrap(model)
    features = model[0] if isinstance(model, Pipeline) and [type(step) for step in model] in NYSTROEM else None
    model = analyzed(model if features is None else model[-1])
    if not isinstance(model, (*LINEAR, *DUAL, BESVMClassifier, DualBESVMClassifier)):
        raise TypeError(
            "model_size needs a BESVMClassifier, DualBESVMClassifier, KernelSVMClassifier or LinearSVMClassifier, or "
            f"scikit-learn's SVC, NuSVC or LinearSVC, got a {type(model).__name__}"
        )
    check_is_fitted(model, "intercept_")
    weights = (model.dual_coef_ if isinstance(model, DUAL) else model.coef_).size + model.intercept_.size
    if features is not None:
        B, d = features.components_.shape
        return ModelSize(B, d, B, B * (d + 1), weights)
    if isinstance(model, LINEAR):
        inputs = int(model.n_features_in_)
        return ModelSize(0, inputs, inputs, inputs, weights)
    if isinstance(model, (SVC, NuSVC)):
        n_sv, shape = len(model.support_), model.shape_fit_[1:]
        dimension = int(np.prod(shape)) if shape and model.kernel != "precomputed" else None
        return ModelSize(n_sv, dimension, n_sv, None if dimension is None else n_sv * (dimension + 1), weights)
    if isinstance(model, KernelSVMClassifier):  # its measures are added up: they share one coefficient
        return _size_of(model._exemplars.exemplars, len(model.exemplar_rows_), weights)
    expander = model._map.expander
    return _size_of(expander.measures, expander.width, weights)


def _size_of(measures: list[FittedMeasure], coefficients: int, weights: int) -> ModelSize:
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
    if measure.similarity.precomputed:
        return None
    if issparse(measure.exemplars):
        return int(measure.exemplars.shape[1])
    try:
        values = np.asarray(measure.exemplars)
        values = values["values"] if values.dtype.names else values  # a part of a series, and what kind it is
    except ValueError:  # arrays of different shapes
        return None
    return int(np.prod(values.shape[1:], dtype=int)) if values.dtype.kind in "fiub" else None


def analyzed(model: Any) -> Any:
    """Return the model that decides; of a pipeline, its steps would have to be counted too."""
    model = unwrap(model)
    if isinstance(model, Pipeline):
        raise TypeError("a Pipeline cannot be analyzed as a whole; pass its last step, pipeline[-1]")
    return model
