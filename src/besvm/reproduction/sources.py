"""A hash of the code that makes a number: once that code has changed, what was kept is computed again.

Comments, line breaks and docstrings do not count. Of the file that a function is in, only the definitions that it needs
count, so that rewording a claim or redrawing a figure of an experiment does not run it again. Of other files everything
counts, and so do all files of the package that these import.
"""

import ast
from collections.abc import Iterable
from pathlib import Path
from typing import Any

from besvm._support.source_code import followed, imported, short_hash, statements

PACKAGE = "besvm"


class Sources:
    """The source files of the package, or of a copy of it, in the folder ``root``."""

    def __init__(self, root: Path) -> None:
        self.root = root
        self._read: dict[str, tuple[str, list[str]]] = {}  # of every module met: its hash, and what it imports

    def hash_of(self, *definitions: Any) -> str:
        """Return a hash of functions or classes of the package, and of all the code that they need."""
        needed = [statement for one in definitions for statement in self._needed(one.__module__, one.__qualname__)]
        modules = [f"{name} {code}" for name, code in sorted(self.modules_of(needed).items())]
        return short_hash("\n".join([*map(ast.dump, needed), *modules]))

    def modules_of(self, needed: Iterable[ast.stmt]) -> dict[str, str]:
        """Return a hash of every module of the package that these statements import, that these import, and so on."""
        return {name: code for name, code in followed(imported(needed), self._module).items() if code}

    def _module(self, name: str) -> tuple[str, list[str]]:
        path = self._path(name)
        if path is None:
            return "", []
        if name not in self._read:
            tree = _parsed(path)
            self._read[name] = short_hash(ast.dump(tree)), list(imported(tree.body))
        return self._read[name]

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
        """Return the file of a module; None if it is no module of the package.

        The outermost package is none: it holds nothing but names that are imported when asked for.
        """
        package, *parts = module.split(".")
        place = self.root.joinpath(*parts)
        several = (place.with_suffix(".py"), place / "__init__.py") if package == PACKAGE and parts else ()
        return next((path for path in several if path.is_file()), None)


def _parsed(path: Path) -> ast.Module:
    """Return a source file without its docstrings."""
    tree = ast.parse(path.read_bytes())
    for node in statements(tree):
        if isinstance(node, ast.Module | ast.ClassDef | ast.FunctionDef | ast.AsyncFunctionDef):
            node.body = [
                one for one in node.body if not (isinstance(one, ast.Expr) and isinstance(one.value, ast.Constant))
            ]
    return tree


def _names_defined(statement: ast.stmt) -> set[str]:
    if isinstance(statement, ast.FunctionDef | ast.AsyncFunctionDef | ast.ClassDef):
        return {statement.name}
    if isinstance(statement, ast.Import | ast.ImportFrom):
        return {alias.asname or alias.name.split(".")[0] for alias in statement.names}
    if isinstance(statement, ast.Assign | ast.AnnAssign | ast.AugAssign):
        targets = statement.targets if isinstance(statement, ast.Assign) else [statement.target]
        return {node.id for target in targets for node in ast.walk(target) if isinstance(node, ast.Name)}
    return set()


SOURCES = Sources(Path(__file__).parents[1])
