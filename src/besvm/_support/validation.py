"""What the estimators check of samples, classes and weights at the public edge, so that nothing inside has to."""

from collections.abc import Callable
from math import isfinite
from typing import Any

import numpy as np
from scipy.sparse import issparse
from sklearn.utils import check_consistent_length, column_or_1d
from sklearn.utils.class_weight import compute_class_weight
from sklearn.utils.multiclass import check_classification_targets
from sklearn.utils.validation import validate_data

from besvm._support.any_source import as_source
from besvm._support.dask_source import DaskSource
from besvm._support.parameters import LARGEST_C, shown
from besvm._support.row_source import RowSource, Vectors
from besvm._support.rows import are_records, axes_of, have_one_channel, n_rows, refuse_no_rows, whole_series

FEW_CLASSES = 1 << 14  # their numbers take two bytes for every row


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
                "to compare texts, use a measure such as 'edit' or 'kmers', a function of two texts, or a "
                "vectorizer, as in Measure('cosine', features=TfidfVectorizer())"
            ) from None
        if advice and "contains NaN" in first:  # what follows is a page about other estimators
            raise ValueError(f"{first} Remove or replace these rows.") from None
        if "Complex data not supported" in first:  # what follows are the data
            raise ValueError("Complex data not supported; take the real part, if that is what you want") from None
        raise


def validated_source(estimator: Any, source: RowSource, **options: Any) -> Vectors:
    """Return a source whose vectors are checked as they are read; its first row tells how they come."""
    if source.dtype == object:
        raise ValueError(
            "X must hold rows of numbers of one shape to be compared as vectors, got a source of single samples; let "
            "it yield arrays (of images: of one size), or use a measure that compares such samples"
        )
    first = source.head() if isinstance(source, DaskSource) else source[:1]
    return Vectors(source, validated(estimator, first, **options).dtype)


