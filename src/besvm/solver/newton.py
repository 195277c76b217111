"""All one-vs-rest squared-hinge SVMs at once: preconditioned Newton-CG that sees only RowBlocks.

For every column k the problem is equation 6 of the paper,

    minimize over w, b:   1/2 ‖w‖² [+ 1/2 b²]  +  C Σ_i c_i max(0, 1 - y_ik (φ_i·w + b))²

Three things make it take few passes over φ. The Hessians of all columns share one preconditioner, built from a sample
of the rows, which grows where passes become many. The slacks 1 - y φ·w are kept, so that the exact line search costs no
pass at all. And a column that has converged leaves the products.
"""

from collections.abc import Callable
from typing import Any, Self

import numpy as np

from besvm.blocks.estimates import first_rank, last_rank, sparse_columns
from besvm.blocks.state import Rows, RowState
from besvm.blocks.stores import RowBlocks
from besvm.solver.columns import Columns, Report, Start, solve_columns
from besvm.solver.design import TINY, Intercept
from besvm.solver.journal import Journal
from besvm.solver.preconditioner import Diagonal, Preconditioner, precondition
from besvm.solver.problem import Problem
from besvm.solver.result import Result

FIRST_GAP, GIVEN_GAP = 1e4, 1e2  # the gap that C is lowered to at first, at w = 0 and at a given solution
STAGE, STAGE_GAP = 4.0, 1.0  # C is raised by this factor once the duality gap is this small
MAX_CG = 50  # steps of one Newton direction; the preconditioner makes three usual
MAX_LINE = 30  # steps of one line search; four are usual
EXPECTED = 16.0  # passes of a solve, times the root of what its Hessians vary by outside the preconditioner's span
MANY = 16  # passes of which enough are saved to pay for a preconditioner as costly as the first: about a third
FORCING = 0.25  # a direction is good enough once its residual is this share of the gradient


