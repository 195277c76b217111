"""Figures "multiple_sims" and "params/support": growing sets of measures, basis sizes and training sets."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from functools import partial
from typing import TYPE_CHECKING

from besvm.experiments.base import Cell, Claim, Experiment, Row, Table, check, distinct, value, where
from besvm.experiments.config import M1, M2
from besvm.experiments.lab import Lab

if TYPE_CHECKING:
    from matplotlib.figure import Figure

SETS = {"M1": M1, "M2": M2}


def cells(lab: Lab) -> list[Cell]:
    """Return a cell for the first 1 to M measures of both sets, every basis size and 1, 3 and 5 folds."""
    found = []
    for n_folds in lab.config.fold_counts:
        for per_class in lab.config.sizes:
            basis = lab.index_basis(per_class)
            for name, measures in SETS.items():
                for count in range(1 if name == "M2" else 2, len(measures) + 1):  # both sets begin with H8R
                    chosen = measures[:count]
                    key = {"set": name, "measures": count, "last": chosen[-1], "per_class": per_class, "folds": n_folds}
                    found.append(
                        Cell(
                            key,
                            partial(_accuracy, lab, chosen, per_class, n_folds),
                            lab.seconds(chosen, n_folds, basis),
                            lab.memory(count, n_folds, lab.n_classes * per_class),
                        )
                    )
    return found


def _accuracy(lab: Lab, measures: tuple[str, ...], per_class: int, n_folds: int) -> Row:
    row = lab.fit(measures, lab.index_basis(per_class), n_folds).row()
    exemplars = lab.n_classes * per_class
    cells_used = {lab.measure(measure)[0] for measure in measures}
    dimensions = sum(lab.features_per_image(cell) for cell in cells_used)
    return row | {"exemplars": exemplars, "parameters": exemplars * (dimensions + len(measures))}


def accuracy(table: Table, name: str, count: int, per_class: int, folds: int) -> float | None:
    """Return the accuracy of the first ``count`` measures of a set; one measure is the same in both sets."""
    return value(table, "accuracy", set="M2" if count == 1 else name, measures=count, per_class=per_class, folds=folds)


def summary(table: Table) -> Table:
    """Return a row for every set of measures and number of folds, and a column for every size of the basis."""
    found = []
    for folds in distinct(table, "folds"):
        for name, measures in SETS.items():
            for count in range(1 if name == "M2" else 2, len(measures) + 1):
                row: Row = {"measures": ", ".join(measures[:count]), "folds": folds}
                for per_class in distinct(table, "per_class"):
                    row[f"10 x {per_class}"] = accuracy(table, name, count, per_class, folds)
                found.append(row)
    return found


def figures(table: Table) -> dict[str, Figure]:
    """Draw accuracy against the basis size."""
    from besvm.report.figures import COLOURS, axes

    styles = dict(zip(sorted({row["folds"] for row in table}), (":", "--", "-"), strict=False))
    fig, ax = axes(7, 4.6)
    lines = [("M2", 1, "H8R")]
    lines += [("M1", k, f"M1, first {k}") for k in (2, 3)]
    lines += [("M2", k, f"M2, first {k}") for k in (2, 3, 4)]
    for colour, (name, count, label) in zip(COLOURS, lines, strict=False):
        for folds, style in styles.items():
            rows = where(table, set=name, measures=count, folds=folds)
            sizes, accuracies = [row["exemplars"] for row in rows], [row["accuracy"] for row in rows]
            ax.plot(sizes, accuracies, style, color=colour, marker="o", ms=3, label=label if style == "-" else None)
    ax.set(xscale="log", xlabel="exemplars in the basis", ylabel="test accuracy")
    ax.legend(title="solid, dashed, dotted:\n" + ", ".join(f"{n}" for n in sorted(styles, reverse=True)) + " folds")
    return {"multiple_sims": fig}


def claims(table: Table) -> list[Claim]:
    """Check what the paper concludes from the figure."""
    sizes = sorted({row["per_class"] for row in table})
    folds = max((row["folds"] for row in table), default=0)
    top = max(sizes, default=0)

    def gain(name: str, count: int, of: Callable[[Iterable[float]], float]) -> float | None:
        """Return the least or the greatest gain of M2 over the first measures of a set, over the basis sizes."""
        pairs = [(accuracy(table, "M2", 4, s, folds), accuracy(table, name, count, s, folds)) for s in sizes]
        known = [a - b for a, b in pairs if a is not None and b is not None]
        return of(known) if len(known) == len(sizes) and known else None

    return [
        check(
            "With all the data, the two-resolution set gains 8 to 10 % over the best PSD kernel, H8R.",
            "{:.1%} to {:.1%}, depending on the size of the basis",
            lambda least, most: most >= 0.08,
            gain("M2", 1, min),
            gain("M2", 1, max),
        ),
        check(
            "The two-resolution set is about 3 to 4 % better than the single-resolution one.",
            "{:.1%} to {:.1%}, depending on the size of the basis",
            lambda least, most: most >= 0.03,
            gain("M1", 3, min),
            gain("M1", 3, max),
        ),
        check(
            "Every measure that is added to M2 helps (largest basis, all the data).",
            "{:.1%}, {:.1%}, {:.1%}, {:.1%}",
            lambda a, b, c, d: a < b < c < d,
            *(accuracy(table, "M2", count, top, folds) for count in (1, 2, 3, 4)),
        ),
    ]


EXPERIMENT = Experiment(
    name="multiple",
    title="several measures, basis sizes and training sets (figures multiple_sims, params, support)",
    paper=(
        "Different measures complement each other. With all the data, the two-resolution set M2 gains 8 to 10 % over "
        "H8R, the best positive definite kernel, and about 3 to 4 % over the single-resolution set M1."
    ),
    cells=cells,
    figures=figures,
    claims=claims,
    summary=summary,
)
