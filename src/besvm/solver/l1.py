"""All one-vs-rest squared-hinge SVMs with an L1 penalty at once: proximal Newton that sees only RowBlocks.

For every column k the problem is that of eq. besvm_primal with the other norm,

    minimize over w, b:   ‖w‖₁ [+ |b|]  +  C Σ_i c_i max(0, 1 - y_ik (φ_i·w + b))²

Most weights are zero at the solution, so every column has a working set: the weights that may move. A step reads the
features three times. The first pass gives the gradients, which say what else belongs into the working sets; the
second brings the Hessians on the working sets up to date, by the rows that became active or ceased to be; each
quadratic model, small and dense, is then minimized with its L1 term; and the third pass gives the change of the
margins, on which the line search is done.
"""

from __future__ import annotations

from collections.abc import Callable

import numpy as np

from besvm._support.threads import thread_map
from besvm.blocks.estimates import HESSIAN_BYTES, l1_budget
from besvm.blocks.stores import RowBlocks
from besvm.solver.l1_model import Model, shrunk, smallest_subgradient
from besvm.solver.problem import TINY, Columns, Intercept, Problem, Result

LOOSE, TIGHT = 0.25, 0.01  # a model is minimized until its subgradient is such a share of what it was
SMALL_SET, EXACT = 128, 1e-10
ARMIJO = 1e-2  # the share of the promised decrease that a step must bring
MAX_HALVINGS = 30
SETTLED = 0.1  # times tol: how much of the objective the last step may have brought, relatively


