"""A hash of the code that makes a number: once that code has changed, what was kept is computed again.

Comments, line breaks and docstrings do not count. Of the file that a function is in, only the definitions that it needs
count, so that rewording a claim or redrawing a figure of an experiment does not run it again. Of other files everything
counts, and so do all files of the package that these import.
"""

import ast
import hashlib
from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import Any

PACKAGE = "besvm"


class Sources:
    """The source files of the package, or of a copy of it, in the folder ``root``."""

    def __init__(self, root: Path) -> None:
        self.root = root
        self._read: dict[str, tuple[str, set[str]]] = {}  # of every module met: its hash, and what it imports

    def hash_of(self, *definitions: Any) -> str:
        """Return a hash of functions or classes of the package, and of all the code that they need."""
        needed = [statement for one in definitions for statement in self._needed(one.__module__, one.__qualname__)]
        modules = [f"{name} {self._read[name][0]}" for name in sorted(self.modules_of(needed))]
        return _hash("\n".join([*map(ast.dump, needed), *modules]))

    def modules_of(self, statements: Iterable[ast.stmt]) -> set[str]:
        """Return the modules of the package that these statements import, those that these import, and so on."""
        found: set[str] = set()
        waiting = set(_imported(statements))
        while waiting:
            name = waiting.pop()
            path = self._path(name)
            if name not in found and path is not None:
                found.add(name)
                if name not in self._read:
                    tree = _parsed(path)
                    self._read[name] = _hash(ast.dump(tree)), set(_imported(tree.body))
                waiting |= self._read[name][1]
        return found

    def _needed(self, module: str, name: str) -> list[ast.stmt]:
        """Return the statements of a module that define a name and the names that these mention, in their order."""
        path = self._path(module)
        defined_by = {} if path is None else {one: _names_defined(one) for one in _parsed(path).body}
        if not any(name in defined for defined in defined_by.values()):
            raise ValueError(f"the code must be a top-level definition in {self.root}, got {module}.{name}")
        needed: set[ast.stmt] = set()
        # a statement that defines nothing does something: it always counts
        waiting = [statement for statement, defined in defined_by.items() if name in defined or not defined]
        while waiting:
            statement = waiting.pop()
            if statement not in needed:
                needed.add(statement)
                mentioned = {node.id for node in ast.walk(statement) if isinstance(node, ast.Name)}
                waiting += [other for other, defined in defined_by.items() if mentioned & defined]
        return [statement for statement in defined_by if statement in needed]

    def _path(self, module: str) -> Path | None:
        """Return the file of a module; None if it is no module of the package."""
        package, *parts = module.split(".")
        place = self.root.joinpath(*parts)
        several = (place.with_suffix(".py"), place / "__init__.py") if package == PACKAGE else ()
        return next((path for path in several if path.is_file()), None)


def _parsed(path: Path) -> ast.Module:
    """Return a source file without its docstrings."""
    tree = ast.parse(path.read_text())
    for node in _statements(tree):
        if isinstance(node, ast.Module | ast.ClassDef | ast.FunctionDef | ast.AsyncFunctionDef):
            node.body = [
                one for one in node.body if not (isinstance(one, ast.Expr) and isinstance(one.value, ast.Constant))
            ]
    return tree


def _statements(node: ast.AST) -> Iterator[ast.AST]:
    """Yield a node and every statement in it; expressions, which are many, hold neither docstrings nor imports."""
    yield node
    for block in ("body", "orelse", "handlers", "finalbody", "cases"):
        for inner in getattr(node, block, []):
            yield from _statements(inner)


def _names_defined(statement: ast.stmt) -> set[str]:
    if isinstance(statement, ast.FunctionDef | ast.AsyncFunctionDef | ast.ClassDef):
        return {statement.name}
    if isinstance(statement, ast.Import | ast.ImportFrom):
        return {alias.asname or alias.name.split(".")[0] for alias in statement.names}
    if isinstance(statement, ast.Assign | ast.AnnAssign | ast.AugAssign):
        targets = statement.targets if isinstance(statement, ast.Assign) else [statement.target]
        return {node.id for target in targets for node in ast.walk(target) if isinstance(node, ast.Name)}
    return set()


def _imported(statements: Iterable[ast.stmt]) -> Iterator[str]:
    """Yield what may be a module that these statements import, and the packages it is in.

    The outermost package is left out: it holds nothing but names that are imported when asked for.
    """
    for node in (node for statement in statements for node in _statements(statement)):
        names: list[str] = []
        if isinstance(node, ast.Import):
            names = [alias.name for alias in node.names]
        elif isinstance(node, ast.ImportFrom) and node.module:
            names = [node.module, *(f"{node.module}.{alias.name}" for alias in node.names)]
        for name in names:
            parts = name.split(".")
            yield from (".".join(parts[:end]) for end in range(2, len(parts)))
            yield name


def _hash(text: str) -> str:
    return hashlib.sha256(text.encode()).hexdigest()[:16]


SOURCES = Sources(Path(__file__).parents[1])
