"""What the estimators check at the public edge, so that nothing inside has to."""

from collections.abc import Callable, Mapping
from functools import wraps
from inspect import signature
from math import isfinite
from typing import Any, TypeVar

import numpy as np
from scipy.sparse import issparse
from sklearn.utils import check_consistent_length, column_or_1d
from sklearn.utils.class_weight import compute_class_weight
from sklearn.utils.multiclass import check_classification_targets
from sklearn.utils.validation import validate_data

from besvm._support.any_source import as_source
from besvm._support.row_source import RowSource, Vectors
from besvm._support.rows import axes_of, n_rows, refuse_no_rows, whole_series
from besvm._support.units import parse_bytes

LARGEST_C = 1e30
MOST_JOBS = 10_000

F = TypeVar("F", bound=Callable[..., Any])


def atomic_fit(fit: F) -> F:
    """Make a fit leave the estimator as it was if it fails or is interrupted.

    Parameters that mean the same to all estimators (:data:`COMMON`) are checked before anything else is done.
    """

    @wraps(fit)
    def fitted(self: Any, *args: Any, **kwargs: Any) -> Any:
        check_common(self)
        before = dict(vars(self))
        try:
            return fit(self, *args, **kwargs)
        except BaseException:
            vars(self).clear()
            vars(self).update(before)
            raise

    return fitted  # type: ignore[return-value]


def check_common(thing: Any) -> None:
    """Check the parameters of an estimator, or a part of one, whose names mean the same everywhere in besvm.

    What a user's own subclass takes by such a name is the user's business.
    """
    for name in _own_parameters(type(thing)) & COMMON.keys():
        COMMON[name](name, getattr(thing, name))


def _own_parameters(cls: type) -> frozenset[str]:
    ours = next((base for base in cls.__mro__ if base.__module__.partition(".")[0] == "besvm"), object)
    return frozenset(signature(ours).parameters)


def forget(estimator: Any, *names: str) -> None:
    """Remove what an earlier fit learned and this one did not."""
    for name in names:
        vars(estimator).pop(name, None)


def validated(estimator: Any, X: Any, **options: Any) -> Any:
    """Return X as scikit-learn's ``validate_data`` does, with its complaint cut to the first sentence."""
    refuse_no_rows(X)
    _check_numeric(X)
    try:
        with np.errstate(invalid="ignore"):  # huge numbers of both signs, which it sums to see whether all are finite
            return validate_data(estimator, X, **options)
    except OverflowError:
        raise ValueError("X must hold numbers that a float can hold, got larger ones; scale them down") from None
    except (TypeError, ValueError) as error:
        first, *advice = str(error).split("\n")
        text = _first_text(X)
        if text is not None:
            raise ValueError(
                f"X must hold numbers, a row of them for each sample, to be compared as vectors, got {shown(text)}; "
                "texts are compared by a function of two texts, as in BESVMClassifier(function), by a Similarity of "
                "your own, or behind a vectorizer, as in Measure('cosine', features=TfidfVectorizer())"
            ) from None
        if advice and "contains NaN" in first:  # what follows is a page about other estimators
            raise ValueError(f"{first} Remove or replace these rows.") from None
        if "Complex data not supported" in first:  # what follows are the data
            raise ValueError("Complex data not supported; take the real part, if that is meant") from None
        raise


def validated_source(estimator: Any, source: RowSource, **options: Any) -> Vectors:
    """Return a source whose vectors are checked as they are read; its first row tells how they come."""
    return Vectors(source, validated(estimator, source[:1], **options).dtype)


def _check_numeric(X: Any) -> None:
    """Refuse dates, durations and bytes, which NumPy would take for numbers without a word."""
    dtypes = list(X.dtypes) if getattr(X, "ndim", 0) == 2 and hasattr(X, "dtypes") else [getattr(X, "dtype", None)]
    if isinstance(X, (list, tuple)) or dtypes == [np.dtype(object)]:
        dtypes = [np.min_scalar_type(value) for value in np.ravel(np.array(list(X[:1]), dtype=object))]
    wrong = [dtype for dtype in dtypes if getattr(dtype, "kind", "f") in "MmSV"]
    if wrong:
        raise ValueError(f"X must hold numbers, got {wrong[0]}; make numbers of dates, durations and bytes first")


