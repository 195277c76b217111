"""What a page is made of: samples with their classes, what kind they are, and what each is called."""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import Any, Protocol

import numpy as np
from scipy.sparse import issparse

from besvm._support.parameters import shown
from besvm._support.rows import axes_of, items, n_rows, span
from besvm._support.validation import check_labels_present
from besvm.explanations.looks import value_text

MANY_VALUES = 40  # of a vector that is described in words; more are only drawn


class Data(Protocol):
    """What a page needs to know of samples; whatever reads files may give more."""

    @property
    def X(self) -> Any:  # noqa: N802
        """The samples, as the model takes them."""

    @property
    def y(self) -> Any:
        """Their classes."""

    @property
    def kind(self) -> str:
        """What they are: "images", "series", "vectors", "text", "records", ..."""

    @property
    def names(self) -> Any:
        """What each is called: a file name, or a row number."""


@dataclass(frozen=True)
class Labelled:
    """Samples as the page takes them, checked."""

    X: Any
    y: np.ndarray
    kind: str
    names: list[str]
    source: str = ""
    first_row: int = 0  # the number that the first row of a file or an array goes by

    def __len__(self) -> int:
        return len(self.y)


def as_data(data: Any, likely: str) -> Labelled:
    """Return the samples of a :class:`Data` or a pair (X, y), checked; ``likely`` is what the model compares."""
    if isinstance(data, tuple) and len(data) == 2:
        (X, y), kind, names, source = data, "", None, ""
    elif hasattr(data, "X") and hasattr(data, "y"):
        X, y, kind, names = data.X, data.y, getattr(data, "kind", ""), getattr(data, "names", None)
        source = str(getattr(data, "source", None) or "")
    else:
        raise TypeError(f"data must have X and y, or be a pair (X, y), got {shown(data)}")
    if y is None:
        raise ValueError("data must have the classes of its samples to measure the accuracy, got y=None")
    check_labels_present(y)
    labels, n = np.asarray(y), n_rows(X)
    if labels.shape != (n,):
        raise ValueError(f"data must have a class for each of its {n} samples, got labels of shape {labels.shape}")
    if n == 0:
        raise ValueError("data must have at least one sample, got none")
    called = [f"sample {row}" for row in range(n)] if names is None else [_called(str(name)) for name in names]
    if len(called) != n:
        raise ValueError(f"data must have a name for each of its {n} samples, got {len(called)}")
    return Labelled(X, labels, kind or kind_of(X, likely), called, source, first_row=int(names is not None))


def _called(name: str) -> str:
    return f"row {name}" if name.isdecimal() else name


def kind_of(X: Any, likely: str = "") -> str:
    """Return what samples look like; ``likely`` is the kind of data that the model's similarity compares.

    Examples
    --------
    >>> kind_of(["a text", "another"]), kind_of(np.zeros((5, 8, 8, 3))), kind_of(np.zeros((5, 3)))
    ('text', 'images', 'vectors')
    """
    if hasattr(X, "iloc"):
        return "text" if likely == "text" and X.ndim == 1 else "records"
    if issparse(X):
        return "vectors"
    if likely == "precomputed":
        return likely
    first = next(iter(items(span(X, slice(0, 1)))), None)
    if isinstance(first, Mapping):
        return "records"
    if isinstance(first, str):
        return "sequences" if likely == "sequences" else "text"
    axes = max(axes_of(X), default=-1)
    number = getattr(getattr(X, "dtype", getattr(first, "dtype", None)), "kind", "f") in "fiub"
    if not number or axes < 1 or not np.isfinite(axes):
        return likely or "anything"
    if likely in ("sets", "graphs", "distributions", "sequences"):
        return likely
    if axes == 3 or (axes == 2 and likely != "series"):
        return "images"
    return "series" if likely == "series" or isinstance(X, (list, tuple)) else "vectors"


def texts_of(X: Any, kind: str) -> list[str]:
    """Return what to write of samples that cannot be drawn, or that are short enough to be read beside the drawing."""
    if hasattr(X, "columns"):
        names = [str(name) for name in X.columns]
        return [_record(zip(names, row, strict=True)) for row in items(X)]
    if kind == "vectors":
        rows = (np.asarray(item).ravel() for item in items(X))
        return [", ".join(f"{v:.4g}" for v in row) if len(row) <= MANY_VALUES else "" for row in rows]
    if kind == "records" and all(isinstance(item, Mapping) for item in items(X)):
        return [_record(item.items()) for item in items(X)]
    return [item if isinstance(item, str) else " ".join(value_text(item).split()) for item in items(X)]


def _record(pairs: Iterable[tuple[Any, Any]]) -> str:
    return "  ·  ".join(f"{name}: {value_text(value)}" for name, value in pairs)
