"""Figure "Basis Selection": ways to choose and to normalise a basis of ten times 100, for every measure."""

from __future__ import annotations

from functools import partial
from time import perf_counter
from typing import TYPE_CHECKING, Any

import numpy as np

from besvm.basis import FarthestBasis, GradientBasis, KMedoidsBasis, PivotedBasis, RandomBasis
from besvm.experiments.base import Cell, Claim, Experiment, Row, Table, check, distinct, value
from besvm.experiments.config import MEASURES
from besvm.experiments.lab import Basis, Lab
from besvm.nystrom import WAYS, Nystrom

if TYPE_CHECKING:
    from matplotlib.figure import Figure

SELECTORS: dict[str, Any] = {
    "K KMed": KMedoidsBasis,
    "Farthest": FarthestBasis,
    "Pivoted": PivotedBasis,
    "Gradient": GradientBasis,
}
PSD = ("H8L", "H8R", "H4L", "H4R")


def cells(lab: Lab) -> list[Cell]:
    """Return a cell for every measure and every way, five for a random basis."""
    size = lab.config.size
    index = lab.index_basis(size)
    found = []
    for measure in MEASURES:
        own = lab.seconds([measure], 1, index)
        unseen = 2 * own + 1  # another basis is another matrix of similarities
        found.append(Cell({"measure": measure, "way": "Indx"}, partial(_indexed, lab, measure, "mean-norm"), own))
        for trial in range(lab.config.trials):
            found.append(
                Cell({"measure": measure, "way": "Rand", "trial": trial}, partial(_random, lab, measure, trial), unseen)
            )
        for way, selector in SELECTORS.items():
            compute = partial(_selected, lab, measure, selector(per_class=size))
            found.append(Cell({"measure": measure, "way": way}, compute, 3 * unseen))
        for spectrum in WAYS:
            compute = partial(_indexed, lab, measure, Nystrom(spectrum))
            found.append(Cell({"measure": measure, "way": f"Nyström, {spectrum}"}, compute, 2))
    return found


def _indexed(lab: Lab, measure: str, normalize: Any) -> Row:
    return lab.fit([measure], lab.index_basis(lab.config.size), normalize=normalize).row()


def _random(lab: Lab, measure: str, trial: int) -> Row:
    rng = np.random.default_rng(trial)
    return _of_basis(lab, measure, _chosen(lab, measure, RandomBasis(per_class=lab.config.size), rng))


def _selected(lab: Lab, measure: str, selector: Any) -> Row:
    start = perf_counter()
    basis = _chosen(lab, measure, selector, np.random.default_rng(0))
    return _of_basis(lab, measure, basis) | {"select_seconds": round(perf_counter() - start, 2)}


def _chosen(lab: Lab, measure: str, selector: Any, rng: np.random.Generator) -> Basis:
    cell, similarity = lab.measure(measure)
    rows = lab.train_rows()
    return [rows[selector(lab.features(cell)[rows], lab.labels[rows], similarity, rng)]]


def _of_basis(lab: Lab, measure: str, basis: Basis) -> Row:
    return lab.fit([measure], basis).row()


def summary(table: Table) -> Table:
    """Return a row for every measure and a column for every way; random ones as mean and standard deviation."""
    ways = distinct(table, "way")
    found = []
    for measure in distinct(table, "measure"):
        row: Row = {"measure": measure}
        for way in ways:
            scores = [one["accuracy"] for one in table if one["measure"] == measure and one["way"] == way]
            spread = f" ± {np.std(scores, ddof=1):.3f}" if len(scores) > 1 else ""
            row[way] = f"{np.mean(scores):.3f}{spread}" if scores else None
        found.append(row)
    return found