def _check_numeric(X: Any) -> None:
    """Refuse dates, durations and bytes, which NumPy would take for numbers without a word."""
    dtypes = list(X.dtypes) if getattr(X, "ndim", 0) == 2 and hasattr(X, "dtypes") else [getattr(X, "dtype", None)]
    if isinstance(X, (list, tuple)) or dtypes == [np.dtype(object)]:
        dtypes = [np.min_scalar_type(value) for value in np.ravel(np.array(list(X[:1]), dtype=object))]
    wrong = [dtype for dtype in dtypes if getattr(dtype, "kind", "f") in "MmSV"]
    if wrong:
        raise ValueError(f"X must hold numbers, got {wrong[0]}; convert dates, durations and bytes to numbers first")


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
    With "series" for ``vectors``, a data frame with a row for each time point of every series becomes a list of these.
    Samples with fewer axes than those of ``fit`` are refused: it would be a single one, and its rows taken for samples.
    A record has one axis, whatever holds it, and the axis of a single channel of series does not count.

    Whoever reads X ``by_blocks`` gets a source, or an array on disk, as a source, which checks vectors as they are
    read; for all others it is read into memory.
    """
    source = as_source(X)
    if source is not None and by_blocks:
        X = source
    elif source is not None and not isinstance(X, np.memmap):
        X = source[:]
    series = vectors == "series"
    if series:
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
    fitted = max(getattr(estimator, "_axes", []), default=0)
    if reset:
        estimator._axes = [1] if series and axes[:1] == [2] and have_one_channel(X) else axes[:1]
    elif axes and axes[-1] < fitted and not (fitted == 1 and are_records(X)):
        raise ValueError(
            f"samples must have as many axes as those of fit, {estimator._axes[0]:g}, got {axes[-1]:g}; "
            "pass a single sample x as [x] (and gray images to a model of color images as np.stack([X] * 3, -1))"
        )
    return X.tocsr() if issparse(X) else X


def described(features: Any, X: Any) -> Any:
    """Return what fitted features make of the samples X, one row for each of them."""
    out = features.transform(X)
    n, n_out = n_rows(X), n_rows(out)
    if n != n_out:
        raise ValueError(
            f"features must return a row for every sample, got {n_out} for {n} samples from "
            f"{type(features).__name__}; pass a single sample x as [x]"
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
    refuse_other_length(n_rows(X), len(y))
    check_classification_targets(y)
    classes, labels = np.unique(y, return_inverse=True)
    refuse_one_class(classes)
    return classes, labels.astype(label_dtype(len(classes)))


def refuse_other_length(n: int, n_labels: int) -> None:
    """Refuse another number of labels than of rows."""
    if n != n_labels:
        raise ValueError(
            f"X and y must have the same length; found inconsistent numbers of samples: {n} rows and {n_labels} labels"
        )


def refuse_one_class(classes: np.ndarray) -> None:
    """Refuse labels that are all the same."""
    if len(classes) < 2:
        raise ValueError(f"y must hold at least two classes, got only one class: {classes[0]!s}")


def label_dtype(n_classes: int) -> np.dtype[Any]:
    """Return the dtype of the numbers of so many classes."""
    return np.dtype(np.int16 if n_classes < FEW_CLASSES else np.intp)


def check_labels_present(y: Any, first: int | None = None) -> None:
    """Refuse labels that are missing (None, NaN, pd.NA, pd.NaT), infinite, complex, or texts among numbers.

    They are those of all rows, or of a partition whose first row is ``first``.
    """
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
        row = (first or 0) + place // (y.size // len(y))
        where = "in all" if first is None else "in its partition"
        raise ValueError(
            f"y must hold a label for every row: it contains {y.ravel()[place]} in row {row}, {missing.sum()} missing "
            f"{where}; leave these rows out"
        )
    texts = [isinstance(label, str) for label in y.ravel()] if y.dtype.kind == "O" else []
    if any(texts) and not all(texts):
        kinds = " and ".join(sorted({type(label).__name__ for label in y.ravel()}))
        raise ValueError(f"y must hold labels of one kind, numbers or strings, got {kinds}")


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
        own = class_weights(class_weight, classes, np.bincount(labels, minlength=len(classes)))
        weights = weights * own[labels].astype(dtype)
    check_two_weigh(classes, np.bincount(labels[weights > 0], minlength=len(classes)))
    return weights


def class_weights(class_weight: Any, classes: np.ndarray, counts: np.ndarray) -> np.ndarray:
    """Return what the rows of each class weigh, of which there are so many."""
    if isinstance(class_weight, str) and class_weight == "balanced":
        own = counts.sum() / (len(classes) * counts)
    else:
        own = compute_class_weight(class_weight, classes=classes, y=classes)
    wrong = np.flatnonzero(~(own >= 0) | np.isinf(own))
    if len(wrong):
        raise ValueError(
            f"class_weight must be a finite number of at least 0 for every class, "
            f"got {own[wrong[0]]:g} for class {classes[wrong[0]]!s}"
        )
    return np.asarray(own)


def check_two_weigh(classes: np.ndarray, counts: np.ndarray) -> None:
    """Refuse rows of fewer than two classes, of which so many weigh anything."""
    here = np.flatnonzero(counts)
    if len(here) < 2:
        raise ValueError(
            "rows of at least two classes must weigh more than 0, "
            + (f"got only one class: {classes[here[0]]!s}" if len(here) else "got none")
        )


def check_sample_weight(sample_weight: Any, n: int, dtype: Any) -> np.ndarray:
    """Return what each of the ``n`` rows weighs: 1 by default, one number for all, or a finite number >= 0 for each."""
    weights = sound_weights(1 if sample_weight is None else sample_weight, dtype)
    weights = np.full(n, weights) if weights.ndim == 0 else weights
    if len(weights) != n:
        raise ValueError(f"sample_weight must hold a weight for each of the {n} rows, got {len(weights)}")
    if not weights.any():
        raise ValueError("sample_weight must be above zero for some rows, got only zeros")
    return weights


def sound_weights(sample_weight: Any, dtype: Any, first: int = 0) -> np.ndarray:
    """Return one weight for all rows, or those of the rows from ``first`` on; all must be finite and at least 0."""
    try:
        weights = np.asarray(sample_weight)
        weights = weights.astype(dtype, casting="unsafe" if weights.dtype.kind in "O" else "same_kind")
    except (TypeError, ValueError, OverflowError):
        raise ValueError(f"sample_weight must be numbers, got {shown(sample_weight)}") from None
    if weights.ndim > 1:
        raise ValueError(f"sample_weight must be 1-D, a weight for each row, got an array of shape {weights.shape}")
    wrong = np.flatnonzero(~((weights >= 0) & np.isfinite(weights)))
    if len(wrong):
        value = weights.ravel()[wrong[0]]
        raise ValueError(f"sample_weight must be finite and at least 0, got {value:g} for row {first + wrong[0]}")
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
