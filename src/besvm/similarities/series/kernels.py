"""The one dynamic programme of all warping measures. Import this module only inside the function that needs it.

D[i, j] = min(D[i-1, j-1] + match, D[i-1, j] + x moves alone, D[i, j-1] + y moves alone): a rule says what the three
steps cost. x is a sample, and the exemplars y lie side by side in the lanes of SIMD registers: the innermost loop is
over LANES of them, and none waits for another. The rule is a constant of the compiled function, so that of all branches
the one that is taken remains. A rule is compiled when it is first used, and kept on disk: for that, the functions
must not close over compiled ones, and what they call must be in this file.

The first value of a series stands at place 1; at place 0 stands a zero.
"""

from functools import cache

import numpy as np

from besvm._support.compiled import njit
from besvm.similarities.series.rules import DTW, EDR, ERP, LCSS, MSM, MSM_SQUARED, TWE, WDTW

LANES = 32  # two AVX-512 or four AVX2 registers: while one sum is under way, the others are worked on

_FAST = {"contract", "reassoc", "nsz"}  # and no more: what cannot be reached is infinitely far
_INFINITY, _ZERO, _ONE = np.float32(np.inf), np.float32(0), np.float32(1)


@njit(cache=True, nogil=True, fastmath=_FAST)
def _least(a, b):
    return a if a < b else b


@njit(cache=True, nogil=True, fastmath=_FAST)
def _beyond(value, a, b):
    """Return how far a value lies outside the interval from a to b, whichever is larger."""
    low, high = (a, b) if a < b else (b, a)
    below, above = low - value, value - high
    far = below if below > above else above
    return far if far > _ZERO else _ZERO


@njit(cache=True, nogil=True, fastmath=_FAST)
def _beyond_ball(to_a, to_b, across):
    """Return the same of vectors, all distances squared: 0 within the ball that has a and b as poles (Thales)."""
    return _ZERO if to_a + to_b <= across else _least(to_a, to_b)


@njit(cache=True, nogil=True, fastmath=_FAST)
def _squares(lanes, x, Y, first, last, out):
    """Fill the squared distances of one value (channels,) from the values first to last of Y, (m + 1, lanes)."""
    part = slice(first * lanes, (last + 1) * lanes)
    total = out.reshape(-1)[part]  # one long loop, whose lanes the compiler sees
    for channel in range(len(x)):
        value, other = x[channel], Y[channel].reshape(-1)[part]
        if channel == 0:
            for k in range(len(total)):
                total[k] = (value - other[k]) ** 2
        else:
            for k in range(len(total)):
                total[k] += (value - other[k]) ** 2


@njit(cache=True, nogil=True, fastmath=_FAST)
def _steps(rule, several, x, pack, near, before, i, j, lane, x_gap, x_own, constant, lag):
    """Return what it costs to match x_i with y_j, to move on in x alone, and to move on in y alone.

    ``near`` and ``before`` are the squared distances of x_i and of the value before it from those of y.
    """
    a, b = x[i, 0], pack.values[0, j, lane]
    squared = near[j, lane] if several else (a - b) * (a - b)
    if rule == DTW:
        return squared, squared, squared
    if rule == WDTW:
        return squared * lag, squared * lag, squared * lag
    if rule == MSM_SQUARED:
        x_alone = _beyond_ball(x_gap, squared, before[j, lane])
        y_alone = _beyond_ball(pack.gaps[j, lane], squared, near[j - 1, lane])
        return squared, constant + x_alone, constant + y_alone
    apart = np.sqrt(squared) if several else abs(a - b)
    if rule == ERP:
        return apart, x_gap, pack.gaps[j, lane]
    if rule == TWE:
        last = np.sqrt(before[j - 1, lane]) if several else abs(x[i - 1, 0] - pack.values[0, j - 1, lane])
        return apart + last + lag, x_gap, pack.gaps[j, lane]
    if rule == MSM:
        x_alone, y_alone = _beyond(a, x[i - 1, 0], b), _beyond(b, a, pack.values[0, j - 1, lane])
        return apart, constant + x_alone, constant + y_alone
    if rule == LCSS:
        alike = apart <= constant
        alone = _INFINITY if alike else _ZERO
        return -_ONE if alike else _INFINITY, alone, alone
    own = pack.own[lane]
    return _ZERO if apart < (x_own if x_own > own else own) else _ONE, _ONE, _ONE


