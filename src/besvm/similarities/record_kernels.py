"""The numba loop over records. Import this module only inside the function that needs it."""

import numpy as np

from besvm._support.compiled import njit

_f = np.float32


@njit(cache=True, nogil=True, fastmath={"contract"})
def gower_tile(A, codes, B, B_weights, B_codes, B_code_weights, out):
    """Fill ``out``, (samples, exemplars), with one minus the weighted mean of the likenesses of the columns.

    Samples come by rows, exemplars by columns, which are what the inner loops run over. A, (samples, p), are numbers in
    units of their ranges, NaN where missing; ``codes``, (samples, q), are categories, -1 where missing. Of the
    exemplars the weights, (p, exemplars) and (q, exemplars), are 0 where a value is missing.
    """
    m = out.shape[1]
    alike, total = np.empty(m, np.float32), np.empty(m, np.float32)
    for i in range(out.shape[0]):
        alike[:] = 0
        total[:] = 0
        for k in range(A.shape[1]):
            a = A[i, k]
            if np.isnan(a):
                continue
            for j in range(m):
                w = B_weights[k, j]
                s = _f(1) - abs(a - B[k, j])
                alike[j] += w * (s if s > _f(0) else _f(0))
                total[j] += w
        for k in range(codes.shape[1]):
            c = codes[i, k]
            if c == -1:
                continue
            for j in range(m):
                w = B_code_weights[k, j]
                alike[j] += w if c == B_codes[k, j] else _f(0)
                total[j] += w
        for j in range(m):
            out[i, j] = _f(1) - alike[j] / total[j] if total[j] > _f(0) else _f(1)
