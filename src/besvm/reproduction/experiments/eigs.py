"""Negative eigenvalues (table eigs).

Up to 30 % of the eigenvalues of the deformable measures are negative, with up to 7 % of the energy. Over the six
measures, accuracy correlates positively with both, and more strongly for BE-SVM's normalization than for Nyström's:
negative eigenvectors carry discriminative information. The paper's numbers are in brackets.
"""

from functools import partial
from math import isnan, nan

import numpy as np

from besvm._support.figures import COLORS, Figures, axes
from besvm.analysis import spectrum
from besvm.normalize.nystrom import Nystrom
from besvm.reproduction.cells import Cell, Cells, Claims, Costs, Undefined, check, value
from besvm.reproduction.config import Config
from besvm.reproduction.lab import Basis, Lab, Row, Rows, Table

PAPER = {  # NgRat, NgEng
    "H4(0,0)": (0.0, 0.0),
    "H4(0,1)": (0.26, 0.04),
    "H4(1,0)": (0.18, 0.05),
    "H4(1,1)": (0.25, 0.05),
    "H4(2,0)": (0.16, 0.04),
    "H4(2,1)": (0.30, 0.07),
}
MEASURES = tuple(PAPER)
TAIL = 0.4  # the share of the smallest eigenvalues that is drawn larger
CORRELATED = {"CorNyst": "accuracy_nystrom", "CorBE": "accuracy"}
PAPER_CORRELATIONS = {"NgRat": (0.20, 0.61), "NgEng": (0.33, 0.73)}  # CorNyst, CorBE


def cells(config: Config, lab: Lab, costs: Costs) -> Cells:
    """Yield a cell for every measure of the table."""
    basis = lab.index_basis(config.size, config.steps)
    memory = costs.fit_memory(1, 1, lab.n_classes * config.size)
    for measure in MEASURES:
        seconds = costs.fit([measure], 1, basis) + costs.fixed(2)
        yield Cell({"measure": measure}, partial(_eigenvalues, lab, measure, basis), seconds, memory)


def _eigenvalues(lab: Lab, measure: str, basis: Basis) -> Row:
    rows = np.concatenate(basis)
    found = spectrum(lab.similarities(measure, rows, rows))
    return {
        "NgRat": found.negative_ratio,
        "NgEng": found.negative_energy,
        "paper_NgRat": PAPER[measure][0],
        "paper_NgEng": PAPER[measure][1],
        "asymmetry": found.asymmetry,
        "accuracy": lab.fit([measure], basis).accuracy,
        "accuracy_nystrom": lab.fit([measure], basis, normalize=Nystrom("clip")).accuracy,
        "eigenvalues": [float(f"{one:.5g}") for one in found.eigenvalues],
    }


def correlation(table: Table, of: str, accuracy: str) -> float | Undefined:
    """Return Pearson's r between a column and an accuracy, over the measures."""
    if len(table) < len(MEASURES):
        return nan
    values, scores = np.array([row[of] for row in table]), np.array([row[accuracy] for row in table])
    if not (values.std() and scores.std()):
        return Undefined(f"{of if scores.std() else accuracy} is the same for all measures: there is no correlation")
    return float(np.corrcoef(values, scores)[0, 1])


def summary(table: Table) -> Rows:
    """Return the table as the paper prints it, with the paper's numbers in brackets."""
    for name, correlations in PAPER_CORRELATIONS.items():
        row: Row = {"": name}
        row |= {one["measure"]: f"{one[name]:.2f} ({one[f'paper_{name}']:.2f})" for one in table}
        for (heading, accuracy), paper in zip(CORRELATED.items(), correlations, strict=True):
            r = correlation(table, name, accuracy)
            row[heading] = f"{r:.2f} ({paper:.2f})" if isinstance(r, float) and not isnan(r) else ""
        yield row
    for heading, column in (("accuracy, BE-SVM", "accuracy"), ("accuracy, Nyström (clip)", "accuracy_nystrom")):
        yield {"": heading} | {one["measure"]: f"{one[column]:.3f}" for one in table}


def figures(config: Config, table: Table) -> Figures:
    """Draw the eigenvalues of every measure, all of them and the smallest."""
    figure, (left, right) = axes(10.5, 4, columns=2, width_ratios=(3, 2))
    for color, row in zip(COLORS, table, strict=False):
        eigenvalues = sorted(row["eigenvalues"])[::-1]
        share = np.linspace(0, 1, len(eigenvalues))
        tail = share >= 1 - TAIL
        left.plot(share, eigenvalues, color=color, label=row["measure"])
        right.plot(share[tail], np.array(eigenvalues)[tail], color=color)
    for ax in (left, right):
        ax.axhline(0, color="black", lw=0.6)
        ax.set_xlabel("share of the eigenvalues, largest first")
    left.set_yscale("symlog", linthresh=0.1)
    left.set_ylabel("eigenvalue (logarithmic beyond 0.1)")
    right.set_title(f"the smallest {TAIL:.0%}, linear", fontsize=10)
    left.legend()
    yield "eigs", figure


def claims(config: Config, table: Table) -> Claims:
    """Check what the paper concludes from the table."""
    nystrom, ours = ([correlation(table, name, one) for name in PAPER_CORRELATIONS] for one in CORRELATED.values())
    yield check(
        "Up to 30 % of the eigenvalues of the deformable measures are negative, with up to 7 % of the energy.",
        "the largest share is 20 to 40 %, and the largest energy 4 to 10 %",
        "up to {:.0%}, with up to {:.1%} of the energy",
        lambda share, energy: 0.2 <= share <= 0.4 and 0.04 <= energy <= 0.1,
        [np.max([value(table, name, measure=m) for m in MEASURES[1:]]) for name in ("NgRat", "NgEng")],
    )
    yield check(
        "H4(0,0), an inner product, has no negative eigenvalues.",
        "they have less than a millionth of the energy",
        "energy {:.1e}",
        lambda energy: energy < 1e-6,
        [value(table, "NgEng", measure="H4(0,0)")],
    )
    yield check(
        "Accuracy correlates positively with the ratio and energy of negative eigenvalues, normalized either way.",
        "all four correlations are above 0",
        "NgRat {:.2f} (Nyström), {:.2f} (BE-SVM); NgEng {:.2f}, {:.2f}",
        lambda *r: min(r) > 0,
        [nystrom[0], ours[0], nystrom[1], ours[1]],
    )
    yield check(
        "The correlation is stronger for BE-SVM's normalization.",
        "both are stronger than for Nyström's",
        "NgRat {:.2f} against {:.2f}; NgEng {:.2f} against {:.2f}",
        lambda a, b, c, d: a > b and c > d,
        [ours[0], nystrom[0], ours[1], nystrom[1]],
    )


NOTE = "An asymmetric matrix K is symmetrized, (K + Kᵀ) / 2. A correlation over six points is a weak statement."
CAPTIONS = {"eigs": "Eigenvalues of the similarities between the bases, the largest first."}
