"""Variants that the paper mentions: regularized deformations, large bases, one-vs-one, L1.

Regularizing the displacements brought no improvement. For positive definite kernels with large bases Nyström can be
expected to be better. One-vs-rest is preferred to one-vs-one, and a small basis with L2 to a large one with L1.
"""

from functools import partial
from time import perf_counter
from typing import Any

import numpy as np

from besvm._support.figures import COLORS, Figures, axes, curve, log_ticks
from besvm.basis import IndexBasis
from besvm.classifier import BESVMClassifier
from besvm.normalize.nystrom import Nystrom
from besvm.reproduction.cells import Cell, Cells, Claims, Costs, check, value, where
from besvm.reproduction.config import M2, Config
from besvm.reproduction.experiments.multiple import accuracy
from besvm.reproduction.lab import MAX_ITER, Basis, Lab, Row, Table, cell_and_similarity, fitted
from besvm.reproduction.models import trained
from besvm.similarities import RBF, Deformable

# of a displacement by one cell; two like images have a similarity of about 1, to which each of 64 cells adds 1/64
PENALTIES = {"H4(2,0)": (0.003, 0.01, 0.03), "H4(0,1)": (0.0001, 0.0003, 0.001)}
MULTI_CLASS = ("ovr", "ovo", "ovo-pair-basis")
SETS = {"H8R": ("H8R",), "M2": M2}
LARGE_C = 100.0


def cells(config: Config, lab: Lab, costs: Costs) -> Cells:
    """Yield the cells of every remark."""
    size, basis = config.size, lab.index_basis(config.size, config.steps)

    def cell(what: str, measure: str, seconds: float, compute: partial[Row], memory: int = 0, **key: Any) -> Cell:
        memory = memory or costs.fit_memory(1, 1, lab.n_classes * size, lab.n_classes**2)
        return Cell({"what": what, "measure": measure} | key, compute, costs.fixed(seconds), memory)

    for measure, penalties in PENALTIES.items():
        for penalty in (0.0, *penalties):
            yield cell("penalty", measure, 6, partial(_penalized, lab, measure, penalty, size), penalty=penalty)
    for per_class in config.sizes:
        width = lab.n_classes * per_class
        compute = partial(fitted, lab, ["H8R"], lab.index_basis(per_class, config.steps), normalize=Nystrom("clip"))
        peak = costs.fit_memory(1, 1, width) + 5 * 8 * width**2
        yield cell("Nyström", "H8R", width**3 / 1e9, compute, peak, per_class=per_class)
    for measure in ("H8R", "H4R"):
        yield cell("similarity of the bases", measure, 1, partial(_off_diagonal, lab, measure, basis))
    for measure in ("H8R", "H8(1,0)"):
        yield cell("cost of a measure", measure, 2, partial(_seconds, lab, measure, basis, 1 + config.repeats))
    for name, measures in SETS.items():
        peak = costs.fit_memory(len(measures), 1, lab.n_classes * size)
        for C in (1.0, LARGE_C):
            yield cell("C", name, 10, partial(fitted, lab, measures, basis, C=C), peak, C=C)
    for way in MULTI_CLASS:
        yield cell("multi-class", "H8R", 8, partial(_trained, lab, size, multi_class=way), way=way)
    for way, per_class in (("l1", size), ("l2", size), ("l2", config.greedy_size)):
        compute = partial(_trained, lab, per_class, penalty=way)
        yield cell("regularizer", "H8R", 8, compute, way=way, per_class=per_class)


def _penalized(lab: Lab, measure: str, penalty: float, per_class: int) -> Row:
    rigid = Deformable(2, 0, rigid_penalty=penalty)
    local = Deformable(0, 1, local_penalty=penalty)
    return _scored(lab, rigid if measure == "H4(2,0)" else local, lab.features(4), per_class)


def _trained(lab: Lab, per_class: int, **options: Any) -> Row:
    return _scored(lab, RBF(gamma=1.0), lab.flat_features(8), per_class, **options)


