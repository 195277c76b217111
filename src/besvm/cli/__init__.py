"""The command line: parse, call, print. What a command does is in ``besvm.commands``."""

from types import ModuleType
from typing import TYPE_CHECKING, Any

from besvm.commands import interrupts

if TYPE_CHECKING:
    from besvm.cli.program import app

__all__ = ["app", "run"]


def run() -> None:
    """Run the program. Ctrl-C is taken care of first, since typer and the commands take a while to import."""
    interrupts.take()
    try:
        _program().main()
    finally:
        interrupts.done()


def __getattr__(name: str) -> Any:
    if name == "app":
        return _program().app
    raise AttributeError(f"module 'besvm.cli' has no attribute {name!r}")


def _program() -> ModuleType:
    """Return the program with all its commands."""
    from besvm.cli import models, paper, program  # noqa: F401  (functions of the first two become commands)

    return program
