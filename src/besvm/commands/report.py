"""`besvm report`: the page of a model, tried on somebody's samples."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from besvm._support.units import show_bytes


def report(
    model: str,
    data: str,
    *,
    out: str,
    training: str | None = None,
    label: str | None = None,
    samples: int | None = None,
    title: str | None = None,
    force: bool = False,
) -> str:
    """Write the page of the model in a file, tried on the samples in another; return a line that says where it is.

    What is there already stays, unless ``force`` says otherwise.
    """
    from besvm import load
    from besvm.inputs import as_trained, read  # type: ignore[import-not-found,import-untyped,unused-ignore]
    from besvm.report import write_page

    target = Path(out).expanduser()
    if target.is_dir():
        raise ValueError(f"-o must be the name of a file, got the folder {out!r}")
    if target.exists() and not force:
        raise ValueError(f"{out!r} is there already and is kept; choose another name, or pass --force to replace it")
    loaded = load(model)
    known: dict[str, Any] = as_trained(loaded.facts_)
    if label is not None:
        known["label"] = label
    given = read(data, **known)
    if given.y is None:
        raise ValueError(
            f"{data} must have a class for every sample, to say how often the model is right, got none; name the "
            "column that holds them (--label)"
        )
    fitted_with = None if training is None else read(training, **known).X
    write_page(loaded, given, target, samples=samples, title=title, training=fitted_with)
    return f"{target} ({show_bytes(target.stat().st_size)}): open it in a browser"
