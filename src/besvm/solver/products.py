"""Products of blocks of features with few columns: compiled where that pays, by BLAS elsewhere."""

from __future__ import annotations

from collections.abc import Callable
from functools import cache
from typing import Any

import numpy as np
from scipy.sparse import issparse

from besvm._support.threads import slices
from besvm._support.trial import plain_asked, works

FEW, MANY = 3, 64  # columns: BLAS is as fast with fewer, and nearly so with more
NARROW, WIDE = 64, 1 << 18  # features, and weights: fewer are soon done, more do not stay in the cache
WORTH_COMPILING = 1e9  # multiplications of a product, below which it is not worth loading what is compiled
SMALL_PRODUCT = 900_000  # multiplications that OpenBLAS does without copying: for few columns, twice as fast


def times(weights: np.ndarray, n: int) -> Callable[[Any], np.ndarray]:
    """Return the function block -> block @ weights, for the blocks of a matrix of n rows."""
    dense = _compiled(weights) if pays(n, weights.shape, weights.dtype) else _by_blas(weights)
    return lambda block: block @ weights if issparse(block) else dense(block)


def transposed_times(block: Any, R: np.ndarray, n: int) -> np.ndarray:
    """Return block.T @ R, for a block of a matrix of n rows."""
    if issparse(block):
        return block.T @ R
    if not pays(n, (block.shape[1], R.shape[1]), block.dtype):
        return (R.T @ block).T  # the order BLAS is faster in
    from besvm.solver.product_kernels import COLUMNS, multiply_back

    factors = _padded(R, COLUMNS)
    out = np.empty((factors.shape[1], block.shape[1]), block.dtype)
    multiply_back(np.ascontiguousarray(block), factors, out)
    return out[: R.shape[1]].T


def both_ways(weights: np.ndarray, offset: np.ndarray, n: int) -> Callable[[Any, np.ndarray], tuple[np.ndarray, ...]]:
    """Return the function that multiplies the blocks of a matrix of n rows by weights, and the result by the blocks.

    Of a block and ``active`` (rows, K) it gives P = block @ weights + offset, block.T @ (active * P), and the sums of
    active * P and of active * P².
    """
    if pays(n, weights.shape, weights.dtype):
        return _compiled_both_ways(weights, offset)
    multiply = times(weights, n)

    def multiplied(block: Any, active: np.ndarray) -> tuple[np.ndarray, ...]:
        products = multiply(block)
        products += offset
        weighted = active * products
        squares = np.einsum("ij,ij->j", weighted, products, dtype=np.float64)
        return products, transposed_times(block, weighted, n), weighted.sum(axis=0, dtype=np.float64), squares

    return multiplied


def pays(n: int, weights: tuple[int, ...], dtype: Any) -> bool:
    """Return whether the compiled products are used for n rows times weights of this shape."""
    size, width = weights
    few = FEW <= width <= MANY and size >= NARROW and size * width <= WIDE
    return few and n * size * width >= WORTH_COMPILING and dtype == np.float32 and not plain_asked() and _work()


def _by_blas(weights: np.ndarray) -> Callable[[np.ndarray], np.ndarray]:
    few = SMALL_PRODUCT // max(1, weights.size)

    def multiplied(block: np.ndarray) -> np.ndarray:
        out = np.empty((block.shape[0], weights.shape[1]), weights.dtype)
        for rows in slices(block.shape[0], few if few >= 16 else max(1, block.shape[0])):
            np.matmul(block[rows], weights, out=out[rows])
        return out

    return multiplied


def _compiled(weights: np.ndarray) -> Callable[[np.ndarray], np.ndarray]:
    columns, tail = _in_columns(weights)
    width = weights.shape[1]

    def multiplied(block: np.ndarray) -> np.ndarray:
        from besvm.solver.product_kernels import multiply  # here, as workers of a cluster are sent this function

        out = np.empty((block.shape[0], len(columns)), block.dtype)
        multiply(np.ascontiguousarray(block), columns, tail, out)
        return out if width == len(columns) else np.ascontiguousarray(out[:, :width])

    return multiplied


def _compiled_both_ways(weights: np.ndarray, offset: np.ndarray) -> Callable[[Any, np.ndarray], tuple[np.ndarray, ...]]:
    columns, tail = _in_columns(weights)

    def multiplied(block: np.ndarray, active: np.ndarray) -> tuple[np.ndarray, ...]:
        from besvm.solver.product_kernels import multiply_both  # here, as workers of a cluster are sent this function

        products = np.empty(active.shape, block.dtype, order="F")
        out = np.empty(columns.shape, block.dtype)
        totals, squares = np.empty((2, active.shape[1]))
        factors = np.asfortranarray(active, dtype=block.dtype)
        multiply_both(np.ascontiguousarray(block), columns, tail, offset, factors, products, out, totals, squares)
        return products, out[: active.shape[1]].T, totals, squares

    return multiplied


def _in_columns(weights: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Return the weights and their last ones as the compiled products take them: (columns, size), (columns, LANES)."""
    from besvm.solver.product_kernels import COLUMNS, LANES

    size = len(weights)
    columns = np.ascontiguousarray(_padded(weights, COLUMNS).T)
    rest = size % LANES
    tail = np.zeros((len(columns), LANES), columns.dtype)
    tail[:, LANES - rest :] = columns[:, size - rest :]
    return columns, tail


def _padded(columns: np.ndarray, multiple: int) -> np.ndarray:
    """Return an array in C order with columns of zeros added, to a multiple of so many."""
    n, width = columns.shape
    out = np.zeros((n, -(-width // multiple) * multiple), columns.dtype)
    out[:, :width] = columns
    return out


@cache
def _work() -> bool:
    return works(
        "the solver",
        _multiply_right,
        "BLAS is used instead. It gives the same products and takes up to three times as long",
    )


def _multiply_right() -> bool:
    """Multiply small whole numbers, which float32 does without rounding."""
    from besvm.solver.product_kernels import COLUMNS, LANES, PANEL, multiply_back

    rng = np.random.default_rng(0)
    right = True
    for size in (LANES, 9 * LANES + 3):
        block, weights = (
            rng.integers(-9, 10, shape).astype(np.float32) for shape in ((PANEL + 3, size), (size, COLUMNS))
        )
        right &= np.array_equal(_compiled(weights)(block), block @ weights)
        R = np.ascontiguousarray(block[:, : 2 * COLUMNS] if size > 2 * COLUMNS else block[:, :COLUMNS])
        out = np.empty((R.shape[1], size), np.float32)
        multiply_back(block, R, out)
        right &= np.array_equal(out, R.T @ block)
        active = np.asfortranarray(rng.integers(0, 2, (len(block), COLUMNS)).astype(np.float32))
        P, back, *_ = _compiled_both_ways(weights, np.ones(COLUMNS, np.float32))(block, active)
        right &= np.array_equal(P, block @ weights + 1) and np.array_equal(back, block.T @ (active * P))
    return bool(right)
