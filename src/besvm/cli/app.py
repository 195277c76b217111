"""The program: how a function becomes a command, and how the whole is run."""

import json
import os
import sys
from collections.abc import Callable
from functools import wraps
from inspect import Parameter, signature
from typing import Annotated, Any, TypeVar

import typer

from besvm._support.progress import printable
from besvm.cli import options as o
from besvm.commands.errors import EXPECTED, INTERRUPTED, exit_code, is_of_output, sentence, warnings_as_lines
from besvm.commands.interrupts import heard, listen

app = typer.Typer(
    name="besvm",
    help="Large-margin classification with any similarity measure, positive definite or not.",
    no_args_is_help=True,
    pretty_exceptions_enable=False,
    rich_markup_mode="rich",
    context_settings={"help_option_names": ["-h", "--help"]},
)
STOPPED = "interrupted; nothing was written"

Command = TypeVar("Command", bound=Callable[..., None])


def command(interrupted: str = STOPPED) -> Callable[[Command], Command]:
    """Enter a function as a command: with --debug, and with one sentence and an exit code for whatever goes wrong."""

    def enter(function: Command) -> Command:
        @wraps(function)
        def guarded(*args: Any, debug: bool = False, **kwargs: Any) -> None:
            try:
                with warnings_as_lines():
                    function(*args, **kwargs)
            except typer.Exit:  # a RuntimeError, to Python
                raise
            except KeyboardInterrupt:
                heard()
                typer.echo(f"besvm: {interrupted}", err=True)
                raise typer.Exit(INTERRUPTED) from None
            except EXPECTED as error:
                if debug or is_of_output(error):
                    raise
                typer.echo(f"besvm: {sentence(error)}", err=True)
                raise typer.Exit(exit_code(error)) from None

        own = signature(function)
        added = Parameter("debug", Parameter.KEYWORD_ONLY, default=False, annotation=o.Debug)
        guarded.__signature__ = own.replace(parameters=[*own.parameters.values(), added])  # type: ignore[attr-defined]
        guarded.__annotations__ = {**function.__annotations__, "debug": o.Debug}
        app.command()(guarded)
        return function

    return enter


def show(as_json: bool, plain: Any, text: str) -> None:
    """Print a result, for programs or for people."""
    typer.echo(json.dumps(plain, indent=2, ensure_ascii=False) if as_json else printable(text))


def _version(wanted: bool) -> None:
    if wanted:
        from besvm import __version__

        typer.echo(f"besvm {__version__}")
        raise typer.Exit


@app.callback()
def main(
    version: Annotated[
        bool, typer.Option("--version", help="Show the version and leave.", callback=_version, is_eager=True)
    ] = False,
) -> None:
    """Large-margin classification with any similarity measure, positive definite or not."""


def run() -> None:
    """Run the command; what cannot be shown is replaced, nobody reading is no error, and a full device is one."""
    for name in ("stdout", "stderr"):
        stream = getattr(sys, name) or open(os.devnull, "w")  # noqa: SIM115  (None if it was closed)
        stream.reconfigure(errors="replace")
        setattr(sys, name, stream)
    listen()
    try:
        try:
            app()
        finally:
            sys.stdout.flush()  # here, and not when Python has ended and can only complain
    except BrokenPipeError:
        _abandon_output()
        raise SystemExit(1) from None
    except KeyboardInterrupt:
        raise SystemExit(INTERRUPTED) from None
    except OSError as error:
        if not is_of_output(error):
            raise
        _abandon_output()
        raise SystemExit(f"besvm: the output cannot be written: {error.strerror or error}") from None


def _abandon_output() -> None:
    """Send what is still to be written nowhere, so that Python does not try again when it ends."""
    nowhere = os.open(os.devnull, os.O_WRONLY)
    os.dup2(nowhere, sys.stdout.fileno())