def _first_text(X: Any) -> str | None:
    """Return the first text that is no number in X, of rows or of their numbers; None if there is none."""
    values = np.asarray(X.to_numpy() if hasattr(X, "to_numpy") else X, dtype=object) if not issparse(X) else np.empty(0)
    for value in values.ravel():
        if isinstance(value, (str, bytes)):
            try:
                float(value)
            except ValueError:
                return str(value)
    return None


def check_vectors(
    estimator: Any, X: Any, vectors: bool | str | None, reset: bool = True, by_blocks: bool = False
) -> Any:
    """Validate X as scikit-learn does if the measures compare vectors; otherwise only that it has rows.

    A data frame with one column of texts is that column, unless (``vectors`` being None) features take it as it is.
    With "series" for ``vectors``, a data frame with a row for each moment of every series becomes a list of these.
    Samples with fewer axes than those of ``fit`` are refused: it would be a single one, and its rows taken for samples.

    Whoever reads X ``by_blocks`` gets a source, or an array on disk, as a source, which checks vectors as they are
    read; for all others it is read into memory.
    """
    source = as_source(X)
    if source is not None and by_blocks:
        X = source
    elif source is not None and not isinstance(X, np.memmap):
        X = source[:]
    if vectors == "series":
        X, vectors = whole_series(X), False
    if vectors and isinstance(X, RowSource):
        X = validated_source(estimator, X, allow_nd=True, dtype=_exact_dtypes(X), reset=reset)
    elif vectors:
        sparse = "csr" if estimator.__sklearn_tags__().input_tags.sparse else False
        X = validated(estimator, X, accept_sparse=sparse, allow_nd=True, dtype=_exact_dtypes(X), reset=reset)
    elif n_rows(X) == 0:
        raise ValueError("X must have at least one row, got none")
    if vectors is False and hasattr(X, "iloc") and X.shape[1:] == (1,) and isinstance(X.iloc[0, 0], str):
        X = X.iloc[:, 0]
    axes = axes_of(X)
    if reset:
        estimator._axes = axes[:1]
    elif axes and axes[-1] < max(getattr(estimator, "_axes", []), default=0):
        raise ValueError(
            f"samples must have as many axes as those of fit, {estimator._axes[0]:g}, got {axes[-1]:g}; "
            "a single sample x goes in as [x] (and gray images, where those were color ones, as np.stack([X] * 3, -1))"
        )
    return X.tocsr() if issparse(X) else X


def described(features: Any, X: Any) -> Any:
    """Return what fitted features make of the samples X, one row for each of them."""
    out = features.transform(X)
    n, n_out = n_rows(X), n_rows(out)
    if n != n_out:
        raise ValueError(
            f"features must return a row for every sample, got {n_out} for {n} samples from "
            f"{type(features).__name__}; a single sample x goes in as [x]"
        )
    return out


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
    check_labels_present(y)
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
    refuse_no_rows(y, "y")
    check_labels_present(y)
    y = column_or_1d(y, warn=True)
    if len(y) != n_rows(X):
        raise ValueError(
            f"X and y must have the same length; found inconsistent numbers of samples: "
            f"{n_rows(X)} rows and {len(y)} labels"
        )
    check_classification_targets(y)
    classes, labels = np.unique(y, return_inverse=True)
    if len(classes) < 2:
        raise ValueError(f"y must hold at least two classes, got only one class: {classes[0]!s}")
    return classes, labels


