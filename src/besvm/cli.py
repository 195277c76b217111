"""The command line: parse, call, print."""

import os
import sys
from typing import Annotated, Any

import typer

app = typer.Typer(
    name="besvm",
    help="Large-margin classification with any similarity measure, positive definite or not.",
    no_args_is_help=True,
    add_completion=False,
    pretty_exceptions_enable=False,
    context_settings={"help_option_names": ["-h", "--help"]},
)


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


@app.command()
def demo(
    as_json: Annotated[bool, typer.Option("--json", help="Print the table as JSON, for programs.")] = False,
) -> None:
    """Compare BE-SVM with linear and kernel SVMs on handwritten digits; no network, under a minute."""
    from besvm.demo import print_json, print_table

    if as_json:
        print_json()
    else:
        print_table()


@app.command()
def reproduce(
    names: Annotated[list[str] | None, typer.Argument(help="Experiments, like eigs or toy; by default all.")] = None,
    data: Annotated[
        str | None, typer.Option(help="Folder of CIFAR-10's binary files, or 'digits' for small offline images.")
    ] = None,
    out: Annotated[
        str, typer.Option(help="Where tables, figures and the page go: a new folder, or one of before.")
    ] = "reproduction",
    quick: Annotated[bool, typer.Option("--quick", help="A small version of everything, in minutes.")] = False,
    thorough: Annotated[bool, typer.Option("--thorough", help="Also run what is slow and of little interest.")] = False,
    plan: Annotated[bool, typer.Option("--plan", help="Show what would be run, and stop.")] = False,
    memory_limit: Annotated[str | None, typer.Option(help="Like '8 GB'; by default 70 % of what is free.")] = None,
    cache_limit: Annotated[str, typer.Option(help="How much disk the similarities may take.")] = "25 GB",
) -> None:
    """Reproduce the paper's tables and figures on CIFAR-10; continues where it was interrupted."""
    from besvm.reproduction.reproduce import reproduce as run

    options: dict[str, Any] = {"quick": quick, "thorough": thorough, "only_plan": plan, "memory_limit": memory_limit}
    try:
        run(names, data=data, out=out, cache_limit=cache_limit, **options)
    except BrokenPipeError:
        raise
    except (ValueError, OSError, MemoryError, ImportError) as error:
        typer.echo(f"besvm: {str(error) or 'there is not enough memory; lower --memory-limit'}", err=True)
        raise typer.Exit(2) from None
    except RuntimeError as error:
        typer.echo(f"besvm: {error}", err=True)
        raise typer.Exit(1) from None
    except KeyboardInterrupt:
        typer.echo("besvm: interrupted; the same command continues from here", err=True)
        raise typer.Exit(130) from None


@app.command()
def similarities(
    kind: Annotated[
        str | None, typer.Argument(help="Of one kind of data, like series or records; by default all.")
    ] = None,
    as_json: Annotated[bool, typer.Option("--json", help="Print the list as JSON, for programs.")] = False,
) -> None:
    """List the similarities that can be called by name, by the kind of data they compare."""
    import json

    from besvm.similarities.listing import listed, print_list

    try:
        typer.echo(json.dumps(listed(kind), indent=2)) if as_json else print_list(kind)
    except ValueError as error:
        typer.echo(f"besvm: {error}", err=True)
        raise typer.Exit(2) from None


@app.command()
def prune(
    model: Annotated[str, typer.Argument(help="The file of a trained model.")],
    data: Annotated[str, typer.Argument(help="The data it was trained on, to refit on: as for train.")],
    n: Annotated[
        str | None, typer.Option("-n", "--exemplars", help="How many exemplars to keep, or which share, like 0.5.")
    ] = None,
    max_loss: Annotated[
        float | None, typer.Option(help="Instead of -n: as few as lose at most this accuracy, like 0.005.")
    ] = None,
    out: Annotated[
        str | None,
        typer.Option("-o", "--out", help="The new file; by default MODEL with the number behind it."),
    ] = None,
    curve: Annotated[
        bool, typer.Option("--curve", help="Show accuracy against the number of exemplars; without -n, only that.")
    ] = False,
    random: Annotated[int, typer.Option(help="Random choices to show beside each point of the curve.")] = 0,
    label: Annotated[str | None, typer.Option(help="The column of the classes, where the data has columns.")] = None,
    force: Annotated[bool, typer.Option("--force", help="Replace a file that exists.")] = False,
    as_json: Annotated[bool, typer.Option("--json", help="Print what was done as JSON, for programs.")] = False,
) -> None:
    """Make a smaller model: keep the exemplars that are worth most, refit, and say what it costs.

    Examples: besvm prune model.besvm images/ --curve; besvm prune model.besvm images/ -n 500;
    besvm prune model.besvm table.csv --label kind --max-loss 0.005 -o small.besvm
    """
    import json

    from besvm.commands.prune import prune_file, said

    try:
        done = prune_file(
            model, data, n=n, max_loss=max_loss, out=out, curve=curve, random=random, label=label, force=force
        )
    except BrokenPipeError:
        raise
    except (ValueError, TypeError, OSError, MemoryError, ImportError) as error:
        typer.echo(f"besvm: {str(error) or 'there is not enough memory for it'}", err=True)
        raise typer.Exit(2) from None
    except KeyboardInterrupt:
        typer.echo("besvm: interrupted; nothing was saved", err=True)
        raise typer.Exit(130) from None
    typer.echo(json.dumps(done, indent=2) if as_json else said(done))


def run() -> None:
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
        _abandon_output()
        raise SystemExit(f"besvm: the output cannot be written: {error.strerror or error}") from None


def _abandon_output() -> None:
    """Send what is still to be written nowhere, so that Python does not try again when it ends."""
    nowhere = os.open(os.devnull, os.O_WRONLY)
    os.dup2(nowhere, sys.stdout.fileno())


if __name__ == "__main__":
    run()
