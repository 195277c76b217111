"""Show of the sidebar's tree what a reader needs: the sections, and the branch that the page is on.

The whole tree, with every public name, would be half of every page, and of the time that it takes to build it.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from sphinx.application import Sphinx


def collapse(app: Sphinx, page: str, template: str, context: dict[str, Any], doctree: Any) -> None:
    """Let the theme, which asks for the whole tree, have the branch alone."""
    whole = context.get("toctree")
    if whole is not None:
        context["toctree"] = lambda **options: whole(**(options | {"collapse": True}))


def setup(app: Sphinx) -> dict[str, Any]:
    """Do so before the theme does its work."""
    app.connect("html-page-context", collapse, priority=100)
    return {"parallel_read_safe": True, "parallel_write_safe": True}
