"""The model inside a search or a wrapper."""

from __future__ import annotations

from typing import Any

from sklearn.pipeline import Pipeline
from sklearn.utils.validation import check_is_fitted

from besvm.baselines.jitter import JitteredClassifier
from besvm.baselines.mkl import LineSearchMKL
from besvm.selection import GreedySelection

INSIDE = {GreedySelection: "best_estimator_", LineSearchMKL: "model_", JitteredClassifier: "estimator_"}


def unwrap(model: Any) -> Any:
    """Return the model that decides: of a search or a wrapper of besvm the one inside, otherwise the model itself."""
    if isinstance(model, Pipeline):
        raise TypeError("a Pipeline is not analyzed as a whole; pass its last step, pipeline[-1]")
    name = INSIDE.get(type(model))
    if name is None:
        return model
    check_is_fitted(model, name)
    return unwrap(getattr(model, name))
