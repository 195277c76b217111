"""Two RBF kernels in the plane (figure besvm_ksvm_2D).

With two Gaussian kernels, gamma 10 and 100, and C = 10, averaged over 20 levels of noise: the exact dual of BE-SVM
tends to have fewer support vectors than the kernel SVM, and it is biased by the numbers of bases of the two classes.
"""

from functools import partial
from itertools import product
from math import isnan, nan
from time import perf_counter
from typing import Any

import numpy as np
from scipy.spatial import cKDTree
from sklearn.base import clone
from sklearn.model_selection import StratifiedKFold

from besvm._support.figures import COLORS, Figures, axes, curve
from besvm.baselines import DualBESVMClassifier, KernelSVMClassifier
from besvm.basis import RandomBasis
from besvm.classifier import BESVMClassifier
from besvm.datasets import make_toy
from besvm.reproduction.cells import Cell, Cells, Claims, Costs, check, value, where
from besvm.reproduction.config import Config
from besvm.reproduction.lab import Lab, Row, Rows, Table
from besvm.similarities import RBF

METHODS = KERNEL, DUAL, PRIMAL = "kernel SVM", "BE-SVM, dual", "BE-SVM, primal, 10 % bases"
GRID = 81  # points in each direction of the picture
SEED = 0
NEAR = 0.16  # half the distance between the spirals
IMBALANCE = 4.0  # points of the larger class for every one of the smaller
PRIOR_TRIALS = 5


