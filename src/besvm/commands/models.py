"""Models from files, and the samples they are to judge."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from besvm._support.progress import say
from besvm.inputs import Stream, as_trained, stream


def load_model(path: str, *, classifies: bool = True) -> Any:
    """Load a model; refuse what predicts no classes, if it is to."""
    from besvm.files import load

    if not Path(path).expanduser().is_file():
        raise FileNotFoundError(f"{path!r} must be a model file, as `besvm train` writes it, but there is none")
    model = load(Path(path).expanduser())
    if classifies and not hasattr(model, "predict"):
        raise ValueError(f"{path!r} must hold a classifier, got a {type(model).__name__}, which predicts no classes")
    return model


def samples_for(
    model: Any, name: str, data: str, *, label: str | None = None, labels: str | None = None, skip: bool = False
) -> Stream:
    """Open samples as those that a model was trained on; what is of another kind is refused."""
    known = as_trained(model.facts_)
    if label is not None:
        known["label"] = label
    try:
        found = stream(data, **known, labels=labels, skip_unreadable=skip)
    except ValueError as error:
        if known["kind"] is not None and f"must hold {known['kind']}" in str(error):
            raise ValueError(f"{Path(name).name} compares {known['kind']}, and {error}") from None
        raise
    if known["kind"] is None:
        say(1, f"{found.layout.said} (the model does not say what it was trained on)")
    return found
