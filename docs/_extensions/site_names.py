"""The public names, module by module, and the pages of the reference that list them.

The pages, and those that autosummary writes for every name, are made anew by every build and are not in the repository.
"""

from __future__ import annotations

import inspect
import re
from collections.abc import Iterable
from importlib import import_module
from pathlib import Path
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:  # so that tests need no Sphinx
    from sphinx.application import Sphinx
    from sphinx.config import Config

MODULES: dict[str, list[str] | None] = {  # None: all that the module itself declares, and "besvm" does not
    "besvm": None,
    "besvm.similarities": None,
    "besvm.basis": None,
    "besvm.normalize": ["MeanNorm", "ZScore", "Unscaled", "Normalization"],
    "besvm.features": None,
    "besvm.measures": ["mirrored", "parse_shorthand"],
    "besvm.recipes": ["images", "series"],
    "besvm.selection": None,
    "besvm.pruning": ["pruning_curve", "PruningCurve"],
    "besvm.explanations": None,
    "besvm.files": None,
    "besvm.inputs": ["read", "stream", "as_trained", "Data", "Stream"],
    "besvm.sources": None,
    "besvm.datasets": None,
    "besvm.baselines": None,
    "besvm.analysis": None,
    "besvm.report": ["write_page"],
    "besvm.testing": ["check_similarity"],
}
FIRST = {"besvm": ["BESVMClassifier", "BasisExpansion", "LinearSVMClassifier", "Measure"]}
KINDS = (
    *("vectors", "images", "series", "text", "sequences", "sets", "graphs", "distributions", "records", "anything"),
    "the contract, names and results",
)
FOLDER = "reference/modules"
EQUATION = re.compile(r"equations? \d+(?: and \d+)?(?: of the paper)?")
PAGE = re.compile(r"\bdocs/([\w-]+)\.md")
OF_SIMILARITIES = {"alignment", "path", "plot"}  # methods to show beside those of the contract
INNER = {"fit_blocks", "get_params", "set_params", "cells", "column_of", "of_column"}  # not to be shown


def names_of(module: str) -> list[str]:
    """Return the public names of a module, the most important ones first."""
    names = MODULES[module]
    if names is None:
        shown = () if module == "besvm" else import_module("besvm").__all__
        names = [name for name in import_module(module).__all__ if name not in shown]
    first = FIRST.get(module, [])
    return [*first, *(name for name in names if name not in first)]


def pages() -> dict[str, str]:
    """Return the text of the page of every module, by the name of its file."""
    return {f"{module}.rst": page(module) for module in MODULES}


def page(module: str) -> str:
    """Return the page of a module: what it is for, and its names with their first sentences."""
    about = (inspect.getdoc(import_module(module)) or "").split("\n\n")[0].replace("\n", " ")
    lines = [
        f".. py:module:: {module}",
        "",
        module,
        "=" * len(module),
        "",
        about,
        "",
        f".. currentmodule:: {module}",
        "",
    ]
    groups = by_kind(module) if module == "besvm.similarities" else {"": names_of(module)}
    groups = {kind: [name for name in names if f"{module}.{name}" not in MODULES] for kind, names in groups.items()}
    for kind, names in groups.items():
        if kind:
            title = kind[0].upper() + kind[1:]
            lines += [title, "-" * len(title), ""]
        lines += [".. autosummary::", "   :toctree: ../names", "   :nosignatures:", ""]
        lines += [f"   {name}" for name in names] + [""]
    return "\n".join(lines)


def by_kind(module: str) -> dict[str, list[str]]:
    """Return the names of the similarities by the kind of data that they compare."""
    from besvm.similarities import Similarity

    groups: dict[str, list[str]] = {kind: [] for kind in KINDS}
    for name in names_of(module):
        thing = getattr(import_module(module), name)
        measures = inspect.isclass(thing) and issubclass(thing, Similarity) and thing is not Similarity
        groups[thing.kind if measures else KINDS[-1]].append(name)
    return {kind: sorted(names, key=str.lower) for kind, names in groups.items() if names}


