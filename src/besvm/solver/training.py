"""How every problem is trained, one-vs-rest or one-vs-one: rows held out first, then all rows; and what comes of it."""

from __future__ import annotations

import warnings
from collections.abc import Callable
from dataclasses import dataclass, field, replace
from functools import partial
from typing import Any, Literal

import numpy as np
from sklearn.exceptions import ConvergenceWarning

from besvm.blocks import RowBlocks
from besvm.solver.calibration import Folds, held_out_problem
from besvm.solver.choose_c import Path, pick_c
from besvm.solver.columns import Report, Start
from besvm.solver.design import Intercept
from besvm.solver.journal import Journal
from besvm.solver.l1 import solve_l1
from besvm.solver.newton import solve
from besvm.solver.problem import Problem
from besvm.solver.result import Result

SOLVERS: dict[str, Callable[..., Result]] = {"l2": solve, "l1": solve_l1}
HELD_OUT_TOL = 1e-2  # the held-out problems only have to be about right


@dataclass(frozen=True)
class Ending:
    """How the solves of a model ended; every array has an entry for each of its problems."""

    objective: np.ndarray
    gap: np.ndarray  # relative to the objective
    converged: np.ndarray
    n_iter: int
    n_passes: int
    precise: bool  # whether float64 had to help out

    @classmethod
    def of(cls, results: list[Result]) -> Ending:
        """Return how these ended, taken together."""
        return cls(
            np.concatenate([result.objective for result in results]),
            np.concatenate([result.gap for result in results]),
            np.concatenate([result.converged for result in results]),
            max(result.n_iter for result in results),
            sum(result.n_passes for result in results),
            any(result.precise for result in results),
        )


@dataclass(frozen=True)
class Trained:
    """The solution on all rows, those that leave a fold out, and how C was picked."""

    result: Result
    held_out: Result | None = None
    path: Path | None = None


@dataclass(frozen=True)
class LinearModel:
    """Coefficients (K, D), intercepts (K,), the slope of the probabilities, and how the solver ended."""

    coef: np.ndarray
    intercept: np.ndarray
    slope: float | None
    ending: Ending
    path: Path | None = None  # how C was picked, if it was


@dataclass(frozen=True)
class Training:
    """The parameters of training; ``memory`` is what the plan says that a solver may take.

    With a ``journal`` training that was interrupted goes on where it was, if it is called in the same way again.
    """

    C: float | Literal["auto"]
    penalty: str
    intercept: Intercept
    tol: float
    max_iter: int
    memory: dict[str, Any] = field(default_factory=dict)
    journal: Journal | None = None

    def __call__(
        self,
        blocks: RowBlocks,
        problem: Problem,
        folds: Folds | None = None,
        n_classes: int = 2,
        start: Start | None = None,
        report: Report | None = None,
    ) -> Trained:
        """Return the solution on all rows and, where there are folds, those that leave one of the folds out.

        The mean of these is where the last solve starts from, with the preconditioner of the first.
        """
        if folds is None:
            return Trained(self.solver(blocks, report)(problem, C=self.C, tol=self.tol, start=start))
        path, held_out = self.held_out(blocks, problem, folds, n_classes, report)
        shared = {} if held_out.preconditioner is None else {"preconditioner": held_out.preconditioner}
        start = start or _average(held_out, len(problem.positive))
        C = self.C if path is None else path.best
        result = self.solver(blocks, report)(problem, C=C, tol=self.tol, start=start, **shared)
        return Trained(result, held_out, path)

    def of_pair(self, a: int, b: int) -> Training:
        """Return the training of one pair of classes."""
        return self if self.journal is None else replace(self, journal=self.journal.part(f"classes-{a}-{b}"))

    def solver(self, blocks: RowBlocks, report: Report | None) -> Callable[..., Result]:
        """Return the solver of this penalty on these features."""
        shared = {"intercept": self.intercept, "max_iter": self.max_iter, "report": report}
        solve: Callable[..., Result] = partial(SOLVERS[self.penalty], blocks, **shared, **self.memory)
        journal = self.journal
        if journal is None:
            return solve

        def noted(problem: Problem, C: float, **options: Any) -> Result:
            rows = "all" if problem.left_out is None else "held-out"
            return solve(problem, C=C, journal=journal.part(f"{rows}-C{C!r}"), **options)

        return noted

    def held_out(
        self,
        blocks: RowBlocks,
        problem: Problem,
        folds: Folds,
        n_classes: int,
        report: Report | None = None,
    ) -> tuple[Path | None, Result]:
        """Return the solutions that leave a fold out; with C="auto" those at the best C, and the path to it."""
        solver, columns = self.solver(blocks, report), held_out_problem(problem, folds.of_rows, folds.n)
        tol = max(self.tol, HELD_OUT_TOL)

        def solve_at(C: float, last: Result | None) -> Result:
            if last is None:
                return solver(columns, C=C, tol=tol)
            shared = {} if last.preconditioner is None else {"preconditioner": last.preconditioner}
            return solver(columns, C=C, tol=tol, start=(last.coef, last.intercept), **shared)

        if self.C == "auto":
            return pick_c(solve_at, folds, n_classes)
        return None, solve_at(self.C, None)

    def warn_unless_converged(self, ending: Ending) -> None:
        """Warn of problems that stopped short of ``tol``, and say what would help."""
        if not ending.converged.all():
            advice = "raise max_iter or tol"
            if ending.n_iter < self.max_iter:
                advice = "rounding allows no better: scale the features, lower C or raise tol"
            warnings.warn(
                f"the solver stopped after {ending.n_iter} Newton steps with a relative duality gap of "
                f"{ending.gap.max():.1e}, above tol={self.tol:g}; {advice}",
                ConvergenceWarning,
                stacklevel=6,
            )


def _average(result: Result, K: int) -> tuple[np.ndarray, np.ndarray]:
    """Return the mean solution over the folds: a good place to start from with all rows."""
    coef = result.coef.reshape(len(result.coef), -1, K).mean(axis=1)
    return coef, result.intercept.reshape(-1, K).mean(axis=0)
