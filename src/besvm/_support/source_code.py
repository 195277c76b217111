"""What source files say: which modules they import, in turn, and a short hash of anything."""

import ast
import hashlib
from collections.abc import Callable, Iterable, Iterator
from importlib.util import resolve_name


def short_hash(data: str | bytes) -> str:
    """Return a hash that is short enough for the name of a file."""
    return hashlib.sha256(data.encode() if isinstance(data, str) else data).hexdigest()[:32]


def statements(node: ast.AST) -> Iterator[ast.AST]:
    """Yield a node and every statement in it; expressions, which are many, hold neither docstrings nor imports."""
    yield node
    for block in ("body", "orelse", "handlers", "finalbody", "cases"):
        for inner in getattr(node, block, []):
            yield from statements(inner)


def imported(code: Iterable[ast.AST], package: str | None = None) -> Iterator[str]:
    """Yield the modules that code imports and the packages they are in, and what it imports from them: maybe modules.

    Relative imports start from ``package``.
    """
    for node in (inner for one in code for inner in statements(one)):
        names: list[str] = []
        if isinstance(node, ast.Import):
            names = [alias.name for alias in node.names]
        elif isinstance(node, ast.ImportFrom):
            base = resolve_name("." * node.level + (node.module or ""), package or "")
            names = [base, *(f"{base}.{alias.name}" for alias in node.names)]
        for name in names:
            parts = name.split(".")
            yield from (".".join(parts[:end]) for end in range(1, len(parts) + 1))


def followed(first: Iterable[str], read: Callable[[str], tuple[str, Iterable[str]]]) -> dict[str, str]:
    """Return what ``read`` says of the first modules and of all that they import, in turn; it says that too."""
    found: dict[str, str] = {}
    waiting = list(first)
    while waiting:
        name = waiting.pop()
        if name not in found:
            found[name], more = read(name)
            waiting += more
    return found
