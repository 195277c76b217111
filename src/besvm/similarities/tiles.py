"""The pieces that vector similarities are made of: items as vectors, products, distances, exponentials."""

from collections.abc import Callable
from typing import Any

import numpy as np
from scipy.sparse import issparse

from besvm._support.norms import norms

SPARSE = 0.1  # the share of numbers that are not 0 up to which products of sparse matrices are faster than dense ones

TileFunction = Callable[[Any, np.ndarray], Any]  # (rows of A, tile to fill)


def as_vectors(A: Any, basis: Any = None) -> Any:
    """Return items as the rows of a matrix of floating-point numbers; of the basis's width and type, if it is given.

    A sparse matrix stays one, in CSR form.
    """
    if issparse(A):
        A = A.tocsr()
    else:
        A = np.asarray(A)
        if A.ndim < 2:
            raise ValueError(f"vectors must be a 2-D array (items, numbers), got {A.ndim} dimensions")
        A = A.reshape(len(A), int(np.prod(A.shape[1:])))  # a grid of descriptors is a vector too
    if basis is None:
        return A if A.dtype in (np.float32, np.float64) else A.astype(np.float64)
    if A.shape[1] != basis.shape[1]:
        raise ValueError(f"vectors must have {basis.shape[1]} numbers, as the exemplars do, got {A.shape[1]}")
    return A if A.dtype == basis.dtype else A.astype(basis.dtype)


def dense(A: Any) -> np.ndarray:
    """Return a matrix as an array."""
    return A.toarray() if issparse(A) else A


def is_thin(A: Any) -> bool:
    """Say whether a matrix is sparse, and so few of its numbers are not 0 that it should stay so."""
    return bool(issparse(A) and A.nnz <= SPARSE * A.shape[0] * A.shape[1])


def nan_for_infinity(A: Any) -> Any:
    """Return A with NaN for infinite numbers: exp(-inf) and tanh(inf) would pass for similarities."""
    if issparse(A):
        return _with_data(A, nan_for_infinity(A.data))
    with np.errstate(over="ignore", invalid="ignore"):
        total = A.sum()  # three times as fast as np.isfinite(A).all()
    return A if np.isfinite(total) else np.where(np.isinf(A), A.dtype.type(np.nan), A)


def _with_data(A: Any, data: np.ndarray) -> Any:
    """Return a CSR matrix with other numbers in the same places."""
    return A if data is A.data else type(A)((data, A.indices, A.indptr), shape=A.shape)


def dot_with(basis: Any) -> TileFunction:
    """Fill the dot products of rows with the basis; if that is sparse, by a product of sparse matrices."""
    if issparse(basis):
        transposed = basis.T.tocsr()

        def fill(A: Any, out: np.ndarray) -> None:
            if issparse(A):
                (A @ transposed).toarray(out=out)
            else:
                out[:] = A @ transposed

        return fill
    columns = np.ascontiguousarray(basis.T)  # (d, B): the layout that a row-major product reads fastest
    return lambda A, out: np.dot(A, columns, out=out)


def then(fill: TileFunction, change: Callable[[np.ndarray], Any]) -> TileFunction:
    """Fill a tile, then change it in place."""

    def both(A: np.ndarray, out: np.ndarray) -> None:
        fill(A, out)
        change(out)

    return both


