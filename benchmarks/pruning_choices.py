"""Ways to choose which exemplars to keep: M2, 10 x 100 exemplars of fold 1 of CIFAR-10, tested on fold 2.

Every way sees the 10,000 images of fold 1 alone; the test images are not touched. What is kept is refitted: on the
labels (C = 1), to the margins of the model with all exemplars, or to both, as besvm.prune does.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
from sklearn.base import clone

from benchmarks.pruning_data import M2, Case, case_of
from besvm._support.threads import threads_for
from besvm.blocks import MemoryBlocks
from besvm.pruning.ranking import ranked
from besvm.solver.newton import solve
from besvm.solver.problem import Problem
from besvm.solver.result import Result

SIZES = (500, 250, 125)
LEARNED = ("labels", "margins", "both")
Kept = dict[int, np.ndarray]  # by the number of exemplars


def benchmark(quick: bool = False) -> list[dict[str, Any]]:
    """Return a row for every way, and one for all exemplars."""
    with case_of(0, (1,), quick) as case:
        return [] if case is None else _rows(case, (20, 10) if quick else SIZES)


def _rows(case: Case, sizes: tuple[int, ...]) -> list[dict[str, Any]]:
    every = case.whole()
    rows: list[dict[str, Any]] = [{"way": "all exemplars", "learned from": "labels", str(case.n): every}]
    for name, way in WAYS.items():
        kept = way(case, sizes)
        for learned in LEARNED:
            targets = case.stage.targets(case.margins, learned)
            found = [case.accuracy(kept[size], case.stage.refitted(kept[size], targets, None)) for size in sizes]
            accuracies = {str(size): accuracy for size, accuracy in zip(sizes, found, strict=True)}
            loss = every - found[0]
            rows.append({"way": name, "learned from": learned, **accuracies, f"loss, {sizes[0]}": loss})
    return rows


def features_of(case: Case, kept: np.ndarray) -> np.ndarray:
    """Return the normalized features of the training rows, measure by measure."""
    stage = case.stage
    with stage.features(clone(stage.params), kept, stage.weights) as (_, blocks, _):
        return np.array(blocks.matrix)


def train(case: Case, features: np.ndarray) -> Result:
    """Train one-vs-rest, C = 1."""
    problem = Problem(case.stage.labels, np.arange(10), case.stage.weights)
    with threads_for(np.inf):
        return solve(MemoryBlocks(features), problem, 1.0, tol=1e-2)


def of_exemplars(values: np.ndarray) -> np.ndarray:
    """Return the sums over measures of what was computed for every column."""
    return values.reshape(len(M2), -1, *values.shape[1:]).sum(axis=0)


def drawn(case: Case, sizes: tuple[int, ...]) -> Kept:
    """At random."""
    rng = np.random.default_rng(0)
    return {size: rng.choice(case.n, size, replace=False) for size in sizes}


def medoids(case: Case, sizes: tuple[int, ...]) -> Kept:
    """Those nearest to the centers of clusters, of what they are like to the rows."""
    from sklearn.cluster import MiniBatchKMeans
    from sklearn.metrics import pairwise_distances

    vectors = of_exemplars(features_of(case, np.arange(case.n)).T)[:, ::5]
    kept: Kept = {}
    for size in sizes:
        clusters = MiniBatchKMeans(size, n_init=1, random_state=0, batch_size=2048).fit(vectors)
        distance = pairwise_distances(clusters.cluster_centers_, vectors)
        chosen: list[int] = []
        for row in distance:
            row[chosen] = np.inf
            chosen.append(int(row.argmin()))
        kept[size] = np.array(chosen)
    return kept


def by_weights(leaves: float) -> Callable[[Case, tuple[int, ...]], Kept]:
    """By the squares of weights times the variance of features, in rounds that leave a share of the exemplars."""

    def choose(case: Case, sizes: tuple[int, ...]) -> Kept:
        left, kept = np.arange(case.n), {}
        for size in sizes:
            while len(left) > size:
                features = features_of(case, left)
                carried = train(case, features).coef ** 2 * features.var(axis=0)[:, None]
                worth = of_exemplars(carried).sum(axis=1)
                left = np.sort(left[np.argsort(-worth)[: max(size, int(leaves * len(left)))]])
            kept[size] = left
        return kept

    return choose


def reweighted(case: Case, sizes: tuple[int, ...]) -> Kept:
    """By a penalty on the norms of exemplars (group lasso), as a ridge whose weights are adapted four times."""
    features = features_of(case, np.arange(case.n))
    share = np.ones(case.n)
    for _ in range(4):
        scale = np.tile(np.sqrt(share), len(M2)).astype(np.float32)
        coef = train(case, features * scale).coef * scale[:, None]
        share = np.sqrt(of_exemplars(coef**2).sum(axis=1))
        share = share / share.mean() + 1e-6
    order = np.argsort(-share)
    return {size: order[:size] for size in sizes}


def forward(case: Case, sizes: tuple[int, ...], n_rounds: int = 8) -> Kept:
    """Added one by one, whichever explains most of the residuals, as GradientBasis does; trained anew eight times."""
    features = features_of(case, np.arange(case.n))
    gram = (features.T @ features).astype(np.float64)
    norms = np.diag(gram).copy()
    signs = np.where(case.stage.labels[:, None] == np.arange(10), 1, -1).astype(np.float32)
    margins, order = np.broadcast_to(signs.mean(axis=0), signs.shape), []
    for number in range(n_rounds):
        correlation = (features.T @ (signs * np.maximum(1 - signs * margins, 0))).astype(np.float64)
        while len(order) < (number + 1) * max(sizes) // n_rounds:
            gain = of_exemplars((correlation**2).sum(axis=1) / norms)
            gain[order] = -1
            order.append(int(gain.argmax()))
            for column in order[-1] + case.n * np.arange(len(M2)):
                correlation -= np.outer(gram[column] / norms[column], correlation[column])
        margins = train(case, features_of(case, np.array(order))).margins
    return {size: np.array(order[:size]) for size in sizes}


def second_order(case: Case, sizes: tuple[int, ...]) -> Kept:
    """As besvm.prune does."""
    order = ranked(case.stage, case.margins, case.stage.weights, min(sizes))
    return {size: order[:size] for size in sizes}


WAYS: dict[str, Callable[[Case, tuple[int, ...]], Kept]] = {
    "random": drawn,
    "medoids": medoids,
    "weights times spread, once": by_weights(0.0),
    "weights times spread, in rounds": by_weights(2 / 3),
    "group lasso": reweighted,
    "forward, by the gradient": forward,
    "second order (besvm.prune)": second_order,
}
