"""All one-vs-rest squared-hinge SVMs at once: preconditioned Newton-CG that sees only RowBlocks.

For every column k the problem is eq. besvm_primal of the paper,

    minimise over w, b:   1/2 ‖w‖² [+ 1/2 b²]  +  C Σ_i c_i max(0, 1 - y_ik (φ_i·w + b))²

Three things make it take few passes over φ. The Hessians of all columns share one preconditioner, built from a
sketch of φᵀφ. The margins φ·w are kept, so that the exact line search costs no pass at all. And a column that has
converged leaves the products.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field, replace
from typing import Any, Literal

import numpy as np
from scipy.sparse import issparse

from besvm._precondition import Preconditioner, last_rank, sketch
from besvm.blocks import COMPUTE_BYTES, RowBlocks

Intercept = Literal["free", "penalized", "none"]

MAX_CG = 50  # steps of one Newton direction; the preconditioner makes three usual
BLOCKS_IN_FLIGHT = 12  # blocks, their products, and what the allocator keeps of them: measured
MAX_LINE = 30  # steps of one line search; four are usual
FORCING = 0.25  # a direction is good enough once its residual is this share of the gradient


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

    def centre(self, weights: np.ndarray) -> None:
        """See the features from their weighted mean: a free intercept is then a problem of its own."""
        weights = weights.astype(self.dtype)
        self.n_passes += 1
        total, mass = self.blocks.sum(lambda rows, block: (block.T @ weights[rows], weights[rows].sum()))
        self.mean = total / mass

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


def solve(
    blocks: RowBlocks,
    problem: Problem,
    C: float,
    *,
    intercept: Intercept = "free",
    tol: float = 1e-3,
    max_iter: int = 100,
    start: tuple[np.ndarray, np.ndarray] | None = None,
    preconditioner: Preconditioner | None = None,
    max_rank: int | None = None,
    report: Callable[[str], None] | None = None,
) -> Result:
    """Minimise the squared-hinge objective of every column of ``problem``.

    Parameters
    ----------
    blocks : RowBlocks
        The features, (n, D).
    problem : Problem
    C : float
    intercept : {"free", "penalized", "none"}
        "penalized" is LIBLINEAR's: the intercept is the weight of a constant feature 1.
    tol : float
        A column has converged when the norm of its gradient is at most ``tol`` times its norm at w = 0 (with the
        best intercept for w = 0).
    start : (coef, intercept), optional
        Where to begin, for example the solution for the last C of a path.
    preconditioner : Preconditioner, optional
        That of an earlier Result on the same features; it does not depend on C.
    max_rank : int, optional
        The most eigenvectors that a new preconditioner may take: less memory, and perhaps more passes.

    Examples
    --------
    >>> from besvm.blocks import MemoryBlocks
    >>> X = np.array([[-2.0], [-1.0], [1.0], [2.0]])
    >>> problem = Problem(labels=np.array([0, 0, 1, 1]), positive=np.array([1]), weights=np.ones(4))
    >>> result = solve(MemoryBlocks(X), problem, C=1.0, tol=1e-8)
    >>> result.coef.round(3), result.converged
    (array([[0.8]]), array([ True]))
    """
    state = _Newton(blocks, problem, C, intercept)
    if preconditioner is None:
        preconditioner = sketch(state.design, problem.row_weights().mean(axis=1), C, max_rank)
    if start is not None:
        state.start_from(*start)

    K = len(problem.positive)
    at = np.arange(K)  # the columns still at work
    W, margins = np.empty((blocks.shape[1] + 1, K)), np.empty_like(state.margins)
    objective, gradient_norm = np.empty(K), np.empty(K)
    gained = np.ones(K, dtype=bool)
    n_iter = 0
    while True:
        norm = state.relative_gradient()
        W[:, at], margins[:, at] = state.W, state.margins
        objective[at], gradient_norm[at] = state.objective, norm
        if report is not None:
            report(f"step {n_iter}: {len(at)} of {K} columns at work, relative gradient {norm.max():.1e}")
        going = (norm > tol) & gained
        if not going.any() or n_iter >= max_iter:
            break
        if not going.all():
            state.keep(going)
            at = at[going]
        gained = state.step(preconditioner)
        n_iter += 1
    return state.result(
        W,
        objective=objective,
        gradient_norm=gradient_norm,
        converged=gradient_norm <= tol,
        n_iter=n_iter,
        margins=margins,
        preconditioner=preconditioner,
    )


def solve_path(blocks: RowBlocks, problem: Problem, Cs: list[float] | np.ndarray, **options: Any) -> list[Result]:
    """Solve for every C in turn, each starting from the last and sharing one preconditioner.

    Examples
    --------
    >>> from besvm.blocks import MemoryBlocks
    >>> X = np.array([[-2.0], [-1.0], [1.0], [2.0]])
    >>> problem = Problem(labels=np.array([0, 0, 1, 1]), positive=np.array([1]), weights=np.ones(4))
    >>> [float(r.coef[0, 0].round(2)) for r in solve_path(MemoryBlocks(X), problem, [0.01, 0.1, 1.0])]
    [0.1, 0.4, 0.8]
    """
    results: list[Result] = []
    for C in Cs:
        if results:
            last = results[-1]
            options |= {"start": (last.coef, last.intercept), "preconditioner": last.preconditioner}
        results.append(solve(blocks, problem, C, **options))
    return results


def work_bytes(n: int, n_features: int, n_columns: int, max_rank: int | None = None) -> int:
    """Return an upper estimate of the memory that a solve takes beside the features, in float32.

    Counted are eight (n, K) arrays and a dozen (D, K) arrays, with the preconditioner's coordinates and vectors, its
    sketch, and the blocks in flight.
    """
    rank = max_rank or last_rank(n_features + 1)
    rows = n * (8 * 4 * n_columns + 4 * rank + 16)
    features = (n_features + 1) * (12 * 8 * n_columns + 4 * rank + 4 * 8 * 2 * rank)
    return rows + features + BLOCKS_IN_FLIGHT * min(COMPUTE_BYTES, 8 * n * (n_features + 1))


class Columns:
    """The state of a solve. All (n, k) and (D + 1, k) arrays hold only the columns still at work."""

    def __init__(self, blocks: RowBlocks, problem: Problem, C: float, intercept: Intercept) -> None:
        self.design = Design(blocks, intercept)
        self.dtype = self.design.dtype
        self.problem, self.C = replace(problem, weights=problem.weights.astype(self.dtype)), C
        if intercept == "free":
            self.design.centre(problem.weights)
        self.penalty = np.ones((self.design.shape[1], 1))
        self.penalty[-1] = 0.0 if intercept == "free" else 1.0
        self.signs = problem.signs()
        self.W = np.zeros((self.design.shape[1], self.signs.shape[1]))  # (D + 1, k)
        weights = self.problem.row_weights()
        balance = (weights * self.signs).sum(axis=0, dtype=np.float64)
        mass = np.broadcast_to(weights, self.signs.shape).sum(axis=0, dtype=np.float64)
        self.W[-1] = self.design.constant * self._best_intercept(balance, mass)
        self.margins = np.broadcast_to(self.W[-1].astype(self.dtype), self.signs.shape).copy()  # (n, k)

    def _best_intercept(self, balance: np.ndarray, mass: np.ndarray) -> np.ndarray:
        """Return the best intercept for w = 0, where c₊ - c₋ = ``balance`` and c₊ + c₋ = ``mass``: squared penalty."""
        return np.asarray(balance / (mass + self.penalty[-1] / (2 * self.C)))

    def rounding(self, feature: float) -> float:
        """Return the norm that rounding errors alone give the gradient at w = 0, for features of this size."""
        mass = float(self.problem.weights.sum(dtype=np.float64))
        return 8 * float(np.finfo(self.dtype).eps) * self.C * mass * feature

    def seen_from_mean(self, coef: np.ndarray, intercept: np.ndarray) -> np.ndarray:
        """Return a solution as W, whose intercept is that of the centred features."""
        W = np.vstack([coef, intercept]).astype(np.float64)
        W[-1] += self.design.mean @ W[:-1]
        return W

    def loss_gradient(self) -> tuple[np.ndarray, np.ndarray]:
        """Return the gradient (D + 1, k) of C times the loss, and that (k,) itself, from the kept margins."""

        def part(rows: slice, block: Any) -> tuple[np.ndarray, np.ndarray]:
            signs, weights = self.signs[rows], self.problem.row_weights(rows)
            slack = np.maximum(1 - signs * self.margins[rows], 0)
            pull = weights * slack
            return pull * signs, np.einsum("ij,ij->j", pull, slack, dtype=np.float64)

        pull, loss = self.design.backward(part)
        return -2 * self.C * pull, self.C * loss

    def result(self, W: np.ndarray, **found: Any) -> Result:
        """Return the Result of a finished W, in terms of the features as they came."""
        intercept = self.design.constant * W[-1] - self.design.mean @ W[:-1]
        return Result(coef=W[:-1], intercept=intercept, n_passes=self.design.n_passes, **found)


class _Newton(Columns):
    """One solve with the squared norm as penalty."""

    def __init__(self, blocks: RowBlocks, problem: Problem, C: float, intercept: Intercept) -> None:
        super().__init__(blocks, problem, C, intercept)
        self.gradient, self.objective = self._gradient()
        norm = np.linalg.norm(self.gradient, axis=0)
        noise = self.rounding(float(np.linalg.norm(self.design.mean)))
        self.reference = np.where(norm <= noise, np.inf, norm)  # features that never vary: nothing to do

    def start_from(self, coef: np.ndarray, intercept: np.ndarray) -> None:
        """Go on from a given solution instead of w = 0."""
        self.W = self.seen_from_mean(coef, intercept)
        self.margins = self.design.product(self.W)
        self.gradient, self.objective = self._gradient()

    def keep(self, going: np.ndarray) -> None:
        """Go on with these columns alone."""
        self.problem = self.problem.keep(going)
        self.signs, self.margins = self.signs[:, going], self.margins[:, going]
        self.W, self.gradient = self.W[:, going], self.gradient[:, going]
        self.reference, self.objective = self.reference[going], self.objective[going]

    def relative_gradient(self) -> np.ndarray:
        """Return the gradient's norm, as a share of what it was at w = 0."""
        norm: np.ndarray = np.linalg.norm(self.gradient, axis=0) / self.reference
        return norm

    def step(self, preconditioner: Preconditioner) -> np.ndarray:
        """Take one Newton step in every column; return which columns it has still brought forward."""
        direction, ahead = self._direction(preconditioner)
        length = self._line_search(direction, ahead)
        self.W = self.W + length * direction
        self.margins += (length * ahead).astype(self.dtype)
        before = self.objective
        self.gradient, self.objective = self._gradient()
        # rounding leaves a floor below which no step helps
        gained: np.ndarray = before - self.objective > 0.1 * np.finfo(self.dtype).eps * np.abs(self.objective)
        return gained

    def _gradient(self) -> tuple[np.ndarray, np.ndarray]:
        """Return the gradient (D + 1, k) and the objective (k,) at W."""
        gradient, loss = self.loss_gradient()
        return self.penalty * self.W + gradient, 0.5 * (self.penalty * self.W**2).sum(axis=0) + loss

    def _direction(self, preconditioner: Preconditioner) -> tuple[np.ndarray, np.ndarray]:
        """Return the Newton direction (D + 1, k) and how far it moves the margins (n, k), by conjugate gradients."""
        active = (self.signs * self.margins < 1) * self.problem.row_weights()  # the diagonal of every Hessian
        precondition = preconditioner.at(active, self.C)
        products = np.empty_like(self.margins)

        def part(rows: slice, block: Any) -> tuple[np.ndarray, np.ndarray]:
            products[rows] = forward(block)
            weighted = active[rows] * products[rows]
            return weighted, np.einsum("ij,ij->j", weighted, products[rows], dtype=np.float64)

        X, ahead = np.zeros_like(self.gradient), np.zeros_like(self.margins)
        R = -self.gradient
        target = FORCING * np.linalg.norm(R, axis=0)
        P = Z = precondition(R)
        rz = (R * Z).sum(axis=0)
        for _ in range(MAX_CG):
            forward = self.design.forward(P)
            pull, squares = self.design.backward(part)
            HP = self.penalty * P + 2 * self.C * pull
            # P·HP as a sum of squares: where features are large, rounding would leave the product negative
            curvature = (self.penalty * P**2).sum(axis=0) + 2 * self.C * squares
            alpha = rz / np.maximum(curvature, np.finfo(float).tiny)
            X += alpha * P
            ahead += alpha.astype(self.dtype) * products
            R = R - alpha * HP
            if (np.linalg.norm(R, axis=0) <= target).all():
                break
            Z = precondition(R)
            rz, last = (R * Z).sum(axis=0), rz
            P = Z + rz / np.maximum(last, np.finfo(float).tiny) * P
        return X, ahead

    def _line_search(self, direction: np.ndarray, ahead: np.ndarray) -> np.ndarray:
        """Return the exact minimiser along the direction, column by column, from the kept margins.

        The derivative is increasing and piecewise linear, so Newton's method finds its root in a few steps.
        """
        weights = self.problem.row_weights()
        slack0, change = 1 - self.signs * self.margins, self.signs * ahead
        slope0 = (self.penalty * self.W * direction).sum(axis=0)
        bend0 = (self.penalty * direction**2).sum(axis=0)
        low, high = np.zeros_like(slope0), np.full_like(slope0, np.inf)
        length = np.ones_like(slope0)
        for _ in range(MAX_LINE):
            slack = slack0 - length.astype(self.dtype) * change
            moving = weights * change * (slack > 0)
            slope = slope0 + length * bend0 - 2 * self.C * np.einsum("ij,ij->j", moving, slack, dtype=np.float64)
            bend = bend0 + 2 * self.C * np.einsum("ij,ij->j", moving, change, dtype=np.float64)
            low, high = np.where(slope < 0, length, low), np.where(slope > 0, length, high)
            proposal = length - slope / np.maximum(bend, np.finfo(float).tiny)
            middle = np.where(np.isinf(high), 2 * length, (low + high) / 2)
            proposal = np.where((proposal >= low) & (proposal <= high), proposal, middle)
            close = np.abs(proposal - length) <= 1e-3 * length
            length = proposal
            if close.all():
                break
        return length
