"""Figure "params/support": accuracy against parameters and against supporting exemplars, BE-SVM and kernel SVM."""

from __future__ import annotations

import math
from itertools import pairwise
from typing import TYPE_CHECKING

from besvm.experiments.base import Claim, Experiment, Table, check, distinct, value, where
from besvm.experiments.config import M1, M2
from besvm.experiments.multiple import accuracy

if TYPE_CHECKING:
    from matplotlib.figure import Figure


def figures(table: Table, baselines: Table, multiple: Table) -> dict[str, Figure]:
    """Draw both panels."""
    from besvm.report.figures import COLOURS, axes

    if not baselines or not multiple:
        return {}
    folds = max(row["folds"] for row in multiple)
    figure, both = axes(11, 4.6, columns=2, sharey=True)
    for ax, column in zip(both, ("parameters", "exemplars"), strict=True):
        colours = iter(COLOURS)
        for name in distinct(baselines, "model"):
            rows = where(baselines, model=name)
            if column == "exemplars" and name.endswith("L"):
                next(colours)
                continue
            label = f"{name} (1 to {rows[-1]['folds']} folds)"
            ax.plot(*_curve(rows, column), "s--", ms=4, color=next(colours), label=label)
        for name, counts in (("M1", range(1, len(M1) + 1)), ("M2", range(2, len(M2) + 1))):
            for count in counts:
                rows = where(multiple, set="M2" if count == 1 else name, measures=count, folds=folds)
                label = "H8R" if count == 1 else f"{name}, first {count}"
                ax.plot(*_curve(rows, column), "o-", ms=4, color=next(colours), label=f"BE-SVM, {label}")
        ax.set(xscale="log", xlabel={"exemplars": "supporting exemplars"}.get(column, column))
    both[0].set_ylabel("test accuracy")
    both[0].legend(fontsize=7.5)
    return {"params_support": figure}


def _curve(rows: Table, column: str) -> tuple[list[float], list[float]]:
    return [row[column] for row in rows], [row["accuracy"] for row in rows]


def sparser(kernel: Table, ours: Table, column: str) -> float | None:
    """Return how many times fewer of something BE-SVM needs for the kernel SVM's best accuracy.

    Between two sizes of the basis, the accuracy is taken to be linear in the logarithm of the size.
    """
    if not kernel or not ours:
        return None
    target = max(kernel, key=lambda row: row["accuracy"])
    curve = sorted((math.log(row[column]), row["accuracy"]) for row in ours)
    for (x0, y0), (x1, y1) in pairwise(curve):
        if y0 < target["accuracy"] <= y1:
            x = x0 + (x1 - x0) * (target["accuracy"] - y0) / (y1 - y0)
            return float(target[column] / math.exp(x))
    return float(target[column] / math.exp(curve[0][0])) if curve[0][1] >= target["accuracy"] else None


def claims(table: Table, baselines: Table, multiple: Table) -> list[Claim]:
    """Check what the paper concludes from the figure."""
    folds = max((row["folds"] for row in multiple), default=0)
    sizes = sorted({row["per_class"] for row in multiple})
    K8R = where(baselines, model="K8R")
    kernel = value(baselines, "accuracy", model="K8R", folds=folds)
    support = value(baselines, "exemplars", model="K8R", folds=folds)
    four = value(baselines, "accuracy", model="K8R", folds=max(1, folds - 1))
    ours = where(multiple, set="M2", measures=len(M2), folds=folds)
    best = max(ours, key=lambda row: row["accuracy"], default={})
    middle = sizes[-2] if len(sizes) > 1 else 0
    return [
        check(
            "BE-SVM can be made more than 5 times sparser and be more accurate than the kernel SVM with RBF kernels.",
            "{:.1%} with {:,.0f} exemplars; K8R {:.1%} with {:,.0f} support vectors",
            lambda a, n, b, m: a > b and m > 5 * n,
            best.get("accuracy"),
            best.get("exemplars"),
            kernel,
            support,
        ),
        check(
            f"With B = 10 x {middle} and three or more measures of M2, BE-SVM beats the kernel SVM on all the data.",
            "three {:.1%}, four {:.1%}; K8R {:.1%}",
            lambda three, all_four, b: three > b and all_four > b,
            accuracy(multiple, "M2", 3, middle, folds),
            accuracy(multiple, "M2", 4, middle, folds),
            kernel,
        ),
        check(
            f"With the low-resolution set M1, B = 10 x {max(sizes, default=0)} beats kernel SVMs on up to four folds.",
            "M1 {:.1%}; K8R on {:.0f} folds {:.1%}",
            lambda a, n, b: a > b,
            accuracy(multiple, "M1", 3, sizes[-1], folds) if sizes else None,
            float(max(1, folds - 1)),
            four,
        ),
        check(
            "At equal accuracy, BE-SVM has roughly 8 times fewer parameters than the kernel SVM.",
            "{:.1f} times (M2, at the accuracy of K8R on all the data)",
            lambda times: times >= 6,
            sparser(K8R, ours, "parameters"),
        ),
        check(
            "At equal accuracy, BE-SVM has roughly 30 times fewer supporting exemplars.",
            "{:.1f} times (M2, at the accuracy of K8R on all the data)",
            lambda times: times >= 22,
            sparser(K8R, ours, "exemplars"),
        ),
    ]


EXPERIMENT = Experiment(
    name="sparsity",
    title="accuracy against model size (figure params/support)",
    paper=(
        "With 10 x 250 bases and three or more measures of M2, BE-SVM passes the kernel SVM trained on everything, "
        "which keeps about 10 x 4,000 support vectors. For the same accuracy it is roughly 8 times sparser in "
        "parameters and 30 times in exemplars."
    ),
    cells=lambda lab: [],
    figures=figures,
    claims=claims,
    uses=("baselines", "multiple"),
)
