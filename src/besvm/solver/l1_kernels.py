"""The numba loops of the L1 solver. Import this module only inside the function that needs it."""

# mypy: disable-error-code="untyped-decorator, no-untyped-def"

import numpy as np

from besvm._support.compiled import njit


@njit(cache=True, nogil=True)
def gathered(block, rows, columns):
    """Return block[rows][:, columns] in C order, without a copy of whole rows."""
    out = np.empty((len(rows), len(columns)), dtype=block.dtype)
    for i in range(len(rows)):
        row = block[rows[i]]
        for j in range(len(columns)):
            out[i, j] = row[columns[j]]
    return out


@njit(cache=True, nogil=True)
def mirror_lower(H):
    """Copy the lower triangle of a square matrix onto the upper one."""
    for j in range(len(H)):
        for i in range(j):
            H[i, j] = H[j, i]


@njit(cache=True, nogil=True, fastmath=True)
def add_column(slope, H, j, change):
    """slope += change * H[:, j], for a symmetric H in Fortran order."""
    column = H[:, j]
    for i in range(len(slope)):
        slope[i] += change * column[i]


@njit(cache=True, nogil=True)
def descend(H, point, slope, penalty, n_sweeps):
    """Minimize a quadratic with an L1 term by sweeps of coordinate descent, in place.

    The quadratic has the Hessian H, symmetric and in Fortran order, and the gradient ``slope`` at ``point``; the L1
    term is sum_j penalty[j] |point[j]|.
    """
    for _ in range(n_sweeps):
        for j in range(len(point)):
            curvature = H[j, j]
            if curvature > 0:
                middle = point[j] - slope[j] / curvature
                target = np.sign(middle) * max(0.0, abs(middle) - penalty[j] / curvature)
            else:  # a feature that no active row has
                target = 0.0 if penalty[j] > abs(slope[j]) else point[j]
            change = target - point[j]
            if change != 0:
                point[j] = target
                add_column(slope, H, j, change)
