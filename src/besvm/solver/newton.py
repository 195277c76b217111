"""All one-vs-rest squared-hinge SVMs at once: preconditioned Newton-CG that sees only RowBlocks.

For every column k the problem is eq. besvm_primal of the paper,

    minimize over w, b:   1/2 ‖w‖² [+ 1/2 b²]  +  C Σ_i c_i max(0, 1 - y_ik (φ_i·w + b))²

Three things make it take few passes over φ. The Hessians of all columns share one preconditioner, built from a
sketch of φᵀφ. The slacks 1 - y φ·w are kept, so that the exact line search costs no pass at all. And a column that has
converged leaves the products.
"""

from collections.abc import Callable
from typing import Any

import numpy as np

from besvm.blocks.stores import RowBlocks
from besvm.solver.design import Intercept
from besvm.solver.preconditioner import Preconditioner, sketch
from besvm.solver.problem import Columns, Problem, Result

MAX_CG = 50  # steps of one Newton direction; the preconditioner makes three usual
MAX_LINE = 30  # steps of one line search; four are usual
FORCING = 0.25  # a direction is good enough once its residual is this share of the gradient


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
    """Minimize the squared-hinge objective of every column of ``problem``.

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
    >>> import numpy as np
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
    W, margins = np.empty((blocks.shape[1] + 1, K)), np.empty_like(state.slack)
    objective, gradient_norm = np.empty(K), np.empty(K)
    gained = np.ones(K, dtype=bool)
    n_iter = 0
    while True:
        norm = state.relative_gradient()
        W[:, at], margins[:, at] = state.W, state.margins()
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
    >>> import numpy as np
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
        self.slack = 1 - self.signs * self.design.product(self.W)
        self.gradient, self.objective = self._gradient()

    def keep(self, going: np.ndarray) -> None:
        """Go on with these columns alone."""
        self.problem = self.problem.keep(going)
        self.signs, self.slack = self.signs[:, going], self.slack[:, going]
        self.W, self.gradient = self.W[:, going], self.gradient[:, going]
        self.reference, self.objective = self.reference[going], self.objective[going]

    def relative_gradient(self) -> np.ndarray:
        """Return the gradient's norm, as a share of what it was at w = 0."""
        norm: np.ndarray = np.linalg.norm(self.gradient, axis=0) / self.reference
        return norm

    def step(self, preconditioner: Preconditioner) -> np.ndarray:
        """Take one Newton step in every column; return which columns it has still brought forward."""
        direction, margin_change = self._direction(preconditioner)
        length = self._line_search(direction, margin_change)
        self.W = self.W + length * direction
        self.slack -= length.astype(self.dtype) * self.signs * margin_change
        before = self.objective
        self.gradient, self.objective = self._gradient()
        # rounding leaves a floor below which no step helps
        gained: np.ndarray = before - self.objective > 0.1 * np.finfo(self.dtype).eps * np.abs(self.objective)
        return gained

    def _gradient(self) -> tuple[np.ndarray, np.ndarray]:
        """Return the gradient (D + 1, k) and the objective (k,) at W."""
        gradient, loss, _ = self.loss_gradient()
        objective = 0.5 * (self.penalty * self.W**2).sum(axis=0) + self.C * loss
        return self.penalty * self.W + self.C * gradient, objective

    def _direction(self, preconditioner: Preconditioner) -> tuple[np.ndarray, np.ndarray]:
        """Return the Newton direction (D + 1, k) and how far it moves the margins (n, k), by conjugate gradients."""
        active = (self.slack > 0) * self.problem.row_weights()  # the diagonal of every Hessian
        precondition = preconditioner.at(active, self.C)
        products = np.empty_like(self.slack)

        def part(rows: slice, block: Any) -> tuple[np.ndarray, np.ndarray]:
            products[rows] = forward(block)
            weighted = active[rows] * products[rows]
            return weighted, np.einsum("ij,ij->j", weighted, products[rows], dtype=np.float64)

        X, margin_change = np.zeros_like(self.gradient), np.zeros_like(self.slack)
        R = -self.gradient
        target = FORCING * np.linalg.norm(R, axis=0)
        P = Z = precondition(R)
        rz = (R * Z).sum(axis=0)
        for _ in range(MAX_CG):
            forward = self.design.forward(P)
            HP_loss, squares = self.design.backward(part)
            HP = self.penalty * P + 2 * self.C * HP_loss
            # P·HP as a sum of squares: where features are large, rounding would leave the product negative
            curvature = (self.penalty * P**2).sum(axis=0) + 2 * self.C * squares
            alpha = rz / np.maximum(curvature, np.finfo(float).tiny)
            X += alpha * P
            margin_change += alpha.astype(self.dtype) * products
            R = R - alpha * HP
            if (np.linalg.norm(R, axis=0) <= target).all():
                break
            Z = precondition(R)
            rz, last = (R * Z).sum(axis=0), rz
            P = Z + rz / np.maximum(last, np.finfo(float).tiny) * P
        return X, margin_change

    def _line_search(self, direction: np.ndarray, margin_change: np.ndarray) -> np.ndarray:
        """Return the exact minimizer along the direction, column by column, from the kept slacks.

        The derivative is increasing and piecewise linear, so Newton's method finds its root in a few steps.
        """
        weights = self.problem.row_weights()
        change = self.signs * margin_change
        slope0 = (self.penalty * self.W * direction).sum(axis=0)
        curvature0 = (self.penalty * direction**2).sum(axis=0)
        low, high = np.zeros_like(slope0), np.full_like(slope0, np.inf)
        length = np.ones_like(slope0)
        for _ in range(MAX_LINE):
            slack = self.slack - length.astype(self.dtype) * change
            moving = weights * change * (slack > 0)
            slope = slope0 + length * curvature0 - 2 * self.C * np.einsum("ij,ij->j", moving, slack, dtype=np.float64)
            curvature = curvature0 + 2 * self.C * np.einsum("ij,ij->j", moving, change, dtype=np.float64)
            low, high = np.where(slope < 0, length, low), np.where(slope > 0, length, high)
            proposal = length - slope / np.maximum(curvature, np.finfo(float).tiny)
            middle = np.where(np.isinf(high), 2 * length, (low + high) / 2)
            proposal = np.where((proposal >= low) & (proposal <= high), proposal, middle)
            close = np.abs(proposal - length) <= 1e-3 * length
            length = proposal
            if close.all():
                break
        return length