@cache
def distances(rule, several, lanes=LANES):
    """Return the compiled function that fills out (samples, lanes) with the ends of all paths.

    ``several`` is whether values are vectors, of one channel or more, and not numbers. The first and the last column of
    each row of the band count from 1, and never fall. ``lags`` is what a lag |i - j| adds or multiplies. ``table`` has
    room for D, (rows, m + 1, lanes), where two rows do, and n + 1 keep all of it; so has ``crossed``, for squared
    distances of values, if there are several.
    """

    @njit(cache=True, nogil=True, fastmath=_FAST)
    def fill(samples, pack, first, last, lags, constant, table, crossed, out):
        n, m, kept = samples.values.shape[1] - 1, pack.values.shape[1] - 1, len(table)
        outside = _ZERO if rule == LCSS else _INFINITY
        for k in range(len(out)):
            x, x_own = samples.values[k], samples.own[k]
            edge = x_own if rule == ERP else _ZERO if rule in (LCSS, EDR) else _INFINITY
            for j in range(1, m + 1):
                for lane in range(lanes):
                    table[0, j, lane] = pack.own[lane] if rule == ERP else edge
            for lane in range(lanes):
                table[0, 0, lane] = _ZERO
            if several:
                _squares(lanes, x[0], pack.values, 0, last[0], crossed[0])
            for i in range(1, n + 1):
                above, here = table[(i - 1) % kept], table[i % kept]
                before, near = crossed[(i - 1) % kept], crossed[i % kept]
                x_gap, start, stop = samples.gaps[k, i], first[i - 1], last[i - 1]
                following = last[i] if i < n else stop
                if several:
                    _squares(lanes, x[i], pack.values, start - 1, following, near)
                for lane in range(lanes):
                    here[start - 1, lane] = edge if start == 1 else outside
                for j in range(start, stop + 1):
                    lag = lags[abs(i - j)] if rule in (WDTW, TWE) else _ZERO
                    for lane in range(lanes):
                        match, x_alone, y_alone = _steps(
                            rule, several, x, pack, near, before, i, j, lane, x_gap, x_own, constant, lag
                        )
                        if rule in (DTW, WDTW):  # three steps of one cost
                            best = _least(_least(above[j - 1, lane], above[j, lane]), here[j - 1, lane]) + match
                        else:
                            best = _least(above[j - 1, lane] + match, above[j, lane] + x_alone)
                            best = _least(best, here[j - 1, lane] + y_alone)
                        here[j, lane] = best
                for j in range(stop + 1, following + 1):
                    for lane in range(lanes):
                        here[j, lane] = outside
            for lane in range(lanes):
                out[k, lane] = table[n % kept, pack.lengths[lane], lane]

    return fill


@cache
def backtrack(rule, several):
    """Return the compiled function that goes back from the end of a table that :func:`distances` filled, all kept.

    It fills ``path`` from its end with the pairs of time points, counted from 0, and returns where the path begins.
    """

    @njit(cache=True, nogil=True, fastmath=_FAST)
    def walk(samples, pack, lags, constant, table, crossed, path):
        x, i, j, at = samples.values[0], len(table) - 1, pack.values.shape[1] - 1, len(path)
        while i > 0 and j > 0:
            lag = lags[abs(i - j)] if rule in (WDTW, TWE) else _ZERO
            x_gap, x_own = samples.gaps[0, i], samples.own[0]
            near, before = crossed[i % len(crossed)], crossed[(i - 1) % len(crossed)]
            match, x_alone, y_alone = _steps(rule, several, x, pack, near, before, i, j, 0, x_gap, x_own, constant, lag)
            match += table[i - 1, j - 1, 0]
            x_alone += table[i - 1, j, 0]
            y_alone += table[i, j - 1, 0]
            matched = match <= x_alone and match <= y_alone
            if matched or rule != LCSS:  # which pairs alike time points, and no others
                at -= 1
                path[at, 0], path[at, 1] = i - 1, j - 1
            if matched or x_alone <= y_alone:
                i -= 1
            if matched or x_alone > y_alone:
                j -= 1
        return at

    return walk


@njit(cache=True, nogil=True, fastmath=_FAST)
def euclidean(A, B, out):
    """Fill the Euclidean distances between the rows of A and those of B."""
    for i in range(A.shape[0]):
        for j in range(B.shape[0]):
            total = _ZERO
            for k in range(A.shape[1]):
                total += (A[i, k] - B[j, k]) ** 2
            out[i, j] = np.sqrt(total)
