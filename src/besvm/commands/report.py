"""`besvm report`: the page of a model, tried on somebody's samples."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from besvm._support.units import show_bytes
from besvm.commands.models import load_model
from besvm.commands.outputs import check_new
from besvm.inputs import Data, as_trained, read
from besvm.report import write_page

PAGE = "report.html"


def report(
    model: str,
    data: str,
    *,
    out: str = PAGE,
    training: str | None = None,
    label: str | None = None,
    samples: int | None = None,
    title: str | None = None,
    skip_unreadable: bool = False,
    force: bool = False,
) -> str:
    """Write the page of the model in a file, tried on the samples in another; return a line that says where it is."""
    target = check_new(out, force)
    loaded = load_model(model)
    known = as_trained(loaded.facts_) | ({} if label is None else {"label": label})
    given = _read(data, known, skip_unreadable)
    if given.y is None:
        raise ValueError(
            f"{given.source} must have a class for every sample, to say how often the model is right, got none; name the "
            "column that holds them (--label)"
        )
    fitted_with = None if training is None else _read(training, known, skip_unreadable).X
    write_page(loaded, given, target, samples=samples, title=title, training=fitted_with)
    return f"{target} ({show_bytes(target.stat().st_size)}): open it in a browser"


def _read(path: str, known: dict[str, Any], skip_unreadable: bool) -> Data:
    return read(Path(path).expanduser(), **known, skip_unreadable=skip_unreadable)
