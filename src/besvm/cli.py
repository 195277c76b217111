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
def explain(
    model: Annotated[str, typer.Argument(help="A model file, as `besvm train` or besvm.save wrote it.")],
    data: Annotated[str, typer.Argument(help="The file or folder that the sample is in.")],
    row: Annotated[str, typer.Option(help="The sample's name, or its number, from 1 on; -1 is the last.")] = "1",
    top: Annotated[int, typer.Option(help="How many exemplars to list.", min=1)] = 10,
    out: Annotated[
        str | None, typer.Option("--out", "-o", help="A picture (.png, .svg) or a page (.html) to write as well.")
    ] = None,
    force: Annotated[bool, typer.Option("--force", help="Replace the picture if it is there already.")] = False,
    as_json: Annotated[bool, typer.Option("--json", help="Print the explanation as JSON, for programs.")] = False,
) -> None:
    """Say which exemplars pulled the decision for a sample to which class, and how they match.

    \b
    besvm explain pets.besvm photos --row cats/7.png -o why.png
    besvm explain gun.besvm GunPoint_TEST.ts --row 12 --json
    """
    import json

    from besvm.commands import explain as it

    try:
        plain, text = it.explain(model, data, row, top=top, out=out, force=force)
        typer.echo(json.dumps(plain, indent=2) if as_json else text)
    except BrokenPipeError:
        raise
    except (ValueError, TypeError, OSError, MemoryError, ImportError) as error:
        typer.echo(f"besvm: {str(error) or 'there is not enough memory'}", err=True)
        raise typer.Exit(2) from None


@app.command()
def report(
    model: Annotated[str, typer.Argument(help="A model file, as `besvm train` or besvm.save wrote it.")],
    data: Annotated[str, typer.Argument(help="Samples with their classes, to try it on.")],
    out: Annotated[str, typer.Option("--out", "-o", help="The page to write.")] = "report.html",
    training: Annotated[
        str | None, typer.Option(help="What the model was trained on, to show its exemplars as they were.")
    ] = None,
    label: Annotated[str | None, typer.Option(help="The column that holds the classes.")] = None,
    samples: Annotated[
        int | None, typer.Option(help="How many samples to list; by default all, up to 10,000.", min=1)
    ] = None,
    title: Annotated[str | None, typer.Option(help="What the page is called.")] = None,
    force: Annotated[bool, typer.Option("--force", help="Replace the page if it is there already.")] = False,
) -> None:
    """Write a page about a model: how well it does, where it errs, and which exemplars decide.

    One HTML file that needs no network. Example: besvm report pets.besvm new-pets/ -o pets.html --training pets/
    """
    from besvm.commands.report import report as run

    options: dict[str, Any] = {"training": training, "label": label, "samples": samples, "title": title}
    try:
        typer.echo(run(model, data, out=out, force=force, **options))
    except BrokenPipeError:
        raise
    except (ValueError, TypeError, OSError, MemoryError, ImportError) as error:
        typer.echo(f"besvm: {str(error) or 'there is not enough memory'}", err=True)
        raise typer.Exit(2) from None
    except KeyboardInterrupt:
        typer.echo("besvm: interrupted; nothing was written", err=True)
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
