"""The commands about besvm itself: the demonstration, the reproduction of the paper, the list of similarities."""

import json
from typing import Annotated

import typer

from besvm.cli import options as o
from besvm.cli.program import command


@command()
def demo(as_json: o.Json = False) -> None:
    """Compare BE-SVM with linear and kernel SVMs on handwritten digits; no network, under a minute."""
    from besvm.demo import print_json, print_table

    if as_json:
        print_json()
    else:
        print_table()


@command(interrupted="interrupted; the same command continues from here")
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
    memory_limit: o.MemoryLimit = None,
    cache_limit: Annotated[str, typer.Option(help="How much disk the similarities may take.")] = "25 GB",
) -> None:
    """Reproduce the paper's tables and figures on CIFAR-10; continues where it was interrupted."""
    from besvm.reproduction.reproduce import reproduce as run

    run(
        names,
        data=data,
        out=out,
        quick=quick,
        thorough=thorough,
        only_plan=plan,
        memory_limit=memory_limit,
        cache_limit=cache_limit,
    )


@command()
def similarities(
    kind: Annotated[
        str | None, typer.Argument(help="Of one kind of data, like series or records; by default all.")
    ] = None,
    as_json: o.Json = False,
) -> None:
    """List the similarities that can be called by name, by the kind of data they compare."""
    from besvm.similarities.listing import listed, print_list

    if as_json:
        typer.echo(json.dumps(listed(kind), indent=2))
    else:
        print_list(kind)