def methods_of(full_name: str) -> list[str]:
    """Return the methods to show of a class: those that besvm itself has written and documented, in order."""
    found: dict[str, None] = {}
    for owner in _thing(full_name).__mro__:
        if owner.__module__.split(".")[0] == "besvm":
            found |= dict.fromkeys(name for name, value in vars(owner).items() if _is_shown(name, value))
    return [name for name in found if not is_similarity(full_name) or name in OF_SIMILARITIES]


def _is_shown(name: str, value: Any) -> bool:
    """Tell whether a member is a documented method that is not private; of the special ones, only ``__call__``."""
    function = getattr(value, "__func__", getattr(value, "fn", value))  # also of one that is there on a condition
    wanted = (not name.startswith("_") or name == "__call__") and name not in INNER
    return wanted and inspect.isfunction(function) and bool(function.__doc__)


def inherited_of(full_name: str) -> list[str]:
    """Return the methods that a class has from scikit-learn alone."""
    cls = _thing(full_name)
    own = set(methods_of(full_name))
    found = set()
    for owner in cls.__mro__:
        if owner.__module__.split(".")[0] == "sklearn":
            found |= {name for name, value in vars(owner).items() if not name.startswith("_") and callable(value)}
    return sorted(name for name in found - own if hasattr(cls, name))


def shown_of() -> dict[str, dict[str, Any]]:
    """Return what the templates show of every public class; plain values, which Sphinx compares with the last build."""
    names = [f"{module}.{name}" for module in MODULES for name in names_of(module)]
    return {
        name: {"methods": methods_of(name), "inherited": inherited_of(name), "similarity": is_similarity(name)}
        for name in names
        if inspect.isclass(_thing(name))
    }


def is_similarity(full_name: str) -> bool:
    """Tell whether a name is a similarity, which keeps the contract."""
    from besvm.similarities import Similarity

    cls = _thing(full_name)
    return issubclass(cls, Similarity) and cls is not Similarity


def _thing(full_name: str) -> Any:
    module, _, name = full_name.rpartition(".")
    return getattr(import_module(module), name)


def write_if_new(path: Path, text: str) -> None:
    """Write a file unless it has this text already, so that nothing is built anew without need."""
    if not path.exists() or path.read_text() != text:
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text)


def remove_others(folder: Path, kept: Iterable[str]) -> None:
    """Remove the pages of names that there are no longer."""
    for path in set(folder.glob("*.rst")) - {folder / name for name in kept}:
        path.unlink()


def write(app: Sphinx, config: Config) -> None:
    """Write the pages where Sphinx will find them, and let the templates ask what a class has."""
    reference = Path(app.srcdir) / FOLDER
    found = pages()
    remove_others(reference, found)
    remove_others(reference.parent / "names", [f"{m}.{name}.rst" for m in MODULES for name in names_of(m)])
    for name, text in found.items():
        write_if_new(reference / name, text)
    config.autosummary_context = {"shown_of": shown_of()}


def linked(line: str) -> str:
    """Return a line of a docstring in which equations of the paper, and pages that it names, are links.

    Examples
    --------
    >>> linked("by equation 4, see docs/scale.md")
    'by :doc:`equation 4 </ideas>`, see :doc:`/scale`'
    """
    return PAGE.sub(r":doc:`/\1`", EQUATION.sub(r":doc:`\g<0> </ideas>`", line))


def link(app: Sphinx, what: str, name: str, thing: Any, options: Any, lines: list[str]) -> None:
    """Put links into a docstring."""
    lines[:] = map(linked, lines)


def setup(app: Sphinx) -> dict[str, Any]:
    """Write the pages before the sources are listed."""
    app.connect("config-inited", write)
    app.connect("autodoc-process-docstring", link)
    return {"parallel_read_safe": True, "parallel_write_safe": True}
