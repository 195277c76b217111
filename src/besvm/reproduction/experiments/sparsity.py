"""Accuracy against model size (figure params/support).

With 10 x 250 bases and three or more measures of M2, BE-SVM passes the kernel SVM trained on everything, which keeps
about 10 x 4,000 support vectors. For the same accuracy it is roughly 8 times sparser in parameters and 30 times in
exemplars.
"""

import math
from itertools import pairwise

import numpy as np

from besvm._support.figures import SERIES, Figures, axes, curve
from besvm.reproduction.cells import Claim, Claims, check, distinct, value, where
from besvm.reproduction.config import M1, M2, Config
from besvm.reproduction.experiments.multiple import LINES, accuracy, parameters_unshared
from besvm.reproduction.lab import Table


def figures(config: Config, table: Table, baselines: Table, multiple: Table) -> Figures:
    """Draw both panels."""
    figure, both = axes(11, 4.6, columns=2, sharey=True)
    for ax, column in zip(both, ("parameters", "exemplars"), strict=True):
        for name in distinct(baselines, "model"):
            rows = where(baselines, model=name)
            if column == "parameters" or name.startswith("K"):
                label = f"{name} (1 to {rows[-1]['folds']} folds)"
                curve(ax, rows, column, "accuracy", "s--", ms=4, color=SERIES[name], label=label)
        for label, (name, count) in LINES.items():
            rows = where(multiple, set=name, measures=count, folds=config.n_folds)
            curve(ax, rows, column, "accuracy", ms=4, color=SERIES[label], label=f"BE-SVM, {label}")
        ax.set(xscale="log", xlabel={"exemplars": "supporting exemplars"}.get(column, column))
    both[0].set_ylabel("test accuracy")
    figure.legend(*both[0].get_legend_handles_labels(), loc="outside right center", fontsize=8)
    yield "params_support", figure


def sparser(target: dict[str, float], ours: Table, column: str) -> float:
    """Return how many times fewer of something our curve needs for the accuracy of ``target``; 0: it never reaches it.

    Between two sizes of the basis, the accuracy is taken to be linear in the logarithm of the size.
    """
    points = sorted((math.log(row[column]), row["accuracy"]) for row in ours)
    if points[0][1] >= target["accuracy"]:
        return float(target[column] / math.exp(points[0][0]))
    for (x0, y0), (x1, y1) in pairwise(points):
        if y0 < target["accuracy"] <= y1:
            x = x0 + (x1 - x0) * (target["accuracy"] - y0) / (y1 - y0)
            return float(target[column] / math.exp(x))
    return 0.0


def sparsest(kernel: Table, multiple: Table, column: str, config: Config) -> tuple[float, str, int] | None:
    """Return the largest such number over all sets of measures and all points of the kernel SVM, and which these are.

    Points that a curve reaches with its smallest basis say nothing of how small it could have been.
    """
    found = []
    for label, (name, count) in LINES.items():
        ours = where(multiple, set=name, measures=count, folds=config.n_folds)
        for target in kernel if len(ours) == len(config.sizes) else []:
            if min(row["accuracy"] for row in ours) < target["accuracy"] <= max(row["accuracy"] for row in ours):
                found.append((sparser(target, ours, column), label, target["folds"]))
    return max(found, default=None)


def lead(kernel: Table, ours: Table, column: str) -> float:
    """Return our smallest lead in accuracy over the kernel SVM at equal size, where the two curves overlap.

    Beyond its largest size our curve is taken to stay where it is.
    """
    sizes, accuracies = zip(*sorted((math.log(row[column]), row["accuracy"]) for row in ours), strict=True)
    points = [(math.log(row[column]), row["accuracy"]) for row in kernel]
    return min((float(np.interp(x, sizes, accuracies)) - y for x, y in points if x >= sizes[0]), default=math.nan)


