"""What the estimators check at the public edge, so that nothing inside has to."""

from collections.abc import Callable
from functools import wraps
from math import isfinite
from typing import Any, TypeVar

import numpy as np
from scipy.sparse import issparse
from sklearn.utils import check_consistent_length, column_or_1d
from sklearn.utils.class_weight import compute_class_weight
from sklearn.utils.multiclass import check_classification_targets
from sklearn.utils.validation import check_array, validate_data

from besvm._support.rows import n_rows

F = TypeVar("F", bound=Callable[..., Any])


def atomic_fit(fit: F) -> F:
    """Make a fit leave the estimator as it was if it fails or is interrupted.

    What all estimators take, ``n_jobs`` and ``random_state``, is checked before anything else is done.
    """

    @wraps(fit)
    def fitted(self: Any, *args: Any, **kwargs: Any) -> Any:
        check_n_jobs(getattr(self, "n_jobs", None))
        check_seed(getattr(self, "random_state", None))
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
        return validated(estimator, X, accept_sparse=sparse, allow_nd=True, dtype=_exact_dtypes(X), reset=reset)
    if n_rows(X) == 0:
        raise ValueError("X must have at least one row, got none")
    return X.tocsr() if issparse(X) else X


def _exact_dtypes(X: Any) -> tuple[Any, Any]:
    """Return the dtypes X may have, first the one to convert it to: float32 only where that rounds nothing off.

    Bytes and 16-bit integers are exact in float32; a time in seconds, as an integer of 64 bits, is not.
    """
    dtype = getattr(X, "dtype", None)
    exact = isinstance(dtype, np.dtype) and np.can_cast(dtype, np.float32)
    return (np.float32, np.float64) if exact else (np.float64, np.float32)


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
    weights = check_sample_weight(sample_weight, n_rows(X), dtype)
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


def check_sample_weight(sample_weight: Any, n: int, dtype: Any) -> np.ndarray:
    """Return what each of the ``n`` rows weighs: 1 by default, one number for all, or a finite number >= 0 for each."""
    try:
        weights = np.asarray(1 if sample_weight is None else sample_weight).astype(dtype)
    except (TypeError, ValueError):
        raise ValueError(f"sample_weight must be numbers, got {sample_weight!r}") from None
    if weights.ndim == 0:
        weights = np.full(n, weights)
    if weights.ndim > 1:
        raise ValueError(f"sample_weight must be 1-D, a weight for each row, got an array of shape {weights.shape}")
    if len(weights) != n:
        raise ValueError(f"sample_weight must hold a weight for each of the {n} rows, got {len(weights)}")
    wrong = np.flatnonzero(~((weights >= 0) & np.isfinite(weights)))
    if len(wrong):
        raise ValueError(f"sample_weight must be finite and at least 0, got {weights[wrong[0]]:g} for row {wrong[0]}")
    if not weights.any():
        raise ValueError("sample_weight must be above zero for some rows, got only zeros")
    return weights


def check_block(
    block: Any, shape: tuple[int, int], what: str, name_pair: Callable[[int, int], str] | None = None
) -> np.ndarray:
    """Return a block of similarities, samples by exemplars, or say what is wrong with it, and with which similarity.

    ``name_pair(i, j)`` says which pair row i and column j are of. Without it, numbers are not looked at: a block that
    is only part of another is checked with that one.
    """
    block = np.asarray(block)
    if block.shape != shape:
        raise ValueError(f"{what} must return a matrix of shape {shape} (samples, exemplars), got {block.shape}")
    if block.dtype.kind not in "fiub":
        raise ValueError(f"{what} must return real numbers, got dtype {block.dtype}")
    if name_pair is None:
        return block
    with np.errstate(over="ignore", invalid="ignore"):
        total = block.sum()  # looks for NaN and infinity without a matrix of true and false
    if not np.isfinite(total):
        bad = np.argwhere(~np.isfinite(block))
        if len(bad):  # otherwise it was only the sum that overflowed
            i, j = map(int, bad[0])
            raise ValueError(f"{what} must be finite, got {block[i, j]} for the pair of {name_pair(i, j)}")
    return block


def check_positive(name: str, value: Any) -> float:
    """Return a positive finite number, or say what is wrong with it."""
    if not is_positive(value):
        raise ValueError(f"{name} must be a positive number, got {value!r}")
    return float(value)


def is_positive(value: Any) -> bool:
    """Say whether a value is a positive finite number."""
    return is_number(value) and value > 0


def is_number(value: Any) -> bool:
    """Say whether a value is a finite real number that a float can hold."""
    if not isinstance(value, (int, float, np.integer, np.floating)) or isinstance(value, bool):
        return False
    try:
        return isfinite(value)
    except OverflowError:  # 10**400
        return False


def is_whole(value: Any, least: float = -np.inf) -> bool:
    """Say whether a value is a whole number of at least ``least``."""
    whole = isinstance(value, (int, np.integer)) and not isinstance(value, bool)
    return bool(whole and value >= least)


def check_count(name: str, value: Any) -> int:
    """Return a whole number of at least 1, or say what is wrong with it."""
    if not is_whole(value, 1):
        raise ValueError(f"{name} must be a whole number of at least 1, got {value!r}")
    return int(value)


def check_choice(name: str, value: Any, choices: tuple[Any, ...]) -> None:
    """Refuse a value that is not one of the choices."""
    if not any(value is choice or value == choice for choice in choices):
        raise ValueError(f"{name} must be {' or '.join(map(repr, choices))}, got {value!r}")


def check_n_jobs(n_jobs: Any) -> None:
    """Refuse what is no number of workers as joblib takes it."""
    if not (n_jobs is None or (is_whole(n_jobs) and n_jobs != 0)):
        raise ValueError(f"n_jobs must be a whole number of at least 1, -1 for all processors, or None, got {n_jobs!r}")


def check_seed(random_state: Any) -> None:
    """Refuse what is no seed; nothing is drawn."""
    known = isinstance(random_state, (np.random.RandomState, np.random.Generator, np.random.SeedSequence))
    if not (random_state is None or known or is_whole(random_state, 0)):
        raise ValueError(
            "random_state must be a whole number of at least 0, a RandomState, a Generator or None, "
            f"got {random_state!r}"
        )


def make_rng(random_state: Any) -> np.random.Generator:
    """Return a generator from a seed, a RandomState, a Generator or None; global state is never touched."""
    check_seed(random_state)
    if isinstance(random_state, np.random.RandomState):
        return np.random.default_rng(random_state.randint(2**31 - 1))
    return np.random.default_rng(random_state)
