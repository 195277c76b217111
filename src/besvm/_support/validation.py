"""What the estimators check at the public edge, so that nothing inside has to."""

from __future__ import annotations

from collections.abc import Callable
from functools import wraps
from typing import Any, TypeVar

import numpy as np
from scipy.sparse import issparse
from sklearn.utils import check_consistent_length, column_or_1d
from sklearn.utils.multiclass import check_classification_targets
from sklearn.utils.validation import _check_sample_weight, check_array, validate_data

from besvm._support.rows import n_rows

F = TypeVar("F", bound=Callable[..., Any])


def atomic_fit(fit: F) -> F:
    """Make a fit leave the estimator as it was if it fails or is interrupted."""

    @wraps(fit)
    def fitted(self: Any, *args: Any, **kwargs: Any) -> Any:
        before = dict(vars(self))
        try:
            return fit(self, *args, **kwargs)
        except BaseException:
            vars(self).clear()
            vars(self).update(before)
            raise

    return fitted  # type: ignore[return-value]


def forget(estimator: Any, *names: str) -> None:
    """Remove what an earlier fit learned and this one did not."""
    for name in names:
        vars(estimator).pop(name, None)


def validated(estimator: Any, X: Any, **options: Any) -> Any:
    """Return X as scikit-learn's ``validate_data`` does, with its complaint cut to the first sentence."""
    try:
        return validate_data(estimator, X, **options)
    except ValueError as error:
        first, *advice = str(error).split("\n")
        if advice and "contains NaN" in first:  # what follows is a page about other estimators
            raise ValueError(f"{first} Remove or replace these rows.") from None
        if "Complex data not supported" in first:  # what follows are the data
            raise ValueError("Complex data not supported; take the real part, if that is meant") from None
        raise


def check_vectors(estimator: Any, X: Any, vectors: bool, reset: bool = True) -> Any:
    """Validate X as scikit-learn does if the measures compare vectors; otherwise only that it has rows."""
    if vectors:
        sparse = "csr" if estimator.__sklearn_tags__().input_tags.sparse else False
        return validated(estimator, X, accept_sparse=sparse, allow_nd=True, dtype=(np.float32, np.float64), reset=reset)
    if n_rows(X) == 0:
        raise ValueError("X must have at least one row, got none")
    return X.tocsr() if issparse(X) else X


def labels_or_none(X: Any, y: Any) -> np.ndarray | None:
    """Return y if it holds classes, for a basis balanced over them; None for no labels or a continuous target."""
    if y is None:
        return None
    check_consistent_length(np.empty(n_rows(X)), y)
    labels = np.asarray(y)
    try:
        check_classification_targets(labels)
    except ValueError:
        return None
    return labels if labels.ndim == 1 else None


def check_classes(X: Any, y: Any) -> tuple[np.ndarray, np.ndarray]:
    """Return the classes and every row's class number; there must be a label for every row, and two classes."""
    if y is None:
        raise ValueError("this classifier requires y to be passed, but the target y is None")
    y = column_or_1d(y, warn=True)
    if len(y) != n_rows(X):
        raise ValueError(
            f"X and y must have the same length; found inconsistent numbers of samples: "
            f"{n_rows(X)} rows and {len(y)} labels"
        )
    if y.dtype.kind == "f":
        check_array(y, ensure_2d=False, input_name="y")
    check_classification_targets(y)
    classes, labels = np.unique(y, return_inverse=True)
    if len(classes) < 2:
        raise ValueError(f"y must hold at least two classes, got only one class: {classes[0]!s}")
    return classes, labels


def check_weights(
    X: Any, labels: np.ndarray, classes: np.ndarray, class_weight: Any, sample_weight: Any, dtype: Any
) -> np.ndarray:
    """Return what every row weighs: its sample weight times the weight of its own class."""
    from sklearn.utils.class_weight import compute_class_weight

    rows = np.empty((n_rows(X), 1))
    weights = _check_sample_weight(sample_weight, rows, dtype=dtype, ensure_non_negative=True)
    if class_weight is not None:
        own = compute_class_weight(class_weight, classes=classes, y=classes[labels])
        wrong = np.flatnonzero(~(own >= 0) | np.isinf(own))
        if len(wrong):
            raise ValueError(
                f"class_weight must be a finite number of at least 0 for every class, "
                f"got {own[wrong[0]]:g} for class {classes[wrong[0]]!s}"
            )
        weights = weights * own[labels].astype(dtype)
    here = np.unique(labels[weights > 0])
    if len(here) < 2:
        raise ValueError(
            "rows of at least two classes must weigh more than 0, "
            + (f"got only one class: {classes[here[0]]!s}" if len(here) else "got none")
        )
    return weights


def check_positive(name: str, value: Any) -> float:
    """Return a positive finite number, or say what is wrong with it."""
    good = isinstance(value, (int, float, np.number)) and not isinstance(value, bool)
    if not (good and np.isfinite(value) and value > 0):
        raise ValueError(f"{name} must be a positive number, got {value!r}")
    return float(value)


def check_count(name: str, value: Any) -> int:
    """Return a whole number of at least 1, or say what is wrong with it."""
    if isinstance(value, bool) or not isinstance(value, (int, np.integer)) or value < 1:
        raise ValueError(f"{name} must be a whole number of at least 1, got {value!r}")
    return int(value)


def check_choice(name: str, value: Any, choices: tuple[Any, ...]) -> None:
    """Refuse a value that is not one of the choices."""
    if not any(value is choice or value == choice for choice in choices):
        raise ValueError(f"{name} must be {' or '.join(map(repr, choices))}, got {value!r}")


def make_rng(random_state: Any) -> np.random.Generator:
    """Return a generator from a seed, a RandomState, a Generator or None; global state is never touched."""
    if isinstance(random_state, np.random.RandomState):
        return np.random.default_rng(random_state.randint(2**31 - 1))
    return np.random.default_rng(random_state)