def _scored(lab: Lab, similarity: Any, features: np.ndarray, per_class: int, **options: Any) -> Row:
    options |= {"probability": False, "memory_limit": lab.model_limit, "max_iter": MAX_ITER}
    model = BESVMClassifier(similarity, basis=IndexBasis(per_class=per_class), **{"C": 1.0, **options})
    return trained(lab, model, features, lab.train_rows())


def _off_diagonal(lab: Lab, label: str, basis: Basis) -> Row:
    rows = np.concatenate(basis)
    K = np.abs(np.asarray(lab.similarities(label, rows, rows), dtype=np.float64))
    others = (K.sum() - np.trace(K)) / (K.size - len(K))
    return {"similarity": float(others / np.diag(K).mean())}


def _seconds(lab: Lab, label: str, basis: Basis, n_runs: int) -> Row:
    """Return the seconds that the similarities of the fold to the bases take, in the fastest of several runs."""
    cell, similarity = cell_and_similarity(label)
    features, rows = lab.features(cell), lab.train_rows()
    compare = similarity.against(features[np.concatenate(basis)])
    times = []
    for _ in range(n_runs):
        start = perf_counter()
        compare(features[rows])
        times.append(perf_counter() - start)
    return {"seconds": round(min(times), 4)}


def figures(config: Config, table: Table, multiple: Table) -> Figures:
    """Draw BE-SVM's and Nyström's normalizations against the size of the basis, for H8R."""
    rows = where(table, what="Nyström")
    ours = where(multiple, set="M2", measures=1, folds=1)
    if not rows or not ours:
        return
    figure, ax = axes(6, 3.6)
    for color, label, several in zip(COLORS, ("BE-SVM", "Nyström (clip)"), (ours, rows), strict=False):
        curve(ax, several, "per_class", "accuracy", ms=4, color=color, label=label)
    ax.set(xscale="log", xlabel="exemplars of each class", ylabel="test accuracy, H8R, one fold")
    log_ticks(ax, [row["per_class"] for row in ours])
    ax.legend()
    yield "nystrom_sizes", figure


