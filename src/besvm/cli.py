"""The command line: parse, call, print."""

from __future__ import annotations

from typing import Annotated

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
def similarities() -> None:
    """List the similarities that can be called by name."""
    from rich.console import Console
    from rich.table import Table

    from besvm.similarities import registered

    table = Table("name", "what it is", "symmetric", "positive definite", box=None, pad_edge=False)
    for name, cls in registered().items():
        summary = (cls.__doc__ or "").strip().split("\n")[0]
        table.add_row(name, summary, *("yes" if flag else "no" for flag in (cls.symmetric, cls.psd)))
    Console().print(table)


if __name__ == "__main__":
    app()
