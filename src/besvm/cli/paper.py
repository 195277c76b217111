"""The commands about besvm itself: the demonstration, the reproduction of the paper, the list of similarities."""

import json
from typing import Annotated

import typer

from besvm.cli import options as o
from besvm.cli.program import command


@command()
def demo(as_json: o.Json = False) -> None:
    """Compare BE-SVM with linear and kernel SVMs on handwritten digits. Takes a few seconds and needs no network."""
    from besvm.demo import print_json, print_table

    if as_json:
        print_json()
    else:
        print_table()


@command(interrupted="interrupted; run the same command again to continue")
def reproduce(
    names: Annotated[
        list[str] | None, typer.Argument(help="Experiments to run, such as eigs or toy. Default: all.")
    ] = None,
    data: Annotated[
        str | None,
        typer.Option(
            help="The folder with CIFAR-10's binary files, or 'digits' to try it on small images without a download."
        ),
    ] = None,
    out: Annotated[
        str, typer.Option(help="The folder for tables, figures and the page: a new one, or one of an earlier run.")
    ] = "reproduction",
    quick: Annotated[bool, typer.Option("--quick", help="Run a small version of everything, in minutes.")] = False,
    thorough: Annotated[bool, typer.Option("--thorough", help="Also run slow parts that few people need.")] = False,
    plan: Annotated[bool, typer.Option("--plan", help="Show what would be run, then stop.")] = False,
    memory_limit: o.MemoryLimit = None,
    cache_limit: Annotated[str, typer.Option(help="Disk space that saved similarities may use.")] = "25 GB",
) -> None:
    """Reproduce the paper's tables and figures on CIFAR-10. If interrupted, run it again to continue."""
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
    kind: Annotated[str | None, typer.Argument(help="A kind of data, such as series or records. Default: all.")] = None,
    as_json: o.Json = False,
) -> None:
    """List all similarities that have a name, grouped by the kind of data they compare."""
    from besvm.similarities.listing import listed, print_list

    if as_json:
        typer.echo(json.dumps(listed(kind), indent=2))
    else:
        print_list(kind)
