"""The pieces that vector similarities are made of: items as vectors, products, distances, exponentials."""

from collections.abc import Callable
from typing import Any

import numpy as np
from scipy.sparse import issparse

from besvm._support.norms import norms

TileFunction = Callable[[np.ndarray, np.ndarray], Any]  # (rows of A, tile to fill)


def as_vectors(A: Any, basis: np.ndarray | None = None) -> np.ndarray:
    """Return items as the rows of a matrix of floating-point numbers; of the basis's width and type, if it is given."""
    if issparse(A):
        A = A.toarray()  # one block of rows, or the basis: small by construction
    A = np.asarray(A)
    if A.ndim < 2:
        raise ValueError(f"vectors must come as a 2-D array (items, numbers), got {A.ndim} dimensions")
    A = A.reshape(len(A), int(np.prod(A.shape[1:])))  # a grid of descriptors is a vector too
    if basis is None:
        return A if A.dtype in (np.float32, np.float64) else A.astype(np.float64)
    if A.shape[1] != basis.shape[1]:
        raise ValueError(f"vectors must have {basis.shape[1]} numbers like the exemplars, got {A.shape[1]}")
    return A if A.dtype == basis.dtype else A.astype(basis.dtype)


def nan_for_infinity(A: np.ndarray) -> np.ndarray:
    """Return A with NaN for infinite numbers: exp(-inf) and tanh(inf) would pass for similarities."""
    with np.errstate(over="ignore", invalid="ignore"):
        total = A.sum()  # three times as fast as np.isfinite(A).all()
    return A if np.isfinite(total) else np.where(np.isinf(A), A.dtype.type(np.nan), A)


def dot_with(basis: np.ndarray) -> TileFunction:
    """Fill the dot products of rows with the basis."""
    columns = np.ascontiguousarray(basis.T)  # (d, B): the layout that a row-major product reads fastest
    return lambda A, out: np.dot(A, columns, out=out)


def then(fill: TileFunction, change: Callable[[np.ndarray], Any]) -> TileFunction:
    """Fill a tile, then change it in place."""

    def both(A: np.ndarray, out: np.ndarray) -> None:
        fill(A, out)
        change(out)

    return both


def squared_distance_to(basis: np.ndarray, factor: float) -> TileFunction:
    """Fill ``factor · ‖a - b‖²`` by one product: [a, ‖a‖², 1] · factor [-2b, 1, ‖b‖²].

    Both sides are measured from the middle of the basis, so that vectors far from the origin lose no digits; where the
    result would still be off by more than a thousandth, the product is done in float64.
    """
    if len(basis) == 0:
        return lambda A, out: None
    middle = np.median(basis, axis=0)  # unlike the mean, blind to a few exemplars far away
    middle[~np.isfinite(middle)] = 0  # an exemplar with a NaN spoils its own similarities, not those of all
    centered = basis - middle
    error = np.finfo(basis.dtype).eps * abs(factor) * float(squares(centered).max(initial=0))
    dtype = np.dtype(np.float64) if error > 1e-3 and factor < 0 else basis.dtype
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


def manhattan_to(basis: np.ndarray) -> TileFunction:
    """Fill the city-block distances of rows from the basis."""
    from besvm.similarities.vector_kernels import manhattan_tile

    basis = np.ascontiguousarray(basis)
    return lambda A, out: manhattan_tile(np.ascontiguousarray(A), basis, out)


def exp_of_nonpositive(dtype: np.dtype[Any]) -> Callable[[np.ndarray], Any]:
    """Return the function that replaces a tile by min(1, exp(tile))."""
    if dtype == np.float32:
        from besvm.similarities.vector_kernels import exp_of_nonpositive as compiled

        return compiled
    return lambda tile: np.exp(np.minimum(tile, 0, out=tile), out=tile)


def squares(A: np.ndarray) -> np.ndarray:
    """Return the squared norm of every row."""
    return np.einsum("ij,ij->i", A, A)


def unit_rows(A: np.ndarray) -> np.ndarray:
    """Return the rows scaled to length one; a zero row stays zero."""
    with np.errstate(over="ignore"):
        lengths = norms(A).astype(A.dtype)
    lengths[lengths == 0] = 1
    lengths[np.isinf(lengths)] = np.nan  # or else such a row would be similar to nothing
    return A / lengths[:, None]
