"""The matrix that the solvers see: features from their mean, with a constant column for the intercept."""

from collections.abc import Callable
from typing import Any, Literal

import numpy as np
from scipy.sparse import issparse

from besvm.blocks import RowBlocks

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

    def center(self, weights: np.ndarray) -> None:
        """See the features from their weighted mean: a free intercept is then a problem of its own."""
        weights = weights.astype(self.dtype)
        self.n_passes += 1
        total, mass = self.blocks.sum(lambda rows, block: (block.T @ weights[rows], weights[rows].sum()))
        self.mean = total / np.maximum(mass, TINY)

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
