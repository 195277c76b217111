"""Table "complexity": what training and testing cost, by the paper's formulas and by the clock."""

from __future__ import annotations

from functools import partial
from typing import TYPE_CHECKING, Any

import numpy as np

from besvm.analysis import complexity, measured
from besvm.baselines import KernelSVMClassifier
from besvm.classifier import BESVMClassifier
from besvm.experiments.base import Cell, Claim, Experiment, Row, Table, check, distinct, where
from besvm.experiments.config import Config
from besvm.experiments.lab import Lab
from besvm.similarities import RBF

if TYPE_CHECKING:
    from matplotlib.figure import Figure

KERNEL, OURS = "kernel SVM", "BE-SVM"
STEPS = 4  # training sets of an eighth, a quarter, a half and all of the first two folds
MEASURES = (1, 2, 4)  # how many, on the largest training set
ENOUGH = 10.0  # seconds, after which a run is not repeated


def cells(lab: Lab) -> list[Cell]:
    """Return a cell for every model and size of the training set, and for several measures."""
    most = len(lab.train_rows(2))
    width = lab.n_classes * lab.config.size
    sizes = [most // 2**step for step in range(STEPS - 1, -1, -1)]
    wanted = [(model, n, 1) for n in sizes for model in (KERNEL, OURS)]
    wanted += [(OURS, most, count) for count in MEASURES[1:]]
    found = []
    for model, n, count in wanted:
        key = {"model": model, "n": n, "measures": count}
        kernel = model == KERNEL
        seconds = lab.costs.kernel(n) if kernel else lab.costs.fixed(6 * count) * n / most
        memory = lab.costs.kernel_memory(n) if kernel else lab.costs.fit_memory(count, 2, width)
        found.append(Cell(key, partial(_measured, lab, model, n, count), seconds, memory))
    return found


def _measured(lab: Lab, name: str, n: int, n_measures: int) -> Row:
    features = lab.features(8).reshape(len(lab.images), -1)
    rows, test = lab.train_rows(2)[:n], lab.test_rows
    exemplars = features[np.concatenate(lab.index_basis(lab.config.size))]
    kernels = [RBF(gamma=2.0**-k) for k in range(n_measures)]
    model: Any = KernelSVMClassifier(kernels, C=2.0, memory_limit=lab.model_limit)
    if name == OURS:
        model = BESVMClassifier(kernels, basis=exemplars, probability=False, memory_limit=lab.model_limit)
    runs = [measured(model, features[rows], lab.labels[rows], features[test])]
    while len(runs) < lab.config.repeats and sum(run.fit_seconds + run.predict_seconds for run in runs) < ENOUGH:
        runs.append(measured(model, features[rows], lab.labels[rows], features[test]))
    costs = {"n": n, "n_classes": lab.n_classes, "n_measures": n_measures, "n_basis": len(exemplars)}
    formulas = complexity(**costs, d_phi=features.shape[1])
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
    """Return the table with short figures."""
    return [
        {name: f"{entry:.1e}" if name.startswith("formula") else entry for name, entry in row.items()} for row in table
    ]


def figures(config: Config, table: Table) -> dict[str, Figure]:
    """Draw the times, and the formulas scaled to meet them at the largest training set."""
    from besvm.report.figures import COLOURS, axes, log_ticks

    if not table:
        return {}
    figure, ax = axes(6.5, 4)
    for colour, name in zip(COLOURS, (KERNEL, OURS), strict=False):
        rows = where(table, model=name, measures=1)
        if not rows:
            continue
        n = [row["n"] for row in rows]
        scale = rows[-1]["train_seconds"] / rows[-1]["formula_training"]
        bound = [scale * row["formula_training"] for row in rows]
        ax.plot(n, [row["train_seconds"] for row in rows], "o-", color=colour, label=f"{name}, measured")
        ax.plot(n, bound, ":", color=colour, label=f"{name}, formula (scaled)")
    ax.set(xscale="log", yscale="log", xlabel="training images", ylabel="seconds to train")
    log_ticks(ax, distinct(table, "n"))
    ax.legend()
    return {"complexity": figure}


def growth(table: Table, model: str, column: str, over: str = "n") -> float | None:
    """Return the exponent p of column ~ over^p, fitted over the sizes of the training set or numbers of measures."""
    rows = where(table, model=model, measures=1)
    if over == "measures" and rows:
        rows = where(table, model=model, n=max(row["n"] for row in rows))
    if len(rows) < (STEPS if over == "n" else len(MEASURES)):
        return None
    return float(np.polyfit(np.log([row[over] for row in rows]), np.log([row[column] for row in rows]), 1)[0])


def claims(config: Config, table: Table) -> list[Claim]:
    """Check the orders of growth."""
    return [
        check(
            "Training grows between quadratically and cubically with the data for the kernel SVM.",
            "the exponent is 1.9 to 3.1",
            "n to the power {:.2f}",
            lambda power: 1.9 <= power <= 3.1,
            growth(table, KERNEL, "train_seconds"),
        ),
        check(
            "Training grows linearly with the data for BE-SVM.",
            "the exponent is 0.7 to 1.3",
            "n to the power {:.2f}",
            lambda power: 0.7 <= power <= 1.3,
            growth(table, OURS, "train_seconds"),
        ),
        check(
            "The cost of BE-SVM is linear in the number of measures.",
            "the exponent is 0.7 to 1.3",
            "M to the power {:.2f}",
            lambda power: 0.7 <= power <= 1.3,
            growth(table, OURS, "train_seconds", "measures"),
        ),
        check(
            "Testing grows with the support vectors, and so with the data, for the kernel SVM; for BE-SVM it does not.",
            "the exponents of n are above 0.6, and between -0.2 and 0.2",
            "n to the power {:.2f} (kernel SVM) and {:.2f} (BE-SVM)",
            lambda kernel, ours: kernel > 0.6 and abs(ours) <= 0.2,
            growth(table, KERNEL, "predict_ms_per_image"),
            growth(table, OURS, "predict_ms_per_image"),
        ),
    ]


EXPERIMENT = Experiment(
    name="complexity",
    title="costs by formula and by the clock (table complexity)",
    paper=(
        "Upper bounds: the kernel SVM trains in n²M d_K + n³/C and tests a sample in nCM d_K; BE-SVM trains in "
        "nC|B|M d_K and tests in |B|CM d_K. Memory: n²/C against nM|B|."
    ),
    cells=cells,
    figures=figures,
    claims=claims,
    summary=summary,
    note=lambda config: (
        f"H8 features with Gaussian kernels; BE-SVM with 10 x {config.size} bases. Formulas count operations, and "
        f"numbers in memory, up to a constant. Times are the least of {config.repeats} runs, fewer beyond "
        f"{ENOUGH:.0f} s; memory is what the process took more than before."
    ),
    captions={"complexity": "Seconds to train, and the formulas scaled to meet them at the largest training set."},
)
