"""The matrix that the solvers see: features from their mean, with a constant column for the intercept."""

from collections.abc import Callable
from typing import Any, Literal

import numpy as np
from scipy.sparse import issparse

from besvm.blocks.state import Rows, RowState
from besvm.solver.products import both_ways, times, transposed_times

TINY = float(np.finfo(np.float64).tiny)  # below any divisor: for columns in which no row weighs anything
Intercept = Literal["free", "penalized", "none"]


class Design:
    """The matrix [φ - mean, ones]: features seen from their mean, with a constant column for the intercept.

    Only products with φ itself are done block by block; what the mean and the constant add to them is done once. The
    functions that go to the blocks hold what is as long as a row, never what is as long as a column.
    """

    def __init__(self, state: RowState, intercept: Intercept) -> None:
        n, D = state.shape
        self.state = state
        self.shape = (n, D + 1)
        self.dtype = np.result_type(state.dtype, np.float32)
        self.mean = np.zeros(D)
        self.constant = 0.0 if intercept == "none" else 1.0
        self.n_passes = 0

    def measured(self, center: bool) -> float:
        """Return the size of a row of features, the root of the mean square of its norm; infinite if it overflows.

        With ``center``, see the features from their weighted mean: a free intercept is then a problem of its own.
        """

        def part(rows: Rows) -> tuple[Any, ...]:
            block, weights = rows.features, rows["weights"]
            values = block.data if issparse(block) else block
            total = block.T @ weights if center else 0.0
            return np.vdot(values, values), weights.sum(dtype=np.float64), total

        self.n_passes += 1
        with np.errstate(over="ignore", invalid="ignore"):
            squares, mass, total = self.state.sum(part)
        size = float(np.sqrt(squares / max(1, self.shape[0])))
        if center and np.isfinite(size):
            self.mean = total / np.maximum(mass, TINY)
        return size if np.isfinite(size) else np.inf

    def forward(self, V: np.ndarray) -> Callable[[Any], np.ndarray]:
        """Return the function block -> [block - mean, constant] @ V, of shape (rows, K)."""
        weights, offset = self._on_features(V)
        multiply = times(weights, self.shape[0])

        def products(block: Any) -> np.ndarray:
            out = multiply(block)
            out += offset
            return out

        return products

    def backward(self, part: Callable[[Rows], tuple[Any, ...]], coarse: bool = False) -> tuple[Any, ...]:
        """Return [φ - mean, constant]ᵀ @ R, of shape (D + 1, K), and the sums of whatever else ``part`` gives.

        ``part(rows)`` returns the rows of R, then anything to be summed.
        """

        n = self.shape[0]

        def products(rows: Rows) -> tuple[Any, ...]:
            R, *rest = part(rows)
            inner = transposed_times(rows.features, R, n)
            return (inner, R.sum(axis=0, dtype=np.float64), *rest)

        self.n_passes += 1
        inner, total, *rest = self.state.sum(products, coarse=coarse)
        return (self._from_mean(inner, total), *rest)

    def both_ways(self, name: str, V: np.ndarray, active: Callable[[Rows], np.ndarray]) -> tuple[np.ndarray, ...]:
        """Return AᵀBAV and VᵀAᵀBAV, column by column, where A = [φ - mean, constant], and B is diagonal.

        ``active(rows)`` gives the diagonals of B, of shape (rows, K). The rows keep AV under this name.
        """
        multiply = both_ways(*self._on_features(V), self.shape[0])

        def part(rows: Rows) -> tuple[np.ndarray, ...]:
            rows[name], *sums = multiply(rows.features, active(rows))
            return tuple(sums)

        self.n_passes += 1
        inner, total, squares = self.state.sum(part)
        return self._from_mean(inner, total), squares

    def _on_features(self, V: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        """Return what V is on features seen from zero: weights, and what is to be added to the products with them."""
        offset = self.constant * V[-1] - self.mean @ V[:-1]
        return np.ascontiguousarray(V[:-1], dtype=self.dtype), offset.astype(self.dtype)

    def _from_mean(self, inner: np.ndarray, total: np.ndarray) -> np.ndarray:
        """Return [φ - mean, constant]ᵀ @ R, given φᵀ @ R and the sums of R."""
        return np.vstack([inner - np.outer(self.mean, total), self.constant * total])

    def product(self, name: str, V: np.ndarray) -> None:
        """Keep [φ - mean, constant] @ V, of shape (n, K), under this name."""
        forward = self.forward(V)

        def part(rows: Rows) -> tuple[Any, ...]:
            rows[name] = forward(rows.features)
            return ()

        self.n_passes += 1
        self.state.sum(part)

    def rows(self, chosen: np.ndarray, V: np.ndarray | None = None) -> np.ndarray:
        """Return these rows of [φ - mean, constant], in ascending order, or of its product with V."""
        mean, constant = self.mean.astype(self.dtype), self.constant
        forward = None if V is None else self.forward(V)

        def look(rows: Rows) -> np.ndarray:
            block = rows.features
            if forward is not None:
                return forward(block)
            out = np.empty((block.shape[0], block.shape[1] + 1), mean.dtype)
            np.subtract(block.toarray() if issparse(block) else block, mean, out=out[:, :-1])
            out[:, -1] = constant
            return out

        self.n_passes += 1
        return self.state.take(chosen, look, features=True)

    def squares(self, active: Callable[[Rows], np.ndarray]) -> np.ndarray:
        """Return the weighted sums of the squares of every column, of shape (D + 1, K), seen from zero."""

        def part(rows: Rows) -> tuple[np.ndarray, ...]:
            block, weights = rows.features, active(rows)
            squared = type(block)((block.data**2, block.indices, block.indptr), shape=block.shape, copy=False)
            return squared.T @ weights, weights.sum(axis=0, dtype=np.float64)

        self.n_passes += 1
        inner, total = self.state.sum(part)
        return np.vstack([inner, self.constant * total])
