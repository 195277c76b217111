"""Which compiled loop scores grids whose cells move one by one: SIMD vectors, or plain numba where they fail."""

from functools import cache
from types import ModuleType

import numpy as np

from besvm._support.trial import plain_asked, works


def tile_module(penalized: bool) -> ModuleType:
    """Return the module whose ``deformable_tile``, SAMPLES and EXEMPLARS to use.

    SIMD is tried once for each of the two cases, which are compiled separately. Where it fails, a warning says so and
    plain numba stands in, with the same scores in up to twice the time.
    """
    from besvm.similarities.grid import plain_tile

    if plain_asked() or not _simd_works(penalized):
        return plain_tile
    from besvm.similarities.grid import simd_tile

    return simd_tile


@cache
def _simd_works(penalized: bool) -> bool:
    instead = "plain numba is used instead. It gives the same scores and takes up to twice as long"
    return works("Deformable", lambda: _score_right(penalized), instead)


def _score_right(penalized: bool) -> bool:
    """Score grids of equal cells x and y: each gains the larger of depth · x · y and, beyond the frame, 0."""
    from besvm.similarities.grid.simd_tile import EXEMPLARS, SAMPLES, deformable_tile

    side, depth = 2, 3
    x, y = np.arange(SAMPLES, dtype=np.float32) + 1, np.arange(EXEMPLARS, dtype=np.float32) - EXEMPLARS // 2
    samples, basis = (np.tile(numbers, (1, side, side, depth, 1)) for numbers in (x, y))
    value = 0.5 if penalized else 0.0
    expected = side * side * (np.maximum(depth * np.outer(x, y), 0) + value)
    right = True
    for far in (1, 2):  # the nine nearest cells have a loop of their own
        values = np.full((2 * far + 1) ** 2, value, dtype=np.float32) if penalized else None
        out = np.empty((SAMPLES, EXEMPLARS), dtype=np.float32)
        rigid_value = np.zeros((1, 1), dtype=np.float32)
        deformable_tile(samples, basis, True, rigid_value, (far, far), values, np.float32(-np.inf), out)
        right &= bool((out == expected).all())
    return right
