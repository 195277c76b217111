"""From features and labels to a linear model with calibrated probabilities, one class against the rest."""

from __future__ import annotations

import warnings
from collections.abc import Callable
from dataclasses import dataclass, replace
from functools import partial
from typing import Any

import numpy as np
from sklearn.exceptions import ConvergenceWarning

from besvm._support.progress import progress, say
from besvm._support.threads import threads_for
from besvm.blocks import RowBlocks
from besvm.solver.calibration import HELD_OUT_TOL, _calibrate, average, folds, held_out_problem, n_folds_for
from besvm.solver.l1 import HESSIAN_BYTES, solve_l1, work_bytes_l1
from besvm.solver.newton import solve, work_bytes
from besvm.solver.preconditioner import first_rank
from besvm.solver.problem import Intercept, Problem, Result

PENALTIES = ("l2", "l1")


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
        f"with {result.criterion()}",
    )
    warn_unless_converged(result, tol, max_iter, blocks.dtype)
    return LinearModel(result.coef.T, result.intercept, slope, result)


def warn_unless_converged(result: Result, tol: float, max_iter: int, dtype: Any) -> None:
    """Warn of columns that stopped short of ``tol``, and say what would help."""
    if not result.converged.all():
        warnings.warn(
            f"the solver stopped after {result.n_iter} Newton steps with {result.criterion()}, above tol={tol:g}; "
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

    A normalizer that mixes the features has no ``keep``, and leaves everything as it is.
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
