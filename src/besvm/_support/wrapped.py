"""The model inside of what trains, picks or wraps one."""

from typing import Any

from sklearn.utils.validation import check_is_fitted


def unwrap(model: Any, same_rows: bool = False) -> Any:
    """Return the model that decides: of a search or a wrapper the one inside, otherwise the model itself.

    A wrapper of besvm says in its class's ``_inside`` which attribute that is; of scikit-learn's searches, and of
    others like them, it is ``best_estimator_``. A pipeline is a model itself, and so, with ``same_rows``, is what
    trains the one inside on rows of its own making (``_makes_rows``).
    """
    kind = type(model)
    name = getattr(kind, "_inside", "best_estimator_" if hasattr(model, "best_estimator_") else None)
    if name is None or (same_rows and getattr(kind, "_makes_rows", False)):
        return model
    check_is_fitted(model, name)
    return unwrap(getattr(model, name), same_rows)
