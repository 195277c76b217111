"""An interior-point method for L1 columns that Newton steps cannot bring to an end.

Where rows of large weight can be separated, a column is nearly a linear program: Newton steps go from one set of rows
within the margin to the next. Path following does not mind. It solves, with A = diag(y) [φ - mean, constant],

    minimize over w:       p·|w| + Σ_i c_i max(0, 1 - a_i·w)²
    maximize over α ≥ 0:   Σ_i α_i - α_i² / (4 c_i),  |Aᵀα| ≤ p

together: w = u - v, and the products of u, v and α with the slacks of their constraints go to zero together.
"""

from typing import NamedTuple

import numpy as np
from scipy.linalg import LinAlgError, cho_factor, cho_solve

from besvm.solver.design import TINY

FIRST = 1e5  # the products at the start, relative to those that the first bound speaks for: too large is harmless
CENTERED = 0.3  # the least share of themselves that a step aims to take the products to
INSIDE = 0.9  # the share of the way to the boundary that a step may go
SHORTEST = 1e-7  # steps below it lead nowhere
RIDGE = 1e-14
ZERO = 0.01  # a weight is taken for zero where its constraint in the dual has this share of room left
MAX_STEPS = 200


class Solution(NamedTuple):
    """The best weights found, their objective and the best lower bound of it."""

    w: np.ndarray
    objective: float
    bound: float
    n_iter: int


class _Point(NamedTuple):
    """A point, or a direction: all of it is positive, but for the weights themselves."""

    w: np.ndarray
    u: np.ndarray  # w = u - v, but for weights without a penalty
    v: np.ndarray
    up: np.ndarray  # p - Aᵀα
    down: np.ndarray  # p + Aᵀα
    alpha: np.ndarray
    slack: np.ndarray  # a·w - 1 + α / 2c

    def moved(self, direction: "_Point", length: float) -> "_Point":
        return _Point(*[x + length * dx for x, dx in zip(self, direction, strict=True)])

    def room(self, direction: "_Point") -> float:
        """Return how far one may go, at most 1, to stay inside."""
        ends = [np.min(-x / dx, where=dx < 0, initial=np.inf) for x, dx in zip(self[1:], direction[1:], strict=True)]
        return min(1.0, INSIDE * float(min(ends)))

    def products(self) -> float:
        return float(self.u @ self.up + self.v @ self.down + self.alpha @ self.slack)


