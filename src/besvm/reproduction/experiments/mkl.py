"""Multiple kernel learning by line search.

Mixing two kernels by a line search over α in {0, .1, …, 1} with five-fold cross-validation: linear kernels contribute
nothing to Gaussian ones, and K4R with K8R gains less than half a percent over K8R.
"""

from functools import partial
from time import perf_counter

import numpy as np

from besvm._support.figures import COLORS, Figures, axes
from besvm.analysis import model_size
from besvm.baselines import LineSearchMKL
from besvm.measures import parse_shorthand
from besvm.reproduction.cells import Cell, Cells, Claims, Costs, check, value
from besvm.reproduction.config import Config
from besvm.reproduction.lab import Lab, Row, Table

PAIRS = (("H8R", "H8L"), ("H4R", "H4L"), ("H4R", "H8R"))


def cells(config: Config, lab: Lab, costs: Costs) -> Cells:
    """Yield a cell for every pair of kernels."""
    n = len(lab.train_rows())
    seconds, memory = 85 * (n / 10_000) ** 2, 3 * 4 * n**2
    for a, b in PAIRS:
        yield Cell({"first": a, "second": b}, partial(_search, lab, a, b, config.mkl_folds), seconds, memory)


def _search(lab: Lab, first: str, second: str, n_folds: int) -> Row:
    rows = lab.train_rows()
    kernels = [parse_shorthand(name) for name in (first, second)]
    start = perf_counter()
    search = LineSearchMKL(kernels, C=2.0, cv=n_folds, random_state=0, memory_limit=lab.model_limit)
    search.fit(lab.images[rows], lab.labels[rows])
    means = search.cv_accuracy_.mean(axis=1)
    alphas = np.asarray(search.alphas, dtype=float)
    return {
        "alpha": float(search.alpha_),
        "accuracy": float(search.score(lab.images[lab.test_rows], lab.labels[lab.test_rows])),
        "cv_best": float(means.max()),
        "cv_first": float(means[np.argmax(alphas)]),
        "cv_second": float(means[np.argmin(alphas)]),
        "parameters": model_size(search).parameters,
        "seconds": round(perf_counter() - start, 1),
        "alphas": alphas.tolist(),
        "cv": means.tolist(),
    }


def figures(config: Config, table: Table, baselines: Table) -> Figures:
    """Draw the cross-validated accuracy along the line."""
    figure, ax = axes(6, 3.4)
    for color, row in zip(COLORS, table, strict=False):
        label = f"α {row['first']} + (1 - α) {row['second']}"
        ax.plot(row["alphas"], row["cv"], "o-", ms=4, color=color, label=label)
    ax.set(xlabel="α", ylabel="cross-validated accuracy")
    ax.legend()
    yield "mkl", figure


def claims(config: Config, table: Table, baselines: Table) -> Claims:
    """Check the paper's statements."""
    names = ("alpha", "cv_best", "cv_second", "accuracy", "parameters")
    alpha, best, alone, accuracy, size = (value(table, name, first="H4R", second="H8R") for name in names)
    K8R, K8R_size = (value(baselines, column, model="K8R", folds=1) for column in ("accuracy", "parameters"))
    mixed = 0 < alpha < 1
    for rbf, linear in PAIRS[:2]:
        yield check(
            f"Linear kernels contribute nothing to Gaussian RBF kernels ({rbf} and {linear}).",
            "the best mixture gains less than 0.2 % over the Gaussian kernel alone (cross-validated)",
            f"{rbf} alone {{:.1%}}, with {linear} at best {{:.1%}}",
            lambda alone, mixture: mixture - alone < 0.002,
            [value(table, column, first=rbf, second=linear) for column in ("cv_first", "cv_best")],
        )
    yield check(
        "The best combination of K4R and K8R gains less than 0.5 % over K8R.",
        "it gains less than 0.5 %, cross-validated and on the test set",
        "cross-validated {:+.1%}, on the test set {:+.1%}",
        lambda cv, test: max(cv, test) < 0.005,
        [best - alone, accuracy - K8R],
    )
    yield check(
        "The parameters increase approximately 4 times when K4R is added to K8R.",
        "the best mixture, which must not be one kernel alone, has 3.5 to 6 times the parameters of K8R",
        "{:.1f} times: {:,.0f} against {:,.0f}" + ("" if mixed else "; but one kernel alone is best"),
        lambda times, *_: 3.5 <= times <= 6 and mixed,
        [size / K8R_size, size, K8R_size],
    )


USES = ("baselines",)
NOTE = "On the first fold."
CAPTIONS = {"mkl": "Cross-validated accuracy along the line between two kernels."}
