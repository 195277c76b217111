"""The numba loops, and nothing else imports numba. Import this module only inside the function that needs it."""

from __future__ import annotations

from numba import njit


@njit(cache=True, nogil=True, fastmath=True)  # type: ignore[untyped-decorator]
def manhattan_tile(A, B, out):  # type: ignore[no-untyped-def]
    """out[i, j] = sum_k |A[i, k] - B[j, k]|."""
    for i in range(A.shape[0]):
        for j in range(B.shape[0]):
            total = A.dtype.type(0)
            for k in range(A.shape[1]):
                total += abs(A[i, k] - B[j, k])
            out[i, j] = total