def classifier(method: str, n_training: int) -> Any:
    """Return one of the three classifiers of the figure."""
    kernels = [RBF(gamma=10.0), RBF(gamma=100.0)]
    if method == KERNEL:
        return KernelSVMClassifier(kernels, C=10.0)
    if method == DUAL:
        return DualBESVMClassifier(kernels, C=10.0)
    basis = RandomBasis(max(2, n_training // 10), balanced=False)
    return BESVMClassifier(kernels, basis=basis, C=10.0, probability=False, random_state=SEED)


def exemplars(model: Any) -> Any:
    """Return the rows of the support vectors, or of the exemplars where there are no support vectors."""
    return model.basis_rows_[0] if isinstance(model, BESVMClassifier) else model.support_


def cells(config: Config, lab: Lab, costs: Costs) -> Cells:
    """Yield a cell for every level of noise and every classifier, and one for every panel of the picture."""
    points = config.toy_points
    scale = (points / 200) ** 2
    memory = 3 * 8 * (points + GRID**2) * points
    for level, method in product(range(1, config.toy_levels + 1), METHODS):
        key = {"part": "noise", "level": level, "method": method}
        yield Cell(key, partial(_cross_validated, method, level, points), 0.6 * scale, memory)
    for method in METHODS:
        key = {"part": "panel", "method": method}
        yield Cell(key, partial(_panel, method, points), 0.3 * scale, memory)
    for method in (KERNEL, DUAL):
        key = {"part": "room", "method": method, "imbalance": IMBALANCE}
        yield Cell(key, partial(_minority_share, method, points), 0.3 * PRIOR_TRIALS * scale, memory)


def _cross_validated(method: str, level: int, points: int) -> Row:
    X, y = make_toy(points, noise=0.01 * level, random_state=SEED)
    right, supports = 0, []
    start = perf_counter()
    for train, test in StratifiedKFold(10, shuffle=True, random_state=SEED).split(X, y):
        model = clone(classifier(method, len(train))).fit(X[train], y[train])
        right += int((model.predict(X[test]) == y[test]).sum())
        supports.append(len(exemplars(model)))
    seconds = perf_counter() - start
    return {"accuracy": right / len(y), "support": float(np.mean(supports)), "seconds": round(seconds, 3)}


def _minority_share(method: str, points: int) -> Row:
    """Return the share of the area near the spirals that is predicted as the class with fewer points and bases.

    Farther away all similarities vanish, and only the intercept decides.
    """
    spirals = make_toy(10 * points, noise=0.0, random_state=SEED)[0]
    plane = _plane()
    plane = plane[cKDTree(spirals).query(plane)[0] < NEAR]
    shares = []
    for seed in range(PRIOR_TRIALS):
        X, y = make_toy(points, noise=0.05, random_state=seed, imbalance=IMBALANCE)
        shares.append(float(np.mean(classifier(method, len(X)).fit(X, y).predict(plane) == 1)))
    return {"minority_share": float(np.mean(shares)), "minority_std": float(np.std(shares, ddof=1))}


def _plane() -> np.ndarray:
    line = np.linspace(-1.25, 1.25, GRID)
    across, up = np.meshgrid(line, line)
    return np.column_stack([across.ravel(), up.ravel()])


def _panel(method: str, points: int) -> Row:
    X, y = make_toy(points, noise=0.0, random_state=SEED)
    model = classifier(method, len(X)).fit(X, y)
    return {
        "decision": [round(float(one), 3) for one in model.decision_function(_plane())],
        "x": X.round(4).ravel().tolist(),
        "y": y.tolist(),
        "supporting": sorted({int(row) for row in exemplars(model)}),
    }


def figures(config: Config, table: Table) -> Figures:
    """Draw the three panels, and accuracy and support vectors against the noise."""
    from matplotlib.ticker import MaxNLocator

    panels = where(table, part="panel")
    if len(panels) == len(METHODS):
        figure, several = axes(10.5, 4.1, columns=3, sharex=True, sharey=True)
        for ax, row in zip(several, panels, strict=True):
            _draw_panel(ax, row, table)
        yield "toy", figure
    noise = where(table, part="noise")
    if noise:
        figure, (left, right) = axes(9, 3.6, columns=2)
        for ax, column in ((left, "accuracy"), (right, "support")):
            for color, method in zip(COLORS, METHODS, strict=False):
                rows = [row | {"noise": 0.01 * row["level"]} for row in where(noise, method=method)]
                curve(ax, rows, "noise", column, "-", color=color, label=method)
            ax.xaxis.set_major_locator(MaxNLocator(5))
        left.set(xlabel="noise, standard deviation", ylabel="accuracy, 10-fold")
        right.set(xlabel="noise, standard deviation", ylabel="support vectors (bases for the primal)", ylim=(0, None))
        right.legend(loc="upper left", bbox_to_anchor=(0.0, 1.25))
        yield "toy_noise", figure


def _draw_panel(ax: Any, row: Row, table: Table) -> None:
    line = np.linspace(-1.25, 1.25, GRID)
    decision = np.array(row["decision"]).reshape(GRID, GRID)
    X, y = np.array(row["x"]).reshape(-1, 2), np.array(row["y"])
    ax.contourf(line, line, np.sign(decision), levels=[-2, 0, 2], colors=["#dcebf2", "#fbe8d9"])
    lines = {"levels": [-1, 0, 1], "linewidths": [0.5, 1.2, 0.5], "linestyles": ["--", "-", "--"]}
    ax.contour(line, line, decision, colors="#37352f", **lines)
    for label, color in ((0, "#0b6e99"), (1, "#d9730d")):
        ax.scatter(*X[y == label].T, s=9, color=color)
    ax.scatter(*X[row["supporting"]].T, s=34, facecolors="none", edgecolors="#37352f", linewidths=0.6)
    accuracy, support = (value(table, name, part="noise", method=row["method"]) for name in ("accuracy", "support"))
    counted = "bases" if row["method"] == PRIMAL else "support vectors"
    below = "" if isnan(accuracy) else f"\n{accuracy:.1%} accurate, {support:.1f} {counted}"
    ax.set_title(row["method"] + below, fontsize=10)
    ax.set(xticks=[], yticks=[], aspect="equal")
    ax.grid(visible=False)


def summary(table: Table) -> Rows:
    """Return the means over the levels of noise."""
    for method in METHODS:
        yield {
            "classifier": method,
            "accuracy, 10-fold": round(value(table, "accuracy", part="noise", method=method), 4),
            "support vectors (or bases)": round(value(table, "support", part="noise", method=method), 1),
            "area of a rare class": value(table, "minority_share", part="room", method=method),
        }


def claims(config: Config, table: Table) -> Claims:
    """Check both observations of the section."""

    def mean(column: str, method: str) -> float:
        rows = where(table, part="noise", method=method)
        return value(rows, column) if len(rows) == config.toy_levels else nan

    yield check(
        "The exact dual of BE-SVM has fewer support vectors than the kernel SVM (toy data).",
        "it has fewer on average over the levels of noise",
        "{:.1f} against {:.1f}, at {:.1%} and {:.1%} accuracy",
        lambda dual, kernel, *_: dual < kernel,
        [mean(column, method) for column in ("support", "accuracy") for method in (DUAL, KERNEL)],
    )
    yield check(
        "BE-SVM is biased against a class with fewer bases: it gets less area (toy data).",
        f"a class with {IMBALANCE:.0f} times fewer points gets less of the area near the spirals, of which half is "
        "its own, than from the kernel SVM",
        "dual of BE-SVM {:.1%} of that area, kernel SVM {:.1%}",
        lambda dual, kernel: dual < kernel,
        [value(table, "minority_share", part="room", method=method) for method in (DUAL, KERNEL)],
    )


NOTE = (
    "The paper does not list its points; these are two spirals, {config.toy_points} points, and "
    "{config.toy_levels} levels of noise, which move every point in the same direction by more or less. The "
    "kernels are averaged, not added. The area of a rare class is its share of the plane near the spirals, the "
    f"mean of {PRIOR_TRIALS} samples; half would be fair."
)
CAPTIONS = {
    "toy": "Decisions on the data without noise; supporting points (bases, for the primal) are ringed.",
    "toy_noise": "Ten-fold accuracy and support vectors against the noise.",
}