def check_labels_present(y: Any) -> None:
    """Refuse labels that are missing (None, NaN, pd.NA, pd.NaT), infinite, complex, or texts among numbers."""
    # NumPy would make texts of all that is in a list with a text, of NaN too
    y = np.asarray(y, dtype=object if isinstance(y, (list, tuple)) else None)
    if y.dtype.kind == "O":
        missing = np.array([_is_missing(label) for label in y.ravel()], dtype=bool)
    elif y.dtype.kind in "fMm":
        missing = ~np.isfinite(y).ravel()
    elif y.dtype.kind == "c":
        raise ValueError("y must hold the labels of classes, got complex numbers")
    else:
        return
    if missing.any():
        place = int(missing.argmax())
        raise ValueError(
            f"y must hold a label for every row: it contains {y.ravel()[place]} in row {place // (y.size // len(y))}, "
            f"{missing.sum()} missing in all; leave these rows out"
        )
    texts = [isinstance(label, str) for label in y.ravel()] if y.dtype.kind == "O" else []
    if any(texts) and not all(texts):
        kinds = " and ".join(sorted({type(label).__name__ for label in y.ravel()}))
        raise ValueError(f"y must hold labels of one kind, numbers or texts, got {kinds}")


def _is_missing(label: Any) -> bool:
    """Say whether an object stands for a label that is not there: all of these but None do not equal themselves."""
    if label is None or (isinstance(label, float) and not isfinite(label)):
        return True
    try:
        return not bool(label == label)
    except (TypeError, ValueError):  # pd.NA is neither, and several labels in a row are many
        return not hasattr(label, "__len__")


def check_weights(
    X: Any, labels: np.ndarray, classes: np.ndarray, class_weight: Any, sample_weight: Any, dtype: Any
) -> np.ndarray:
    """Return what every row weighs: its sample weight times the weight of its own class."""
    weights = check_sample_weight(sample_weight, n_rows(X), dtype)
    if weights.max() > LARGEST_C:
        raise ValueError(f"sample_weight must be at most {LARGEST_C:g}, got {weights.max():g}; scale all weights down")
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
        weights = np.asarray(1 if sample_weight is None else sample_weight)
        weights = weights.astype(dtype, casting="unsafe" if weights.dtype.kind in "O" else "same_kind")
    except (TypeError, ValueError, OverflowError):
        raise ValueError(f"sample_weight must be numbers, got {shown(sample_weight)}") from None
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
    block: Any,
    shape: tuple[int, int],
    what: str,
    name_pair: Callable[[int, int], str] | None = None,
    dtype: Any = None,
) -> np.ndarray:
    """Return a block of similarities, samples by exemplars, or say what is wrong with it, and with which similarity.

    ``name_pair(i, j)`` says which pair row i and column j are of. Without it, numbers are not looked at: a block that
    is only part of another is checked with that one. The block comes in ``dtype``, if one is given, and must be finite
    in it.
    """
    block = given = np.asarray(block)
    if block.shape != shape:
        raise ValueError(f"{what} must return a matrix of shape {shape} (samples, exemplars), got {block.shape}")
    if block.dtype.kind not in "fiub":
        raise ValueError(f"{what} must return real numbers, got dtype {block.dtype}")
    if name_pair is None:
        return block
    with np.errstate(over="ignore", invalid="ignore"):
        block = given if dtype is None else given.astype(dtype, copy=False)
        total = block.sum()  # looks for NaN and infinity without a matrix of true and false
    if not np.isfinite(total):
        bad = np.argwhere(~np.isfinite(block))
        if len(bad):  # otherwise it was only the sum that overflowed
            i, j = map(int, bad[0])
            large = np.isfinite(given[i, j])
            rule, advice = (f"finite in {block.dtype}", "; scale it down") if large else ("finite", "")
            raise ValueError(f"{what} must be {rule}, got {given[i, j]} for the pair of {name_pair(i, j)}{advice}")
    return block


def shown(value: Any) -> str:
    """Return what a message says of a value: one line, not too long."""
    try:
        text = " ".join(repr(value).split())
    except Exception:  # of an int with too many digits, say
        text = f"a {type(value).__name__}"
    return text if len(text) <= 60 else f"{text[:57]}..."


def check_positive(name: str, value: Any) -> float:
    """Return a positive finite number, or say what is wrong with it."""
    if not is_positive(value):
        raise ValueError(f"{name} must be a positive number, got {shown(value)}")
    return float(value)


