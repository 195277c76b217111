"""All one-vs-rest squared-hinge SVMs with an L1 penalty at once: proximal Newton that sees only RowBlocks.

For every column k the problem is that of equation 6 with the other norm,

    minimize over w, b:   ‖w‖₁ [+ |b|]  +  C Σ_i c_i max(0, 1 - y_ik (φ_i·w + b))²

Most weights are zero at the solution, so every column has a working set: the weights that may move. A step reads the
features three times. The first pass gives the gradients, which say what else belongs into the working sets; the
second brings the Hessians on the working sets up to date, by the rows that became active or ceased to be; each
quadratic model, small and dense, is then minimized with its L1 term; and the third pass gives the change of the
margins, on which the line search is done.
"""

from typing import Self

import numpy as np

from besvm._support.threads import thread_map
from besvm.blocks.estimates import HESSIAN_BYTES, l1_budget
from besvm.blocks.state import LocalState, Rows, RowState
from besvm.blocks.stores import RowBlocks
from besvm.solver.columns import Columns, Report, Start, solve_columns
from besvm.solver.design import TINY, Intercept
from besvm.solver.interior import Interior
from besvm.solver.journal import Journal
from besvm.solver.l1_model import Model, shrunk, smallest_subgradient
from besvm.solver.problem import Problem
from besvm.solver.result import Result

LOOSE, TIGHT = 0.25, 0.1  # a model is minimized until its subgradient is such a share of what it was
SMALL_SET, EXACT = 128, 1e-10
ARMIJO = 1e-2  # the share of the promised decrease that a step must bring
MAX_HALVINGS = 30
FIRST_STAGE = 10.0  # the steepest slope at w = 0, relative to the penalty, that C is lowered to at first
MOST_STEPS = 100  # where an interior-point method can take over
STAGE, STAGE_GAP = 10.0, 0.3  # C is raised by this factor once the duality gap is this small


def solve_l1(
    blocks: RowBlocks,
    problem: Problem,
    C: float,
    *,
    intercept: Intercept = "free",
    tol: float = 1e-3,
    max_iter: int = 500,
    start: Start | None = None,
    hessian_bytes: int = HESSIAN_BYTES,
    report: Report | None = None,
    journal: Journal | None = None,
) -> Result:
    """Minimize the L1-penalized squared-hinge objective of every column of ``problem``.

    This is LIBLINEAR's L1-regularized L2-loss objective; with ``intercept="penalized"`` it is all of
    ``LinearSVC(penalty="l1", dual=False)``.

    Parameters
    ----------
    blocks : RowBlocks
        The features, (n, D).
    problem : Problem
    C : float
    intercept : {"free", "penalized", "none"}
        "penalized" adds |b| to the norm, as LIBLINEAR does.
    tol : float
        A column has converged when its objective is known to be no more than this share of itself above the least
        possible one: the duality gap.
    max_iter : int
        Newton steps.
    start : (coef, intercept), optional
        Where to begin, for example the solution for the last C of a path.
    hessian_bytes : int
        What the Hessians may take. With less, fewer columns are solved together, and in the last resort a working set
        is smaller than the solution: more passes, for the same result.
    journal : Journal, optional
        Where the result is written down; a solve that was interrupted begins anew.

    Examples
    --------
    >>> import numpy as np
    >>> from besvm.blocks import MemoryBlocks
    >>> from besvm.solver.problem import Problem
    >>> X = np.array([[-2.0, 0.1], [-1.0, -0.1], [1.0, 0.1], [2.0, -0.1]])
    >>> problem = Problem(labels=np.array([0, 0, 1, 1]), positive=np.array([1]), weights=np.ones(4))
    >>> solve_l1(MemoryBlocks(X), problem, C=1.0, tol=1e-8).coef
    array([[0.75],
           [0.  ]])
    """
    together, limit = l1_budget(blocks.shape[1], blocks.dtype.itemsize, hessian_bytes)

    def make(state: RowState, problem: Problem) -> _ProximalNewton:
        return _ProximalNewton(state, problem, C, intercept, limit)

    n, D = blocks.shape
    dense = 8 * (D + 1) * (4 * n + 2 * (D + 1))  # for an interior-point method: rows and Hessian, with their copies
    if dense > hessian_bytes:
        return solve_columns(make, blocks, problem, together, tol, max_iter, start, report, journal)
    result = solve_columns(make, blocks, problem, together, tol, min(max_iter, MOST_STEPS), start, report, journal)
    columns = np.flatnonzero(~result.converged)
    if not len(columns) or result.n_iter >= max_iter:
        return result
    inside = make(blocks.state(np.float64), problem.keep(columns)).from_inside(tol, max_iter - result.n_iter)
    better = inside.converged | (inside.objective < result.objective[columns])
    return result.replaced(columns[better], inside.keep(better)) if better.any() else result


