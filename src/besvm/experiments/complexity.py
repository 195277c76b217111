"""Table "complexity": what training and testing cost, by the paper's formulas and by the clock."""

from __future__ import annotations

from functools import partial
from time import perf_counter
from typing import TYPE_CHECKING, Any

import numpy as np

from besvm.baselines import KernelSVMClassifier
from besvm.classifier import BESVMClassifier
from besvm.experiments.base import Cell, Claim, Experiment, Row, Table, check, distinct, where
from besvm.experiments.lab import Lab
from besvm.similarities import RBF

if TYPE_CHECKING:
    from matplotlib.figure import Figure

KERNEL, OURS = "kernel SVM", "BE-SVM"
STEPS = 4  # training sets of an eighth, a quarter, a half and all of the first two folds


def cells(lab: Lab) -> list[Cell]:
    """Return a cell for every model and size of the training set."""
    most = len(lab.train_rows(2))
    found = []
    for step in range(STEPS - 1, -1, -1):
        n = most // 2**step
        found.append(Cell({"model": KERNEL, "n": n}, partial(_measured, lab, KERNEL, n), 30 * (n / 20_000) ** 2))
        found.append(Cell({"model": OURS, "n": n}, partial(_measured, lab, OURS, n), 2 * n / 20_000))
    return found


def _measured(lab: Lab, name: str, n: int) -> Row:
    features = lab.features(8).reshape(len(lab.images), -1)
    rows = lab.train_rows(2)[:n]
    index = np.concatenate(lab.index_basis(lab.config.size))
    exemplars = features[index]
    model: Any = KernelSVMClassifier(RBF(gamma=1.0), C=2.0)
    if name == OURS:
        model = BESVMClassifier(RBF(gamma=1.0), basis=exemplars, probability=False)
    start = perf_counter()
    model.fit(features[rows], lab.labels[rows])
    trained = perf_counter()
    model.predict(features[lab.test_rows])
    done = perf_counter()
    kept = len(model.support_) if name == KERNEL else len(index)
    return {
        "exemplars": kept,
        "train_seconds": round(trained - start, 3),
        "predict_ms_per_image": round(1000 * (done - trained) / len(lab.test_rows), 4),
        "formula_training": _formula(name, n, lab, len(index)),
        "formula_testing": kept * lab.n_classes * features.shape[1],
    }


def _formula(name: str, n: int, lab: Lab, n_basis: int) -> float:
    from besvm.analysis import complexity

    costs = {"n": n, "n_classes": lab.n_classes, "n_measures": 1, "n_basis": n_basis}
    table = complexity(**costs, d_phi=lab.features_per_image(8), d_K=lab.features_per_image(8))
    return float((table.kernel if name == KERNEL else table.besvm).training_computation)


def figures(table: Table) -> dict[str, Figure]:
    """Draw the times, and the formulas scaled to meet them at the largest training set."""
    from besvm.report.figures import COLOURS, axes

    figure, ax = axes(6, 3.8)
    for colour, name in zip(COLOURS, (KERNEL, OURS), strict=False):
        rows = where(table, model=name)
        if not rows:
            continue
        n = [row["n"] for row in rows]
        scale = rows[-1]["train_seconds"] / rows[-1]["formula_training"]
        ax.plot(n, [row["train_seconds"] for row in rows], "o-", color=colour, label=f"{name}, measured")
        ax.plot(
            n, [scale * row["formula_training"] for row in rows], ":", color=colour, label=f"{name}, formula (scaled)"
        )
    ax.set(xscale="log", yscale="log", xlabel="training images", ylabel="seconds to train")
    ax.set_xticks(distinct(table, "n"), [f"{n:,}" for n in distinct(table, "n")], minor=False)
    ax.minorticks_off()
    ax.legend()
    return {"complexity": figure}


def growth(table: Table, model: str) -> float | None:
    """Return the exponent p of training time ~ n^p, fitted over the sizes."""
    rows = where(table, model=model)
    if len(rows) < STEPS:
        return None
    return float(np.polyfit(np.log([r["n"] for r in rows]), np.log([r["train_seconds"] for r in rows]), 1)[0])


def claims(table: Table) -> list[Claim]:
    """Check the orders of growth."""
    return [
        check(
            "Training grows between quadratically and cubically for the kernel SVM, linearly for BE-SVM.",
            "n to the power {:.2f} (kernel SVM) and {:.2f} (BE-SVM)",
            lambda kernel, ours: kernel > 1.6 and ours < 1.3,
            growth(table, KERNEL),
            growth(table, OURS),
        )
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
    note="H8 features with a Gaussian kernel; BE-SVM with 10 x 100 bases. Formulas count operations up to a constant.",
)
