"""The options that commands share, as the command line shows them."""

from dataclasses import dataclass
from functools import partial
from typing import TYPE_CHECKING, Annotated

import typer

if TYPE_CHECKING:
    from besvm.commands.training import Reading, Recipe

_of_data = partial(typer.Option, rich_help_panel="Data")
_of_training = partial(typer.Option, rich_help_panel="Training")
_of_checking = partial(typer.Option, rich_help_panel="Checking")


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
        help="A folder of images (one subfolder per class), a table (.csv, .tsv, .parquet, .arff), arrays (.npz, "
        ".npy), time series (.ts, .arff, UCR's .tsv), CIFAR-10's files, or - for standard input.",
        show_default=False,
    ),
]
Model = Annotated[str, typer.Argument(help="A model file written by `besvm train`.", show_default=False)]
Out = Annotated[str, typer.Option("--out", "-o", help="The model file to write, like pets.besvm.", show_default=False)]
MaybeOut = Annotated[
    str | None, typer.Option("--out", "-o", help="Also train a model with the chosen measures, and save it here.")
]
File = Annotated[str | None, typer.Option("--out", "-o", help="The file to write. Default: standard output.")]
Force = Annotated[bool, typer.Option("--force", help="Overwrite an existing file.")]
Json = Annotated[bool, typer.Option("--json", help="Print the result as JSON.")]
Debug = Annotated[bool, typer.Option("--debug", help="Show the full traceback if something fails.")]
Jobs = Annotated[int | None, typer.Option("--jobs", "-j", help="Number of threads. Default: one per core.")]
MemoryLimit = Annotated[
    str | None, typer.Option(help="Memory that training may use, such as '4 GB'. Default: 70 % of what is free.")
]
Checkpoint = Annotated[
    str | None,
    typer.Option(help="Save progress in this folder. If training is killed, the same command resumes it."),
]
Cluster = Annotated[
    str | None,
    typer.Option(
        help="Train on a Dask cluster: its address, such as tcp://host:8786, or local:4 to start four processes here."
    ),
]
SkipUnreadable = Annotated[bool, typer.Option("--skip-unreadable", help="Skip images that cannot be read.")]
LabelsFile = Annotated[
    str | None, _of_data("--labels", help="A file with one class per line, in the order of the samples.")
]
Label = Annotated[
    str | None,
    _of_data(help="The column with the classes. Default: label, class, target or y; otherwise the last column."),
]
Columns = Annotated[
    list[str] | None,
    _of_data(
        "--column",
        help="A column to compare; repeat it for several. To state its type, write age:number (or date, category, "
        "text). Default: all columns.",
    ),
]
Kind = Annotated[
    str | None,
    _of_data(
        help="The kind of data: images, series, text, sequences, vectors, records or precomputed (similarities to "
        "exemplars). Default: guessed from the data.",
        autocompletion=_known_kinds,
    ),
]
ImageSize = Annotated[int | None, _of_data(help="Resize images to this many pixels in width and height. Default: 32.")]
Measures = Annotated[
    list[str] | None,
    _of_training(
        "--measure",
        "-m",
        help="How to compare samples: rbf, 'dtw(window=0.1)', 'edit\\[name]' (one column), 'H4(2,0)', 'H8R|mirror'. "
        "Repeat it to use several. Default: what suits the data. `besvm similarities` lists all names.",
        autocompletion=_known_measures,
    ),
]
Size = Annotated[
    str,
    _of_training(
        help="Size of the default measures for images and series: small, medium or large. Larger is slower and more "
        "accurate.",
        autocompletion=_known_sizes,
    ),
]
Basis = Annotated[
    str | None,
    _of_training(
        help="Number of exemplars per measure (300), or a share of the rows (0.5; 1.0 for all). Default: up to 1,000, "
        "or as many as the default measures set."
    ),
]
LossWeight = Annotated[
    str, _of_training("--C", help="How much training errors count: a number, or auto to choose it on held-out rows.")
]
LossNumber = Annotated[str, _of_training("--C", help="How much training errors count: a number.")]
Seed = Annotated[int, _of_training(help="Seed for all random choices.")]
Holdout = Annotated[float, _of_checking(help="Share of the rows to hold out to measure the accuracy.")]
Folds = Annotated[int | None, _of_checking("--cv", help="Cross-validate with this many folds instead.")]
NoCheck = Annotated[
    bool,
    _of_checking("--no-check", help="Do not measure the accuracy. This takes about half the time."),
]
Plan = Annotated[
    bool, typer.Option("--plan", help="Show what would be done, and how much time and memory it would take, then stop.")
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


def _as_basis(text: str | None) -> float | None:
    """Return a number of exemplars as a whole number, and a share as it is; 1 is a number, and 1.0 a share."""
    if text is None:
        return None
    try:
        basis = float(text)
    except ValueError:
        raise ValueError(
            f"--basis must be a number of exemplars, like 300, or a share of the rows, like 0.5, got {text!r}"
        ) from None
    return int(basis) if basis.is_integer() and (basis != 1 or text.strip() == "1") else basis


def _as_loss_weight(text: str) -> float | str:
    """Return C as a number, or "auto"."""
    if text == "auto":
        return text
    try:
        return float(text)
    except ValueError:
        raise ValueError(f"--C must be a positive number or auto, got {text!r}") from None
