"""`besvm explain`: why a model decides as it does for one sample of a file."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

from besvm._support.files import write_bytes, write_text
from besvm._support.rows import n_rows, take

PICTURES = {".png": "png", ".svg": "svg"}
PAGES = (".html", ".htm")


def explain(
    model: str,
    data: str,
    row: int,
    *,
    top: int = 10,
    as_json: bool = False,
    out: str | None = None,
    force: bool = False,
) -> str:
    """Return why the model in a file decides as it does for a row of some data, as text or JSON.

    With ``out``, a picture (.png, .svg) or a page (.html) is written as well; what is there already stays, unless
    ``force`` says otherwise.
    """
    from besvm import load
    from besvm.explanations.models import read_model
    from besvm.explanations.one import explain_row
    from besvm.inputs import read  # type: ignore[import-not-found,import-untyped,unused-ignore]

    path = None if out is None else checked_output(out, force)
    loaded = load(model)
    given = read(data)
    n = n_rows(given.X)
    if not -n <= row < n:
        raise ValueError(f"--row must be a number from 0 to {n - 1:,}, a row of {data}, got {row}")
    row %= n
    found = explain_row(read_model(loaded), take(given.X, [row]), top=top)
    name = str(given.names[row])
    if path is not None:
        write(found, path, title=name)
    if as_json:
        return json.dumps({"row": row, "name": name, **found.to_dict(matches=True)}, indent=2)
    return f"{name}\n{found}"


def checked_output(out: str, force: bool) -> Path:
    """Return the path that a picture or a page goes to, or say what is wrong with it."""
    path = Path(out).expanduser()
    if path.suffix.lower() not in (*PICTURES, *PAGES):
        raise ValueError(f"--output must end in .png or .svg for a picture, or in .html for a page, got {out!r}")
    if path.exists() and not force:
        raise ValueError(f"{path} is there already, and stays as it is; give --force to replace it")
    return path


def write(explanation: Any, path: Path, title: str = "") -> None:
    """Write an explanation as a picture or a page, whole or not at all."""
    from html import escape

    from besvm._support.figures import rendered

    kind = PICTURES.get(path.suffix.lower())
    if kind is not None:
        write_bytes(path, rendered(explanation.plot(), kind))
        return
    head = (
        '<!doctype html><html lang="en"><head><meta charset="utf-8"><meta name="viewport" '
        'content="width=device-width, initial-scale=1"><link rel="icon" href="data:,">'
        f"<title>{escape(title)}</title><style>:root{{color-scheme:light dark}}body{{margin:24px}}</style></head><body>"
    )
    write_text(path, f"{head}<h1>{escape(title)}</h1>{explanation.to_html()}</body></html>\n")
