"""Ways to choose which exemplars to keep: M2, 10 x 100 exemplars of fold 1 of CIFAR-10, judged by the images of fold 2.

Every way sees the 10,000 images of fold 1 alone; the test images are not touched. What is kept is refitted, on the
labels (C = 1) or to the margins of the model with all exemplars.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np

from besvm import BESVMClassifier
from besvm._support.threads import threads_for
from besvm.basis import IndexBasis
from besvm.blocks import MemoryBlocks
from besvm.blocks.fill import filled
from besvm.datasets import load_cifar10
from besvm.normalize.affine import fit_mean_norm
from besvm.pruning.projection import Moments
from besvm.pruning.ranking import AT_ONCE, eliminated
from besvm.solver.newton import solve
from besvm.solver.problem import Problem
from besvm.solver.result import Result

M2 = ["H8R", "H4(2,0)", "H4(0,1)", "H8(1,0)"]
SIZES = (500, 250, 125)
Kept = dict[int, np.ndarray]  # by the number of exemplars


@dataclass
class Case:
    """A model's similarities, of rows to choose by and rows to judge by: (rows, measures, exemplars)."""

    raw: np.ndarray
    labels: np.ndarray
    margins: np.ndarray  # of the model with all exemplars
    judge: np.ndarray
    judge_labels: np.ndarray
    rng: np.random.Generator

    @property
    def n(self) -> int:
        """How many exemplars there are."""
        return self.raw.shape[2]

    def features(self, kept: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        """Return the normalized features of both kinds of rows, measure by measure."""
        ours, theirs = (some[:, :, kept].reshape(len(some), -1) for some in (self.raw, self.judge))
        groups = [slice(m * len(kept), (m + 1) * len(kept)) for m in range(self.raw.shape[1])]
        normalizer = fit_mean_norm(MemoryBlocks(ours), groups)
        return normalizer(ours), normalizer(theirs)

    def train(self, features: np.ndarray, tol: float = 1e-2) -> Result:
        """Train one-vs-rest, C = 1."""
        problem = Problem(self.labels, np.arange(10), np.ones(len(self.labels)))
        with threads_for(np.inf):
            return solve(MemoryBlocks(features), problem, 1.0, tol=tol)

    def accuracies(self, kept: np.ndarray) -> list[float]:
        """Return the accuracy on the rows to judge by: trained on labels, and fitted to the margins of all."""
        ours, theirs = self.features(np.sort(kept))
        trained = self.train(ours, 1e-3)
        moments = Moments.of(MemoryBlocks(ours), self.margins, np.ones(len(ours)), intercept=True)
        alike = moments.model(None)
        found = []
        for coef, intercept in ((trained.coef, trained.intercept), (alike.coef.T, alike.intercept)):
            margins = theirs @ coef.astype(theirs.dtype) + intercept
            found.append(float((margins.argmax(axis=1) == self.judge_labels).mean()))
        return found

    def of_exemplars(self, values: np.ndarray) -> np.ndarray:
        """Return the sums over measures and classes of what was computed for every column."""
        return values.reshape(self.raw.shape[1], -1, *values.shape[1:]).sum(axis=0).reshape(-1, *values.shape[1:])


def benchmark(quick: bool = False) -> list[dict[str, Any]]:
    """Return a row for every way, and one for all exemplars."""
    try:
        images, labels, fold = load_cifar10()
    except FileNotFoundError:
        return []
    some = slice(0, 300 if quick else None)
    folds = [(images[fold == number][some], labels[fold == number][some]) for number in (0, 1)]
    per_class, sizes = (4, (20, 10)) if quick else (100, SIZES)
    case, every = _case(*folds, per_class)
    rows = [{"way": "all exemplars", "learned from": "labels", str(case.n): every}]
    for name, way in WAYS.items():
        kept = way(case, sizes)
        found = [case.accuracies(kept[size]) for size in sizes]
        for place, learned in enumerate(("labels", "margins")):
            accuracies = {str(size): both[place] for size, both in zip(sizes, found, strict=True)}
            loss = every - found[0][place]
            rows.append({"way": name, "learned from": learned, **accuracies, f"loss, {sizes[0]}": loss})
    return rows


def _case(ours: Any, theirs: Any, per_class: int) -> tuple[Case, float]:
    """Return the case, and the accuracy with all exemplars."""
    basis = IndexBasis(per_class=per_class)
    model = BESVMClassifier(M2, basis=basis, C=1.0, probability=False, random_state=0).fit(*ours)
    expander = model._map.expander
    raw, judge = (filled(expander, X).matrix.reshape(len(X), len(M2), -1) for X in (ours[0], theirs[0]))
    labels = [part[1].astype(int) for part in (ours, theirs)]
    case = Case(raw, labels[0], np.empty(0), judge, labels[1], np.random.default_rng(0))
    features, of_judge = case.features(np.arange(case.n))
    coef = model.coef_.T.astype(features.dtype)
    case.margins = features @ coef + model.intercept_
    return case, float(((of_judge @ coef + model.intercept_).argmax(axis=1) == labels[1]).mean())


def drawn(case: Case, sizes: tuple[int, ...]) -> Kept:
    """At random."""
    return {size: case.rng.choice(case.n, size, replace=False) for size in sizes}


def medoids(case: Case, sizes: tuple[int, ...]) -> Kept:
    """Those nearest to the centers of clusters, of what they are like to the rows."""
    from sklearn.cluster import MiniBatchKMeans
    from sklearn.metrics import pairwise_distances

    features, _ = case.features(np.arange(case.n))
    vectors = case.of_exemplars(features.T)[:, ::5]
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
                features, _ = case.features(left)
                carried = case.train(features).coef ** 2 * features.var(axis=0)[:, None]
                worth = case.of_exemplars(carried).sum(axis=1)
                left = np.sort(left[np.argsort(-worth)[: max(size, int(leaves * len(left)))]])
            kept[size] = left
        return kept

    return choose


def reweighted(case: Case, sizes: tuple[int, ...]) -> Kept:
    """By a penalty on the norms of exemplars (group lasso), as a ridge whose weights are adapted four times."""
    features, _ = case.features(np.arange(case.n))
    share = np.ones(case.n)
    for _ in range(4):
        scale = np.tile(np.sqrt(share), len(M2)).astype(np.float32)
        coef = case.train(features * scale).coef * scale[:, None]
        share = np.sqrt(case.of_exemplars(coef**2).sum(axis=1))
        share = share / share.mean() + 1e-6
    order = np.argsort(-share)
    return {size: order[:size] for size in sizes}


def forward(case: Case, sizes: tuple[int, ...], n_rounds: int = 8) -> Kept:
    """Added one by one, whichever explains most of the residuals, as GradientBasis does; trained anew eight times."""
    features, _ = case.features(np.arange(case.n))
    gram = (features.T @ features).astype(np.float64)
    norms = np.diag(gram).copy()
    signs = np.where(case.labels[:, None] == np.arange(10), 1, -1).astype(np.float32)
    margins, order = np.broadcast_to(signs.mean(axis=0), signs.shape), []
    for number in range(n_rounds):
        correlation = (features.T @ (signs * np.maximum(1 - signs * margins, 0))).astype(np.float64)
        while len(order) < (number + 1) * max(sizes) // n_rounds:
            gain = case.of_exemplars((correlation**2).sum(axis=1) / norms)
            gain[order] = -1
            order.append(int(gain.argmax()))
            for column in order[-1] + case.n * np.arange(len(M2)):
                correlation -= np.outer(gram[column] / norms[column], correlation[column])
        margins = case.train(case.features(np.array(order))[0]).margins
    return {size: np.array(order[:size]) for size in sizes}


def surgeon(at_once: float) -> Callable[[Case, tuple[int, ...]], Kept]:
    """As besvm.prune does, with the costs brought up to date after such a share of the exemplars is gone."""

    def choose(case: Case, sizes: tuple[int, ...]) -> Kept:
        features, _ = case.features(np.arange(case.n))
        moments = Moments.of(MemoryBlocks(features), case.margins, np.ones(len(features)), intercept=True)
        inverse = moments.inverse()
        owner = np.tile(np.arange(case.n), len(M2))
        gone = eliminated(inverse, inverse @ moments.products, owner, case.n - min(sizes), at_once)
        order = np.concatenate([np.setdiff1d(owner, gone), gone[::-1]])
        return {size: order[:size] for size in sizes}

    return choose


WAYS: dict[str, Callable[[Case, tuple[int, ...]], Kept]] = {
    "random": drawn,
    "medoids": medoids,
    "weights times spread, once": by_weights(0.0),
    "weights times spread, in rounds": by_weights(2 / 3),
    "group lasso": reweighted,
    "forward, by the gradient": forward,
    "second order (besvm.prune)": surgeon(AT_ONCE),
}
