"""The baselines: linear SVMs and kernel SVMs with a Gaussian kernel, on one to five folds."""

from __future__ import annotations

from functools import partial
from itertools import pairwise
from time import perf_counter
from typing import TYPE_CHECKING, Any

from besvm.analysis import model_size
from besvm.baselines import KernelSVMClassifier
from besvm.classifier import LinearSVMClassifier
from besvm.experiments.base import Cell, Claim, Experiment, Row, Table, check, distinct, value, where
from besvm.experiments.lab import Lab
from besvm.similarities import RBF

if TYPE_CHECKING:
    from matplotlib.figure import Figure

LINEAR = {"H8L": 8, "H4L": 4}
KERNEL = {"K8R": 8, "K4R": 4}
FOLDS_OF_K4R = 3  # more take long, and say nothing new


def cells(lab: Lab) -> list[Cell]:
    """Return a cell for every model and number of folds."""
    found = []
    for n_folds in range(1, lab.config.n_folds + 1):
        rows = len(lab.train_rows(n_folds))
        for name in LINEAR:
            seconds = 1 + TRAIN * rows * lab.features_per_image(LINEAR[name])
            found.append(Cell({"model": name, "folds": n_folds}, partial(_linear, lab, name, n_folds), seconds))
        for name in KERNEL:
            seconds = (8 if name == "K8R" else 11) * (rows / 10_000) ** 2
            slow = name == "K4R" and n_folds > FOLDS_OF_K4R
            pair = 2 * rows // lab.n_classes
            found.append(
                Cell(
                    {"model": name, "folds": n_folds},
                    partial(_kernel, lab, name, n_folds),
                    seconds,
                    memory=2 * 8 * pair**2 + 4 * rows**2 // lab.n_classes,
                    thorough=slow,
                )
            )
    return found


TRAIN = 4e-8  # seconds for every feature of every row


def _linear(lab: Lab, name: str, n_folds: int) -> Row:
    return _measured(lab, LinearSVMClassifier(C=1.0, probability=False), LINEAR[name], n_folds)


def _kernel(lab: Lab, name: str, n_folds: int) -> Row:
    return _measured(lab, KernelSVMClassifier(RBF(gamma=1.0), C=2.0), KERNEL[name], n_folds)


def _measured(lab: Lab, model: Any, cell: int, n_folds: int) -> Row:
    features = lab.features(cell).reshape(len(lab.images), -1)
    rows = lab.train_rows(n_folds)
    X, y = features[rows], lab.labels[rows]
    start = perf_counter()
    model.fit(X, y)
    trained = perf_counter()
    accuracy = float(model.score(features[lab.test_rows], lab.labels[lab.test_rows]))
    done = perf_counter()
    size = model_size(model)
    return {
        "accuracy": accuracy,
        "exemplars": size.exemplars,
        "parameters": size.parameters,
        "train_seconds": round(trained - start, 2),
        "predict_seconds": round(done - trained, 2),
    }


def figures(table: Table) -> dict[str, Figure]:
    """Draw accuracy against the number of folds."""
    from besvm.report.figures import COLOURS, axes

    figure, ax = axes(6, 3.6)
    for colour, name in zip(COLOURS, distinct(table, "model"), strict=False):
        rows = where(table, model=name)
        ax.plot([r["folds"] for r in rows], [r["accuracy"] for r in rows], marker="o", ms=4, color=colour, label=name)
    ax.set(xlabel="folds of 10,000 training images", ylabel="test accuracy", xticks=distinct(table, "folds"))
    ax.legend()
    return {"baselines": figure}


def claims(table: Table) -> list[Claim]:
    """Check what the paper says of the baselines."""

    def accuracy(name: str, folds: int) -> float | None:
        return value(table, "accuracy", model=name, folds=folds)

    def rises(*scores: float) -> bool:
        return all(later > earlier for earlier, later in pairwise(scores))

    return [
        check(
            "The linear SVM on H8 saturates at four folds.",
            "{:.1%} on four folds, {:.1%} on five",
            lambda four, five: five - four < 0.002,
            accuracy("H8L", 4),
            accuracy("H8L", 5),
        ),
        check(
            "The kernel SVM K8R benefits from every fold.",
            "{:.1%}, {:.1%}, {:.1%}, {:.1%}, {:.1%}",
            rises,
            *(accuracy("K8R", folds) for folds in range(1, 6)),
        ),
        check(
            "So does the linear SVM on H4.",
            "{:.1%}, {:.1%}, {:.1%}, {:.1%}, {:.1%}",
            rises,
            *(accuracy("H4L", folds) for folds in range(1, 6)),
        ),
        check(
            "Linear and kernel SVMs lose when the resolution rises (one fold).",
            "linear {:.1%} to {:.1%}, kernel {:.1%} to {:.1%}",
            lambda a, b, c, d: b < a and d < c,
            *(accuracy(name, 1) for name in ("H8L", "H4L", "K8R", "K4R")),
        ),
        check(
            "Trained on all the data, the kernel SVM has about 10 x 4,000 support vectors.",
            "{:,.0f}",
            lambda n: 30_000 < n < 50_000,
            value(table, "exemplars", model="K8R", folds=5),
        ),
    ]


EXPERIMENT = Experiment(
    name="baselines",
    title="linear and kernel SVMs on one to five folds",
    paper=(
        "Linear SVMs (C = 1) and one-vs-one kernel SVMs with a Gaussian kernel (C = 2, gamma = 1): all but the "
        "linear one on H8, which saturates at four folds, benefit from more data; all lose at the higher resolution."
    ),
    cells=cells,
    figures=figures,
    claims=claims,
)
