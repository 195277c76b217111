"""Basis selection and Nyström normalizations (figure Basis Selection).

With 10 x 100 bases, random, indexed and k-medoids bases perform alike; the Nyström normalization is worse for all
indefinite measures, and for PSD kernels better at the lower resolution and worse at the higher. Flipping and squaring
the spectrum are slightly worse than clipping. Data-driven selectors are left as future work; three are tried here.
"""

from functools import partial
from math import nan
from time import perf_counter
from typing import Any

import numpy as np

from besvm._support.figures import Figures, dots
from besvm.basis import FarthestBasis, GradientBasis, KMedoidsBasis, PivotedBasis, RandomBasis
from besvm.normalize.nystrom import WAYS, Nystrom
from besvm.reproduction.cells import Cell, Cells, Claims, Costs, check, distinct, where
from besvm.reproduction.config import INDEFINITE, MEASURES, PSD, Config
from besvm.reproduction.lab import Lab, Row, Rows, Table, cell_and_similarity, fitted

SELECTORS: dict[str, Any] = {
    "K KMed": KMedoidsBasis,
    "Farthest": FarthestBasis,
    "Pivoted": PivotedBasis,
    "Gradient": GradientBasis,
}


def cells(config: Config, lab: Lab, costs: Costs) -> Cells:
    """Yield a cell for every measure and every way, five for a random basis."""
    size = config.size
    index = lab.index_basis(size, config.steps)
    width = lab.n_classes * size
    memory = costs.fit_memory(1, 1, width)
    choosing = memory + 2 * 4 * len(lab.train_rows()) * width  # selectors hold similarities of their own
    for measure in MEASURES:
        own = costs.fit([measure], 1, index)
        training = costs.fixed(0.2) + costs.train(len(lab.train_rows()), width)
        unseen = training + costs.pairs(measure, len(lab.train_rows(2)), width)  # another basis is another matrix
        yield Cell({"measure": measure, "way": "Indx"}, partial(fitted, lab, [measure], index), own, memory)
        for trial in range(config.trials):
            key = {"measure": measure, "way": "Rand", "trial": trial}
            compute = partial(_selected, lab, measure, RandomBasis(per_class=size), trial)
            yield Cell(key, compute, unseen, memory)
        for way, selector in SELECTORS.items():
            compute = partial(_selected, lab, measure, selector(per_class=size), 0)
            yield Cell({"measure": measure, "way": way}, compute, 2 * unseen, choosing)
        for spectrum in WAYS:
            compute = partial(fitted, lab, [measure], index, normalize=Nystrom(spectrum))
            yield Cell({"measure": measure, "way": f"Nyström, {spectrum}"}, compute, costs.fixed(3), memory)


def _selected(lab: Lab, label: str, selector: Any, seed: int) -> Row:
    cell, similarity = cell_and_similarity(label)
    rows = lab.train_rows()
    X, y = lab.features(cell)[rows], lab.labels[rows]
    start = perf_counter()
    basis = rows[selector(X, y, similarity, np.random.default_rng(seed))]
    seconds = perf_counter() - start
    return lab.fit([label], [basis]).row() | {"select_seconds": round(seconds, 2)}


def _scores(table: Table, way: str, measure: str) -> list[float]:
    return [row["accuracy"] for row in where(table, way=way, measure=measure)]


def summary(table: Table) -> Rows:
    """Return a row for every measure and a column for every way; random ones as mean and standard deviation."""
    short = {"K KMed": "KMed", "Farthest": "Far", "Pivoted": "Piv", "Gradient": "Grad", "Nyström, covariance": "N cov"}
    ways = distinct(table, "way")
    for measure in distinct(table, "measure"):
        row: Row = {"measure": measure}
        for way in ways:
            scores = _scores(table, way, measure)
            spread = f" ± {np.std(scores, ddof=1):.3f}" if len(scores) > 1 else ""
            row[short.get(way, way.replace("Nyström,", "N"))] = f"{np.mean(scores):.3f}{spread}" if scores else None
        yield row


def figures(config: Config, table: Table) -> Figures:
    """Draw the ways of the paper, and the others."""

    def series(ways: list[str]) -> dict[str, dict[str, list[float]]]:
        by_way = {way: distinct(where(table, way=way), "measure") for way in ways}
        return {way: {m: _scores(table, way, m) for m in measures} for way, measures in by_way.items() if measures}

    drawn = {"basis_selection": ["Rand", "Indx", "K KMed", "Nyström, clip"]}
    drawn |= {"data_driven": ["Rand", *list(SELECTORS)[1:]], "nystrom": ["Indx", *(f"Nyström, {one}" for one in WAYS)]}
    for name, ways in drawn.items():
        if groups := series(ways):
            yield name, dots(groups, "test accuracy", width=9)


