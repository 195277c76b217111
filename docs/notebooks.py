"""Make notebooks of tutorials: python docs/notebooks.py [NAME ...] writes examples/notebooks/NAME.ipynb.

A notebook has the cells of a script in sphinx-gallery's form: the docstring and the comments below ``# %%`` become
Markdown, what is between them code. It is run in an empty folder, and what it printed and drew is kept in it.
"""

from __future__ import annotations

import ast
import base64
import io
import os
import re
import sys
import tempfile
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import nbformat
from nbclient import NotebookClient
from PIL import Image

EXAMPLES = Path(__file__).parent.parent / "examples"
TUTORIALS, NOTEBOOKS = EXAMPLES / "tutorials", EXAMPLES / "notebooks"
NAMES = ("first_steps", "time_series", "save_explain_prune", "your_own_similarity")
SECONDS = 300  # that a cell may take
METADATA = {
    "kernelspec": {"display_name": "Python 3", "language": "python", "name": "python3"},
    "language_info": {"name": "python"},
}
BOXES = {
    "note": "Note",
    "tip": "Tip",
    "hint": "Hint",
    "warning": "Warning",
    "important": "Important",
    "seealso": "See also",
}


def scripts() -> list[Path]:
    """Return the tutorials that are notebooks as well."""
    return [path for name in NAMES if (path := TUTORIALS / f"{name}.py").exists()]


def blocks(source: str) -> Iterator[tuple[str, str]]:
    """Yield the parts of a tutorial in their order: ("markdown", text in RST) or ("code", code)."""
    tree = ast.parse(source)
    yield "markdown", ast.get_docstring(tree) or ""
    rest = source.splitlines()[tree.body[0].end_lineno :]
    code: list[str] = []
    while rest:
        line = rest.pop(0)
        if not line.startswith("# %%"):
            code.append(line)
            continue
        yield "code", "\n".join(code).strip()
        code, text = [], [line.removeprefix("# %%").strip()]
        while rest and rest[0].startswith("#"):
            text.append(rest.pop(0).removeprefix("#").removeprefix(" "))
        yield "markdown", "\n".join(text).strip()
    yield "code", "\n".join(code).strip()


def markdown(rst: str) -> str:
    """Return RST as Markdown: what tutorials use of it, and an error for what is not known here."""
    out: list[str] = []
    lines = rst.splitlines()
    while lines:
        line = lines.pop(0)
        directive = re.fullmatch(r"\.\. ([\w-]+)::\s*(.*)", line)
        if directive:
            out += _directive(*directive.groups(), _indented(lines))
        elif line.startswith(".. "):
            raise ValueError(f"a notebook has no form for {line!r}")
        elif line.strip() and lines and re.fullmatch(r"([=\-~^])\1{2,}", lines[0]):
            out.append(f"{'#' if lines.pop(0)[0] == '=' else '##'} {_inline(line)}")
        else:
            paragraph = [line]
            while line.strip() and not line.endswith("::") and lines and lines[0].strip():
                line = lines.pop(0)
                paragraph.append(line)
            text = _inline("\n".join(paragraph))  # whole, as marks may go over the end of a line
            out += [text.removesuffix(":"), "", *_fenced("", _indented(lines))] if line.endswith("::") else [text]
    return re.sub(r"\n{3,}", "\n\n", "\n".join(out)).strip()


def _directive(name: str, argument: str, body: list[str]) -> list[str]:
    if name in ("code-block", "code"):
        return _fenced(argument, body)
    if name == "math":
        return ["$$", *([argument] if argument else []), *body, "$$", ""]
    if name in BOXES:
        text = markdown("\n".join([argument, *body]).strip()).splitlines()
        return [f"> **{BOXES[name]}.** {text[0]}", *(f"> {line}".rstrip() for line in text[1:]), ""]
    raise ValueError(f"a notebook has no form for the directive {name!r}")


def _fenced(language: str, body: list[str]) -> list[str]:
    return [f"```{language}", *body, "```", ""]


def _indented(lines: list[str]) -> list[str]:
    """Take the lines that belong to what came before, by their indentation, and return them without it."""
    taken = []
    while lines and (not lines[0].strip() or lines[0].startswith("  ")):
        taken.append(lines.pop(0))
    text = "\n".join(taken).strip("\n").splitlines()
    margin = min((len(line) - len(line.lstrip()) for line in text if line.strip()), default=0)
    return [line[margin:] for line in text]


def _inline(text: str) -> str:
    """Return a text with its marks as in Markdown; what is code stays as it is."""
    pieces = re.split(r"(``.+?``)", text, flags=re.S)
    for place, piece in enumerate(pieces):
        if place % 2:
            pieces[place] = piece[1:-1]
            continue
        piece = re.sub(r":math:`([^`]+)`", r"$\1$", piece)
        piece = re.sub(r":[\w:-]+:`([^`<]+?)\s*<[^`>]+>`", r"\1", piece)  # a text that leads somewhere on the site
        piece = re.sub(r":[\w:-]+:`~?(?:[\w.]+\.)?([^`]+)`", r"`\1`", piece)
        pieces[place] = re.sub(r"`([^`<]+?)\s*<([^`>]+)>`__?", r"[\1](\2)", piece)
    return "".join(pieces)


def notebook(script: Path) -> Any:
    """Return the notebook of a tutorial, not run yet."""
    cells: list[Any] = []
    for kind, source in blocks(script.read_text()):
        if not source:
            continue
        made = (
            nbformat.v4.new_markdown_cell(markdown(source)) if kind == "markdown" else nbformat.v4.new_code_cell(source)
        )
        made["id"] = f"cell-{len(cells)}"
        cells.append(made)
    origin = f"\n\n*Made from `examples/tutorials/{script.name}` by `make notebooks`.*"
    cells[0]["source"] += origin
    return nbformat.v4.new_notebook(cells=cells, metadata=METADATA)


def run(book: Any) -> Any:
    """Run a notebook in an empty folder, with its outputs kept in it; an error in a cell is raised."""
    kept = {name: os.environ.pop(name, None) for name in ("MPLBACKEND",)}  # pictures go into the notebook
    try:
        with tempfile.TemporaryDirectory() as folder:
            client = NotebookClient(
                book,
                timeout=SECONDS,
                kernel_name="python3",
                resources={"metadata": {"path": folder}},
                record_timing=False,
                coalesce_streams=True,
            )
            client.execute()
    finally:
        os.environ |= {name: value for name, value in kept.items() if value is not None}
    book["metadata"] = METADATA
    for output in (output for cell in book["cells"] for output in cell.get("outputs", [])):
        if "image/png" in output.get("data", {}):
            output["data"]["image/png"] = _smaller(output["data"]["image/png"])
    return book


def _smaller(picture: str) -> str:
    """Return a PNG, in base 64, with a palette of 128 colors, which is plenty for a diagram and takes a third."""
    out = io.BytesIO()
    image = Image.open(io.BytesIO(base64.b64decode(picture))).convert("RGB")
    image.quantize(128, dither=Image.Dither.NONE).save(out, "PNG", optimize=True)
    return min(picture, base64.b64encode(out.getvalue()).decode(), key=len)


def main(names: list[str]) -> None:
    NOTEBOOKS.mkdir(exist_ok=True)
    for script in scripts():
        if names and script.stem not in names:
            continue
        path = NOTEBOOKS / f"{script.stem}.ipynb"
        nbformat.write(run(notebook(script)), path)
        print(f"wrote {path.relative_to(EXAMPLES.parent)}, {path.stat().st_size / 1000:.0f} kB")


if __name__ == "__main__":
    main(sys.argv[1:])