def solve(
    blocks: RowBlocks,
    problem: Problem,
    C: float,
    *,
    intercept: Intercept = "free",
    tol: float = 1e-3,
    max_iter: int = 500,
    start: Start | None = None,
    preconditioner: Preconditioner | None = None,
    max_rank: int | None = None,
    report: Report | None = None,
    journal: Journal | None = None,
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
        A column has converged when its objective is known to be no more than this share of itself above the least
        possible one: the duality gap, which for this problem is half the square of the gradient.
    start : (coef, intercept), optional
        Where to begin, for example the solution for the last C of a path.
    preconditioner : Preconditioner, optional
        That of an earlier Result on the same features; it does not depend on C.
    max_rank : int, optional
        The most eigenvectors that a new preconditioner may take: less memory, and perhaps more passes.
    journal : Journal, optional
        Where every step is written down; a solve that was interrupted goes on from the last one, to the same end.

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

    def make(state: RowState, problem: Problem) -> _Newton:
        return _Newton(state, problem, C, intercept, preconditioner, max_rank)

    together = sparse_columns(blocks.shape[1]) if blocks.sparse else len(problem.positive)
    return solve_columns(make, blocks, problem, together, tol, max_iter, start, report, journal)


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

    per_column = (*Columns.per_column, "loss_slope", "loss", "stage")
    resumes = ("stage", "stalled", "rank", "spent")

    def __init__(
        self,
        state: RowState,
        problem: Problem,
        C: float,
        intercept: Intercept,
        preconditioner: Preconditioner | None,
        max_rank: int | None,
    ) -> None:
        super().__init__(state, problem, C, intercept)
        self.stage = np.full(len(problem.positive), C)  # (k,) the C of every column at present
        n, size = self.design.shape
        self.last_rank = min(max_rank or size, last_rank(size))
        self.first_rank = min(first_rank(n, size, len(problem.positive)), self.last_rank)
        self.rank = np.array(self.first_rank)  # of the preconditioner
        self.spent = np.array(0)  # passes that directions have taken since it was made
        if preconditioner is not None and preconditioner.dtype == self.dtype:
            self.preconditioner = preconditioner
            self.rank = np.array(preconditioner.rank)

    def _best_intercept(self, balance: np.ndarray, mass: np.ndarray) -> np.ndarray:
        return np.asarray(balance / np.maximum(mass + self.penalty[-1] / (2 * self.C), TINY))

    def begin(self, start: Start | None) -> Self:
        """Begin at w = 0 or at a given solution, with a C that is not too large for a first step.

        Where C is so large that hardly a row may be within the margin, steps from afar go from one set of rows to the
        next, and hardly get further.
        """
        super().begin(start)
        self.stage = self.C * np.minimum(1, (FIRST_GAP if start is None else GIVEN_GAP) / np.maximum(self.gap, 1))
        return self

    def unfinished(self) -> np.ndarray:
        """Return which columns have not come to the C asked for."""
        return np.asarray(self.stage < self.C)

    def evaluate(self) -> None:
        """Bring the gradients, the objectives and the gaps up to date with W and the slacks, in one pass."""
        self.loss_slope, self.loss, _ = self.loss_gradient()
        self.objective, self.gap = self._state_at(self.C)

    def _state_at(self, C: float | np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        """Return the objectives, and the gaps relative to them.

        With the dual point αᵢ = 2 C cᵢ times the slack, the duality gap is half the square of the gradient.
        """
        objective = 0.5 * (self.penalty * self.W**2).sum(axis=0) + C * self.loss
        gradient = self._gradient(C)
        within = gradient[:-1] if self.free else gradient
        return objective, 0.5 * (within**2).sum(axis=0) / np.maximum(objective, TINY)

    def _gradient(self, C: float | np.ndarray) -> np.ndarray:
        return self.penalty * self.W + C * self.loss_slope

    def step(self) -> np.ndarray:
        """Take one Newton step in every column; return which columns it has still brought forward."""
        near = (self._state_at(self.stage)[1] <= STAGE_GAP) | (self.stalled >= self.patience)
        self.stage = np.where(near, np.minimum(STAGE * self.stage, self.C), self.stage)
        direction = self._direction(self._current_preconditioner())
        before = self._state_at(self.stage)[0]
        self._move(direction, self._line_search(direction))
        self.evaluate()
        after = self._state_at(self.stage)[0]
        # rounding leaves a floor below which no step helps
        gained: np.ndarray = before - after > 0.1 * np.finfo(self.dtype).eps * np.abs(after)
        return gained

    def _current_preconditioner(self) -> Preconditioner | Diagonal:
        """Return the preconditioner: larger than the last one, where that costs less than the passes it may save.

        Its cost grows as the square of the rank. The passes are those to be expected, or those that directions have
        taken already since the last one was made. What counts is how much the eigenvalues outside its span differ from
        each other: if they are alike, however large, they cost none.
        """
        while True:
            if self.preconditioner is None and self.state.sparse:
                self.preconditioner = Diagonal(self.design)
            elif self.preconditioner is None:
                self.preconditioner = precondition(self.design, self.all_columns, int(self.rank))
            larger = min(2 * int(self.rank), self.last_rank)
            if larger <= self.rank or self._passes() < MANY * (larger / self.first_rank) ** 2:
                return self.preconditioner
            self.rank, self.spent, self.preconditioner = np.array(larger), np.array(0), None

    def _passes(self) -> float:
        """Return the passes that were taken with this preconditioner, or are to be expected with it."""
        if not isinstance(self.preconditioner, Preconditioner):
            return 0.0
        spread = (1 + self.C * self.preconditioner.rest) / (1 + self.C * self.preconditioner.least)
        return max(int(self.spent), EXPECTED * spread**0.5)

    def _direction(self, preconditioner: Preconditioner | Diagonal) -> np.ndarray:
        """Return the Newton direction (D + 1, k), by conjugate gradients; the rows keep how it changes the margins."""
        inverse = preconditioner.at(self.state, active_weights(self.problem), self.stage)
        X = np.zeros_like(self.W)
        R = -self._gradient(self.stage)
        target = FORCING * np.linalg.norm(R, axis=0)
        P = Z = inverse(R)
        rz = (R * Z).sum(axis=0)
        lengths: list[np.ndarray] = []
        for _ in range(MAX_CG):
            HP_loss, squares = self._times_hessian(P, lengths)
            HP = self.penalty * P + 2 * self.stage * HP_loss
            # P·HP as a sum of squares: where features are large, rounding would leave the product negative
            curvature = (self.penalty * P**2).sum(axis=0) + 2 * self.stage * squares
            alpha = rz / np.maximum(curvature, np.finfo(float).tiny)
            lengths.append(alpha.astype(self.dtype))
            X += alpha * P
            R = R - alpha * HP
            if (np.linalg.norm(R, axis=0) <= target).all():
                break
            Z = inverse(R)
            rz, last = (R * Z).sum(axis=0), rz
            P = Z + rz / np.maximum(last, np.finfo(float).tiny) * P
        self.spent = self.spent + len(lengths)
        self.state.each(_adding(lengths))
        return X

    def _times_hessian(self, P: np.ndarray, lengths: list[np.ndarray]) -> tuple[Any, ...]:
        """Return the Hessian of the loss, over 2C, times P, and that from both sides, column by column.

        The rows keep φ·P as "products", once those of the pass before are part of "change".
        """
        weights_of, add = active_weights(self.problem), _adding(lengths)

        def active(rows: Rows) -> np.ndarray:
            add(rows)
            return weights_of(rows)

        return self.design.both_ways("products", P, active)

    def _line_search(self, direction: np.ndarray) -> np.ndarray:
        """Return the exact minimizer along the direction, column by column, from the kept slacks.

        The derivative is increasing and piecewise linear, so Newton's method finds its root in a few steps.
        """
        slope0 = (self.penalty * self.W * direction).sum(axis=0)
        curvature0 = (self.penalty * direction**2).sum(axis=0)
        low, high = np.zeros_like(slope0), np.full_like(slope0, np.inf)
        length = np.ones_like(slope0)
        for _ in range(MAX_LINE):
            pull, stiffness = self._along(length)
            slope = slope0 + length * curvature0 - 2 * self.stage * pull
            curvature = curvature0 + 2 * self.stage * stiffness
            low, high = np.where(slope < 0, length, low), np.where(slope > 0, length, high)
            proposal = length - slope / np.maximum(curvature, np.finfo(float).tiny)
            middle = np.where(np.isinf(high), 2 * length, (low + high) / 2)
            proposal = np.where((proposal >= low) & (proposal <= high), proposal, middle)
            close = np.abs(proposal - length) <= 1e-3 * length
            length = proposal
            if close.all():
                break
        return length

    def _along(self, length: np.ndarray) -> tuple[Any, ...]:
        """Return how the loss, over 2, falls along the direction after so much of it, and how that changes."""
        lengths, weights_of = length.astype(self.dtype), self.problem.row_weights()

        def part(rows: Rows) -> tuple[np.ndarray, np.ndarray]:
            change = rows["signs"] * rows["change"]
            slack = rows["slack"] - lengths * change
            moving = weights_of(rows) * change * (slack > 0)
            pull = np.einsum("ij,ij->j", moving, slack, dtype=np.float64)
            return pull, np.einsum("ij,ij->j", moving, change, dtype=np.float64)

        return self.state.sum(part, features=False)


def active_weights(problem: Problem) -> Callable[[Rows], np.ndarray]:
    """Return what gives the diagonals of the Hessians: the weights of the rows that are within the margin."""
    weights_of = problem.row_weights()
    return lambda rows: (rows["slack"] > 0) * weights_of(rows)


def _adding(lengths: list[np.ndarray]) -> Callable[[Rows], None]:
    """Return what adds the last products of the rows, times the last of the lengths, to the change of the margins."""
    alpha, first = lengths[-1] if lengths else None, len(lengths) == 1

    def add(rows: Rows) -> None:
        if alpha is not None:
            change = alpha * rows["products"]
            rows["change"] = change if first else rows["change"] + change

    return add