class Interior:
    """One column: A as above, dense and in float64, with the c and p of its rows and weights."""

    def __init__(self, A: np.ndarray, c: np.ndarray, p: np.ndarray, signs: np.ndarray) -> None:
        self.A, self.c, self.p, self.signs = A, c, p, signs
        self.held = p > 0  # the weights with a penalty

    def solve(self, tol: float, max_iter: int) -> Solution:
        """Step until the objective is proven to be within ``tol`` of the least, or steps lead nowhere."""
        with np.errstate(all="ignore"):  # what overflows is not finite, and ends the search
            return self._solve(tol, min(max_iter, MAX_STEPS))

    def _solve(self, tol: float, max_iter: int) -> Solution:
        at = self._start()
        w, objective, bound, n_iter = at.w, np.inf, -np.inf, 0
        while True:
            bound = max(bound, self.bound(at.alpha))
            if (here := self.objective(at.w)) < objective:
                w, objective = at.w, here
            sparse = np.where(self.held & (np.minimum(at.up, at.down) > ZERO * self.p), 0, at.w)
            if (here := self.objective(sparse)) - bound <= tol * here:  # or else w will do, if no step leads there
                w, objective = sparse, here
                break
            if n_iter >= max_iter:
                break
            try:
                direction = self._direction(at)
            except (LinAlgError, ValueError):  # not definite, or not finite
                break
            length = at.room(direction)
            if not length > SHORTEST:
                break
            at, n_iter = self._joined(at.moved(direction, length)), n_iter + 1
        return Solution(w, objective, bound, n_iter)

    def _joined(self, at: _Point) -> _Point:
        """Return the point with w = u - v, whatever rounding has done."""
        return at._replace(w=np.where(self.held, at.u - at.v, at.w))

    def objective(self, w: np.ndarray) -> float:
        """Return the objective of these weights."""
        return float(self.p @ np.abs(w) + self.c @ np.maximum(0, 1 - self.A @ w) ** 2)

    def bound(self, alpha: np.ndarray) -> float:
        """Return a lower bound of every objective: α made feasible, and scaled to be the best of its kind."""
        if not self.held.all():  # a free intercept wants both classes to balance
            positive = self.signs > 0
            ours, theirs = alpha[positive].sum(), alpha[~positive].sum()
            alpha = alpha * np.where(positive, min(1, theirs / max(ours, TINY)), min(1, ours / max(theirs, TINY)))
        steepest = np.abs(self.A.T @ alpha)[self.held].max(initial=1)
        linear, quadratic = alpha.sum(), (alpha**2 / (4 * self.c)).sum()
        scale = min(1 / steepest, linear / max(2 * quadratic, TINY))
        value = float(scale * linear - scale**2 * quadratic)
        return value if np.isfinite(value) else -np.inf

    def _start(self) -> _Point:
        """Return equal α, well inside of |Aᵀα| ≤ p, and what makes all products equal."""
        D, held = self.A.shape[1], self.held

        def alphas(size: float) -> np.ndarray:
            return np.minimum(size, 2 * self.c)

        size = 0.5 / max(np.abs(self.A[:, held]).sum(axis=0).max(initial=0), TINY)
        while size < self.c.max() and np.abs(self.A[:, held].T @ alphas(2 * size)).max(initial=0) <= 0.5:
            size *= 2
        alpha = alphas(size)
        slope = self.A.T @ alpha
        up, down = np.where(held, self.p - slope, 1), np.where(held, self.p + slope, 1)
        product = FIRST * alpha.sum() / (len(alpha) + 2 * D)
        u, v = np.where(held, product / up, 1), np.where(held, product / down, 1)
        return self._joined(_Point(np.zeros(D), u, v, up, down, alpha, product / alpha))

    def _direction(self, at: _Point) -> _Point:
        """Return Newton's direction to where all products are one and the same share of what they are.

        How small the share may be is told by how far the direction to products of zero leads.
        """
        A, p, held = self.A, self.p, self.held
        slope = A.T @ at.alpha
        off_up, off_down = np.where(held, p - slope - at.up, 0), np.where(held, p + slope - at.down, 0)
        off_slack = A @ at.w - 1 + at.alpha / (2 * self.c) - at.slack
        stiffness = np.where(held, 1 / (at.u / at.up + at.v / at.down), 0)
        give = 1 / (2 * self.c) + at.slack / at.alpha
        hessian = (A / give[:, None]).T @ A
        hessian[np.diag_indices_from(hessian)] += stiffness
        scale = 1 / np.sqrt(np.maximum(hessian.diagonal(), TINY))
        hessian *= scale[:, None] * scale
        hessian[np.diag_indices_from(hessian)] += RIDGE
        factor = cho_factor(hessian, overwrite_a=True)

        def towards(product: float) -> _Point:
            to_u, to_v = product - at.u * at.up, product - at.v * at.down
            to_alpha = product - at.alpha * at.slack
            pull = (to_u - at.u * off_up) / at.up - (to_v - at.v * off_down) / at.down
            rest = to_alpha / at.alpha - off_slack
            right = np.where(held, stiffness * pull, slope) + A.T @ (rest / give)
            w = scale * cho_solve(factor, scale * right)
            alpha = (rest - A @ w) / give
            change = A.T @ alpha
            up, down = np.where(held, off_up - change, 0), np.where(held, off_down + change, 0)
            u = np.where(held, (to_u - at.u * up) / at.up, 0)
            v = np.where(held, (to_v - at.v * down) / at.down, 0)
            return _Point(w, u, v, up, down, alpha, (to_alpha - at.slack * alpha) / at.alpha)

        # those of a weight without a penalty are 1 and stay so: they do not count
        free = 2 * int((~held).sum())
        now = at.products() - free
        straight = towards(0.0)
        then = at.moved(straight, at.room(straight)).products() - free
        share = max((then / max(now, TINY)) ** 3, CENTERED)
        return towards(share * now / (len(at.alpha) + 2 * len(p) - free))
