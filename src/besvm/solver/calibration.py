"""Probabilities: rows held out of training, and the slope that makes their labels most likely."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace
from math import ceil
from typing import Any

import numpy as np
from scipy.special import log_softmax, softmax

from besvm._support.hashed import uniform
from besvm.blocks import RowBlocks
from besvm.blocks.state import Rows, RowState, Values
from besvm.solver.design import TINY
from besvm.solver.problem import Problem

ONE_FOLD_FROM, TWO_FOLDS_FROM = 5000, 1000  # rows: one or two fifths of them are then plenty to settle one number
N_FOLDS = 5
MOST_HELD_OUT = 100_000  # rows, of more than five times as many: one number is then known to a thousandth
NEAR = 16  # times what rounding may be: rows that are no farther apart are drawn together, but for one in so many
MORE = 1.25  # times as many rows are drawn as are kept, for classes of which chance draws fewer
TELLING = 100  # rows of a class, of which half or twice as many do not come by chance
BY_NUMBER = -1  # sets these random numbers apart from those of others who draw rows by their numbers
MAX_SLOPE = 1e3


def n_folds_for(n: int) -> int:
    """Return how many folds are held out in turn to settle the probabilities."""
    return 1 if n >= ONE_FOLD_FROM else 2 if n >= TWO_FOLDS_FROM else N_FOLDS


@dataclass(frozen=True)
class Folds:
    """Which rows are held out in turn: the fold of every row, and what is known of those held out.

    Parameters
    ----------
    of_rows : (n,) whole numbers
        The fold of every row, where the rows are; N_FOLDS stands for none.
    n : int
        How many folds are held out in turn: the first ones.
    rows, fold, labels, weights : (m,) arrays
        The rows of these folds, in ascending order, with their folds, class numbers and weights.
    """

    of_rows: Values
    n: int
    rows: np.ndarray
    fold: np.ndarray
    labels: np.ndarray
    weights: np.ndarray

    def among(self, rows: np.ndarray) -> Folds:
        """Return these folds for a problem of some rows alone; what is known of those held out stays as it is."""
        return replace(self, of_rows=np.asarray(self.of_rows)[rows])


def held_out_problem(problem: Problem, fold: Values, n_folds: int) -> Problem:
    """Return the problem with a copy of its columns for every fold left out."""
    return Problem(
        problem.labels,
        np.tile(problem.positive, n_folds),
        problem.weights,
        fold,
        np.repeat(np.arange(n_folds, dtype=np.int8), len(problem.positive)),
    )


def deal_folds(blocks: RowBlocks, problem: Problem, n_classes: int) -> Folds:
    """Deal the rows out into folds.

    Copies of a row share a fold: none is trained on while another is held out, and a row that weighs 2 is treated like
    two rows. But a row with a copy for every fold is spread over them: a model that was shown none of the copies says
    little about one that was. No class is ever held out whole. Otherwise the rows of a class are dealt out evenly, in
    an order that depends neither on the order they come in nor on that of the columns.

    Of very many rows, of which one fold alone is held out, only a sample is dealt out: as many of every class as make
    that fold large enough, drawn where the rows are by what tells them apart, so that copies are drawn together.
    """
    # the sums hardly change with the order of the columns; the random projections tell apart what has equal sums
    vectors = np.column_stack([np.ones(blocks.shape[1]), np.random.default_rng(0).standard_normal(blocks.shape[1])])
    vectors = vectors.astype(blocks.dtype)
    state = blocks.state()
    problem.begin(state, None)

    def look(rows: Rows) -> tuple[np.ndarray]:
        rows["places"] = places = rows.features @ vectors  # (rows, 2)
        return (np.abs(places).max(axis=0, keepdims=True),)

    peaks = state.collect(look, features=True)[0].max(axis=0)
    rounding = 64 * np.finfo(blocks.dtype).eps * peaks
    period = -(-blocks.shape[0] // MOST_HELD_OUT)
    if period <= N_FOLDS:
        numbers, places, labels, weights, _ = state.collect(_drawn(lambda rows: np.zeros(len(rows["labels"])), 1.0))
    else:
        numbers, places, labels, weights = _thinned(state, NEAR * rounding, N_FOLDS / period, n_classes)
    fold = np.full(len(numbers), N_FOLDS, dtype=np.int8)
    for label in range(n_classes):
        own = np.flatnonzero(labels == label)
        fold[own] = _dealt(places[own], weights[own], rounding, label)
    n_folds = n_folds_for(blocks.shape[0])
    held = np.flatnonzero(fold < n_folds)
    of_rows = blocks.spread(numbers, fold, np.int8(N_FOLDS))
    return Folds(of_rows, n_folds, numbers[held], fold[held], labels[held], weights[held])


def _drawn(keys: Callable[[Rows], np.ndarray], share: float) -> Callable[[Rows], tuple[np.ndarray, ...]]:
    """Return what gives the rows, of those that weigh anything, whose keys are below ``share``, and what is known."""

    def drawn(rows: Rows) -> tuple[np.ndarray, ...]:
        key = keys(rows)
        here = np.flatnonzero((rows["weights"] > 0) & (key < share))
        known = (rows[name][here] for name in ("places", "labels", "weights"))
        return rows.numbers[here], *known, key[here]

    return drawn


def _thinned(state: RowState, grain: np.ndarray, share: float, n_classes: int) -> tuple[np.ndarray, ...]:
    """Return a share of the rows of every class: their numbers, places, labels and weights.

    Rows within a ``grain`` of places are drawn together, but where that would be far too many or too few of a class:
    where it has few different rows at all.
    """
    grain = np.maximum(grain, TINY)

    def by_place(rows: Rows) -> np.ndarray:
        cells = np.floor(rows["places"].astype(np.float64) / grain).astype(np.int64)
        return uniform(cells[:, 0], cells[:, 1])

    def by_number(rows: Rows) -> np.ndarray:
        return uniform(rows.numbers, BY_NUMBER)

    likely = min(1.0, MORE * share)  # some more than are wanted, to have enough of every class

    def counted(rows: Rows) -> tuple[Any, ...]:
        weighs = rows["weights"] > 0
        drawn = weighs & (by_place(rows) < likely)
        return tuple(np.bincount(rows["labels"][some], minlength=n_classes) for some in (weighs, drawn))

    sizes, drawn = state.sum(counted, features=False)
    expected = likely * sizes
    apart = bool(((drawn < 0.5 * expected) | (drawn > 2 * expected))[expected >= TELLING].any())
    numbers, places, labels, weights, key = state.collect(_drawn(by_number if apart else by_place, likely))
    kept = np.zeros(len(numbers), dtype=bool)
    for label in range(n_classes):
        own = np.flatnonzero(labels == label)
        wanted = min(len(own), ceil(share * sizes[label]))
        if wanted:
            kept[own] = key[own] <= np.partition(key[own], wanted - 1)[wanted - 1]  # and copies of the last one
    return numbers[kept], places[kept], labels[kept], weights[kept]


def _dealt(places: np.ndarray, weights: np.ndarray, rounding: np.ndarray, first: int) -> np.ndarray:
    """Return the folds of the rows of a class, which are dealt out from the fold ``first`` on."""
    sums, projections = (_levels(places[:, k], rounding[k]) for k in (0, 1))
    order = np.lexsort((projections, sums))
    unit = _units((np.diff(sums[order], prepend=-1) != 0) | (np.diff(projections[order], prepend=-1) != 0))
    rank = _ranks(-np.bincount(unit, weights[order]))  # the heaviest first, to end up even
    fold = np.full(len(weights), N_FOLDS, dtype=np.int8)
    if len(rank) > 1:
        fold[order] = (rank[unit] + first) % N_FOLDS  # rare classes do not all meet in one fold
    return fold


def _levels(values: np.ndarray, rounding: float) -> np.ndarray:
    """Return the rank of every value, where values that rounding may have set apart have one rank."""
    order = np.argsort(values, kind="stable")
    level = np.empty(len(values), dtype=np.intp)
    level[order] = np.cumsum(np.diff(values[order], prepend=values[order[:1]]) > rounding)
    return level


def _units(new: np.ndarray) -> np.ndarray:
    """Return the number of the unit that each row is dealt out with, where ``new`` marks the first of equal rows."""
    unit = np.cumsum(new) - 1
    return np.cumsum(new | (np.bincount(unit)[unit] >= N_FOLDS)) - 1


def _ranks(values: np.ndarray) -> np.ndarray:
    rank = np.empty(len(values), dtype=np.intp)
    rank[np.argsort(values, kind="stable")] = np.arange(len(values))
    return rank


def held_out_scores(margins: Any, folds: Folds, n_classes: int) -> tuple[float, float, float]:
    """Return the slope a that makes softmax(a f), or for two classes sigmoid(a f), most likely on held-out rows.

    After it come the accuracy and the log loss there. ``margins`` (n, folds.n * K) are those of the models that left
    each fold out. One slope for all classes keeps the most probable class the predicted one.
    """
    K = margins.shape[1] // folds.n
    rows, labels, weights = folds.rows, folds.labels, folds.weights.astype(np.float64)
    columns = folds.fold[:, None].astype(int) * K + np.arange(K)
    held_out = np.take_along_axis(margins[rows], columns, axis=1).astype(np.float64)
    slope = most_likely_slope(held_out, labels, weights, n_classes)
    if len(rows) == 0:
        return slope, np.nan, np.nan
    scores = slope * (np.hstack([-held_out, held_out]) / 2 if n_classes == 2 else held_out)
    own = np.take_along_axis(log_softmax(scores, axis=1), labels[:, None], axis=1)[:, 0]
    mass = max(weights.sum(), TINY)
    return slope, float(weights @ (scores.argmax(axis=1) == labels) / mass), float(-weights @ own / mass)


def most_likely_slope(margins: np.ndarray, labels: np.ndarray, weights: np.ndarray, n_classes: int) -> float:
    """Maximize the likelihood of the labels over the slope, by Newton's method: the logarithm is concave.

    Without any rows the margins are left as they are.
    """
    if len(labels) == 0:
        return 1.0
    scores = np.hstack([-margins, margins]) / 2 if n_classes == 2 else margins  # sigmoid(f) = softmax(-f/2, f/2)
    # as in Platt (1999), targets just short of 0 and 1 keep separable data from certainty
    doubt = 1 / (weights.sum() + 2)
    own = np.take_along_axis(scores, labels[:, None], axis=1)[:, 0]
    target = (1 - doubt) * own + doubt * scores.mean(axis=1)
    slope, low, high = 1.0, 0.0, MAX_SLOPE
    for _ in range(100):
        chance = softmax(slope * scores, axis=1)
        expected = (chance * scores).sum(axis=1)
        gradient = weights @ (target - expected)
        curvature = weights @ ((chance * scores**2).sum(axis=1) - expected**2)
        low, high = (slope, high) if gradient > 0 else (low, slope)
        proposal = slope + gradient / curvature if curvature > 1e-12 * abs(gradient) else high
        proposal = proposal if low < proposal < high else (low + high) / 2
        if abs(proposal - slope) <= 1e-12 * slope:
            break
        slope = proposal
    return float(max(slope, 1 / MAX_SLOPE))
