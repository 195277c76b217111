"""`besvm explain`: why a model decides as it does for one sample of a file."""

from __future__ import annotations

import re
from html import escape
from pathlib import Path
from typing import Any

from besvm._support.files import write_bytes, write_text
from besvm._support.parameters import shown as quoted
from besvm._support.rows import take
from besvm.commands.models import load_model, samples_for
from besvm.commands.outputs import check_new, made
from besvm.inputs import Data, Stream

PICTURES = {".png": "png", ".svg": "svg"}
PAGES = (".html", ".htm")
DRAWN = 5  # exemplars that a picture shows of those towards a class, and as many of those away from it
NUMBER = re.compile(r"-?\d{1,18}")


def explain(
    model: str, data: str, row: str, *, top: int = 10, out: str | None = None, force: bool = False
) -> tuple[dict[str, Any], str]:
    """Return why a model decides as it does for a sample, as plain data and for people.

    ``row`` is what the sample is called, or its number, from 1 on (-1 is the last). With ``out``, a picture or a page
    is written as well.
    """
    from besvm.explanations.models import read_model
    from besvm.explanations.one import explain_row

    path = None if out is None else _checked(out, force)
    loaded = load_model(model)
    reading = read_model(loaded)
    name, X = find(samples_for(loaded, model, data), row)
    found = explain_row(reading, X, top=top, first_row=1)  # as rows of files are numbered everywhere
    said = f"sample {name}\n{found}"
    if path is not None:
        every = explain_row(reading, X, first_row=1) if top < found.n_exemplars else found
        with made(path, force):
            write(every, path, title=name, top=min(top, DRAWN))
        said += f"\nwrote {path}"
    return {"sample": name, **found.to_dict(matches=True)}, said


def find(samples: Stream, row: str) -> tuple[str, Any]:
    """Return the name of a sample, and the sample alone: the first of that name, or else the one of that number.

    Reads no further than to there, but to the end for a number where a column says what the samples are called.
    """
    number = int(row) if NUMBER.fullmatch(row) else 0
    seen, numbered = 0, None
    for block in samples:
        n = len(block.names)
        if row in block.names:
            return _sample(block, block.names.index(row))
        if 0 < number - seen <= n:
            numbered = _sample(block, number - seen - 1)
        elif number == -1 and n:
            numbered = _sample(block, n - 1)
        if number > 0 and numbered is not None and samples.layout.naming is None:
            return numbered
        seen += n
    if numbered is not None:
        return numbered
    if not seen:
        raise ValueError(f"{samples.name} must have at least one sample, but it is empty")
    raise ValueError(
        f"--row must be the name of a sample in {samples.name} or a number from 1 to {seen:,}, got {quoted(row)}"
    )


def _sample(block: Data, place: int) -> tuple[str, Any]:
    return block.names[place], take(block.X, [place])


def _checked(out: str, force: bool) -> Path:
    """Return the path that a picture or a page goes to, or say what is wrong with it."""
    if Path(out).suffix.lower() not in (*PICTURES, *PAGES):
        raise ValueError(f"-o must end in .png or .svg for a picture, or in .html for a web page, got {out!r}")
    return check_new(out, force)


def write(explanation: Any, path: Path, title: str = "", top: int = DRAWN) -> None:
    """Write an explanation as a picture or a page, whole or not at all."""
    from besvm._support.figures import rendered

    kind = PICTURES.get(path.suffix.lower())
    if kind is not None:
        write_bytes(path, rendered(explanation.plot(top=top), kind))
        return
    head = (
        '<!doctype html><html lang="en"><head><meta charset="utf-8"><meta name="viewport" '
        'content="width=device-width, initial-scale=1"><link rel="icon" href="data:,">'
        f"<title>{escape(title)}</title><style>:root{{color-scheme:light dark}}body{{margin:24px}}</style></head><body>"
    )
    name = f'<h1 style="font:600 20px system-ui,sans-serif">{escape(title)}</h1>'
    write_text(path, f"{head}{name}{explanation.to_html(top=top)}</body></html>\n")
