"""Euclidean norms of any size of numbers."""

import numpy as np


def norms(A: np.ndarray, axis: int = 1) -> np.ndarray:
    """Return the norms of the rows (axis 1) or columns (axis 0) in float64; squares may not overflow nor vanish.

    Where they might, the numbers are first divided by a power of two, which rounds nothing off.
    """
    over, dtype = ("ij,ij->i", A.dtype) if axis else ("ij,ij->j", np.dtype(np.float64))
    limits = np.finfo(dtype)
    with np.errstate(over="ignore", invalid="ignore"):
        squares = np.einsum(over, A, A, dtype=dtype)
        if ((squares > limits.tiny / limits.eps) & (squares <= limits.max)).all():
            return np.sqrt(squares, dtype=np.float64)
        exponents = np.frexp(np.abs(A).max(axis=axis, initial=0))[1]
        small = np.ldexp(A, -np.expand_dims(exponents, axis))
        return np.ldexp(np.sqrt(np.einsum(over, small, small, dtype=dtype), dtype=np.float64), exponents)
