"""From features and labels to a linear model with calibrated probabilities: what both classifiers share."""

from __future__ import annotations

import warnings
from collections.abc import Callable
from dataclasses import dataclass, replace
from functools import partial
from typing import Any

import numpy as np
from scipy.sparse import issparse
from scipy.special import softmax
from sklearn.exceptions import ConvergenceWarning

from besvm._parallel import threads_for
from besvm._precondition import first_rank
from besvm._progress import progress, say
from besvm.blocks import RowBlocks
from besvm.solver import Intercept, Problem, Result, solve, work_bytes
from besvm.sparse_solver import HESSIAN_BYTES, solve_l1, work_bytes_l1

PENALTIES = ("l2", "l1")
ONE_FOLD_FROM = 5000  # rows: a fifth of them is then plenty to settle one number
N_FOLDS = 5
MAX_SLOPE = 1e3
HELD_OUT_TOL = 1e-2  # the held-out problems only have to be about right


@dataclass(frozen=True)
class LinearModel:
    """Coefficients (K, D), intercepts (K,), the slope of the probabilities, and how the solver ended."""

    coef: np.ndarray
    intercept: np.ndarray
    slope: float | None
    result: Result


def fit_linear(
    blocks: RowBlocks,
    labels: np.ndarray,
    n_classes: int,
    weights: np.ndarray,
    *,
    C: float,
    penalty: str,
    intercept: Intercept,
    tol: float,
    max_iter: int,
    probability: bool,
    verbose: int = 0,
    start: tuple[np.ndarray, np.ndarray] | None = None,
    **memory: Any,
) -> LinearModel:
    """Train one-vs-rest (one column for two classes), and settle the slope of the probabilities on held-out rows.

    ``memory`` is what :func:`plan_work` says that the solver should save.
    """
    positive = np.array([1]) if n_classes == 2 else np.arange(n_classes)
    problem = Problem(labels, positive, weights)
    solver = solver_for(penalty, C=C, intercept=intercept, max_iter=max_iter, **memory)
    slope = None
    n, D = blocks.shape
    a_pass = 4 * n * D * n_columns(n, n_classes, probability)
    with threads_for(a_pass), progress("training", verbose=verbose) as shown:
        if probability:
            held_out = held_out_problem(problem, folds(blocks, problem, n_classes), n_folds_for(n))
            first = solver(blocks, held_out, tol=max(tol, HELD_OUT_TOL), report=shown.note)
            slope = _calibrate(first, held_out, n_classes)
            solver = with_preconditioner(solver, first)
            start = start or average(first, len(positive))
        result = solver(blocks, problem, tol=tol, start=start, report=shown.note)
    say(
        verbose,
        f"trained {len(positive)} problems in {result.n_iter} Newton steps and {result.n_passes} passes, "
        f"relative gradient {result.gradient_norm.max():.1e}",
    )
    warn_unless_converged(result, tol, max_iter, blocks.dtype)
    return LinearModel(result.coef.T, result.intercept, slope, result)


def warn_unless_converged(result: Result, tol: float, max_iter: int, dtype: Any) -> None:
    """Warn of columns that stopped short of ``tol``, and say what would help."""
    if not result.converged.all():
        warnings.warn(
            f"the solver stopped after {result.n_iter} Newton steps with a relative gradient of "
            f"{result.gradient_norm.max():.1e}, above tol={tol:g}; "
            + ("raise max_iter or tol" if result.n_iter >= max_iter else f"{dtype} allows no better, raise tol"),
            ConvergenceWarning,
            stacklevel=6,
        )


def solver_for(penalty: str, **options: Any) -> Callable[..., Result]:
    """Return the solver of a penalty, with its options filled in."""
    return partial(solve if penalty == "l2" else solve_l1, **options)


def with_preconditioner(solver: Callable[..., Result], first: Result) -> Callable[..., Result]:
    """Return the solver with the preconditioner of an earlier result, if it has one."""
    return solver if first.preconditioner is None else partial(solver, preconditioner=first.preconditioner)


