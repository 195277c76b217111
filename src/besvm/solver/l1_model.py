"""The quadratic model of one column of an L1 problem: its working set, its Hessian there, and its minimum."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from scipy.linalg import LinAlgError, blas, cho_factor, cho_solve
from scipy.sparse import issparse

from besvm.solver.design import Design

FIRST_SET = 128  # weights to begin with, beside those that are not zero
SWEEPS = 30  # of coordinate descent between two Newton steps on the non-zero weights
MAX_ROUNDS = 50
MAX_ZEROED = 3  # weights put to zero one by one before coordinate descent is asked again
RIDGE = 10  # times the rounding: the share of its diagonal first added to a Hessian to keep it positive definite


@dataclass(frozen=True, eq=False)
class Model:
    """The working set of one column, with the Hessian of its loss, over 2C, on that set."""

    design: Design
    limit: int  # of the working set
    set: np.ndarray  # the number D stands for the intercept
    hessian: np.ndarray  # in Fortran order
    active: np.ndarray  # (n,) the row weights that the Hessian was made with

    @classmethod
    def empty(cls, design: Design, limit: int) -> Model:
        """Return the model of a column that has not taken a step yet."""
        hessian = np.empty((0, 0), dtype=design.dtype, order="F")
        return cls(design, limit, np.empty(0, dtype=np.intp), hessian, np.zeros(design.shape[0], dtype=design.dtype))

    def update(self, w: np.ndarray, subgradient: np.ndarray, active: np.ndarray) -> Update:
        """Choose the next working set, and begin its Hessian: with what is known, if little changes, or anew."""
        violation = np.abs(subgradient)
        violation[-1] = np.inf if self.design.constant else 0.0  # the intercept, best as it is, must move with others
        inside = np.zeros(len(w), dtype=bool)
        inside[self.set] = True
        new = _largest(violation, np.flatnonzero(~inside & (violation > 0)), max(FIRST_SET, len(self.set)))
        change = active - self.active
        few_rows = 2 * np.abs(change).sum() < active.sum()  # by weight: a row of weight 2 is like two rows
        if few_rows and 2 * len(new) < len(self.set) <= self.limit - len(new):
            n_old, chosen = len(self.set), np.concatenate([self.set, new])
            hessian = self.hessian
            if len(new):
                hessian = np.zeros((len(chosen), len(chosen)), dtype=self.design.dtype, order="F")
                hessian[:n_old, :n_old] = self.hessian
            return Update(Model(self.design, self.limit, chosen, hessian, active), n_old, change)
        chosen = self._anew(w, violation)
        hessian = np.zeros((len(chosen), len(chosen)), dtype=self.design.dtype, order="F")
        return Update(Model(self.design, self.limit, chosen, hessian, active), len(chosen), active)

    def _anew(self, w: np.ndarray, violation: np.ndarray) -> np.ndarray:
        """Return the non-zero weights and about as many others; if that is too many, those that want to move most."""
        nonzero = np.flatnonzero(w)
        others = np.flatnonzero((w == 0) & (violation > 0))
        both = np.concatenate([nonzero, _largest(violation, others, max(FIRST_SET, len(nonzero)))])
        return both if len(both) <= self.limit else _largest(violation, both, self.limit)

    def minimize(self, w: np.ndarray, gradient: np.ndarray, penalty: np.ndarray, share: float) -> np.ndarray:
        """Return the change of the weights that minimizes the quadratic model with its L1 term.

        It is good enough when this share of the model's subgradient is left. Coordinate descent finds out which
        weights are zero; where they are strongly correlated it is slow to settle the others, which a Newton step
        does at once.
        """
        from besvm.solver.l1_kernels import descend

        H, point, slope = self.hessian, w.copy(), gradient.copy()
        goal = share * np.linalg.norm(smallest_subgradient(slope, point, penalty))
        for _ in range(MAX_ROUNDS):
            descend(H, point, slope, penalty, SWEEPS)
            if np.linalg.norm(smallest_subgradient(slope, point, penalty)) <= goal:
                break
            for _ in range(MAX_ZEROED):
                if not _newton_on_support(H, point, slope, penalty):
                    break
        return point - w


@dataclass(frozen=True, eq=False)
class Update:
    """A model on its way: all blocks of rows must be added before it is finished.

    The first ``n_old`` weights of its set need only the rows whose weights ``change``; the others want all rows.
    """

    model: Model
    n_old: int
    change: np.ndarray  # (n,)

    def add(self, rows: slice, block: Any) -> None:
        """Add the part of these rows: of the old weights that of the changed rows, of the new ones all of it."""
        model, n_old = self.model, self.n_old
        for sign in (1, -1):
            at = np.flatnonzero(sign * self.change[rows] > 0)
            if len(at):
                part = self._gather(block, at, model.set[:n_old])
                self._add_products(part, np.sqrt(np.abs(self.change[rows][at])), sign)
        if n_old < len(model.set):
            at = np.flatnonzero(model.active[rows])
            part = self._gather(block, at, model.set)
            model.hessian[n_old:] += (part[:, n_old:] * model.active[rows][at, None]).T @ part

    def _add_products(self, part: np.ndarray, scale: np.ndarray, sign: int) -> None:
        """hessian += sign * partᵀ diag(scale²) part, in the lower triangle of the old weights."""
        part *= scale[:, None]
        hessian, n_old = self.model.hessian, self.n_old
        syrk = blas.ssyrk if part.dtype == np.float32 else blas.dsyrk
        whole = n_old == len(hessian)
        target = hessian if whole else np.asfortranarray(hessian[:n_old, :n_old])
        target = syrk(sign, part.T, beta=1, c=target, lower=1, overwrite_c=1)
        if not whole:
            hessian[:n_old, :n_old] = target

    def _gather(self, block: Any, rows: np.ndarray, columns: np.ndarray) -> np.ndarray:
        """Return these rows and columns of the block of [φ - mean, constant]; a copy in C order."""
        from besvm.solver.l1_kernels import gathered

        design = self.model.design
        D = design.shape[1] - 1
        inside = np.minimum(columns, D - 1)
        part = block[rows][:, inside].toarray() if issparse(block) else gathered(block, rows, inside)
        part = np.ascontiguousarray(part, dtype=design.dtype)
        part -= design.mean[inside].astype(part.dtype)
        part[:, columns == D] = design.constant
        return part

    def finish(self) -> Model:
        """Return the model, its Hessian whole."""
        from besvm.solver.l1_kernels import mirror_lower

        mirror_lower(self.model.hessian)
        return self.model


def _newton_on_support(H: np.ndarray, point: np.ndarray, slope: np.ndarray, penalty: np.ndarray) -> bool:
    """Solve for the non-zero weights with their signs held, in place; a weight that would change its sign is put to 0.

    Where stopping at zero spoils the step, shorter ones are tried; the last ends where the first weight reaches zero,
    and cannot fail. Return whether it came to that last one: the others are then to be solved for again.
    """
    support = np.flatnonzero((point != 0) & (H.diagonal() > 0))
    signs = np.sign(point[support])
    factor = _factor(H[:, support][support])
    if factor is None:
        return False
    step = cho_solve(factor, -(slope[support] + penalty[support] * signs), check_finite=False)
    crossing = -point[support] / np.where(step == 0, np.inf, step)
    first = np.min(crossing, where=(crossing > 0) & (penalty[support] > 0), initial=1)
    for length in (1.0, 0.5, 0.25, 0.125, first):
        target = point[support] + length * step
        target[(target * signs < 0) & (penalty[support] > 0)] = 0
        change = np.zeros_like(point)
        change[support] = target - point[support]
        gradient_change = H @ change.astype(H.dtype)
        gain = (
            slope @ change
            + 0.5 * (change @ gradient_change)
            + penalty[support] @ (np.abs(target) - np.abs(point[support]))
        )
        if gain < 0:
            point += change
            slope += gradient_change
            return bool(length == first < 1)
    return False


def _factor(H: np.ndarray) -> Any:
    """Return the Cholesky factor of H with the least ridge that it takes; None if none will do.

    There may be fewer active rows than weights: H is then singular, and a step along its null space, as long as the
    ridge allows, is the way to fewer weights.
    """
    ridge = RIDGE * np.finfo(H.dtype).eps
    while ridge < 1:
        try:
            ridged = np.asfortranarray(H + np.diag(ridge * H.diagonal()))
            return cho_factor(ridged, lower=True, overwrite_a=True, check_finite=False)
        except LinAlgError:
            ridge *= 100
    return None


def smallest_subgradient(gradient: np.ndarray, w: np.ndarray, penalty: np.ndarray) -> np.ndarray:
    """Return the subgradient of smallest norm of a loss with this gradient plus Σ penalty |w|: 0 at the optimum."""
    smallest: np.ndarray = np.where(w != 0, gradient + penalty * np.sign(w), shrunk(gradient, penalty))
    return smallest


def _largest(violation: np.ndarray, among: np.ndarray, n: int) -> np.ndarray:
    """Return the ``n`` of these weights with the largest violations."""
    return among[np.argsort(-violation[among], kind="stable")[:n]]


def shrunk(values: np.ndarray, by: np.ndarray) -> np.ndarray:
    shrunk: np.ndarray = np.sign(values) * np.maximum(np.abs(values) - by, 0)
    return shrunk
