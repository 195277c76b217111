"""The state of a solve, whatever its penalty: step by step, until the duality gap is within the tolerance."""

from abc import ABC, abstractmethod
from collections.abc import Callable
from dataclasses import replace
from typing import Any, Self

import numpy as np

from besvm._support.threads import thread_map, workers
from besvm.blocks.state import LocalState, Rows, RowState
from besvm.blocks.stores import RowBlocks
from besvm.solver.design import TINY, Design, Intercept
from besvm.solver.journal import Journal
from besvm.solver.preconditioner import Diagonal, Preconditioner
from besvm.solver.problem import Problem, targets
from besvm.solver.result import MarginsLater, Result

MAX_INTERCEPT = 30  # steps to the best intercept; three are usual
SAFE = 0.25  # the share of the tolerance that rounding errors of float32 may come to
NEAR = 1e4  # the relative gap from which float64 goes on, rather than begin anew
SMALL, LARGE = 1e-12, 1e12  # outside, squares of features are not trusted to float32

Report = Callable[[str], None]
Start = tuple[np.ndarray, np.ndarray]


class Columns(ABC):
    """The state of a solve: W and what is as small here, the signs and slacks of all rows where the rows are.

    All (n, k) and (D + 1, k) arrays hold only the columns still at work.
    """

    per_column: tuple[str, ...] = ("W", "objective", "gap", "stalled")
    per_row: tuple[str, ...] = ("signs", "slack")
    resumes: tuple[str, ...] = ()  # what must be known beside W to go on from it; none: only from the beginning
    patience = 1  # steps that bring nothing, for rounding errors, before a column is given up
    preconditioner: Preconditioner | Diagonal | None = None
    objective: np.ndarray  # (k,)
    gap: np.ndarray  # (k,) the duality gap, as a share of the objective

    def __init__(self, state: RowState, problem: Problem, C: float, intercept: Intercept) -> None:
        self.state, self.problem, self.C = state, problem, C
        self.all_columns = problem
        self.anew = not isinstance(state, LocalState)  # whether the slacks are computed from W at every step
        self.design = Design(state, intercept)
        self.dtype = self.design.dtype
        self.free = intercept == "free"
        problem.begin(state, self.dtype)
        self.size = self.design.measured(center=self.free)  # of a row of features
        if self.dtype == np.float64 and not np.isfinite(self.size):
            raise ValueError("the features must be numbers whose squares do not overflow; scale them down")
        self.penalty = np.ones((self.design.shape[1], 1))
        self.penalty[-1] = 0.0 if self.free else 1.0
        self.W = np.zeros((self.design.shape[1], len(problem.positive)))  # (D + 1, k)
        balance, mass, squares = self._balance()
        self.weights_norm = float(np.sqrt(squares))
        self.W[-1] = self.design.constant * self._best_intercept(balance, mass)
        intercepts = self.W[-1].astype(self.dtype)

        def part(rows: Rows) -> None:
            # 1 - y f, negative beyond the margin: rounding spoils it less than it would a margin close to y
            rows["slack"] = 1 - rows["signs"] * intercepts

        state.each(part)
        self.stalled = np.zeros(self.W.shape[1], dtype=int)  # steps in a row that brought nothing

    def _balance(self) -> tuple[Any, ...]:
        """Put the signs beside the rows; return c₊ - c₋ and c₊ + c₋, the weights on both sides, for every column.

        The third is the sum of the squares of all weights.
        """
        positive, weights_of = self.problem.positive, self.problem.row_weights()

        def part(rows: Rows) -> tuple[Any, ...]:
            rows["signs"] = signs = targets(rows["labels"], positive)
            weights, own = weights_of(rows), rows["weights"].astype(np.float64)
            balance = (weights * signs).sum(axis=0, dtype=np.float64)
            return balance, np.broadcast_to(weights, signs.shape).sum(axis=0, dtype=np.float64), own @ own

        return self.state.sum(part, features=False)

    @abstractmethod
    def _best_intercept(self, balance: np.ndarray, mass: np.ndarray) -> np.ndarray:
        """Return the best intercept for w = 0, where c₊ - c₋ = ``balance`` and c₊ + c₋ = ``mass``."""

    @abstractmethod
    def evaluate(self) -> None:
        """Bring the gradients, the objectives and the gaps up to date with W and the slacks, in one pass."""

    @abstractmethod
    def step(self) -> np.ndarray:
        """Take one Newton step in every column; return which columns it has still brought forward."""

    def unfinished(self) -> np.ndarray:
        """Return which columns have more to do, even where steps bring nothing."""
        return np.zeros(self.W.shape[1], dtype=bool)

    def begin(self, start: Start | None) -> Self:
        """Begin at w = 0, or go on from a given solution."""
        if start is not None:
            self.W = np.ascontiguousarray(np.vstack(start), dtype=np.float64)
            self.W[-1] += self.design.mean @ self.W[:-1]  # as seen from the mean
            look = self._look()

            def part(rows: Rows) -> tuple[()]:
                look(rows)
                return ()

            self.design.n_passes += 1
            self.state.sum(part)
        self._settle_intercept()
        self.evaluate()
        return self

    def _look(self) -> Callable[[Rows], None]:
        """Return what computes the signs and slacks of rows from their features and W."""
        forward, positive = self.design.forward(self.W), self.problem.positive

        def look(rows: Rows) -> None:
            rows["signs"] = signs = targets(rows["labels"], positive)
            rows["slack"] = 1 - signs * forward(rows.features)

        return look

    def run(self, tol: float, max_iter: int, report: Report | None = None, journal: Journal | None = None) -> Result:
        """Step until every column has converged, or can get no further."""
        K = self.W.shape[1]
        at = np.arange(K)  # the columns still at work
        W, objective, gap = np.empty_like(self.W), np.empty(K), np.empty(K)
        n_iter = 0
        local = self.state if isinstance(self.state, LocalState) and self.state.in_memory else None
        kept = local if journal is None else None  # with the margins
        known = None if journal is None else journal.read()
        if known is not None:
            W, objective, gap, at, n_iter = self._take_up(known)
        while len(at):
            W[:, at], objective[at], gap[at] = self.W, self.objective, self.gap
            if journal is not None and self.resumes:
                self._write_down(journal, W=W, objective=objective, gap=gap, at=at, n_iter=np.array(n_iter))
            if report is not None:
                report(f"training: {K - len(at)} of {K} problems solved, step {n_iter}")
            going = ~(self.gap <= tol) & ((self.stalled < self.patience) | self.unfinished())
            going &= self.noise(self.W[:-1], self.objective) <= SAFE * tol
            going &= n_iter < max_iter
            if not going.all():
                if kept is not None:
                    self._note_margins(at, K)
                at = at[going]
                self._keep(going)
            if len(at):
                gained = self.step()
                self.stalled = np.where(gained, 0, self.stalled + 1)
                n_iter += 1
        if journal is not None and (known is None or len(known["at"])):
            self._write_down(journal, W=W, objective=objective, gap=gap, at=at, n_iter=np.array(n_iter))
        margins = None if kept is None else kept.whole("margins")
        return self.result(W, margins, objective, gap, tol, n_iter, share=journal is None)

    def _write_down(self, journal: Journal, **progress: np.ndarray) -> None:
        """Write down where this solve is: the columns at work when it was last evaluated, or none at its end."""
        own = {name: getattr(self, name) for name in self.resumes}
        journal.write(**progress, **own, n_passes=np.array(self.design.n_passes))

    def _take_up(self, known: dict[str, np.ndarray]) -> tuple[np.ndarray, np.ndarray, np.ndarray, np.ndarray, int]:
        """Go on where a solve was when it last wrote down how far it was."""
        at, W = known["at"], known["W"]
        self.design.n_passes = int(known["n_passes"])
        if len(at):
            self._keep(np.isin(np.arange(W.shape[1]), at))
            self.W = np.ascontiguousarray(W[:, at])
            for name in self.resumes:
                setattr(self, name, known[name])
            self.evaluate()
        return W, known["objective"], known["gap"], at, int(known["n_iter"])

    def _note_margins(self, at: np.ndarray, K: int) -> None:
        """Keep the decision values of the columns at work, before some of them leave."""

        def part(rows: Rows) -> None:
            margins = rows["signs"] * (1 - rows["slack"])
            if len(at) < K:
                margins, some = rows["margins"].copy(), margins
                margins[:, at] = some
            rows["margins"] = margins

        self.state.each(part)

    def result(
        self,
        W: np.ndarray,
        margins: np.ndarray | None,
        objective: np.ndarray,
        gap: np.ndarray,
        tol: float,
        n_iter: int,
        share: bool = True,
    ) -> Result:
        """Return these weights, seen from the mean, as they are seen from zero, and how the solve ended.

        Without ``margins`` they are computed when they are asked for. Unless there is something to ``share``, the next
        solve makes a preconditioner of its own: where this one may be resumed, it must not matter whether it was.
        """
        intercept = self.design.constant * W[-1] - self.design.mean @ W[:-1]
        shared = share and isinstance(self.preconditioner, Preconditioner)
        return Result(
            coef=W[:-1],
            intercept=intercept,
            objective=objective,
            gap=gap,
            converged=gap <= tol,
            n_iter=n_iter,
            n_passes=self.design.n_passes,
            margins=MarginsLater(self.state.blocks, W[:-1], intercept) if margins is None else margins,
            preconditioner=self.preconditioner if shared else None,  # type: ignore[arg-type]
        )

    def noise(self, coef: np.ndarray, objective: np.ndarray) -> np.ndarray:
        """Return what rounding errors of float32 may add to the gaps, (K,), at a solution.

        A decision value is uncertain by about eps ‖φ‖ ‖w‖, the gradient by that of every row times C c ‖φ‖.
        """
        if self.dtype == np.float64:
            return np.zeros(len(objective))
        eps = float(np.finfo(self.dtype).eps) / 2  # what rounding to the nearest may be off by
        value = eps * (1 + self.size * np.linalg.norm(coef, axis=0))
        gradient = 2 * self.C * self.weights_norm * self.size * value
        return np.asarray(0.5 * gradient**2 / np.maximum(objective, TINY))

    def _keep(self, going: np.ndarray) -> None:
        """Go on with these columns alone."""
        self.problem = self.problem.keep(going)
        self.state.select(self.per_row, going)
        for name in self.per_column:  # in one layout: sums must not depend on which columns have left
            setattr(self, name, np.ascontiguousarray(getattr(self, name)[..., going]))

    def _move(self, direction: np.ndarray, length: np.ndarray) -> None:
        """Go so far in a direction, which changes the margins by the rows' "change"."""
        self.W = np.ascontiguousarray(self.W + length * direction)
        lengths = length.astype(self.dtype)

        def part(rows: Rows) -> None:
            rows["slack"] = rows["slack"] - lengths * rows["signs"] * rows["change"]

        self.state.each(part)
        self._settle_intercept()

    def _settle_intercept(self) -> None:
        """Give every column the free intercept that is best for its w: a feasible point of the dual needs it."""
        if self.free:
            self._shift_intercept(np.zeros(self.W.shape[1]))

    def _shift_intercept(self, target: np.ndarray) -> None:
        """Move every intercept to where Σ cᵢ yᵢ max(0, slack) is ``target``, from the kept slacks.

        That sum is falling and piecewise linear in the intercept, so Newton's method finds the place in a few steps.
        """
        shift = np.zeros(self.W.shape[1])
        low, high = np.full_like(shift, -np.inf), np.full_like(shift, np.inf)
        exact = False
        for step in range(MAX_INTERCEPT):
            excess, mass, n_changed = self._excess(shift, first=step == 0)
            if exact and n_changed == 0:
                break  # the sum is linear all the way from the last place
            excess = excess - target
            low, high = np.where(excess > 0, shift, low), np.where(excess < 0, shift, high)
            proposal = shift + excess / np.maximum(mass, TINY)
            inside = ((proposal > low) & (proposal < high)) | ~(np.isfinite(low) & np.isfinite(high))
            settled = (excess == 0) | (mass == 0)
            middle = np.where(inside, 0, low) / 2 + np.where(inside, 0, high) / 2
            proposal = np.where(settled, shift, np.where(inside, proposal, middle))
            close = np.abs(proposal - shift) <= np.finfo(self.dtype).eps * (1 + np.abs(proposal))
            shift, exact = proposal, bool((inside | settled).all())
            if close.all():
                break
        self.W[-1] += shift
        shifts = shift.astype(self.dtype)

        def part(rows: Rows) -> None:
            rows["slack"] = rows["slack"] - rows["signs"] * shifts

        self.state.each(part)

    def _excess(self, shift: np.ndarray, first: bool) -> tuple[Any, ...]:
        """Return Σ cᵢ yᵢ max(0, slack) with the intercepts shifted, how fast it falls, and how many rows came or went.

        The rows remember whether they were in, but ``first``.
        """
        shifts, weights_of = shift.astype(self.dtype), self.problem.row_weights()

        def part(rows: Rows) -> tuple[Any, ...]:
            signs = rows["signs"]
            moved = signs * rows["slack"] - shifts  # y - f, which moves with the intercept alike in all rows
            active = (moved > 0) == (signs > 0)
            n_changed = active.size if first else np.count_nonzero(active != rows["active"])
            rows["active"] = active
            weighted = active * weights_of(rows)
            excess = np.einsum("ij,ij->j", weighted, moved, dtype=np.float64)
            return excess, weighted.sum(axis=0, dtype=np.float64), n_changed

        return self.state.sum(part, features=False)

    def loss_gradient(self) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
        """Return, without C: the gradient (D + 1, k) of the loss, the loss (k,), and the sum of the slacks (k,)."""
        weights_of, look = self.problem.row_weights(), self._look() if self.anew else None
        if self.anew:
            self.state.rewind()

        def part(rows: Rows) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
            if look is not None:
                look(rows)
            slack = np.maximum(rows["slack"], 0)
            weighted = weights_of(rows) * slack
            loss = np.einsum("ij,ij->j", weighted, slack, dtype=np.float64)
            return weighted * rows["signs"], loss, weighted.sum(axis=0, dtype=np.float64)

        residual, loss, slacks = self.design.backward(part)
        return -2 * residual, loss, slacks


