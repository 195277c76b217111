"""Probabilities: rows held out of training, and the slope that makes their labels most likely."""

import numpy as np
from scipy.special import log_softmax, softmax

from besvm.blocks import RowBlocks
from besvm.solver.design import TINY
from besvm.solver.problem import Problem

ONE_FOLD_FROM, TWO_FOLDS_FROM = 5000, 1000  # rows: one or two fifths of them are then plenty to settle one number
N_FOLDS = 5
MOST_HELD_OUT = 100_000  # rows, of more than five times as many: one number is then known to a thousandth
MAX_SLOPE = 1e3


def n_folds_for(n: int) -> int:
    """Return how many folds are held out in turn to settle the probabilities."""
    return 1 if n >= ONE_FOLD_FROM else 2 if n >= TWO_FOLDS_FROM else N_FOLDS


def held_out_problem(problem: Problem, fold: np.ndarray, n_folds: int) -> Problem:
    """Return the problem with a copy of its columns for every fold left out."""
    return Problem(
        problem.labels,
        np.tile(problem.positive, n_folds),
        problem.weights,
        fold,
        np.repeat(np.arange(n_folds, dtype=np.int8), len(problem.positive)),
    )


def folds(blocks: RowBlocks, problem: Problem, n_classes: int) -> np.ndarray:
    """Return every row's fold; N_FOLDS stands for none.

    Copies of a row share a fold: none is trained on while another is held out, and a row that weighs 2 is treated like
    two rows. But a row with a copy for every fold is spread over them: a model that was shown none of the copies says
    little about one that was. No class is ever held out whole. Otherwise the rows of a class are dealt out evenly, in
    an order that depends neither on the order they come in nor on that of the columns. Of very many rows, of which one
    fold alone is held out, that fold has less than a fifth.
    """
    # the sums hardly change with the order of the columns; the random projections tell apart what has equal sums
    vectors = np.column_stack([np.ones(blocks.shape[1]), np.random.default_rng(0).standard_normal(blocks.shape[1])])
    vectors = vectors.astype(blocks.dtype)
    places = np.concatenate(list(blocks.map(lambda rows, block: block @ vectors)))  # (n, 2)
    rounding = 64 * np.finfo(blocks.dtype).eps * np.abs(places).max(axis=0)
    fold = np.full(len(places), N_FOLDS, dtype=np.int8)
    period = max(N_FOLDS, -(-len(places) // MOST_HELD_OUT))
    for label in range(n_classes):
        rows = np.flatnonzero((problem.labels == label) & (problem.weights > 0))
        sums, projections = (_levels(places[rows, k], rounding[k]) for k in (0, 1))
        order = np.lexsort((projections, sums))
        unit = _units((np.diff(sums[order], prepend=-1) != 0) | (np.diff(projections[order], prepend=-1) != 0))
        rank = _ranks(-np.bincount(unit, problem.weights[rows[order]]))  # the heaviest first, to end up even
        if len(rank) > 1:
            dealt = (rank[unit] + label) % period  # rare classes do not all meet in one fold
            fold[rows[order]] = np.minimum(dealt, N_FOLDS)
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


def held_out_scores(
    margins: np.ndarray, fold: np.ndarray, n_folds: int, problem: Problem, n_classes: int
) -> tuple[float, float, float]:
    """Return the slope a that makes softmax(a f), or for two classes sigmoid(a f), most likely on held-out rows.

    After it come the accuracy and the log loss there. ``margins`` (n, n_folds * K) are those of the models that left
    each fold out. One slope for all classes keeps the most probable class the predicted one.
    """
    K = margins.shape[1] // n_folds
    rows = np.flatnonzero(fold < n_folds)
    labels, weights = problem.labels[rows], problem.weights[rows].astype(np.float64)
    columns = fold[rows, None].astype(int) * K + np.arange(K)
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