def claims(config: Config, table: Table, baselines: Table, multiple: Table) -> Claims:
    """Check what the paper concludes from the figure."""
    folds, largest, middle = config.n_folds, config.sizes[-1], config.sizes[-2]
    kernel = where(baselines, model="K8R")
    every_fold = len(kernel) == folds
    target = next(iter(where(kernel, folds=folds)), None)
    ours = where(multiple, set="M2", measures=len(M2), folds=folds)
    whole = len(ours) == len(config.sizes)
    best = [max(ours, key=lambda row: row["accuracy"])] if whole else []
    K8R, K8R_size = (value(kernel, column, folds=folds) for column in ("accuracy", "exemplars"))

    def equal(column: str, what: str, paper: int, least: float) -> Claim:
        """Check how many times sparser BE-SVM is at the kernel SVM's accuracy."""
        curves = [ours]
        words = "{:.1f} times (M2, at the accuracy of K8R on all the data)"
        if column == "parameters":
            curves.append([row | {column: parameters_unshared(row)} for row in ours])
            words += "; {:.1f} times if no representation is shared"
        values = [sparser(target, one, column) if whole and target else math.nan for one in curves]
        if values[0] == 0:
            words = f"M2 never reaches K8R's {K8R:.1%}"
        if (most := sparsest(kernel, multiple, column, config)) is not None:
            words += f"; at most {most[0]:.1f} times ({most[1]}, at the accuracy of K8R on {most[2]} folds)"
        return check(
            f"At equal accuracy, BE-SVM has roughly {paper} times fewer {what} than the kernel SVM.",
            f"M2 has at least {least:.0f} times fewer at the accuracy of K8R on all the data",
            words,
            lambda times, *_: times >= least,
            values,
        )

    on_less = [value(kernel, "accuracy", folds=n) for n in range(1, folds)]
    on_less += [row["accuracy"] for row in where(baselines, model="K4R") if row["folds"] < folds]
    leads = [lead(kernel, ours, column) if whole and every_fold else math.nan for column in ("parameters", "exemplars")]
    yield check(
        "BE-SVM can be made more than 5 times sparser and be more accurate than the kernel SVM with RBF kernels.",
        "M2 at its best is more accurate than K8R on all the data, with less than a fifth of the exemplars",
        "{:.1%} with {:,.0f} exemplars; K8R {:.1%} with {:,.0f} support vectors",
        lambda a, n, b, m: a > b and m > 5 * n,
        [value(best, "accuracy"), value(best, "exemplars"), K8R, K8R_size],
    )
    yield check(
        f"With B = 10 x {middle} and three or more measures of M2, BE-SVM beats the kernel SVM on all the data.",
        "three measures and four are both more accurate than K8R",
        "three {:.1%}, four {:.1%}; K8R {:.1%}",
        lambda three, all_four, b: three > b and all_four > b,
        [*(accuracy(multiple, "M2", count, middle, folds) for count in (3, 4)), K8R],
    )
    yield check(
        f"With the low-resolution set M1, B = 10 x {largest} beats kernel SVMs on up to {folds - 1} folds.",
        f"M1 is more accurate than K8R and K4R on up to {folds - 1} folds, as far as K4R was run",
        f"M1 {{:.1%}}; the best kernel SVM on up to {folds - 1} folds {{:.1%}}",
        lambda a, b: a > b,
        [accuracy(multiple, "M1", len(M1), largest, folds), np.max(on_less)],
    )
    yield equal("parameters", "parameters", paper=8, least=6)
    yield equal("exemplars", "supporting exemplars", paper=30, least=22)
    yield check(
        "At equal size, BE-SVM (M2) is more accurate than the kernel SVM (K8R).",
        "the smallest lead is above 0, by parameters and by exemplars",
        "smallest lead {:.1%} by parameters, {:.1%} by exemplars",
        lambda *both: min(both) > 0,
        leads,
    )


USES = ("baselines", "multiple")
NOTE = "Drawn from the tables of the baselines and of several measures; nothing is run for it."
CAPTIONS = {
    "params_support": "Test accuracy against parameters and supporting exemplars. Kernel SVMs: one point for every "
    "number of folds; BE-SVM on all folds: one for every size of the basis."
}
