"""Figures "normalization_one_sim" and "multi_sim": nine combinations of normalisations, C = 1 and cross-validated."""

from __future__ import annotations

from functools import partial
from typing import TYPE_CHECKING

import numpy as np

from besvm.experiments.base import Cell, Claim, Experiment, Row, Table, check, distinct, value, where
from besvm.experiments.config import M2, MEASURES
from besvm.experiments.lab import Lab

if TYPE_CHECKING:
    from matplotlib.figure import Figure

NAMES = {None: "none", "z-score": "z-score", "mean-norm": "BE-SVM"}
SINGLE = "single"
GROWING = "growing M2"


def cells(lab: Lab) -> list[Cell]:
    """Return a cell for every combination, every measure and every beginning of M2."""
    basis = lab.index_basis(lab.config.size)
    several: list[tuple[str, tuple[str, ...]]] = [(SINGLE, (measure,)) for measure in MEASURES]
    several += [(GROWING, M2[:count]) for count in range(1, len(M2) + 1)]
    found = []
    for norm, features in NAMES.items():
        for normalize, kernel_map in NAMES.items():
            for kind, measures in several:
                label = measures[0] if kind == SINGLE else " + ".join(measures)
                key = {"features": features, "kernel_map": kernel_map, "kind": kind, "measures": label}
                compute = partial(_accuracies, lab, measures, norm, normalize)
                found.append(Cell(key, compute, 4 + 5 * lab.seconds(measures, 1, basis, norm)))
    return found


def _accuracies(lab: Lab, measures: tuple[str, ...], norm: str | None, normalize: str | None) -> Row:
    basis = lab.index_basis(lab.config.size)
    fixed = lab.fit(measures, basis, normalize=normalize, norm=norm)
    chosen = lab.fit(measures, basis, normalize=normalize, norm=norm, C=None)
    return fixed.row() | {"accuracy_cv": chosen.accuracy, "C_cv": chosen.model.C}


def figures(table: Table) -> dict[str, Figure]:
    """Draw a line for every combination: single measures and the growing M2, for C = 1 and C cross-validated."""
    from besvm.report.figures import COLOURS, axes

    found = {}
    for kind, name in ((SINGLE, "normalization_one_sim"), (GROWING, "normalization_multi_sim")):
        rows = where(table, kind=kind)
        figure, both = axes(11, 4.4, columns=2, sharey=True)
        for ax, column, title in zip(both, ("accuracy", "accuracy_cv"), ("C = 1", "C cross-validated"), strict=True):
            labels = distinct(rows, "measures")
            for colour, features in zip(COLOURS, NAMES.values(), strict=False):
                for style, kernel_map in zip((":", "--", "-"), NAMES.values(), strict=True):
                    line = [value(rows, column, features=features, kernel_map=kernel_map, measures=m) for m in labels]
                    if None in line or not line:
                        continue
                    mean = np.mean([one for one in line if one is not None])
                    ax.plot(
                        line, style, color=colour, marker="o", ms=3, label=f"{features} + {kernel_map} ({mean:.3f})"
                    )
            ax.set_title(title)
            ax.set_xticks(range(len(labels)), [label.split(" + ")[-1] for label in labels], rotation=40, ha="right")
            ax.legend(fontsize=7, title="features + kernel map (mean)", title_fontsize=7)
        both[0].set_ylabel("test accuracy")
        found[name] = figure
    return found


def claims(table: Table) -> list[Claim]:
    """Check what the paper concludes from the two figures."""

    def mean(column: str, kind: str, features: str, kernel_map: str) -> float | None:
        return value(table, column, kind=kind, features=features, kernel_map=kernel_map)

    def others(column: str, kind: str) -> float | None:
        means = [mean(column, kind, f, k) for f in NAMES.values() for k in NAMES.values() if (f, k) != ("BE-SVM",) * 2]
        return None if None in means else max(one for one in means if one is not None)

    ours = mean("accuracy", SINGLE, "BE-SVM", "BE-SVM")
    single = [mean("accuracy", SINGLE, f, k) for f, k in (("BE-SVM", "none"), ("none", "BE-SVM"))]
    last = " + ".join(M2)
    return [
        check(
            "BE-SVM's normalisation of both features and kernel map is best on average (single measures, C = 1).",
            "{:.1%}; the best other combination {:.1%}",
            lambda a, b: a >= b,
            ours,
            others("accuracy", SINGLE),
        ),
        check(
            "The same for the growing set of measures.",
            "{:.1%}; the best other combination {:.1%}",
            lambda a, b: a >= b,
            mean("accuracy", GROWING, "BE-SVM", "BE-SVM"),
            others("accuracy", GROWING),
        ),
        check(
            "For single measures, normalising the features matters more than normalising the kernel map.",
            "features only {:.1%}, kernel map only {:.1%}",
            lambda a, b: a > b,
            *single,
        ),
        check(
            "C = 1 is enough after BE-SVM's normalisation: cross-validating C changes little.",
            "single measures {:.1%} to {:.1%}, growing M2 {:.1%} to {:.1%}",
            lambda a, b, c, d: b - a < 0.01 and d - c < 0.01,
            ours,
            mean("accuracy_cv", SINGLE, "BE-SVM", "BE-SVM"),
            mean("accuracy", GROWING, "BE-SVM", "BE-SVM"),
            mean("accuracy_cv", GROWING, "BE-SVM", "BE-SVM"),
        ),
        check(
            "The normalisation of the kernel map matters more when several measures are combined.",
            "gain of BE-SVM's over none: single {:.1%} to {:.1%}, all of M2 {:.1%} to {:.1%}",
            lambda a, b, c, d: d - c > b - a,
            mean("accuracy", SINGLE, "BE-SVM", "none"),
            ours,
            value(table, "accuracy", kind=GROWING, features="BE-SVM", kernel_map="none", measures=last),
            value(table, "accuracy", kind=GROWING, features="BE-SVM", kernel_map="BE-SVM", measures=last),
        ),
        check(
            "The solver converges faster on normalised kernel maps.",
            "{:.0f} passes over the features on average without, {:.0f} with",
            lambda a, b: b < a,
            mean("passes", SINGLE, "BE-SVM", "none"),
            mean("passes", SINGLE, "BE-SVM", "BE-SVM"),
        ),
    ]


def summary(table: Table) -> Table:
    """Return the means of all combinations."""
    found = []
    for features in NAMES.values():
        for kernel_map in NAMES.values():
            row: Row = {"features": features, "kernel map": kernel_map}
            for kind in (SINGLE, GROWING):
                for column, heading in (("accuracy", "C = 1"), ("accuracy_cv", "C chosen"), ("passes", "passes")):
                    mean = value(table, column, kind=kind, features=features, kernel_map=kernel_map)
                    row[f"{kind}, {heading}"] = None if mean is None else round(mean, 1 if column == "passes" else 4)
            found.append(row)
    return found


EXPERIMENT = Experiment(
    name="normalisations",
    title="normalisations of features and kernel maps (figures normalization_one_sim, multi_sim)",
    paper=(
        "BE-SVM's normalisation (centre, divide by the mean norm) works best for the features and for the kernel "
        "map. For single measures the features' matters more, for several the kernel map's. Cross-validating C "
        "changes little, and the solver converges faster than on unnormalised features."
    ),
    cells=cells,
    figures=figures,
    claims=claims,
    summary=summary,
)
