"""Multiple kernel learning by a line search, with positive definite kernels, on one fold."""

from __future__ import annotations

from functools import partial
from time import perf_counter
from typing import TYPE_CHECKING

import numpy as np

from besvm.baselines import LineSearchMKL
from besvm.experiments.base import Cell, Claim, Experiment, Row, Table, check, where
from besvm.experiments.lab import Lab
from besvm.measures import parse_shorthand

if TYPE_CHECKING:
    from matplotlib.figure import Figure

PAIRS = (("H8R", "H8L"), ("H4R", "H8R"))


def cells(lab: Lab) -> list[Cell]:
    """Return a cell for every pair of kernels."""
    n = len(lab.train_rows())
    seconds = 420 * (n / 10_000) ** 2
    return [
        Cell({"first": a, "second": b}, partial(_search, lab, a, b), seconds, memory=3 * 4 * n**2) for a, b in PAIRS
    ]


def _search(lab: Lab, first: str, second: str) -> Row:
    rows = lab.train_rows()
    kernels = [parse_shorthand(name) for name in (first, second)]
    start = perf_counter()
    search = LineSearchMKL(kernels, C=2.0, cv=lab.config.mkl_folds, random_state=0).fit(
        lab.images[rows], lab.labels[rows]
    )
    means = search.cv_accuracy_.mean(axis=1)
    alphas = np.asarray(search.alphas, dtype=float)
    single = means[np.argmax(alphas)], means[np.argmin(alphas)]
    return {
        "alpha": float(search.alpha_),
        "accuracy": float(search.score(lab.images[lab.test_rows], lab.labels[lab.test_rows])),
        "cv_best": float(means.max()),
        "cv_first": float(single[0]),
        "cv_second": float(single[1]),
        "seconds": round(perf_counter() - start, 1),
        "alphas": alphas.tolist(),
        "cv": means.tolist(),
    }


def figures(table: Table) -> dict[str, Figure]:
    """Draw the cross-validated accuracy along the line."""
    from besvm.report.figures import COLOURS, axes

    figure, ax = axes(6, 3.4)
    for colour, row in zip(COLOURS, table, strict=False):
        label = f"α {row['first']} + (1 - α) {row['second']}"
        ax.plot(row["alphas"], row["cv"], "o-", ms=4, color=colour, label=label)
    ax.set(xlabel="α", ylabel="cross-validated accuracy")
    ax.legend()
    return {"mkl": figure}


def claims(table: Table) -> list[Claim]:
    """Check both of the paper's statements."""
    linear = next(iter(where(table, first="H8R", second="H8L")), {})
    both = next(iter(where(table, first="H4R", second="H8R")), {})
    return [
        check(
            "Linear kernels contribute nothing to Gaussian RBF kernels (MKL).",
            "H8R alone {:.1%}, with H8L at best {:.1%} (cross-validated)",
            lambda alone, mixed: mixed - alone < 0.002,
            linear.get("cv_first"),
            linear.get("cv_best"),
        ),
        check(
            "The best combination of K4R and K8R gains less than 0.5 % over K8R.",
            "K8R alone {:.1%}, combined {:.1%} (cross-validated)",
            lambda alone, mixed: mixed - alone < 0.005,
            both.get("cv_second"),
            both.get("cv_best"),
        ),
    ]


EXPERIMENT = Experiment(
    name="mkl",
    title="multiple kernel learning by line search",
    paper=(
        "Mixing two kernels by a line search over α in {0, .1, …, 1} with five-fold cross-validation: linear kernels "
        "contribute nothing to Gaussian ones, and K4R with K8R gains less than half a percent over K8R."
    ),
    cells=cells,
    figures=figures,
    claims=claims,
    summary=lambda table: [{k: v for k, v in row.items() if not isinstance(v, list)} for row in table],
    note="On the first fold.",
)
