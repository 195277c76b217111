"""The columns to solve, the state of a solve, and how it ended."""

from __future__ import annotations

from dataclasses import dataclass, field, replace
from typing import Any

import numpy as np

from besvm.blocks.stores import RowBlocks
from besvm.solver.design import TINY, Design, Intercept
from besvm.solver.preconditioner import Preconditioner


@dataclass(frozen=True)
class Problem:
    """The columns to solve: which class is positive in each, and what every row weighs.

    Parameters
    ----------
    labels : (n,) int array
        The class number of every row.
    positive : (K,) int array
        The class that is +1 in column k; every other class is -1.
    weights : (n,) float array
        What every row weighs in every column (sample weight times the weight of its own class).
    fold, left_out : (n,) and (K,) int arrays, optional
        Column k leaves out the rows whose fold is ``left_out[k]``.
    """

    labels: np.ndarray
    positive: np.ndarray
    weights: np.ndarray
    fold: np.ndarray | None = None
    left_out: np.ndarray | None = None

    def signs(self, rows: slice = slice(None)) -> np.ndarray:
        """Return the targets, +1 or -1, of shape (rows, K)."""
        return np.where(self.labels[rows, None] == self.positive, np.int8(1), np.int8(-1))

    def row_weights(self, rows: slice = slice(None)) -> np.ndarray:
        """Return the weights, of shape (rows, 1) or, where columns leave rows out, (rows, K)."""
        weights = self.weights[rows, None]
        if self.fold is None or self.left_out is None:
            return weights
        return weights * (self.fold[rows, None] != self.left_out)

    def keep(self, columns: np.ndarray) -> Problem:
        """Return the problem of these columns alone."""
        left_out = None if self.left_out is None else self.left_out[columns]
        return replace(self, positive=self.positive[columns], left_out=left_out)


@dataclass(frozen=True)
class Result:
    """How a solve ended; every array has one entry (or column) for each column of the problem."""

    coef: np.ndarray  # (D, K)
    intercept: np.ndarray  # (K,)
    objective: np.ndarray  # (K,)
    gradient_norm: np.ndarray  # (K,) relative to the gradient at w = 0
    converged: np.ndarray  # (K,) bool
    n_iter: int  # Newton steps
    n_passes: int  # times the features were read
    margins: np.ndarray = field(repr=False)  # (n, K) decision values of the rows solved on
    preconditioner: Preconditioner | None = field(repr=False, default=None)
    gap: np.ndarray | None = None  # (K,) of the L1 solver: how far the objective may be above the least, relatively

    @classmethod
    def joined(cls, results: list[Result]) -> Result:
        """Return one Result of columns that were solved one after the other."""

        def all_of(name: str) -> np.ndarray:
            return np.concatenate([getattr(result, name) for result in results], axis=-1)

        return cls(
            coef=all_of("coef"),
            intercept=all_of("intercept"),
            objective=all_of("objective"),
            gradient_norm=all_of("gradient_norm"),
            converged=all_of("converged"),
            n_iter=max(result.n_iter for result in results),
            n_passes=sum(result.n_passes for result in results),
            margins=all_of("margins"),
            gap=None if any(result.gap is None for result in results) else all_of("gap"),
        )

    def distance(self) -> np.ndarray:
        """Return what is compared with the tolerance, (K,): the duality gap, or else the gradient."""
        return self.gradient_norm if self.gap is None else self.gap

    def criterion(self) -> str:
        """Say what is compared with the tolerance, and what it came to in the worst column."""
        return f"a relative {'gradient' if self.gap is None else 'duality gap'} of {self.distance().max():.1e}"


class Columns:
    """The state of a solve. All (n, k) and (D + 1, k) arrays hold only the columns still at work."""

    def __init__(self, blocks: RowBlocks, problem: Problem, C: float, intercept: Intercept) -> None:
        self.design = Design(blocks, intercept)
        self.dtype = self.design.dtype
        self.problem, self.C = replace(problem, weights=problem.weights.astype(self.dtype)), C
        if intercept == "free":
            self.design.center(problem.weights)
        self.penalty = np.ones((self.design.shape[1], 1))
        self.penalty[-1] = 0.0 if intercept == "free" else 1.0
        self.signs = problem.signs()
        self.W = np.zeros((self.design.shape[1], self.signs.shape[1]))  # (D + 1, k)
        weights = self.problem.row_weights()
        balance = (weights * self.signs).sum(axis=0, dtype=np.float64)
        mass = np.broadcast_to(weights, self.signs.shape).sum(axis=0, dtype=np.float64)
        self.W[-1] = self.design.constant * self._best_intercept(balance, mass)
        # 1 - y f, negative beyond the margin: rounding spoils it less than it would a margin close to y
        self.slack = 1 - self.signs * self.W[-1].astype(self.dtype)  # (n, k)

    def _best_intercept(self, balance: np.ndarray, mass: np.ndarray) -> np.ndarray:
        """Return the best intercept for w = 0, where c₊ - c₋ = ``balance`` and c₊ + c₋ = ``mass``: squared penalty."""
        return np.asarray(balance / np.maximum(mass + self.penalty[-1] / (2 * self.C), TINY))

    def rounding(self, feature: float) -> float:
        """Return the norm that rounding errors alone give the gradient at w = 0, for features of this size."""
        mass = float(self.problem.weights.sum(dtype=np.float64))
        return 8 * float(np.finfo(self.dtype).eps) * self.C * mass * feature

    def seen_from_mean(self, coef: np.ndarray, intercept: np.ndarray) -> np.ndarray:
        """Return a solution as W, whose intercept is that of the centered features."""
        W = np.vstack([coef, intercept]).astype(np.float64)
        W[-1] += self.design.mean @ W[:-1]
        return W

    def loss_gradient(self) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
        """Return, without C: the gradient (D + 1, k) of the loss, the loss (k,), and the sum of the slacks (k,)."""

        def part(rows: slice, block: Any) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
            signs, weights = self.signs[rows], self.problem.row_weights(rows)
            slack = np.maximum(self.slack[rows], 0)
            weighted = weights * slack
            loss = np.einsum("ij,ij->j", weighted, slack, dtype=np.float64)
            return weighted * signs, loss, weighted.sum(axis=0, dtype=np.float64)

        residual, loss, slacks = self.design.backward(part)
        return -2 * residual, loss, slacks

    def margins(self) -> np.ndarray:
        """Return the decision values f, of shape (n, k)."""
        return self.signs * (1 - self.slack)

    def result(self, W: np.ndarray, **found: Any) -> Result:
        """Return the Result of a finished W, in terms of the features as they came."""
        intercept = self.design.constant * W[-1] - self.design.mean @ W[:-1]
        return Result(coef=W[:-1], intercept=intercept, n_passes=self.design.n_passes, **found)