def figures(table: Table) -> dict[str, Figure]:
    """Draw the ways of the paper, and the others."""
    from besvm.report.figures import bars

    def series(ways: list[str]) -> dict[str, dict[str, float]]:
        found: dict[str, dict[str, float]] = {}
        for way in ways:
            scores = {m: value(table, "accuracy", measure=m, way=way) for m in distinct(table, "measure")}
            found[way] = {measure: score for measure, score in scores.items() if score is not None}
        return {way: scores for way, scores in found.items() if scores}

    paper = series(["Rand", "Indx", "K KMed", "Nyström, clip"])
    chosen = series(["Rand", *list(SELECTORS)[1:]])
    spectra = series(["Indx", *(f"Nyström, {spectrum}" for spectrum in WAYS)])
    drawn = {"basis_selection": paper, "data_driven": chosen, "nystrom": spectra}
    return {name: bars(groups, "test accuracy", width=9) for name, groups in drawn.items() if groups}


def claims(table: Table) -> list[Claim]:
    """Check what the paper concludes from the figure."""
    indefinite = [measure for measure in MEASURES if measure not in PSD]

    def mean(way: str, measures: list[str] | tuple[str, ...]) -> float | None:
        scores = [value(table, "accuracy", measure=measure, way=way) for measure in measures]
        return None if None in scores else float(np.mean([score for score in scores if score is not None]))

    def spread(measure: str) -> float | None:
        scores = [row["accuracy"] for row in table if row["measure"] == measure and row["way"] == "Rand"]
        return float(np.std(scores, ddof=1)) if len(scores) > 1 else None

    spreads = [spread(measure) for measure in MEASURES]
    largest = None if None in spreads else max(one for one in spreads if one is not None)
    return [
        check(
            "Random, indexed and k-medoids bases give similar accuracies (mean over all measures).",
            "Rand {:.1%}, Indx {:.1%}, K KMed {:.1%}",
            lambda *means: max(means) - min(means) < 0.01,
            *(mean(way, MEASURES) for way in ("Rand", "Indx", "K KMed")),
        ),
        check(
            "The variance over random bases is not significant.",
            "largest standard deviation {:.2%}",
            lambda one: one < 0.01,
            largest,
        ),
        check(
            "For indefinite measures the Nyström normalisation (clip) is worse than BE-SVM's.",
            "Nyström {:.1%}, BE-SVM {:.1%} (means)",
            lambda nystrom, ours: nystrom < ours,
            mean("Nyström, clip", indefinite),
            mean("Indx", indefinite),
        ),
        check(
            "For PSD kernels Nyström is better at the lower resolution (H8L, H8R).",
            "Nyström {:.1%}, BE-SVM {:.1%} (means)",
            lambda nystrom, ours: nystrom > ours,
            mean("Nyström, clip", ("H8L", "H8R")),
            mean("Indx", ("H8L", "H8R")),
        ),
        check(
            "For PSD kernels Nyström is worse at the higher resolution (H4L, H4R).",
            "Nyström {:.1%}, BE-SVM {:.1%} (means)",
            lambda nystrom, ours: nystrom < ours,
            mean("Nyström, clip", ("H4L", "H4R")),
            mean("Indx", ("H4L", "H4R")),
        ),
        check(
            "Flipping and squaring the spectrum are slightly worse than clipping (indefinite measures).",
            "clip {:.1%}, flip {:.1%}, square {:.1%} (means)",
            lambda clip, flip, square: flip < clip and square < clip,
            *(mean(f"Nyström, {spectrum}", indefinite) for spectrum in ("clip", "flip", "square")),
        ),
    ]


EXPERIMENT = Experiment(
    name="selection",
    title="basis selection and Nyström normalisations (figure Basis Selection)",
    paper=(
        "With ten times 100 bases, random, indexed and k-medoids bases perform alike; the Nyström normalisation is "
        "worse for all indefinite measures, and for PSD kernels better at the lower resolution and worse at the "
        "higher. Flipping and squaring the spectrum are slightly worse than clipping. Data-driven selectors are left "
        "as future work; three are tried here."
    ),
    cells=cells,
    figures=figures,
    claims=claims,
    summary=summary,
)
