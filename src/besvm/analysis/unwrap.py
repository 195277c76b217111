"""Find the model that a search or a wrapper has trained."""

from __future__ import annotations

from typing import Any

from sklearn.pipeline import Pipeline
from sklearn.utils.validation import check_is_fitted

from besvm.baselines.jitter import JitteredClassifier
from besvm.baselines.mkl import LineSearchMKL


def model_inside(model: Any) -> Any:
    """Return the model that decides: of a search or a wrapper of besvm the one inside, otherwise the model itself."""
    if isinstance(model, Pipeline):
        raise TypeError("a Pipeline is not analyzed as a whole; pass its last step, pipeline[-1]")
    for kind, name in ((LineSearchMKL, "model_"), (JitteredClassifier, "estimator_")):
        if isinstance(model, kind):
            check_is_fitted(model, name)
            return model_inside(getattr(model, name))
    return model