class _ProximalNewton(Columns):
    """One solve with the sum of absolute values as penalty.

    Every column has a C of its own, which may begin low and is raised in stages to the one asked for. The loss, its
    gradient and the sum of the slacks are kept without C, so that raising it takes no pass. The working sets need whole
    columns of the rows' state, which therefore must be here.
    """

    state: LocalState

    per_column = (*Columns.per_column, "loss_slope", "loss", "slacks", "stage", "bound", "reference")
    patience = 3  # the next step may lower the gap

    def __init__(self, state: RowState, problem: Problem, C: float, intercept: Intercept, limit: int) -> None:
        if not isinstance(state, LocalState):
            raise ValueError("penalty='l1' needs all rows on one machine; use penalty='l2' on a cluster")
        super().__init__(state, problem, C, intercept)
        self.models = [Model.empty(self.design, limit) for _ in problem.positive]
        self.stage = np.full(len(self.models), C)  # (k,) the C of every column at present
        self.bound = np.full(len(self.models), -np.inf)  # (k,) the best lower bound found for every objective

    def _best_intercept(self, balance: np.ndarray, mass: np.ndarray) -> np.ndarray:
        return np.asarray(shrunk(balance, self.penalty[-1] / (2 * self.C)) / np.maximum(mass, TINY))

    def begin(self, start: Start | None) -> Self:
        """Begin at w = 0, with a C at which few weights leave zero; or go on from a given solution.

        Where classes can be separated, the first step at a large C fits nearly all rows, with far too many weights; the
        steps after it, each of which knows only the rows then within the margin, hardly get further.
        """
        super().begin(start)
        self.reference = np.maximum(np.linalg.norm(self._subgradient(self.C), axis=0), 1)  # of the penalty: 1
        if start is None:
            steepest = self.C * np.abs(self.loss_slope[:-1]).max(axis=0, initial=0)
            self.stage = self.C * np.minimum(1, FIRST_STAGE / np.maximum(steepest, 1))
        return self

    def from_inside(self, tol: float, max_iter: int) -> Result:
        """Solve all columns by an interior-point method, one after the other."""
        X = self.design.rows(np.arange(self.design.shape[0]))
        all_signs = self.state.whole("signs")
        weights = np.broadcast_to(self.C * self._weights(), all_signs.shape)
        at = slice(None) if self.design.constant else slice(-1)
        n_iter, bound, self.objective = 0, np.empty(len(self.models)), np.empty(len(self.models))
        for k in range(len(self.models)):
            rows = weights[:, k] > 0
            signs = all_signs[rows, k]
            interior = Interior(signs[:, None] * X[rows, at], weights[rows, k], self.penalty[at, 0], signs)
            self.W[at, k], self.objective[k], bound[k], steps = interior.solve(tol, max_iter)
            n_iter = max(n_iter, steps)
        gap = 1 - bound / np.maximum(self.objective, TINY)
        return self.result(self.W, X @ self.W, self.objective, gap, tol, n_iter)

    def _settle_intercept(self) -> None:
        """Give every column the intercept that is best for its w, penalized or not."""
        super()._settle_intercept()
        if self.free or not self.design.constant:
            return
        intercepts, weights_of = self.W[-1].astype(self.dtype), self.problem.row_weights()

        def part(rows: Rows) -> tuple[np.ndarray]:
            signs = rows["signs"]
            without = np.maximum(rows["slack"] + signs * intercepts, 0)
            return (np.einsum("ij,ij->j", weights_of(rows) * signs, without, dtype=np.float64),)

        (pull,) = self.state.sum(part, features=False)
        bound = 1 / (2 * self.stage)
        self._shift_intercept(np.clip(pull, -bound, bound))
        self.W[-1, np.abs(pull) <= bound] = 0  # exactly

    def unfinished(self) -> np.ndarray:
        """Return which columns have not come to the C asked for."""
        return np.asarray(self.stage < self.C)

    def _keep(self, going: np.ndarray) -> None:
        super()._keep(going)
        self.models = [model for model, goes in zip(self.models, going, strict=True) if goes]

    def evaluate(self) -> None:
        """Bring the loss, its gradient and the gaps up to date with the slacks, in one pass."""
        self.loss_slope, self.loss, self.slacks = self.loss_gradient()
        self.objective = self._objective(self.C)
        self.bound = np.maximum(self.bound, self._dual(self.C))
        self.gap = 1 - self.bound / np.maximum(self.objective, TINY)
        self.gap[self.objective <= TINY] = 0

    def _raise_stages(self, stuck: np.ndarray) -> np.ndarray:
        """Raise C where the solution for the present one is near, or comes no nearer; return where."""
        near = self._objective(self.stage) - self._dual(self.stage) <= STAGE_GAP * self._objective(self.stage)
        raised = (near | stuck) & (self.stage < self.C)
        self.stage = np.where(raised, np.minimum(STAGE * self.stage, self.C), self.stage)
        return raised

    def _objective(self, C: float | np.ndarray) -> np.ndarray:
        objective: np.ndarray = (self.penalty * np.abs(self.W)).sum(axis=0) + C * self.loss
        return objective

    def _subgradient(self, C: float | np.ndarray) -> np.ndarray:
        return smallest_subgradient(C * self.loss_slope, self.W, self.penalty)

    def _dual(self, C: float | np.ndarray) -> np.ndarray:
        """Return a lower bound of every objective: the value of a feasible point of the dual.

        The dual of this problem is to maximize Σ α_i - α_i² / (4 C c_i) over α ≥ 0 with |Σ α_i y_i φ_ij| ≤ 1 for every
        feature j (and a penalized intercept), and Σ α_i y_i = 0 for a free intercept, which is kept at its best. At
        the solution α_i is 2 C c_i times the slack; elsewhere that is scaled to be feasible.
        """
        slope = np.abs(C * (self.loss_slope[:-1] if self.free else self.loss_slope))
        scale = 1 / np.maximum(1, slope.max(axis=0, initial=0))
        scale = np.minimum(scale, self.slacks / np.maximum(self.loss, TINY))
        dual: np.ndarray = C * (2 * scale * self.slacks - scale**2 * self.loss)
        return dual

    def noise(self, coef: np.ndarray, objective: np.ndarray) -> np.ndarray:
        """Return what rounding errors may add to the gaps: the gradient's share of them, against a penalty of 1."""
        gradient = np.sqrt(2 * np.maximum(objective, TINY) * super().noise(coef, objective))
        return np.asarray(gradient / np.sqrt(len(coef)))

    def step(self) -> np.ndarray:
        """Take one Newton step in every column; return which columns it has still brought forward."""
        self.stalled[self._raise_stages(self.stalled >= self.patience)] = 0
        self._update_models()
        direction = np.zeros_like(self.W)
        for k, change in enumerate(thread_map(self._minimized, range(len(self.models)))):
            direction[self.models[k].set, k] = change
        self.design.product("change", direction)
        before = self._objective(self.stage)
        self._move(direction, self._line_search(direction))
        self.evaluate()
        after = self._objective(self.stage)
        # rounding leaves a floor below which no step helps
        gained: np.ndarray = before - after > 0.1 * np.finfo(self.dtype).eps * np.abs(after)
        return gained

    def _update_models(self) -> None:
        """Let the working sets grow, and bring the Hessians on them up to date, in one pass."""
        active = (self.state.whole("slack") > 0) * self._weights()  # (n, k), the diagonals of all Hessians
        subgradient = self._subgradient(self.stage)
        columns = range(len(self.models))
        # each model is let go as its update begins, so that no two Hessians of a column are held
        updates = [self.models.pop(0).update(self.W[:, k], subgradient[:, k], active[:, k]) for k in columns]
        self.design.n_passes += 1
        for rows, block in self.state.map(lambda rows, block: (rows, block), coarse=True):
            for _ in thread_map(lambda update: update.add(rows, block), updates):  # noqa: B023  (used up here)
                pass
        self.models = [update.finish() for update in updates]

    def _minimized(self, k: int) -> np.ndarray:
        model = self.models[k]
        C = self.stage[k]
        relative = np.linalg.norm(self._subgradient(self.stage)[:, k]) / self.reference[k]
        # far from the solution a large model is not worth more; a small one costs nothing
        share = float(np.clip(relative, TIGHT, LOOSE)) if len(model.set) > SMALL_SET else EXACT
        w, gradient, penalty = self.W[model.set, k], self.loss_slope[model.set, k], self.penalty[model.set, 0]
        return model.minimize(w, gradient / 2, penalty / (2 * C), share)

    def _weights(self) -> np.ndarray:
        """Return the weights of all rows, (n, 1) or (n, k)."""
        return self.state.all(self.problem.row_weights())

    def _line_search(self, direction: np.ndarray) -> np.ndarray:
        """Return the step lengths 1, 1/2, 1/4, ... that bring enough, from the kept slacks.

        The first to be tried is 1, and not the best: only a whole step leaves at zero what the model puts there.
        """
        norm = (self.penalty * np.abs(self.W)).sum(axis=0)
        promised = (self.stage * self.loss_slope * direction).sum(axis=0) - norm
        promised += (self.penalty * np.abs(self.W + direction)).sum(axis=0)
        objective = self._objective(self.stage)
        rounding = np.finfo(self.dtype).eps * np.abs(objective)
        length = np.ones(len(norm))
        for _ in range(MAX_HALVINGS):
            there = (self.penalty * np.abs(self.W + length * direction)).sum(axis=0)
            there += self.stage * self._loss_after(length)
            short = there - objective > ARMIJO * length * promised + rounding
            if not short.any():
                break
            length = np.where(short, length / 2, length)
        return length

    def _loss_after(self, length: np.ndarray) -> np.ndarray:
        """Return the losses after so much of the direction."""
        lengths, weights_of = length.astype(self.dtype), self.problem.row_weights()

        def part(rows: Rows) -> tuple[np.ndarray]:
            slack = np.maximum(rows["slack"] - lengths * (rows["signs"] * rows["change"]), 0)
            return (np.einsum("ij,ij->j", weights_of(rows) * slack, slack, dtype=np.float64),)

        return np.asarray(self.state.sum(part, features=False)[0])
