"""`besvm report`: the model report, tried on somebody's samples."""

from __future__ import annotations

from besvm._support.units import show_bytes
from besvm.commands.models import classes_of, load_model, samples_for
from besvm.commands.outputs import check_new, made


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
    from besvm.report import write_page

    target = check_new(out, force)
    loaded = load_model(model)
    given = samples_for(loaded, model, data, label=label).read()
    classes_of(
        given,
        f"{data} must have a class for every sample to measure the accuracy, but has none; name their column "
        "with --label",
    )
    fitted_with = None if training is None else samples_for(loaded, model, training, label=label).read().X
    with made(target, force):
        write_page(loaded, given, target, samples=samples, title=title, training=fitted_with)
    return f"{target} ({show_bytes(target.stat().st_size)}); open it in a browser"