def claims(config: Config, table: Table, multiple: Table) -> Claims:
    """Check the remarks."""

    def of(column: str, what: str, **values: Any) -> float:
        return value(table, column, what=what, **values)

    def gain(measure: str) -> float:
        """Return what the best weight of the regularizer gains over none."""
        scores = [of("accuracy", "penalty", measure=measure, penalty=one) for one in PENALTIES[measure]]
        return float(np.max(scores)) - of("accuracy", "penalty", measure=measure, penalty=0.0)

    def nystrom(per_class: int) -> float:
        """Return what Nyström gains over BE-SVM for H8R."""
        return of("accuracy", "Nyström", per_class=per_class) - accuracy(multiple, "M2", 1, per_class, 1)

    small, large = config.sizes[0], config.sizes[-1]
    rest, every, own = (
        [of(column, "multi-class", way=way) for column in ("accuracy", "train_seconds")] for way in MULTI_CLASS
    )
    L1, L2, smaller = (
        [of(column, "regularizer", way=way, per_class=size) for column in ("accuracy", "exemplars", "train_seconds")]
        for way, size in (("l1", config.size), ("l2", config.size), ("l2", config.greedy_size))
    )
    yield check(
        "Regularizing the deformations brings no significant improvement.",
        "the best of three weights gains less than 1 %, rigid and local",
        "H4(2,0) {:+.1%}, H4(0,1) {:+.1%}",
        lambda *gains: max(gains) < 0.01,
        [gain(measure) for measure in PENALTIES],
    )
    yield check(
        "For a positive definite kernel and a large basis, BE-SVM is worse than Nyström (H8R).",
        f"Nyström is better with 10 x {large} bases",
        f"Nyström's gain with 10 x {large} bases {{:+.1%}}",
        lambda one: one > 0,
        [nystrom(large)],
    )
    yield check(
        "For a small basis, BE-SVM is competitive with Nyström or better (H8R).",
        f"Nyström gains less than 1 % with 10 x {small} bases",
        f"Nyström's gain with 10 x {small} bases {{:+.1%}}",
        lambda one: one < 0.01,
        [nystrom(small)],
    )
    yield check(
        "Nyström's normalization gains more over BE-SVM's the larger the basis (H8R).",
        f"it gains more with 10 x {large} bases than with 10 x {small}",
        f"with 10 x {small} {{:+.1%}}, with 10 x {large} {{:+.1%}}",
        lambda few, many: many > few,
        [nystrom(small), nystrom(large)],
    )
    yield check(
        "H8(1,0) is more expensive to evaluate than the kernel of K8R.",
        "the similarities of the first fold to the bases take longer",
        "{:.2f} s against {:.2f} s",
        lambda rigid, rbf: rigid > rbf,
        [of("seconds", "cost of a measure", measure=measure) for measure in ("H8(1,0)", "H8R")],
    )
    yield check(
        "Without alignment, bases are less similar to each other at the higher resolution.",
        "the mean similarity of two bases, over that of a basis with itself, is lower for H4R than for H8R",
        "H8R {:.3f}, H4R {:.3f}",
        lambda low, high: high < low,
        [of("similarity", "similarity of the bases", measure=measure) for measure in ("H8R", "H4R")],
    )
    yield check(
        "The solver converges much faster with C = 1 than with C >> 1.",
        f"C = {LARGE_C:.0f} takes at least 1.5 times as many passes, for H8R and for M2",
        "passes with both: H8R {:.0f} and {:.0f}, M2 {:.0f} and {:.0f}",
        lambda a, b, c, d: b >= 1.5 * a and d >= 1.5 * c,
        [of("passes", "C", measure=name, C=C) for name in SETS for C in (1.0, LARGE_C)],
    )
    yield check(
        "One-vs-rest BE-SVM is faster and generalizes better than one-vs-one with all bases.",
        "it takes less time, and is more accurate",
        "one-vs-rest {:.1%} in {:.2f} s, one-vs-one {:.1%} in {:.2f} s",
        lambda a, s, b, t: a > b and s < t,
        [*rest, *every],
    )
    yield check(
        "One-vs-one BE-SVM with the bases of the two classes alone generalizes less than one-vs-rest.",
        "it is less accurate",
        "one-vs-rest {:.1%} in {:.2f} s, one-vs-one, own bases {:.1%} in {:.2f} s",
        lambda a, s, b, t: a > b,
        [*rest, *own],
    )
    yield check(
        "One-vs-one BE-SVM with the bases of the two classes alone is quicker to train than one-vs-rest.",
        "it takes less time",
        "one-vs-one, own bases {:.2f} s, one-vs-rest {:.2f} s",
        lambda own, rest: own < rest,
        [own[1], rest[1]],
    )
    yield check(
        "An L1 regularizer is sparser than L2, but takes longer to train.",
        "it keeps fewer exemplars and takes more time, from the same basis",
        "L1 {:.1%}, {:,.0f} exemplars, {:.2f} s; L2 {:.1%}, {:,.0f}, {:.2f} s",
        lambda a, n, s, b, m, t: n < m and s > t,
        [*L1, *L2],
    )
    yield check(
        "A smaller basis with L2 is preferred to a larger one with L1.",
        "it is trained faster and is at most 1 % less accurate",
        "L2 {:.1%}, {:,.0f} exemplars, {:.2f} s; L1 {:.1%}, {:,.0f}, {:.2f} s",
        lambda a, n, s, b, m, t: s < t and a > b - 0.01,
        [*smaller, *L1],
    )


USES = ("multiple",)
NOTE = (
    "On the first fold, 10 x {config.size} bases unless stated otherwise. A penalty is the weight λ of λ|z|², for "
    "a displacement z in cells; the similarity of an image with itself is about 1."
)
CAPTIONS = {"nystrom_sizes": "BE-SVM's and Nyström's normalizations against the size of the basis, H8R on one fold."}
