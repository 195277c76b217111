"""The matrix that the solvers see: features from their mean, with a constant column for the intercept."""

from collections.abc import Callable
from typing import Any, Literal

import numpy as np
from scipy.sparse import issparse

from besvm.blocks.stores import RowBlocks

TINY = float(np.finfo(np.float64).tiny)  # below any divisor: for columns in which no row weighs anything
Intercept = Literal["free", "penalized", "none"]


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

    def measured(self, weights: np.ndarray, center: bool) -> float:
        """Return the size of a row of features, the root of the mean square of its norm; infinite if it overflows.

        With ``center``, see the features from their weighted mean: a free intercept is then a problem of its own.
        """
        weights = weights.astype(self.dtype)

        def part(rows: slice, block: Any) -> tuple[Any, ...]:
            values = block.data if issparse(block) else block
            total = block.T @ weights[rows] if center else 0.0
            return np.vdot(values, values), weights[rows].sum(dtype=np.float64), total

        self.n_passes += 1
        with np.errstate(over="ignore", invalid="ignore"):
            squares, mass, total = self.blocks.sum(part)
        size = float(np.sqrt(squares / max(1, self.shape[0])))
        if center and np.isfinite(size):
            self.mean = total / np.maximum(mass, TINY)
        return size if np.isfinite(size) else np.inf

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

    def rows(self, chosen: np.ndarray) -> np.ndarray:
        """Return these rows of [φ - mean, constant], in ascending order, as a matrix of their own."""
        out = np.empty((len(chosen), self.shape[1]), dtype=self.dtype)
        out[:, -1] = self.constant
        mean = self.mean.astype(self.dtype)

        def fill(rows: slice, block: Any) -> None:
            here = slice(*np.searchsorted(chosen, [rows.start, rows.stop]))
            part = block[chosen[here] - rows.start]
            out[here, :-1] = (part.toarray() if issparse(part) else part) - mean

        self.n_passes += 1
        for _ in self.blocks.map(fill):
            pass
        return out

    def squares(self, weights: np.ndarray) -> np.ndarray:
        """Return the weighted sums of the squares of every column, of shape (D + 1, K), seen from zero."""

        def part(rows: slice, block: Any) -> tuple[np.ndarray, ...]:
            squared = type(block)((block.data**2, block.indices, block.indptr), shape=block.shape, copy=False)
            return squared.T @ weights[rows], weights[rows].sum(axis=0, dtype=np.float64)

        self.n_passes += 1
        inner, total = self.blocks.sum(part)
        return np.vstack([inner, self.constant * total])
