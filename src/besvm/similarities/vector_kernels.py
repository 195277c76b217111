"""The numba loops over vectors. Import this module only inside the function that needs it.

A NaN must come out as a NaN, to be seen and refused: no ``fastmath=True``, which lets the compiler make anything of it.
"""

import numpy as np

from besvm._support.compiled import njit

_f = np.float32


@njit(cache=True, nogil=True, fastmath={"reassoc"})
def manhattan_tile(A, B, out):
    """out[i, j] = sum_k |A[i, k] - B[j, k]|."""
    for i in range(A.shape[0]):
        for j in range(B.shape[0]):
            total = A.dtype.type(0)
            for k in range(A.shape[1]):
                total += abs(A[i, k] - B[j, k])
            out[i, j] = total


@njit(cache=True, nogil=True, fastmath={"contract"})
def exp_of_nonpositive(tile):
    """Replace a contiguous float32 tile by min(1, exp(tile)), to 2e-7 of the value, four times as fast as np.exp.

    exp(x) = 2^k exp(r) with |r| <= log(2) / 2: 2^k is written as bits, exp(r) is its Taylor series. Comparisons are
    false for a NaN, so each of them is put such that it lets the NaN pass.
    """
    flat = tile.reshape(-1)
    for i in range(flat.size):
        x = _f(0) if flat[i] > _f(0) else flat[i]
        k = np.floor(x * _f(1.4426950408889634) + _f(0.5))
        k = k if k > _f(-126) else _f(-126)
        r = x - k * _f(0.693359375)  # log(2) in two parts, the first exact in float32
        r = r + k * _f(2.12194440e-4)
        p = _f(1 / 5040)
        p = p * r + _f(1 / 720)
        p = p * r + _f(1 / 120)
        p = p * r + _f(1 / 24)
        p = p * r + _f(1 / 6)
        p = p * r + _f(0.5)
        p = p * r + _f(1)
        p = p * r + _f(1)
        power = np.int32((np.int32(k) + np.int32(127)) << 23).view(np.float32)
        flat[i] = _f(0) if x < _f(-87) else p * power


@njit(cache=True, nogil=True, fastmath={"reassoc"})
def minimum_tile(A, B, out):
    """out[i, j] = sum_k min(A[i, k], B[j, k])."""
    for i in range(A.shape[0]):
        for j in range(B.shape[0]):
            total = A.dtype.type(0)
            for k in range(A.shape[1]):
                total += A[i, k] if A[i, k] < B[j, k] else B[j, k]
            out[i, j] = total


@njit(cache=True, nogil=True, fastmath={"reassoc"}, error_model="numpy")  # a check for 0 would stop the vectors
def chi2_tile(A, B, tiny, out):
    """out[i, j] = sum_k (A[i, k] - B[j, k])² / (A[i, k] + B[j, k]) / 2, where 0 / 0 is 0: nothing is below ``tiny``."""
    for i in range(A.shape[0]):
        for j in range(B.shape[0]):
            total = A.dtype.type(0)
            for k in range(A.shape[1]):
                apart = A[i, k] - B[j, k]
                total += apart * (apart / (A[i, k] + B[j, k] + tiny))
            out[i, j] = total / A.dtype.type(2)