def squared_distance_to(basis: Any, factor: float) -> TileFunction:
    """Fill ``factor · ‖a - b‖²`` by one product: [a, ‖a‖², 1] · factor [-2b, 1, ‖b‖²].

    Both sides are measured from the middle of the basis, so that vectors far from the origin lose no digits. Where an
    exponent (a negative factor) would still be off by more than a thousandth, the product is done in float64. A
    distance, the root of the result, is off by some thousandths of how far the vectors are from the middle at most, in
    float32: only what is that close together cannot be told apart. Sparse vectors, mostly zeros, are measured from the
    origin.
    """
    if basis.shape[0] == 0:
        return lambda A, out: None
    if issparse(basis):
        return _sparse_squared_distance_to(basis, factor)
    middle = np.median(basis, axis=0)  # unlike the mean, blind to a few exemplars far away
    middle[~np.isfinite(middle)] = 0  # an exemplar with a NaN spoils its own similarities, not those of all
    centered = basis - middle
    dtype = _exact_dtype(centered, factor)
    d = centered.shape[1]
    width = -(-(d + 2) // 8) * 8  # a whole number of vector registers: the product is a tenth faster
    packed = np.zeros((len(basis), width), dtype=dtype)
    packed[:, :d] = -2 * centered
    packed[:, d] = 1
    packed[:, d + 1] = squares(centered)
    packed *= dtype.type(factor)
    dot = dot_with(packed)

    def fill(A: np.ndarray, out: np.ndarray) -> None:
        left = np.empty((len(A), width), dtype=dtype)
        np.subtract(A, middle, out=left[:, :d])
        left[:, d] = squares(left[:, :d])
        left[:, d + 1 :] = 1
        if dtype == out.dtype:
            dot(left, out)
        else:
            out[:] = left @ packed.T

    return fill


def _exact_dtype(basis: Any, factor: float) -> np.dtype[Any]:
    """Return the type of the product: for an exponent, one in which ``factor · ‖a - b‖²`` is off by a thousandth."""
    error = np.finfo(basis.dtype).eps * abs(factor) * float(squares(basis).max(initial=0))
    return np.dtype(np.float64) if error > 1e-3 and factor < 0 else basis.dtype


def _sparse_squared_distance_to(basis: Any, factor: float) -> TileFunction:
    dtype = _exact_dtype(basis, factor)
    basis = basis.astype(dtype, copy=False)
    dot, own = dot_with(basis), squares(basis)

    def fill(A: Any, out: np.ndarray) -> None:
        A = A.astype(dtype, copy=False)
        exact = out if dtype == out.dtype else np.empty(out.shape, dtype)
        dot(A, exact)
        exact *= -2
        exact += squares(A)[:, None]
        exact += own
        exact *= dtype.type(factor)
        if exact is not out:
            out[:] = exact

    return fill


def manhattan_to(basis: np.ndarray) -> TileFunction:
    """Fill the city-block distances of rows from the basis."""
    from besvm.similarities.vector_kernels import manhattan_tile

    basis = np.ascontiguousarray(basis)
    return lambda A, out: manhattan_tile(np.ascontiguousarray(A), basis, out)


def tanimoto_to(basis: Any) -> TileFunction:
    """Fill bᵀx / (‖b‖² + ‖x‖² - bᵀx), and 1 for two zero vectors."""
    exponent = int(np.frexp(np.abs(basis.data if issparse(basis) else basis).max(initial=0))[1])
    extreme = abs(exponent) > 8  # then scaled, which changes no ratio, so that squares neither overflow nor vanish
    basis = scaled(basis, -exponent) if extreme else basis
    dot, basis_squares = dot_with(basis), squares(basis)

    def fill(A: np.ndarray, out: np.ndarray) -> None:
        A = scaled(A, -exponent) if extreme else A
        dot(A, out)
        over_union(out, squares(A), basis_squares)

    return fill


def over_union(shared: np.ndarray, sizes: np.ndarray, basis_sizes: np.ndarray) -> None:
    """Divide what samples and exemplars share by what either has, in place; two that have nothing are alike (1)."""
    union = sizes[:, None] + basis_sizes
    union -= shared
    empty = union <= 0
    union[empty] = 1
    shared[empty] = 1
    shared /= union


def exp_of_nonpositive(dtype: np.dtype[Any]) -> Callable[[np.ndarray], Any]:
    """Return the function that replaces a tile by min(1, exp(tile))."""
    if dtype == np.float32:
        from besvm.similarities.vector_kernels import exp_of_nonpositive as compiled

        return compiled
    return lambda tile: np.exp(np.minimum(tile, 0, out=tile), out=tile)


def squares(A: Any) -> np.ndarray:
    """Return the squared norm of every row."""
    if issparse(A):
        return np.asarray(A.multiply(A).sum(axis=1)).ravel().astype(A.dtype, copy=False)
    return np.einsum("ij,ij->i", A, A)


def scaled(A: Any, exponent: int) -> Any:
    """Return A times a power of 2, which rounds nothing off."""
    return _with_data(A, np.ldexp(A.data, exponent)) if issparse(A) else np.ldexp(A, exponent)


def unit_rows(A: Any) -> Any:
    """Return the rows scaled to length one; a zero row stays zero."""
    with np.errstate(over="ignore"):
        lengths = (np.sqrt(squares(A)) if issparse(A) else norms(A)).astype(A.dtype)
    lengths[lengths == 0] = 1
    lengths[np.isinf(lengths)] = np.nan  # or else such a row would be similar to nothing
    return _with_data(A, A.data / np.repeat(lengths, np.diff(A.indptr))) if issparse(A) else A / lengths[:, None]