def solve_l1(
    blocks: RowBlocks,
    problem: Problem,
    C: float,
    *,
    intercept: Intercept = "free",
    tol: float = 1e-3,
    max_iter: int = 100,
    start: tuple[np.ndarray, np.ndarray] | None = None,
    hessian_bytes: int = HESSIAN_BYTES,
    report: Callable[[str], None] | None = None,
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
        A column has converged when the norm of its smallest subgradient is at most ``tol`` times its norm at w = 0
        (with the best intercept for w = 0), or times 1 if that is larger, and its last step lowered the objective by
        no more than a tenth of ``tol``, relatively.
    max_iter : int
        Newton steps.
    start : (coef, intercept), optional
        Where to begin, for example the solution for the last C of a path.
    hessian_bytes : int
        What the Hessians may take. With less, fewer columns are solved together, and in the last resort a working set
        is smaller than the solution: more passes, for the same result.

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
    K = len(problem.positive)
    results = []
    for columns in np.split(np.arange(K), range(together, K, together)):
        solver = _ProximalNewton(blocks, problem.keep(columns), C, intercept, limit)
        if start is not None:
            solver.start_from(start[0][:, columns], start[1][columns])
        results.append(solver.run(tol, max_iter, report))
    return results[0] if len(results) == 1 else _side_by_side(results)


def _side_by_side(results: list[Result]) -> Result:
    """Return one Result of groups of columns that were solved one after the other."""

    def joined(name: str) -> np.ndarray:
        return np.concatenate([getattr(result, name) for result in results], axis=-1)

    return Result(
        coef=joined("coef"),
        intercept=joined("intercept"),
        objective=joined("objective"),
        gradient_norm=joined("gradient_norm"),
        converged=joined("converged"),
        n_iter=max(result.n_iter for result in results),
        n_passes=sum(result.n_passes for result in results),
        margins=joined("margins"),
    )


class _ProximalNewton(Columns):
    """One solve with the sum of absolute values as penalty."""

    def __init__(self, blocks: RowBlocks, problem: Problem, C: float, intercept: Intercept, limit: int) -> None:
        super().__init__(blocks, problem, C, intercept)
        self.models = [Model(self.design, limit) for _ in problem.positive]
        self.gradient, self.subgradient, self.objective = self._look()
        norm = np.linalg.norm(self.subgradient, axis=0)
        noise = self.rounding(self.design.constant + float(np.linalg.norm(self.design.mean)))
        # against a penalty of 1 a smaller norm is no measure; and rounding errors alone leave nothing to do
        self.reference = np.where(norm <= noise, np.inf, np.maximum(norm, 1))

    def _best_intercept(self, balance: np.ndarray, mass: np.ndarray) -> np.ndarray:
        """Return the best intercept for w = 0: c₊ - c₋, shrunk by penalty / 2C, over c₊ + c₋."""
        return np.asarray(shrunk(balance, self.penalty[-1] / (2 * self.C)) / np.maximum(mass, TINY))

    def start_from(self, coef: np.ndarray, intercept: np.ndarray) -> None:
        """Go on from a given solution instead of w = 0, unless w = 0 is the solution."""
        self.W = np.where(np.isinf(self.reference), self.W, self.seen_from_mean(coef, intercept))
        self.margins = self.design.product(self.W)
        self.gradient, self.subgradient, self.objective = self._look()

    def run(self, tol: float, max_iter: int, report: Callable[[str], None] | None) -> Result:
        """Step until every column has converged, or can get no further."""
        K = self.W.shape[1]
        at = np.arange(K)  # the columns still at work
        W, margins = np.empty_like(self.W), np.empty_like(self.margins)
        objective, gradient_norm = np.empty(K), np.empty(K)
        gain = np.full(K, np.inf)  # of the last step, relative to the objective
        n_iter = 0
        while True:
            norm = np.linalg.norm(self.subgradient, axis=0) / self.reference
            W[:, at], margins[:, at], objective[at], gradient_norm[at] = self.W, self.margins, self.objective, norm
            if report is not None:
                largest = max(len(model.set) for model in self.models)
                report(
                    f"step {n_iter}: {len(at)} of {K} columns at work on up to {largest} weights, "
                    f"relative subgradient {norm.max():.1e}"
                )
            # a step that still brought much had more to find; rounding leaves a floor below which no step helps
            unsettled = (norm > tol) | ((gain > SETTLED * tol) & np.isfinite(gain))
            going = unsettled & (gain > 0.1 * np.finfo(self.dtype).eps)
            if not going.any() or n_iter >= max_iter:
                break
            if not going.all():
                self._keep(going)
                at = at[going]
            gain = self._step()
            n_iter += 1
        return self.result(
            W,
            objective=objective,
            gradient_norm=gradient_norm,
            converged=gradient_norm <= tol,
            n_iter=n_iter,
            margins=margins,
        )

    def _keep(self, going: np.ndarray) -> None:
        """Go on with these columns alone."""
        self.problem = self.problem.keep(going)
        self.signs, self.margins = self.signs[:, going], self.margins[:, going]
        self.W, self.gradient, self.subgradient = self.W[:, going], self.gradient[:, going], self.subgradient[:, going]
        self.reference, self.objective = self.reference[going], self.objective[going]
        self.models = [model for model, goes in zip(self.models, going, strict=True) if goes]

    def _look(self) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
        """Return the gradient of the loss, the smallest subgradient and the objective at W, from the kept margins."""
        gradient, loss = self.loss_gradient()
        objective = (self.penalty * np.abs(self.W)).sum(axis=0) + loss
        return gradient, smallest_subgradient(gradient, self.W, self.penalty), objective

    def _step(self) -> np.ndarray:
        """Take one Newton step in every column; return by how much, relatively, it has lowered each objective."""
        self._update_models()
        direction = np.zeros_like(self.W)
        for k, change in enumerate(thread_map(self._minimized, range(len(self.models)))):
            direction[self.models[k].set, k] = change
        ahead = self.design.product(direction)
        length = self._line_search(direction, ahead)
        self.W = self.W + length * direction
        self.margins += length.astype(self.dtype) * ahead
        before = self.objective
        self.gradient, self.subgradient, self.objective = self._look()
        gain: np.ndarray = (before - self.objective) / np.maximum(self.objective, np.finfo(float).tiny)
        return gain

    def _update_models(self) -> None:
        """Let the working sets grow, and bring the Hessians on them up to date, in one pass."""
        active = (self.signs * self.margins < 1) * self.problem.row_weights()  # (n, k), the diagonals of all Hessians
        for k, model in enumerate(self.models):
            model.prepare(self.W[:, k], self.subgradient[:, k], active[:, k])
        self.design.n_passes += 1
        for rows, block in self.design.blocks.map(lambda rows, block: (rows, block), coarse=True):
            for _ in thread_map(lambda model: model.add(rows, block), self.models):  # noqa: B023  (used up here)
                pass
        for model in self.models:
            model.finish()

    def _minimized(self, k: int) -> np.ndarray:
        model = self.models[k]
        relative = np.linalg.norm(self.subgradient[:, k]) / self.reference[k]
        # far from the solution a large model is not worth more; a small one costs nothing
        share = float(np.clip(relative, TIGHT, LOOSE)) if len(model.set) > SMALL_SET else EXACT
        w, gradient, penalty = self.W[model.set, k], self.gradient[model.set, k], self.penalty[model.set, 0]
        return model.minimize(w, gradient / (2 * self.C), penalty / (2 * self.C), share)

    def _line_search(self, direction: np.ndarray, ahead: np.ndarray) -> np.ndarray:
        """Return the step lengths 1, 1/2, 1/4, ... that bring enough, from the kept margins.

        The first to be tried is 1, and not the best: only a whole step leaves at zero what the model puts there.
        """
        weights = self.problem.row_weights()
        norm = (self.penalty * np.abs(self.W)).sum(axis=0)
        promised = (self.gradient * direction).sum(axis=0) - norm
        promised += (self.penalty * np.abs(self.W + direction)).sum(axis=0)
        slack0, change = 1 - self.signs * self.margins, self.signs * ahead
        rounding = np.finfo(self.dtype).eps * np.abs(self.objective)
        length = np.ones(len(norm))
        for _ in range(MAX_HALVINGS):
            slack = np.maximum(slack0 - length.astype(self.dtype) * change, 0)
            loss = np.einsum("ij,ij->j", weights * slack, slack, dtype=np.float64)
            there = (self.penalty * np.abs(self.W + length * direction)).sum(axis=0) + self.C * loss
            short = there - self.objective > ARMIJO * length * promised + rounding
            if not short.any():
                break
            length = np.where(short, length / 2, length)
        return length
