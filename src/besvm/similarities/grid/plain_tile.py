"""The scores of grids whose cells move one by one, in plain numba.

This is what simd_tile must equal, and what stands in for it. Import this module only inside the function that needs it.
"""

import numpy as np

from besvm._support.compiled import njit

SAMPLES = 24  # with EXEMPLARS, large enough for the products to pay for the call, small enough to stay in cache
EXEMPLARS = 64


@njit(cache=True, nogil=True)
def deformable_tile(samples, basis, exemplar_moves, rigid_value, local, local_value, beyond, out):
    """Fill ``out`` as the function of this name in simd_tile does, from arrays of the same meaning."""
    panels, h, w, _, _ = samples.shape
    n_y, n_x = rigid_value.shape
    far_y, far_x = n_y // 2 + local[0], n_x // 2 + local[1]
    # What a cell yields with each cell of the frame, in a margin of zeros that nothing ever overwrites.
    dots = np.zeros((h + 2 * far_y, w + 2 * far_x, SAMPLES, EXEMPLARS), np.float32)
    totals = np.empty((n_y, n_x, SAMPLES, EXEMPLARS), np.float32)
    best = np.empty((SAMPLES, EXEMPLARS), np.float32)
    for block in range(len(basis)):
        for panel in range(panels):
            totals[:] = rigid_value.reshape(n_y, n_x, 1, 1)
            for y in range(h):
                for x in range(w):
                    for to_y in range(max(0, y - far_y), min(h, y + far_y + 1)):
                        for to_x in range(max(0, x - far_x), min(w, x + far_x + 1)):
                            still, moved = (y, x), (to_y, to_x)
                            of_sample, of_exemplar = (still, moved) if exemplar_moves else (moved, still)
                            cells = samples[panel, of_sample[0], of_sample[1]]  # (depth, SAMPLES)
                            exemplars = basis[block, of_exemplar[0], of_exemplar[1]]  # (depth, EXEMPLARS)
                            np.dot(cells.T, exemplars, dots[to_y + far_y, to_x + far_x])
                    for z_y in range(n_y):
                        for z_x in range(n_x):
                            _find_best(dots, y + z_y, x + z_x, local, local_value, best)
                            totals[z_y, z_x] += best
            _write_best(totals, beyond, out, panel * SAMPLES, block * EXEMPLARS)


@njit(cache=True, nogil=True)
def _find_best(dots, top, left, local, local_value, best):
    """best = the largest of dots + R(z_L) over z_L, whose window begins at [top, left]."""
    side = 2 * local[1] + 1
    best[:] = -np.inf
    for y in range(2 * local[0] + 1):
        for x in range(side):
            value = np.float32(0) if local_value is None else local_value[y * side + x]
            tile = dots[top + y, left + x]
            for i in range(SAMPLES):
                for j in range(EXEMPLARS):
                    best[i, j] = max(best[i, j], tile[i, j] + value)


@njit(cache=True, nogil=True)
def _write_best(totals, beyond, out, row, column):
    """Write the largest of the totals over z_R where the tile lies inside ``out``."""
    for i in range(min(SAMPLES, out.shape[0] - row)):
        for j in range(min(EXEMPLARS, out.shape[1] - column)):
            out[row + i, column + j] = max(beyond, totals[:, :, i, j].max())