def solve_columns(
    make: Callable[[RowState, Problem], Columns],
    blocks: RowBlocks,
    problem: Problem,
    together: int,
    tol: float,
    max_iter: int,
    start: Start | None,
    report: Report | None,
    journal: Journal | None = None,
) -> Result:
    """Solve so many columns ``together``, in the precision of the features or, where float32 falls short, in float64.

    Sparse features leave little to share: their columns are solved side by side, each group on a thread of its own.
    """
    K = len(problem.positive)

    def solved(columns: np.ndarray) -> Result:
        begin = None if start is None else (start[0][:, columns], start[1][columns])
        own = journal and journal.part(f"column{columns[0]}")
        return _solve(make, blocks, problem.keep(columns), tol, max_iter, begin, report, own)

    def alone(columns: np.ndarray) -> Result:
        with workers(1):
            return solved(columns)

    groups = np.split(np.arange(K), range(together, K, together))
    if len(groups) == 1:
        return solved(groups[0])
    return Result.joined(thread_map(alone, groups) if blocks.sparse else map(solved, groups), K)


def _solve(
    make: Callable[[RowState, Problem], Columns],
    blocks: RowBlocks,
    problem: Problem,
    tol: float,
    max_iter: int,
    start: Start | None,
    report: Report | None,
    journal: Journal | None,
) -> Result:
    def begun(problem: Problem, dtype: Any = None) -> Columns:
        state = make(blocks.state(dtype), problem)
        state.anew |= journal is not None and bool(state.resumes)
        return state

    state = begun(problem)
    if state.dtype == np.float64:
        return state.begin(start).run(tol, max_iter, report, journal)
    if not (SMALL <= state.size <= LARGE or state.size == 0):
        precise = begun(problem, np.float64).begin(start).run(tol, max_iter, report, journal)
        return replace(precise, precise=True)
    result = state.begin(start).run(tol, max_iter, report, journal)
    columns = np.flatnonzero(~result.converged | ~(state.noise(result.coef, result.objective) <= SAFE * tol))
    del state
    left = max_iter - result.n_iter
    if left <= 0 or not len(columns):
        return result
    # half of them at a time, so that float64 takes no more memory
    for some in np.array_split(columns, min(2, len(columns))):
        near = (result.gap[some] <= NEAR).all()  # or else w = 0 is the better place to begin
        begin = (result.coef[:, some], result.intercept[some]) if near else None
        own = journal and journal.part(f"float64-{some[0]}")
        precise = begun(problem.keep(some), np.float64).begin(begin).run(tol, left, report, own)
        result = result.replaced(some, precise)
    return result
