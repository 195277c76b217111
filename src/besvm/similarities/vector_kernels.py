"""The numba loops over vectors. Numba is imported only by the _compiled modules, and they only when needed."""

from __future__ import annotations

import numpy as np
from llvmlite import ir
from numba import njit, types
from numba.extending import intrinsic

_f = np.float32


@njit(cache=True, nogil=True, fastmath=True)
def manhattan_tile(A, B, out):
    """out[i, j] = sum_k |A[i, k] - B[j, k]|."""
    for i in range(A.shape[0]):
        for j in range(B.shape[0]):
            total = A.dtype.type(0)
            for k in range(A.shape[1]):
                total += abs(A[i, k] - B[j, k])
            out[i, j] = total


@intrinsic
def _float_with_bits(typing_context, bits):
    """Return the float32 whose bit pattern is ``bits``."""

    def codegen(context, builder, signature, args):
        return builder.bitcast(args[0], ir.FloatType())

    return types.float32(types.int32), codegen


@njit(cache=True, nogil=True, fastmath=True)
def exp_of_nonpositive(tile):
    """Replace a contiguous float32 tile by min(1, exp(tile)), to 2e-7 of the value, four times as fast as np.exp.

    exp(x) = 2^k exp(r) with |r| <= log(2) / 2: 2^k is written as bits, exp(r) is its Taylor series.
    """
    flat = tile.reshape(-1)
    for i in range(flat.size):
        x = min(_f(0), flat[i])
        k = np.floor(x * _f(1.4426950408889634) + _f(0.5))
        k = max(k, _f(-126))
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
        power = _float_with_bits(np.int32((np.int32(k) + np.int32(127)) << 23))
        flat[i] = p * power if x > _f(-87) else _f(0)
