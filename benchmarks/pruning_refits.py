"""Ways to refit the exemplars that are kept: three models of M2 on CIFAR-10, tested on 20,000 other training images.

The models are those of folds 1, 2 and 4, with 10 x 100 exemplars and C = 1; every way sees the 10,000 images of its
fold alone, and the test images are not touched. Figures are accuracies lost against all exemplars: for half of these in
each of the models and on average, and on average for a quarter and an eighth.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Any

import numpy as np
from sklearn.base import clone

from benchmarks.pruning_data import Case, case_of
from besvm.blocks import MemoryBlocks
from besvm.pruning.projection import Moments
from besvm.pruning.ranking import RIDGE as DROPPED_BY
from besvm.pruning.ranking import eliminated
from besvm.solver.newton import solve
from besvm.solver.problem import Problem

MODELS = ((0, (1, 2)), (1, (3, 4)), (3, (2, 0)))  # folds: of the model, and those that judge it
Linear = tuple[np.ndarray, np.ndarray]  # weights and intercepts
Refit = Callable[[Case, np.ndarray], Linear]


def benchmark(quick: bool = False) -> list[dict[str, Any]]:
    """Return a row for every way to choose and to fit."""
    lost: dict[tuple[str, str], dict[str, list[float]]] = {}
    for own, judges in MODELS[: 1 if quick else None]:
        with case_of(own, judges, quick) as case:
            if case is None:
                return []
            for choice, way, size, loss in _losses(case):
                lost.setdefault((choice, way), {}).setdefault(size, []).append(loss)
    rows: list[dict[str, Any]] = []
    for (choice, way), by_size in lost.items():
        row: dict[str, Any] = {"kept": choice, "fitted to": way}
        row |= {f"half, {place + 1}": loss for place, loss in enumerate(by_size["half"])}
        rows.append(row | {size: float(np.mean(losses)) for size, losses in by_size.items()})
    return rows


def _losses(case: Case) -> Iterator[tuple[str, str, str, float]]:
    whole = case.whole()
    for choice, order in _orders(case).items():
        for size, n in (("half", case.n // 2), ("quarter", case.n // 4), ("eighth", case.n // 8)):
            kept = order[:n]
            with case.stage.features(clone(case.stage.params), kept, case.stage.weights) as (feature_map, blocks, _):
                features = np.array(blocks.matrix)
                judge = feature_map.normalizer(case.judge[:, np.isin(case.stage.owner, kept)])
            for way, refit in REFITS.items():
                coef, intercept = refit(case, features)
                yield choice, way, size, whole - case.score(judge @ coef.astype(judge.dtype) + intercept)


def _orders(case: Case) -> dict[str, np.ndarray]:
    """Return the exemplars, those to keep first: at random, and by second order with two ridges."""
    stage, every = case.stage, np.arange(case.n)
    orders = {"random": np.random.default_rng(0).permutation(case.n)}
    with stage.features(clone(stage.params), every, stage.weights) as (_, blocks, _):
        for ridge in (DROPPED_BY, 10 * DROPPED_BY):
            moments = Moments.of(blocks, case.margins, stage.weights, True, ridge)
            inverse = moments.inverse()
            gone = eliminated(inverse, inverse @ moments.products, stage.owner, case.n - case.n // 8)
            orders[f"second order, ridge {ridge}"] = np.concatenate([np.setdiff1d(every, gone), gone[::-1]])
    return orders


def trained(C: float) -> Refit:
    """Fit to the labels, as ever."""

    def refit(case: Case, features: np.ndarray) -> Linear:
        problem = Problem(case.stage.labels, np.arange(10), case.stage.weights)
        found = solve(MemoryBlocks(features), problem, C, tol=1e-3)
        return found.coef, found.intercept

    return refit


def projected(share: float, ridge: float, most: float = np.inf) -> Refit:
    """Fit, by least squares, to the margins with a share of labels in them; margins go no farther than ``most``."""

    def refit(case: Case, features: np.ndarray) -> Linear:
        sides = np.where(case.stage.labels[:, None] == np.arange(10), 1.0, -1.0)
        targets = (1 - share) * np.clip(case.margins, -most, most) + share * sides
        found = Moments.of(MemoryBlocks(features), targets, case.stage.weights, True, ridge).model(None)
        return found.coef.T, found.intercept

    return refit


REFITS: dict[str, Refit] = {
    "labels, C = 1": trained(1.0),
    "labels, C = 0.3": trained(0.3),
    "margins, ridge 0.005": projected(0.0, 0.005),
    "margins, ridge 0.02": projected(0.0, 0.02),
    "margins, ridge 0.05": projected(0.0, 0.05),
    "margins up to 1.5, ridge 0.02": projected(0.0, 0.02, 1.5),
    "0.3 labels, ridge 0.005": projected(0.3, 0.005),
    "0.2 labels, ridge 0.02": projected(0.2, 0.02),
    "0.3 labels, ridge 0.02 (besvm.prune)": projected(0.3, 0.02),
    "0.5 labels, ridge 0.02": projected(0.5, 0.02),
}
