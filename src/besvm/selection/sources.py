"""Which source files code is made of: its own, and those of the user's modules that it imports."""

from __future__ import annotations

import ast
import hashlib
import sys
import sysconfig
from collections.abc import Iterator
from functools import cache
from importlib.metadata import packages_distributions, version
from importlib.util import resolve_name
from pathlib import Path
from time import time
from typing import Any

import besvm

LOADED = time()  # a file that was edited later may not say what this process runs
BESVM = Path(besvm.__file__).parent


class UnknownSourceError(Exception):
    """It cannot be known whether something is what it was in an earlier run; the message says why."""


def besvm_sources(*rooms: str) -> list[str]:
    """Return what besvm's own code in these rooms counts by: its files, and the versions of what it computes with."""
    files = sorted(file for room in rooms for file in BESVM.glob(room if room.endswith(".py") else f"{room}/**/*.py"))
    used = [f"{name} {version(name)}" for name in ("numpy", "scipy", "scikit-learn", "numba")]
    return [besvm.__version__, *used, *(_hash(_read(str(file))) for file in files)]


@cache
def sources(file: str | None, package: str | None) -> tuple[tuple[str, str], ...]:
    """Return what the code in a file counts by, for itself ("") and every module that it imports, in turn.

    The user's own files count by their bytes. What came with Python, besvm or an installed package counts by the
    version of that, and its imports are not followed. ``package`` is what relative imports start from. What was found
    is remembered until ``sources.cache_clear()``.
    """
    if file is None:
        raise UnknownSourceError("its code has no source file")
    found: dict[str, str] = {}
    todo: list[tuple[str, str | None, str | None]] = [("", file, package)]
    while todo:
        name, file, package = todo.pop()
        if name in found:
            continue
        found[name] = "not there" if file is None else _installed(file)
        if file is not None and not found[name]:
            code = _read(file)
            found[name] = _hash(code)
            todo += [(imported, *place_of(imported)) for imported in _imports(code, file, package)]
    return tuple(sorted(found.items()))


def place_of(name: str) -> tuple[str | None, str | None]:
    """Return the file of a module and the package it is in; nothing is imported for it."""
    module = sys.modules.get(name)
    if module is not None:
        built_in = "built-in" if name in sys.builtin_module_names else None
        return getattr(module, "__file__", built_in), module.__package__
    spec = _find(name)
    return (None, None) if spec is None else (spec.origin, spec.parent)


def _find(name: str) -> Any:
    """Find a module as ``importlib.util.find_spec`` does, but without importing the packages it is in."""
    parent = name.rpartition(".")[0]
    above = sys.modules[parent].__spec__ if parent in sys.modules else _find(parent) if parent else None
    path = getattr(above, "submodule_search_locations", None)
    if parent and path is None:
        return None
    return next(filter(None, (finder.find_spec(name, path) for finder in sys.meta_path)), None)


@cache
def _installed(file: str) -> str:
    """Return which version of what a file came with; nothing for the user's own."""
    path = Path(file)
    if path.is_relative_to(BESVM):
        return "besvm"  # whose files count in any case
    for place in {"site-packages", "dist-packages"}.intersection(path.parts):
        top = path.parts[path.parts.index(place) + 1].partition(".")[0]
        return ", ".join(sorted({f"{name} {version(name)}" for name in _distributions().get(top, ())}))
    within = any(path.is_relative_to(sysconfig.get_path(name)) for name in ("stdlib", "platstdlib"))
    return f"Python {sys.version}" if within or file == "built-in" or file.startswith("<frozen ") else ""


_distributions = cache(packages_distributions)


def _read(file: str) -> bytes:
    path = Path(file)
    if not path.is_file():
        raise UnknownSourceError(f"its code has no source file, only {file}")
    if path.stat().st_mtime > LOADED:
        raise UnknownSourceError(f"{path.name} was edited while the program was running")
    return path.read_bytes()


def _hash(code: bytes) -> str:
    return hashlib.sha1(code, usedforsecurity=False).hexdigest()


def _imports(code: bytes, file: str, package: str | None) -> Iterator[str]:
    """Yield the names of the modules that a file imports, and of what else it imports, which may be modules."""
    try:
        tree = ast.parse(code)
    except (SyntaxError, ValueError):  # an extension module, say
        raise UnknownSourceError(f"{Path(file).name} is not written in Python") from None
    for node in ast.walk(tree):
        if isinstance(node, ast.Import):
            for alias in node.names:
                parts = alias.name.split(".")
                yield from (".".join(parts[:n]) for n in range(1, len(parts) + 1))
        elif isinstance(node, ast.ImportFrom):
            base = resolve_name("." * node.level + (node.module or ""), package or "")
            yield base
            yield from (f"{base}.{alias.name}" for alias in node.names)
