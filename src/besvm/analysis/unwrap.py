"""The model inside a search or a wrapper."""

from typing import Any

from sklearn.pipeline import Pipeline
from sklearn.utils.validation import check_is_fitted


def unwrap(model: Any) -> Any:
    """Return the model that decides: of a search or a wrapper of besvm the one inside, otherwise the model itself.

    A wrapper's class says in ``_inside`` which attribute that is.
    """
    if isinstance(model, Pipeline):
        raise TypeError("a Pipeline is not analyzed as a whole; pass its last step, pipeline[-1]")
    name = getattr(type(model), "_inside", None)
    if name is None:
        return model
    check_is_fitted(model, name)
    return unwrap(getattr(model, name))