def check_loss_weight(C: Any) -> float:
    """Return C, the weight of the loss, or say what is wrong with it; beyond the limit its products overflow."""
    if check_positive("C", C) > LARGEST_C:
        raise ValueError(f"C must be a positive number of at most {LARGEST_C:g}, got {shown(C)}")
    return float(C)


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
    if not (is_whole(value, 1) and is_number(value)):
        raise ValueError(f"{name} must be a whole number of at least 1, got {shown(value)}")
    return int(value)


def check_number(name: str, value: Any) -> None:
    """Refuse what is no finite number."""
    if not is_number(value):
        raise ValueError(f"{name} must be a finite number, got {shown(value)}")


def check_flag(name: str, value: Any) -> None:
    """Refuse what is neither True nor False."""
    if not isinstance(value, (bool, np.bool_)) and not (is_whole(value) and value in (0, 1)):
        raise ValueError(f"{name} must be True or False, got {shown(value)}")


def check_choice(name: str, value: Any, choices: tuple[Any, ...]) -> None:
    """Refuse a value that is not one of the choices."""
    if not (value is None or isinstance(value, str)) or value not in choices:
        raise ValueError(f"{name} must be {' or '.join(map(repr, choices))}, got {shown(value)}")


def check_n_jobs(name: str, n_jobs: Any) -> None:
    """Refuse what is no number of workers as joblib takes it."""
    if not (n_jobs is None or (is_whole(n_jobs) and 0 != n_jobs <= MOST_JOBS)):
        raise ValueError(
            f"{name} must be a whole number from 1 to {MOST_JOBS:,}, -1 for all processors, or None, "
            f"got {shown(n_jobs)}"
        )


def check_verbose(name: str, verbose: Any) -> None:
    """Refuse what is no level of verbosity."""
    if not (isinstance(verbose, (bool, np.bool_)) or (is_whole(verbose, 0) and is_number(verbose))):
        raise ValueError(f"{name} must be a whole number of at least 0, got {shown(verbose)}")


def check_class_weight(name: str, class_weight: Any) -> None:
    """Refuse what is no way to weigh classes; whether the classes exist is seen later."""
    if isinstance(class_weight, Mapping):
        wrong = [key for key, value in class_weight.items() if not is_number(value)]
        if wrong:
            raise ValueError(f"{name} must hold a number for every class, got {shown(class_weight[wrong[0]])}")
    elif not (class_weight is None or (isinstance(class_weight, str) and class_weight == "balanced")):
        raise ValueError(f"{name} must be a dict, 'balanced' or None, got {shown(class_weight)}")


def check_seed(name: str, random_state: Any) -> None:
    """Refuse what is no seed; nothing is drawn."""
    known = isinstance(random_state, (np.random.RandomState, np.random.Generator, np.random.SeedSequence))
    if not (random_state is None or known or is_whole(random_state, 0)):
        raise ValueError(
            f"{name} must be a whole number of at least 0, a RandomState, a Generator or None, "
            f"got {shown(random_state)}"
        )


def make_rng(random_state: Any) -> np.random.Generator:
    """Return a generator from a seed, a RandomState, a Generator or None; global state is never touched."""
    check_seed("random_state", random_state)
    if isinstance(random_state, np.random.RandomState):
        return np.random.default_rng(random_state.randint(2**31 - 1))
    return np.random.default_rng(random_state)


def check_memory_limit(name: str, memory_limit: Any) -> None:
    """Refuse what is no number of bytes."""
    if memory_limit is not None:
        parse_bytes(memory_limit, name)


COMMON: dict[str, Callable[[str, Any], Any]] = {  # by the name of the parameter
    "n_jobs": check_n_jobs,
    "random_state": check_seed,
    "verbose": check_verbose,
    "class_weight": check_class_weight,
    "memory_limit": check_memory_limit,
    "tol": check_positive,
    "max_iter": check_count,
    "max_rows": check_count,
    "n_rounds": check_count,
    "n_measures": check_count,
    "degree": check_count,
    "coef0": check_number,
    "oversample": check_positive,
    **dict.fromkeys(("fit_intercept", "penalize_intercept", "probability", "warm_start", "refit"), check_flag),
    **dict.fromkeys(("balanced", "cosine"), check_flag),
}
