"""Figure "Full Bases": BE-SVM on the first fold with every training image as an exemplar."""

from __future__ import annotations

from functools import partial
from typing import TYPE_CHECKING

from besvm.experiments.base import Cell, Claim, Experiment, Row, Table, best, check, value
from besvm.experiments.config import MEASURES
from besvm.experiments.lab import Lab

if TYPE_CHECKING:
    from matplotlib.figure import Figure


def cells(lab: Lab) -> list[Cell]:
    """Return a cell for every measure."""
    basis = [lab.train_rows()]
    return [
        Cell(
            {"measure": measure, "bases": len(basis[0])},
            partial(_accuracy, lab, measure),
            lab.seconds([measure], 1, basis),
            lab.memory(1, 1, len(basis[0])),
        )
        for measure in MEASURES
    ]


def _accuracy(lab: Lab, measure: str) -> Row:
    return lab.fit([measure], [lab.train_rows()]).row()


def figures(table: Table) -> dict[str, Figure]:
    """Draw a bar for every measure."""
    from besvm.report.figures import bars

    accuracies = {row["measure"]: row["accuracy"] for row in table}
    return {"full": bars({"every training image": accuracies}, "test accuracy")}


def claims(table: Table) -> list[Claim]:
    """Check what the paper concludes from the figure."""

    def accuracy(measure: str) -> float | None:
        return value(table, "accuracy", measure=measure)

    rigid = best(accuracy(m) for m in ("H8(1,0)", "H4(1,0)", "H4(2,0)"))
    local = best(accuracy(m) for m in ("H8(0,1)", "H4(0,1)"))
    H8L, H4L, H8R, H4R = (accuracy(m) for m in ("H8L", "H4L", "H8R", "H4R"))
    H8_aligned, H4_aligned = accuracy("H8(1,0)"), accuracy("H4(2,0)")
    return [
        check(
            "Invariant measures improve recognition: H8L to H8(1,0), H4L to H4(2,0).",
            "{:.1%} to {:.1%}, {:.1%} to {:.1%}",
            lambda a, b, c, d: b > a and d > c,
            H8L,
            H8_aligned,
            H4L,
            H4_aligned,
        ),
        check(
            "Rigid displacements help more than local ones.",
            "best rigid {:.1%}, best local {:.1%}",
            lambda rigid, local: rigid > local,
            rigid,
            local,
        ),
        check(
            "Alignment gains more at the higher resolution.",
            "H8 {:.1%} to {:.1%}, H4 {:.1%} to {:.1%}",
            lambda a, b, c, d: d - c > b - a,
            H8L,
            H8_aligned,
            H4L,
            H4_aligned,
        ),
        check(
            "Without alignment, BE-SVM loses when the resolution rises from cells of 8 to cells of 4 pixels.",
            "linear {:.1%} to {:.1%}, RBF {:.1%} to {:.1%}",
            lambda a, b, c, d: b < a and d < c,
            H8L,
            H4L,
            H8R,
            H4R,
        ),
    ]


EXPERIMENT = Experiment(
    name="full",
    title="every training image a basis (figure Full Bases)",
    paper=(
        "Trained on the first fold with all of its 10,000 images as bases, the invariant measures are better than the "
        "linear ones; rigid displacements help much more than local ones, and most at the higher resolution, where "
        "everything that does not align the images loses."
    ),
    cells=cells,
    figures=figures,
    claims=claims,
)
