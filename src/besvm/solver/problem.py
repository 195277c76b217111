"""The columns to solve, how a solve ended, and the design matrix it sees."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field, replace
from typing import Any, Literal

import numpy as np
from scipy.sparse import issparse

from besvm.blocks.stores import RowBlocks
from besvm.solver.preconditioner import Preconditioner

Intercept = Literal["free", "penalized", "none"]
TINY = float(np.finfo(np.float64).tiny)  # below any divisor: for columns in which no row weighs anything


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

    def distance(self) -> np.ndarray:
        """Return what is compared with the tolerance, (K,): the duality gap, or else the gradient."""
        return self.gradient_norm if self.gap is None else self.gap

    def criterion(self) -> str:
        """Say what is compared with the tolerance, and what it came to in the worst column."""
        return f"a relative {'gradient' if self.gap is None else 'duality gap'} of {self.distance().max():.1e}"


class Design:
    """The matrix [φ - mean, ones]: features seen from their mean, with a constant column for the intercept.

    Only products with φ itself are done block by block; what the mean and the constant add to them is done once.
    """

    def __init__(self, blocks: RowBlocks, intercept: Intercept) -> None:
        n, D = blocks.shape
        self.blocks = blocks
        self.shape = (n, D + 1)
        self.dtype = np.result_type(blocks.dtype, np.float32)
        self.mean = np.zeros(D)
        self.constant = 0.0 if intercept == "none" else 1.0
        self.n_passes = 0

    def center(self, weights: np.ndarray) -> None:
        """See the features from their weighted mean: a free intercept is then a problem of its own."""
        weights = weights.astype(self.dtype)
        self.n_passes += 1
        total, mass = self.blocks.sum(lambda rows, block: (block.T @ weights[rows], weights[rows].sum()))
        self.mean = total / np.maximum(mass, TINY)

    def forward(self, V: np.ndarray) -> Callable[[Any], np.ndarray]:
        """Return the function block -> [block - mean, constant] @ V, of shape (rows, K)."""
        weights = np.ascontiguousarray(V[:-1], dtype=self.dtype)
        offset = (self.constant * V[-1] - self.mean @ V[:-1]).astype(self.dtype)

        def products(block: Any) -> np.ndarray:
            out: np.ndarray = block @ weights
            out += offset
            return out

        return products

    def backward(self, part: Callable[[slice, Any], tuple[Any, ...]], coarse: bool = False) -> tuple[Any, ...]:
        """Return [φ - mean, constant]ᵀ @ R, of shape (D + 1, K), and the sums of whatever else ``part`` gives.

        ``part(rows, block)`` returns the rows of R, then anything to be summed.
        """

        def products(rows: slice, block: Any) -> tuple[Any, ...]:
            R, *rest = part(rows, block)
            inner = block.T @ R if issparse(block) else (R.T @ block).T  # the order BLAS is faster in
            return (inner, R.sum(axis=0, dtype=np.float64), *rest)

        self.n_passes += 1
        inner, total, *rest = self.blocks.sum(products, coarse)
        inner -= np.outer(self.mean, total)
        return (np.vstack([inner, self.constant * total]), *rest)

    def product(self, V: np.ndarray) -> np.ndarray:
        """Return [φ - mean, constant] @ V, of shape (n, K)."""
        forward = self.forward(V)
        out = np.empty((self.shape[0], V.shape[1]), dtype=self.dtype)

        def fill(rows: slice, block: Any) -> None:
            out[rows] = forward(block)

        self.n_passes += 1
        for _ in self.blocks.map(fill):
            pass
        return out


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
        """Return, all without C, the gradient (D + 1, k) of the loss, that itself (k,), and the sum of the slacks (k,)."""

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
