"""The program: how a function becomes a command, and how the whole is run."""

import json
import os
import sys
from collections.abc import Callable
from dataclasses import fields, is_dataclass
from functools import wraps
from inspect import Parameter, signature
from typing import Annotated, Any, TypeVar, get_args

import typer

from besvm._support.progress import printable
from besvm.cli import options as o
from besvm.commands import interrupts
from besvm.commands.errors import EXPECTED, exit_code, is_of_output, sentence, warnings_as_lines
from besvm.commands.interrupts import INTERRUPTED, NOTHING_DONE

app = typer.Typer(
    name="besvm",
    help="Large-margin classification with any similarity measure, positive definite or not.",
    no_args_is_help=True,
    pretty_exceptions_enable=False,
    rich_markup_mode="rich",
    context_settings={"help_option_names": ["-h", "--help"]},
)

Command = TypeVar("Command", bound=Callable[..., None])


def command(interrupted: str = NOTHING_DONE) -> Callable[[Command], Command]:
    """Enter a function as a command: with --debug, and with one sentence and an exit code for whatever goes wrong.

    A parameter whose type is a dataclass stands for its fields: each of them is an option.
    """

    def enter(function: Command) -> Command:
        own = signature(function).parameters.values()
        groups: dict[str, Any] = {one.name: one.annotation for one in own if is_dataclass(one.annotation)}

        @wraps(function)
        def guarded(debug: bool, **given: Any) -> None:
            for name, group in groups.items():
                given[name] = group(**{field.name: given.pop(field.name) for field in fields(group)})
            try:
                interrupts.begin()
                with warnings_as_lines():
                    function(**given)
                interrupts.check()
            except typer.Exit:  # a RuntimeError, to Python
                raise
            except (KeyboardInterrupt, Exception) as error:
                if isinstance(error, KeyboardInterrupt) or interrupts.came():
                    interrupts.heard()
                    typer.echo(f"besvm: {interrupted}", err=True)
                    raise typer.Exit(INTERRUPTED) from None
                if debug or not isinstance(error, EXPECTED) or is_of_output(error):
                    raise
                typer.echo(f"besvm: {sentence(error)}", err=True)
                raise typer.Exit(exit_code(error)) from None
            finally:
                interrupts.heard()

        options = [option for one in own for option in _options(one)]
        options.append(Parameter("debug", Parameter.KEYWORD_ONLY, default=False, annotation=o.Debug))
        for option in options:
            _hide_type_of_flag(option.annotation)
        guarded.__signature__ = signature(function).replace(parameters=options)  # type: ignore[attr-defined]
        guarded.__annotations__ = {option.name: option.annotation for option in options}
        app.command()(guarded)
        return function

    return enter


def _options(parameter: Parameter) -> list[Parameter]:
    """Return the options that a parameter of a command stands for: itself, or the fields of its dataclass."""
    if not is_dataclass(parameter.annotation):
        return [parameter.replace(kind=Parameter.KEYWORD_ONLY)]
    return [
        Parameter(field.name, Parameter.KEYWORD_ONLY, default=field.default, annotation=field.type)
        for field in fields(parameter.annotation)
    ]


def _hide_type_of_flag(annotation: Any) -> None:
    """Keep the help from showing that a flag takes a value: it does not."""
    kind, *about = get_args(annotation)
    if kind is bool:
        for one in about:
            one.metavar = ""


def show(as_json: bool, plain: Any, text: str) -> None:
    """Print a result, for programs or for people, unless it was interrupted."""
    interrupts.check()
    typer.echo(json.dumps(plain, indent=2, ensure_ascii=False) if as_json else printable(text))


def _version(wanted: bool) -> None:
    if wanted:
        from besvm import __version__

        typer.echo(f"besvm {__version__}")
        raise typer.Exit


@app.callback()
def _besvm(
    version: Annotated[
        bool,
        typer.Option("--version", help="Show the version and exit.", callback=_version, is_eager=True, metavar=""),
    ] = False,
) -> None:
    """Large-margin classification with any similarity measure, positive definite or not."""


def main() -> None:
    """Run the command; what cannot be shown is replaced, nobody reading is no error, and a full device is one."""
    for name in ("stdout", "stderr"):
        stream = getattr(sys, name) or open(os.devnull, "w")  # noqa: SIM115  (None if it was closed)
        stream.reconfigure(errors="replace")
        setattr(sys, name, stream)
    try:
        try:
            app()
        finally:
            sys.stdout.flush()  # here, and not when Python has ended and can only complain
    except BrokenPipeError:
        _abandon_output()
        raise SystemExit(1) from None
    except OSError as error:
        if not is_of_output(error):
            raise
        _abandon_output()
        raise SystemExit(f"besvm: the output cannot be written: {error.strerror or error}") from None


def _abandon_output() -> None:
    """Send what is still to be written nowhere, so that Python does not try again when it ends."""
    nowhere = os.open(os.devnull, os.O_WRONLY)
    os.dup2(nowhere, sys.stdout.fileno())
