"""The numba loop of FHOG. Import this module only inside the function that needs it.

``fastmath`` takes every number for finite, which :mod:`besvm.features.pixels` has made sure of.
"""

import numpy as np

from besvm._support.compiled import njit

# Directions lie 20 degrees apart, so the first four borders between them stand at 10, 30, 50 and 70 degrees.
BORDER_10, BORDER_30, BORDER_50, BORDER_70 = (np.float32(np.tan(np.deg2rad(degrees))) for degrees in (10, 30, 50, 70))
# Differences no 8-bit picture can show: below them rounding would choose the channel or the direction, and
# the same picture as uint8 and as float would differ.
SAME_DIFFERENCE = np.float32(1e-3)
SAME_STRENGTH = np.float32(1.000005)
EPSILON = np.float32(1e-4)  # keeps flat blocks from dividing by zero; one gray level outweighs it
TRUNCATION = np.float32(0.2)
TEXTURE_WEIGHT = np.float32(0.2357)
HALF, ZERO, ONE = np.float32(0.5), np.float32(0), np.float32(1)


@njit(cache=True, nogil=True, fastmath=True)
def hog_block(pixels, cell, out):
    """Fill out (n, rows, columns, 31) from pixels (n, channels, h, w) in gray levels 0..255."""
    rows, columns = out.shape[1], out.shape[2]
    histogram = np.empty((rows, columns, 18), np.float32)
    energy = np.empty((rows, columns), np.float32)
    strip = np.empty((columns + 2, 18), np.float32)
    bordered = np.empty(pixels.shape[3] + 2, np.float32)
    dx = np.empty(columns * cell, np.float32)
    dy = np.empty(columns * cell, np.float32)
    length = np.empty(columns * cell, np.float32)
    bins = np.empty(columns * cell, np.int64)
    for i in range(len(pixels)):
        _vote(pixels[i], cell, bordered, dx, dy, length, bins, strip, histogram)
        _measure_energy(histogram, energy)
        _normalize(histogram, energy, out[i])


@njit(cache=True, nogil=True, fastmath=True)
def _vote(image, cell, bordered, dx, dy, length, bins, strip, histogram):
    """Share every pixel's gradient between the four cells around it."""
    rows, columns = histogram.shape[0], histogram.shape[1]
    histogram[:] = ZERO
    for y in range(rows * cell):
        _strongest_gradients(image, y, bordered, dx, dy, length)
        _choose_bins(dx, dy, bins)
        _vote_along_row(length, bins, cell, strip)
        position = (y + HALF) / cell - HALF  # in cells, counted from the middle of the first
        upper = int(np.floor(position))
        lower_share = np.float32(position - upper)
        for row, share in ((upper, ONE - lower_share), (upper + 1, lower_share)):
            if 0 <= row < rows:
                for x in range(columns):
                    for o in range(18):
                        histogram[row, x, o] += share * strip[x + 1, o]


@njit(cache=True, nogil=True, fastmath=True)
def _strongest_gradients(image, y, bordered, dx, dy, length):
    """Find the gradient, along one row of pixels, of whichever channel has the longest."""
    n_channels, height = image.shape[:2]
    length[:] = -ONE
    for channel in range(n_channels):
        above, below = image[channel, max(y - 1, 0)], image[channel, min(y + 1, height - 1)]
        bordered[1:-1] = image[channel, y]
        bordered[0], bordered[-1] = bordered[1], bordered[-2]
        for x in range(len(length)):
            across, down = bordered[x + 2] - bordered[x], below[x] - above[x]
            squared = across * across + down * down
            stronger = squared > length[x] * SAME_STRENGTH + SAME_DIFFERENCE
            dx[x] = across if stronger else dx[x]
            dy[x] = down if stronger else dy[x]
            length[x] = squared if stronger else length[x]
    for x in range(len(length)):
        length[x] = np.sqrt(length[x])


@njit(cache=True, nogil=True, fastmath=True)
def _choose_bins(all_dx, all_dy, bins):
    """bins[x] = which of the 18 directions, 20 degrees apart, is nearest; a tie goes to the lower number."""
    for x in range(len(bins)):
        dx, dy = all_dx[x], all_dy[x]
        turned = dy < ZERO
        if turned:
            dx, dy = -dx, -dy
        across = abs(dx)
        steps = (
            int(dy > BORDER_10 * across)
            + int(dy > BORDER_30 * across)
            + int(dy > BORDER_50 * across)
            + int(dy > BORDER_70 * across)
        )
        direction = steps if dx >= -SAME_DIFFERENCE else 9 - steps
        direction += 9 if turned else 0
        bins[x] = direction - 18 if direction >= 18 else direction


@njit(cache=True, nogil=True, fastmath=True)
def _vote_along_row(lengths, bins, cell, strip):
    """Share a row of pixels between its cells; the first and last entry of strip catch what falls outside."""
    strip[:] = ZERO
    for x in range(len(bins)):
        position = (x + HALF) / cell + HALF
        left = int(position)
        right_share = np.float32(position - left)
        strip[left, bins[x]] += (ONE - right_share) * lengths[x]
        strip[left + 1, bins[x]] += right_share * lengths[x]


@njit(cache=True, nogil=True, fastmath=True)
def _measure_energy(histogram, energy):
    """energy = the squared length of a cell's histogram of 9 undirected orientations."""
    for y in range(energy.shape[0]):
        for x in range(energy.shape[1]):
            total = ZERO
            for o in range(9):
                both = histogram[y, x, o] + histogram[y, x, o + 9]
                total += both * both
            energy[y, x] = total


@njit(cache=True, nogil=True, fastmath=True)
def _normalize(histogram, energy, out):
    """Divide each cell by the four 2 x 2 blocks it belongs to, truncate, and add up the results."""
    rows, columns = energy.shape
    for y in range(rows):
        above, below = max(y - 1, 0), min(y + 1, rows - 1)
        for x in range(columns):
            left, right = max(x - 1, 0), min(x + 1, columns - 1)
            here = energy[y, x] + EPSILON
            upper, lower = energy[above, x], energy[below, x]
            before, after = energy[y, left], energy[y, right]
            n1 = ONE / np.sqrt(here + lower + after + energy[below, right])
            n2 = ONE / np.sqrt(here + upper + after + energy[above, right])
            n3 = ONE / np.sqrt(here + lower + before + energy[below, left])
            n4 = ONE / np.sqrt(here + upper + before + energy[above, left])
            t1 = t2 = t3 = t4 = ZERO
            for o in range(18):
                votes = histogram[y, x, o]
                h1 = min(votes * n1, TRUNCATION)
                h2 = min(votes * n2, TRUNCATION)
                h3 = min(votes * n3, TRUNCATION)
                h4 = min(votes * n4, TRUNCATION)
                out[y, x, o] = HALF * (h1 + h2 + h3 + h4)
                t1 += h1
                t2 += h2
                t3 += h3
                t4 += h4
            for o in range(9):
                votes = histogram[y, x, o] + histogram[y, x, o + 9]
                h1 = min(votes * n1, TRUNCATION)
                h2 = min(votes * n2, TRUNCATION)
                h3 = min(votes * n3, TRUNCATION)
                h4 = min(votes * n4, TRUNCATION)
                out[y, x, 18 + o] = HALF * (h1 + h2 + h3 + h4)
            out[y, x, 27] = TEXTURE_WEIGHT * t1
            out[y, x, 28] = TEXTURE_WEIGHT * t2
            out[y, x, 29] = TEXTURE_WEIGHT * t3
            out[y, x, 30] = TEXTURE_WEIGHT * t4