def claims(config: Config, table: Table) -> Claims:
    """Check what the paper concludes from the figure."""

    def accuracy(way: str, measure: str, reduce: Any = np.mean) -> float:
        scores = _scores(table, way, measure)
        return float(reduce(scores)) if len(scores) == (config.trials if way == "Rand" else 1) else nan

    def from_random(way: str) -> float:
        """Return the largest difference from random bases over the measures, with its sign."""
        differences = [accuracy(way, measure) - accuracy("Rand", measure) for measure in MEASURES]
        return differences[int(np.abs(differences).argmax())]

    def mean(way: str) -> float:
        return float(np.mean([accuracy(way, measure) for measure in INDEFINITE]))

    def nystrom(measure: str) -> float:
        """Return what Nyström (clip) gains over BE-SVM's normalization."""
        return accuracy("Nyström, clip", measure) - accuracy("Indx", measure)

    similar = [[accuracy(way, measure) for way in ("Rand", "Indx", "K KMed")] for measure in MEASURES]
    apart = np.ptp(similar, axis=1)
    gains = np.array([nystrom(measure) for measure in INDEFINITE])
    n_worse = float(np.where(np.isnan(gains), nan, gains < 0).sum())
    yield check(
        "Random, indexed and k-medoids bases give similar accuracies.",
        "they are within 1 % of each other for every measure",
        "largest difference {:.1%}, on average {:.1%}",
        lambda most, mean: most < 0.01,
        [apart.max(), apart.mean()],
    )
    yield check(
        "The variance over random bases is not significant.",
        "the largest standard deviation over the trials is below 1 %",
        "largest standard deviation {:.2%}",
        lambda one: one < 0.01,
        [np.max([accuracy("Rand", measure, partial(np.std, ddof=1)) for measure in MEASURES])],
    )
    yield check(
        "More sophisticated choices of the basis behave like random ones.",
        "farthest, pivoted and gradient bases are within 1 % of random ones for every measure",
        "largest difference: farthest {:+.1%}, pivoted {:+.1%}, gradient {:+.1%}",
        lambda *most: max(map(abs, most)) < 0.01,
        [from_random(way) for way in ("Farthest", "Pivoted", "Gradient")],
    )
    yield check(
        "For indefinite measures BE-SVM's normalization is consistently better than Nyström's (clip).",
        "it is better for every indefinite measure",
        f"better for {{:.0f}} of {len(INDEFINITE)}; Nyström {{:.1%}}, BE-SVM {{:.1%}} on average",
        lambda count, *_: count == len(INDEFINITE),
        [n_worse, mean("Nyström, clip"), mean("Indx")],
    )
    yield check(
        "For positive definite kernels Nyström is better at the lower resolution.",
        "it is better for H8L and for H8R",
        "Nyström's gain: H8L {:+.1%}, H8R {:+.1%}",
        lambda *gains: min(gains) > 0,
        [nystrom("H8L"), nystrom("H8R")],
    )
    yield check(
        "For positive definite kernels Nyström is worse at the higher resolution.",
        "it is worse for H4L and for H4R",
        "Nyström's gain: H4L {:+.1%}, H4R {:+.2%}",
        lambda *gains: max(gains) < 0,
        [nystrom("H4L"), nystrom("H4R")],
    )
    yield check(
        "BE-SVM's normalization is competitive with Nyström's for positive definite kernels.",
        "the two are within 2 % of each other for all four",
        "largest difference {:.1%}",
        lambda most: most < 0.02,
        [np.abs([nystrom(measure) for measure in PSD]).max()],
    )
    yield check(
        "Flipping and squaring the spectrum are slightly worse than clipping (indefinite measures).",
        "the means of both are below that of clipping, by less than 5 %",
        "clip {:.1%}, flip {:.1%}, square {:.1%} (means)",
        lambda clip, flip, square: 0 < clip - flip < 0.05 and 0 < clip - square < 0.05,
        [mean(f"Nyström, {spectrum}") for spectrum in ("clip", "flip", "square")],
    )
    yield check(
        f"H8R is the best positive definite measure (10 x {config.size} bases).",
        "it is more accurate than H8L, H4L and H4R",
        "H8R {:.1%}; the best other one {:.1%}",
        lambda ours, other: ours > other,
        [accuracy("Indx", "H8R"), np.max([accuracy("Indx", measure) for measure in PSD if measure != "H8R"])],
    )


NOTE = (
    "N: the Nyström normalization of the indexed basis, with the way its matrix is made positive semi-definite. "
    "Rand: mean and standard deviation of {config.trials} trials."
)
CAPTIONS = {
    "basis_selection": "The paper's figure: ways to choose a basis, and Nyström's normalization. The axis does not "
    "begin at 0; bars show the standard deviation over random bases.",
    "data_driven": "Bases chosen by the data, beside random ones.",
    "nystrom": "Nyström's normalization with five ways to make K positive semi-definite, beside BE-SVM's (Indx).",
}
