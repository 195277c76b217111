"""Linear and kernel SVMs on one to five folds.

Linear SVMs (C = 1) and one-vs-one kernel SVMs with a Gaussian kernel (C = 2, gamma = 1): all but the linear one on
H8, which saturates at four folds, benefit from more data; all lose at the higher resolution.
"""

from functools import partial
from itertools import pairwise
from math import isnan

from besvm._support.figures import SERIES, Figures, axes, curve
from besvm.analysis import model_size
from besvm.reproduction.cells import Cell, Cells, Claims, Costs, check, distinct, value, where
from besvm.reproduction.config import Config
from besvm.reproduction.lab import Lab, Row, Table
from besvm.reproduction.models import plain_svm, trained

CELLS = {"H8L": 8, "H4L": 4, "K8R": 8, "K4R": 4}
FOLDS_OF_K4R = 3  # more take long and add nothing new


def cells(config: Config, lab: Lab, costs: Costs) -> Cells:
    """Yield a cell for every model and number of folds."""
    for n_folds in range(1, config.n_folds + 1):
        rows = len(lab.train_rows(n_folds))
        for name, cell in CELLS.items():
            width = lab.features_per_image(cell)
            seconds, memory = costs.fixed(1) + costs.train(rows, width), 2 * 4 * rows * width
            if name.startswith("K"):
                seconds, memory = costs.kernel(rows, cell), costs.kernel_memory(rows)
            key, compute = {"model": name, "folds": n_folds}, partial(_measured, lab, name, n_folds)
            yield Cell(key, compute, seconds, memory, thorough=name == "K4R" and n_folds > FOLDS_OF_K4R)


def _measured(lab: Lab, name: str, n_folds: int) -> Row:
    model = plain_svm(lab, kernel=name.startswith("K"))
    row = trained(lab, model, lab.flat_features(CELLS[name]), lab.train_rows(n_folds))
    return row | {"parameters": model_size(model).parameters}


def figures(config: Config, table: Table) -> Figures:
    """Draw accuracy against the number of folds."""
    figure, ax = axes(6, 3.6)
    for name in distinct(table, "model"):
        curve(ax, where(table, model=name), "folds", "accuracy", ms=4, color=SERIES[name], label=name)
    xlabel = f"folds of {config.rows_per_fold:,} training images"
    ax.set(xlabel=xlabel, ylabel="test accuracy", xticks=sorted(distinct(table, "folds")))
    ax.legend()
    yield "baselines", figure


def claims(config: Config, table: Table) -> Claims:
    """Check what the paper says of the baselines."""

    def accuracy(name: str, n_folds: int) -> float:
        return value(table, "accuracy", model=name, folds=n_folds)

    one, every = (value(table, "exemplars", model="K8R", folds=n) for n in (1, config.n_folds))
    yield check(
        "The linear SVM on H8 saturates at four folds.",
        "four folds are better than three, and five gain less than 0.2 % more",
        "{:.1%} on three folds, {:.1%} on four, {:.1%} on five",
        lambda three, four, five: four > three and five - four < 0.002,
        [accuracy("H8L", n) for n in (3, 4, 5)],
    )
    kinds = {"K8R": "kernel SVM K8R", "K4R": "kernel SVM K4R", "H4L": "linear SVM on H4"}
    for name, kind in kinds.items():
        last = FOLDS_OF_K4R if name == "K4R" and isnan(accuracy(name, config.n_folds)) else config.n_folds
        yield check(
            f"The {kind} benefits from every fold{'' if last == config.n_folds else f' (of the first {last})'}.",
            "the accuracy rises with every fold",
            ", ".join(["{:.1%}"] * last),
            lambda *scores: all(later > earlier for earlier, later in pairwise(scores)),
            [accuracy(name, n) for n in range(1, last + 1)],
        )
    yield check(
        "Linear and kernel SVMs lose when the resolution rises (one fold).",
        "both are less accurate with cells of 4 pixels than with cells of 8",
        "linear {:.1%} to {:.1%}, kernel {:.1%} to {:.1%}",
        lambda a, b, c, d: b < a and d < c,
        [accuracy(name, 1) for name in ("H8L", "H4L", "K8R", "K4R")],
    )
    yield check(
        "Trained on all the data, the kernel SVM has about 10 x 4,000 support vectors.",
        "there are 30,000 to 50,000",
        "{:,.0f}",
        lambda n: 30_000 < n < 50_000,
        [every],
    )
    yield check(
        "The number of support vectors grows about linearly with the training data.",
        f"{config.n_folds} times the data make {0.8 * config.n_folds:.0f} to {config.n_folds} times as many (K8R)",
        "{:.1f} times as many",
        lambda times: 0.8 * config.n_folds <= times <= config.n_folds,
        [every / one],
    )


NOTE = (
    "The features are centered and scaled by the statistics of the first fold, also for more folds. Linear SVMs "
    "are trained by our own solver, kernel SVMs by LIBSVM, pair by pair."
)
CAPTIONS = {"baselines": "Test accuracy of linear SVMs (H8L, H4L) and kernel SVMs (K8R, K4R) with growing data."}