def drop_unused(expander: Any, normalizer: Any, model: LinearModel) -> tuple[Any, Any, LinearModel]:
    """Return all three without the features that no class uses: they need not be computed to predict.

    A normaliser that mixes the features has no ``keep``, and leaves everything as it is.
    """
    used = (model.coef != 0).any(axis=0)
    if not used.any():
        warnings.warn(
            "at this C the L1 penalty leaves all weights zero: every sample is given one and the same class; raise C",
            UserWarning,
            stacklevel=4,
        )
    if used.all() or not (normalizer is None or hasattr(normalizer, "keep")):
        return expander, normalizer, model
    kept = None if normalizer is None else normalizer.keep(used)
    return expander.keep(used), kept, replace(model, coef=model.coef[:, used])


def n_folds_for(n: int) -> int:
    """Return how many folds are held out in turn to settle the probabilities."""
    return 1 if n >= ONE_FOLD_FROM else N_FOLDS


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
    """Return every row's fold: in each class the rows are dealt out in the order of their norms.

    Copies of a row have one norm and so one fold: none is trained on while another is held out, and a row that
    weighs 2 is treated like two rows.
    """
    norms = np.concatenate(list(blocks.map(lambda rows, block: _norms(block))))
    same = 64 * np.finfo(blocks.dtype).eps * np.abs(norms).max(initial=0)
    fold = np.full(len(norms), N_FOLDS, dtype=np.int8)
    for label in range(n_classes):
        rows = np.flatnonzero((problem.labels == label) & (problem.weights > 0))
        rows = rows[np.argsort(norms[rows], kind="stable")]
        new = np.diff(norms[rows], prepend=-np.inf) > same
        fold[rows] = (np.cumsum(new) + label) % N_FOLDS  # rare classes do not all meet in fold 1
    return fold


def _norms(block: Any) -> np.ndarray:
    if issparse(block):
        return np.sqrt(np.asarray(block.multiply(block).sum(axis=1), dtype=np.float64).ravel())
    return np.sqrt(np.einsum("ij,ij->i", block, block, dtype=np.float64))


def n_columns(n: int, n_classes: int, probability: bool) -> int:
    """Return how many columns are ever solved at once."""
    one_vs_rest = 1 if n_classes == 2 else n_classes
    return one_vs_rest * (n_folds_for(n) if probability else 1)


def plan_work(penalty: str, n: int, n_features: int, n_columns: int, sparing: bool) -> tuple[int, dict[str, Any]]:
    """Return the memory that training takes beside the features, and what ``fit_linear`` needs to know to keep to it.

    ``sparing`` is for where memory is short: the solver then takes less, and perhaps more passes.
    """
    if penalty == "l1":
        hessian_bytes = HESSIAN_BYTES // (8 if sparing else 1)
        return work_bytes_l1(n, n_features, n_columns, hessian_bytes), {"hessian_bytes": hessian_bytes}
    if not sparing:
        return work_bytes(n, n_features, n_columns), {}
    rank = first_rank(n_features + 1)
    return work_bytes(n, n_features, n_columns, rank), {"max_rank": rank}


def average(result: Result, K: int) -> tuple[np.ndarray, np.ndarray]:
    """Return the mean solution over the folds: a good place to start from with all rows."""
    coef = result.coef.reshape(len(result.coef), -1, K).mean(axis=1)
    return coef, result.intercept.reshape(-1, K).mean(axis=0)


def _calibrate(result: Result, problem: Problem, n_classes: int) -> float:
    """Return the slope a that makes softmax(a f), or for two classes sigmoid(a f), most likely on held-out rows.

    One slope for all classes keeps the most probable class the predicted one.
    """
    assert problem.fold is not None
    assert problem.left_out is not None
    n_folds = int(problem.left_out[-1]) + 1
    K = len(problem.positive) // n_folds
    rows = np.flatnonzero(problem.fold < n_folds)
    columns = problem.fold[rows, None].astype(int) * K + np.arange(K)
    margins = np.take_along_axis(result.margins[rows], columns, axis=1).astype(np.float64)
    labels, weights = problem.labels[rows], problem.weights[rows].astype(np.float64)
    return most_likely_slope(margins, labels, weights, n_classes)


def most_likely_slope(margins: np.ndarray, labels: np.ndarray, weights: np.ndarray, n_classes: int) -> float:
    """Maximise the likelihood of the labels over the slope, by Newton's method: the logarithm is concave."""
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
