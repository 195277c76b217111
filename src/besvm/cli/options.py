"""The options that commands share, as the command line shows them."""

from typing import Annotated

import typer

READING, TRAINING, CHECKING = "What the data are", "What is trained", "How it is checked"


def _known_measures() -> list[str]:
    from besvm.similarities import registered

    return list(registered())


def _known_kinds() -> list[str]:
    from besvm.inputs import KINDS

    return list(KINDS)


def _known_sizes() -> list[str]:
    return ["small", "medium", "large"]


Data = Annotated[
    str,
    typer.Argument(
        help="A folder of images (a folder for each class), a table (.csv, .tsv, .parquet, .arff), arrays (.npz, "
        ".npy), time series (.ts, .arff, UCR's .tsv), CIFAR-10's files, or - for standard input.",
        show_default=False,
    ),
]
Model = Annotated[str, typer.Argument(help="A model file that `besvm train` has written.", show_default=False)]
Out = Annotated[str, typer.Option("--out", "-o", help="The model file to write, like pets.besvm.", show_default=False)]
MaybeOut = Annotated[str | None, typer.Option("--out", "-o", help="Also train with the chosen measures, and save.")]
File = Annotated[str | None, typer.Option("--out", "-o", help="The file to write; by default, standard output.")]
Force = Annotated[bool, typer.Option("--force", help="Replace a file that is there already.")]
Json = Annotated[bool, typer.Option("--json", help="Print the result as JSON, for programs.")]
Debug = Annotated[bool, typer.Option("--debug", help="Show the whole traceback of an error.")]
Jobs = Annotated[int | None, typer.Option("--jobs", "-j", help="Threads; by default, as many as there are cores.")]
MemoryLimit = Annotated[str | None, typer.Option(help="Like '4 GB'; by default 70 % of what is free.")]
SkipUnreadable = Annotated[bool, typer.Option("--skip-unreadable", help="Leave out images that cannot be read.")]
LabelsFile = Annotated[
    str | None, typer.Option("--labels", help="A file with a class on every line.", rich_help_panel=READING)
]
Label = Annotated[
    str | None,
    typer.Option(
        help="The column that holds the classes; by default label, class, target or y, or else the last one.",
        rich_help_panel=READING,
    ),
]
Columns = Annotated[
    list[str] | None,
    typer.Option(
        "--column",
        help="A column to compare, maybe with what it holds (age:number, also date, category, text); by default all.",
        rich_help_panel=READING,
    ),
]
Kind = Annotated[
    str | None,
    typer.Option(
        help="images, series, text, sequences, vectors, records or precomputed (similarities to exemplars); by "
        "default, what it looks like.",
        autocompletion=_known_kinds,
        rich_help_panel=READING,
    ),
]
ImageSize = Annotated[
    int | None,
    typer.Option(help="Pixels that images are made wide and high; by default 32.", rich_help_panel=READING),
]
Measures = Annotated[
    list[str] | None,
    typer.Option(
        "--measure",
        "-m",
        help="How samples are compared: rbf, 'dtw(window=0.1)', 'edit\\[name]' (of a column), 'H4(2,0)', 'H8R|mirror'; "
        "several side by side if repeated. By default, what suits the data. `besvm similarities` lists the names.",
        autocompletion=_known_measures,
        rich_help_panel=TRAINING,
    ),
]
Size = Annotated[
    str,
    typer.Option(
        help="Of the usual measures of images and series: small, medium or large.",
        autocompletion=_known_sizes,
        rich_help_panel=TRAINING,
    ),
]
Basis = Annotated[
    float | None,
    typer.Option(
        help="How many exemplars a measure has, or which share of the rows (below 1); by default up to 1,000.",
        rich_help_panel=TRAINING,
    ),
]
LossWeight = Annotated[
    str, typer.Option("--C", help="Weight of the loss: a number, or auto to pick it.", rich_help_panel=TRAINING)
]
Seed = Annotated[int, typer.Option(help="Of all random choices.", rich_help_panel=TRAINING)]
Holdout = Annotated[
    float, typer.Option(help="The share of rows that the accuracy is measured on.", rich_help_panel=CHECKING)
]
Folds = Annotated[
    int | None, typer.Option("--cv", help="Cross-validate with so many folds instead.", rich_help_panel=CHECKING)
]
NoCheck = Annotated[
    bool,
    typer.Option(
        "--no-check", help="Only train, in half of the time: the accuracy is not known then.", rich_help_panel=CHECKING
    ),
]
Plan = Annotated[
    bool, typer.Option("--plan", help="Say what would be done, how long and in how much memory, and stop.")
]


def as_basis(basis: float | None) -> float | None:
    """Return a number of exemplars as a whole number, and a share as it is."""
    return int(basis) if basis is not None and basis >= 1 and basis == int(basis) else basis


def as_loss_weight(text: str) -> float | str:
    """Return C as a number, or "auto"."""
    if text == "auto":
        return text
    try:
        return float(text)
    except ValueError:
        raise ValueError(f"--C must be a positive number or auto, got {text!r}") from None
