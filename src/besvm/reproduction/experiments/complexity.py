"""Costs by formula and as measured (table complexity).

Upper bounds: the kernel SVM trains in n²M d_K + n³/C and tests a sample in nCM d_K; BE-SVM trains in nC|B|M d_K and
tests in |B|CM d_K. Memory: n²/C against nM|B|.
"""

from functools import partial
from math import nan
from typing import Any

import numpy as np

from besvm._support.figures import COLORS, Figures, axes, curve, log_ticks
from besvm.analysis import complexity, profile
from besvm.baselines import KernelSVMClassifier
from besvm.classifier import BESVMClassifier
from besvm.reproduction.cells import Cell, Cells, Claim, Claims, Costs, check, distinct, where
from besvm.reproduction.config import Config
from besvm.reproduction.lab import Basis, Lab, Row, Table
from besvm.similarities import RBF

KERNEL, OURS = "kernel SVM", "BE-SVM"
STEPS = 4  # training sets of an eighth, a quarter, a half and all of the first two folds
MEASURES = (1, 2, 4)  # how many, on the largest training set
BASES = (1, 2, 4)  # times as many exemplars, on the largest training set
ENOUGH = 10.0  # seconds, after which a run is not repeated


def cells(config: Config, lab: Lab, costs: Costs) -> Cells:
    """Yield a cell for every model and size of the training set, and for several measures."""
    most = len(lab.train_rows(2))
    width = lab.n_classes * config.size
    sizes = [most // 2**step for step in range(STEPS - 1, -1, -1)]
    wanted = [(model, n, 1, 1) for n in sizes for model in (KERNEL, OURS)]
    wanted += [(OURS, most, count, 1) for count in MEASURES[1:]]
    wanted += [(OURS, most, 1, times) for times in BASES[1:]]
    for model, n, count, times in wanted:
        key = {"model": model, "n": n, "measures": count}
        key |= {"bases": width * times} if times > 1 else {}
        kernel = model == KERNEL
        basis = lab.index_basis(times * config.size, config.steps)
        seconds = config.repeats * costs.kernel(n) if kernel else costs.fixed(6 * count * times) * n / most
        memory = costs.kernel_memory(n) if kernel else costs.fit_memory(count, 2, width * times)
        yield Cell(key, partial(_measured, lab, model, n, count, basis, config.repeats), seconds, memory)


def _measured(lab: Lab, name: str, n: int, n_measures: int, basis: Basis, repeats: int) -> Row:
    features = lab.flat_features(8)
    rows, test = lab.train_rows(2)[:n], lab.test_rows
    exemplars = features[np.concatenate(basis)]
    kernels = [RBF(gamma=2.0**-k) for k in range(n_measures)]
    model: Any = KernelSVMClassifier(kernels, C=2.0, memory_limit=lab.model_limit)
    if name == OURS:
        model = BESVMClassifier(kernels, basis=exemplars, C=1.0, probability=False, memory_limit=lab.model_limit)
    runs: list[Any] = []
    while not runs or (len(runs) < repeats and sum(r.fit_seconds + r.predict_seconds for r in runs) < ENOUGH):
        runs.append(profile(model, features[rows], lab.labels[rows], features[test]))
    sizes = {"n": n, "n_classes": lab.n_classes, "n_measures": n_measures, "n_basis": len(exemplars)}
    formulas = complexity(**sizes, d_phi=features.shape[1])
    formula = formulas.kernel if name == KERNEL else formulas.besvm
    return {
        "exemplars": len(runs[0].model.support_) if name == KERNEL else len(exemplars),
        "train_seconds": min(run.fit_seconds for run in runs),
        "predict_ms_per_image": 1000 * min(run.predict_seconds for run in runs) / len(test),
        "train_MB": round(min(run.fit_bytes or 0 for run in runs) / 1e6, 1),
        "formula_training": formula.training_computation,
        "formula_testing": formula.testing_computation,
        "formula_memory": formula.training_memory,
    }


def summary(table: Table) -> Table:
    """Return the table with short numbers."""
    return [{key: f"{one:.1e}" if key.startswith("formula") else one for key, one in row.items()} for row in table]


def figures(config: Config, table: Table, baselines: Table) -> Figures:
    """Draw the times, and the formulas scaled to meet them at the largest training set."""
    figure, ax = axes(6.5, 4)
    for color, name in zip(COLORS, (KERNEL, OURS), strict=False):
        rows = by_rows(table, name)
        scale = rows[-1]["train_seconds"] / rows[-1]["formula_training"] if rows else 1.0
        bound = [row | {"train_seconds": scale * row["formula_training"]} for row in rows]
        curve(ax, rows, "n", "train_seconds", color=color, label=f"{name}, measured")
        curve(ax, bound, "n", "train_seconds", ":", color=color, label=f"{name}, formula (scaled)")
    ax.set(xscale="log", yscale="log", xlabel="training images", ylabel="seconds to train")
    log_ticks(ax, distinct(table, "n"))
    ax.legend()
    yield "complexity", figure


def by_rows(table: Table, model: str) -> Table:
    """Return the runs on growing training sets."""
    return [row for row in where(table, model=model, measures=1) if "bases" not in row]


def growth(rows: Table, column: str, over: str, n_rows: int) -> float:
    """Return the exponent p of column ~ over^p, fitted to ``n_rows`` rows; NaN if there are fewer."""
    if len(rows) < n_rows or any(not row.get(column) for row in rows):
        return nan
    return float(np.polyfit(np.log([row[over] for row in rows]), np.log([row[column] for row in rows]), 1)[0])


def claims(config: Config, table: Table, baselines: Table) -> Claims:
    """Check the orders of growth."""
    kernel, ours = by_rows(table, KERNEL), by_rows(table, OURS)
    largest = [row for row in where(table, model=OURS) if row["n"] == max(row["n"] for row in table)]
    by_measures = [row for row in largest if "bases" not in row]
    by_bases = where(largest, measures=1)
    K8R = where(baselines, model="K8R")

    def linear(what: str, letter: str, power: float) -> Claim:
        return check(
            f"Training grows linearly with {what} for BE-SVM.",
            "the exponent is 0.7 to 1.3",
            f"{letter} to the power {{:.2f}}",
            lambda power: 0.7 <= power <= 1.3,
            [power],
        )

    yield check(
        "Training grows between quadratically and cubically with the data for the kernel SVM.",
        f"the exponent is 1.9 to 3.1, over one to {config.n_folds} folds (K8R)",
        "n to the power {:.2f}",
        lambda power: 1.9 <= power <= 3.1,
        [growth(K8R, "train_seconds", "folds", config.n_folds)],
    )
    yield linear("the data", "n", growth(ours, "train_seconds", "n", STEPS))
    yield linear("the number of measures", "M", growth(by_measures, "train_seconds", "measures", len(MEASURES)))
    yield linear("the size of the basis", "|B|", growth(by_bases, "train_seconds", "exemplars", len(BASES)))
    yield check(
        "Memory grows quadratically with the data for the kernel SVM, and linearly for BE-SVM.",
        "the exponents between the two largest training sets are 1.6 to 2.4, and at most 1.2",
        "n to the power {:.2f} (kernel SVM) and {:.2f} (BE-SVM)",
        lambda kernel, ours: 1.6 <= kernel <= 2.4 and ours <= 1.2,
        [growth(rows[-2:], "train_MB", "n", 2) for rows in (kernel, ours)],
    )
    yield check(
        "Testing grows with the support vectors, and so with the data, for the kernel SVM; for BE-SVM it does not.",
        "the exponents of n are above 0.6, and between -0.2 and 0.2",
        "n to the power {:.2f} (kernel SVM) and {:.2f} (BE-SVM)",
        lambda kernel, ours: kernel > 0.6 and abs(ours) <= 0.2,
        [growth(rows, "predict_ms_per_image", "n", STEPS) for rows in (kernel, ours)],
    )


USES = ("baselines",)
NOTE = (
    "H8 features with Gaussian kernels; BE-SVM with 10 x {config.size} bases. Formulas count operations, and "
    "numbers in memory, up to a constant. Times are the least of {config.repeats} runs, fewer beyond "
    f"{ENOUGH:.0f} s; memory is how much the process grew."
)
CAPTIONS = {"complexity": "Seconds to train, and the formulas scaled to meet them at the largest training set."}
