"""The options that commands share, as the command line shows them."""

from dataclasses import dataclass
from functools import partial
from typing import TYPE_CHECKING, Annotated

import typer

if TYPE_CHECKING:
    from besvm.commands.training import Reading, Recipe

_of_data = partial(typer.Option, rich_help_panel="What the data are")
_of_training = partial(typer.Option, rich_help_panel="What is trained")
_of_checking = partial(typer.Option, rich_help_panel="How it is checked")


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
Checkpoint = Annotated[
    str | None,
    typer.Option(help="A folder that keeps what is finished: the same command goes on after a kill."),
]
Cluster = Annotated[
    str | None,
    typer.Option(help="Train on a Dask cluster: its address, like tcp://host:8786, or local:4 for four processes."),
]
SkipUnreadable = Annotated[bool, typer.Option("--skip-unreadable", help="Leave out images that cannot be read.")]
LabelsFile = Annotated[str | None, _of_data("--labels", help="A file with a class on every line.")]
Label = Annotated[
    str | None,
    _of_data(help="The column that holds the classes; by default label, class, target or y, or else the last one."),
]
Columns = Annotated[
    list[str] | None,
    _of_data(
        "--column",
        help="A column to compare, maybe with what it holds (age:number, also date, category, text); by default all.",
    ),
]
Kind = Annotated[
    str | None,
    _of_data(
        help="images, series, text, sequences, vectors, records or precomputed (similarities to exemplars); by "
        "default, what it looks like.",
        autocompletion=_known_kinds,
    ),
]
ImageSize = Annotated[int | None, _of_data(help="Pixels that images are made wide and high; by default 32.")]
Measures = Annotated[
    list[str] | None,
    _of_training(
        "--measure",
        "-m",
        help="How samples are compared: rbf, 'dtw(window=0.1)', 'edit\\[name]' (of a column), 'H4(2,0)', 'H8R|mirror'; "
        "several side by side if repeated. By default, what suits the data. `besvm similarities` lists the names.",
        autocompletion=_known_measures,
    ),
]
Size = Annotated[
    str,
    _of_training(
        help="Of the usual measures of images and series: small, medium or large.", autocompletion=_known_sizes
    ),
]
Basis = Annotated[
    float | None,
    _of_training(
        help="How many exemplars a measure has, or which share of the rows (below 1); by default up to 1,000."
    ),
]
LossWeight = Annotated[str, _of_training("--C", help="Weight of the loss: a number, or auto to pick it.")]
Seed = Annotated[int, _of_training(help="Of all random choices.")]
Holdout = Annotated[float, _of_checking(help="The share of rows that the accuracy is measured on.")]
Folds = Annotated[int | None, _of_checking("--cv", help="Cross-validate with so many folds instead.")]
NoCheck = Annotated[
    bool, _of_checking("--no-check", help="Only train, in half of the time: the accuracy is not known then.")
]
Plan = Annotated[
    bool, typer.Option("--plan", help="Say what would be done, how long and in how much memory, and stop.")
]


@dataclass(frozen=True)
class ReadingOptions:
    """What a user says of the data to train on."""

    label: Label = None
    column: Columns = None
    kind: Kind = None
    image_size: ImageSize = None
    labels: LabelsFile = None
    skip_unreadable: SkipUnreadable = False

    def reading(self) -> "Reading":
        """Return it as the commands take it."""
        from besvm.commands.training import Reading

        return Reading(self.label, self.column, self.kind, self.image_size, self.labels, self.skip_unreadable)


@dataclass(frozen=True)
class RecipeOptions:
    """What is trained, however measures are found."""

    measure: Measures = None
    basis: Basis = None
    seed: Seed = 0
    jobs: Jobs = None
    memory_limit: MemoryLimit = None

    def recipe(self, loss_weight: str, size: str = "small") -> "Recipe":
        """Return it as the commands take it."""
        from besvm.commands.training import Recipe

        basis, C = _as_basis(self.basis), _as_loss_weight(loss_weight)
        return Recipe(self.measure or [], size, basis, C, self.seed, self.jobs, self.memory_limit)


def _as_basis(basis: float | None) -> float | None:
    """Return a number of exemplars as a whole number, and a share as it is."""
    return int(basis) if basis is not None and basis >= 1 and basis == int(basis) else basis


def _as_loss_weight(text: str) -> float | str:
    """Return C as a number, or "auto"."""
    if text == "auto":
        return text
    try:
        return float(text)
    except ValueError:
        raise ValueError(f"--C must be a positive number or auto, got {text!r}") from None
