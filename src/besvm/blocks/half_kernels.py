"""Half-precision numbers to single precision, shifted and scaled on the way."""

import numpy as np

from besvm._support.compiled import njit

UP = np.float32(2.0**112)  # what the exponents of the two formats differ by


@njit(nogil=True, cache=True)
def decode(half, scale, shift, out):
    """Fill ``out`` (rows, columns) with ``half`` times scale plus shift; ``half`` comes as uint16.

    The bits of a half-precision number, moved to where a single-precision one has them, are that number times 2^-112,
    also where it is too small to be normal.
    """
    bits = out.view(np.uint32)
    for i in range(half.shape[0]):
        for j in range(half.shape[1]):
            h = np.uint32(half[i, j])
            bits[i, j] = ((h & np.uint32(0x8000)) << np.uint32(16)) | ((h & np.uint32(0x7FFF)) << np.uint32(13))
        for j in range(half.shape[1]):
            out[i, j] = out[i, j] * UP * scale[j] + shift[j]
