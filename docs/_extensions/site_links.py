"""Fit the links of the repository to the site, and show the texts at its root (CONTRIBUTING.md, ...) as pages.

The pages are read on the site and in the repository. A link to a tutorial's script, or to a text at the root, leads to
its page on the site. A page with the line ``<!-- root: NAME.md -->`` shows that file instead of its own text.
"""

from __future__ import annotations

import os
import re
from pathlib import Path
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:  # so that tests need no Sphinx
    from sphinx.application import Sphinx

MARK = re.compile(r"<!-- root: (\S+) -->")
LINK = re.compile(r"(?<!!)\[((?:[^\[\]]|\[[^\[\]]*\])+)\]\(([^)\s]+)\)")
TUTORIALS = "examples/tutorials"


def pages_of(docs: Path) -> dict[str, str]:
    """Return the page that shows a file of the root, file by file."""
    marks = {page.name: MARK.search(page.read_text()) for page in sorted(docs.glob("*.md"))}
    return {mark[1]: name for name, mark in marks.items() if mark}


def turned(text: str, folder: Path, docs: Path) -> str:
    """Return a text that lies in ``folder`` with its links as the site has them, seen from docs/."""
    root, pages = docs.parent, pages_of(docs)

    def link(found: re.Match[str]) -> str:
        shown, target = found.groups()
        path, _, anchor = target.partition("#")
        if not path or ":" in path:
            return found[0]
        name = os.path.relpath(folder / path, root).replace(os.sep, "/")
        if name.startswith(TUTORIALS):
            page = name.removeprefix(TUTORIALS).strip("/").removesuffix(".py") or "index"
            to = f"tutorials/{page}.rst"
        elif name in pages:
            to = pages[name]
        elif name.startswith("docs/") and (root / name).is_file():
            to = name.removeprefix("docs/")
        else:
            return f"{shown} (`{name}`)" if name not in shown else shown
        return f"[{shown}]({to}{'#' + anchor if anchor else ''})"

    return LINK.sub(link, text)


def read(app: Sphinx, docname: str, source: list[str]) -> None:
    """Give Sphinx the text of a page as the site has it."""
    docs, path = Path(app.srcdir), app.env.doc2path(docname)
    if path.suffix != ".md" or path.parent != docs:
        return
    mark = MARK.search(source[0])
    if mark and (docs.parent / mark[1]).is_file():  # else what the page itself says
        app.env.note_dependency(str(docs.parent / mark[1]), docname=docname)
        source[0] = turned((docs.parent / mark[1]).read_text(), docs.parent, docs)
    else:
        source[0] = turned(source[0], docs, docs)


def setup(app: Sphinx) -> dict[str, Any]:
    """Read all pages through `read`."""
    app.connect("source-read", read)
    return {"parallel_read_safe": True, "parallel_write_safe": True}
