"""Models from files, and the samples they are to judge."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import numpy as np

from besvm._support.progress import say
from besvm.inputs import Data, Stream, as_trained, stream
from besvm.inputs.contract import as_label


def load_model(path: str, *, classifies: bool = True) -> Any:
    """Load a model; refuse what predicts no classes, if it is to."""
    from besvm.files import load

    if not Path(path).expanduser().is_file():
        raise FileNotFoundError(f"there is no model file {path!r}; `besvm train` writes one")
    model = load(Path(path).expanduser())
    if classifies and not hasattr(model, "predict"):
        raise ValueError(
            f"{path!r} must be a classifier, but it is a {type(model).__name__}, which cannot predict classes"
        )
    return model


def samples_for(
    model: Any, name: str, data: str, *, label: str | None = None, labels: str | None = None, skip: bool = False
) -> Stream:
    """Open samples as those that a model was trained on; what is of another kind is refused."""
    known = as_trained(getattr(model, "facts_", {})) | ({} if label is None else {"label": label})
    with _refusing_other_kinds(name, known["kind"]):
        found = stream(data, **known, labels=labels, skip_unreadable=skip)
    if label is not None and found.layout.columns is not None and found.layout.label is None:
        raise ValueError(f"{found.name} has no label column {label!r}; name another column with --label")
    _check_width(found, _width(model))
    if known["kind"] is None:
        say(1, f"{found.layout.said} (guessed, since the model file does not say what kind of data it was trained on)")
    return found


def _width(model: Any) -> int | None:
    """Return how many columns a model of vectors was trained on, as far as it or its first features know."""
    feature_map = getattr(model, "_map", None)
    known = [model, *([] if feature_map is None else feature_map.expander.transformers)]
    return next((one.n_features_in_ for one in known if hasattr(one, "n_features_in_")), None)


def _check_width(found: Stream, width: int | None) -> None:
    """Refuse an array whose rows are of another length than those of fit, before any is read."""
    layout = found.layout
    if layout.kind != "vectors" or layout.columns is not None or not (layout.rows and width):
        return
    columns = layout.nbytes // (8 * layout.rows)
    if columns != width:
        raise ValueError(f"{found.name} must have {width:,} columns, as the training data did, got {columns:,}")


def as_known(labels: np.ndarray, classes: Any) -> np.ndarray:
    """Return classes that were read from a file as the model has them: as numbers, if it was trained on numbers."""
    known = {as_label(name): name for name in classes} | {str(name): name for name in classes}
    return np.array([known.get(label, label) for label in labels.tolist()])


def classes_of(samples: Data, otherwise: str) -> np.ndarray:
    """Return the classes of samples, each of which must have one; ``otherwise`` is the sentence if none has."""
    if samples.y is None:
        raise ValueError(otherwise)
    empty = samples.y == ""
    if empty.any():
        name = samples.names[int(empty.argmax())]
        raise ValueError(
            f"{samples.source} must have a class for every sample, but {name} has none; fill it in, or remove it"
        )
    return samples.y


@contextmanager
def _refusing_other_kinds(name: str, kind: str | None) -> Iterator[None]:
    """Say which model it is that wants samples of another kind."""
    try:
        yield
    except ValueError as error:
        if kind is not None and f"must hold {kind}" in str(error):
            raise ValueError(f"{Path(name).name} was trained on {kind}: {error}") from None
        raise
