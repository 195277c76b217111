"""Distances of series, moment by moment in float64: the naive loops that the fast ways are checked against."""

from itertools import pairwise
from math import exp, floor, inf

import numpy as np


def band(n, m, window):
    """Return which pairs of moments a path may visit: marked one by one along the diagonal, as in aeon."""
    if window is None or window == 1:
        return np.ones((n, m), dtype=bool)
    if n > m:
        return band(m, n, window).T
    inside, reach = np.zeros((n, m), dtype=bool), int(window * n)
    for step in range(m + 1):
        i, j = floor(step * (1 / (m + 1) * n)), floor(step * (1 / (m + 1) * m))
        inside[max(0, i - reach) : i + reach + 1, j] = True
    return inside


def squared(a, b):
    return sum((p - q) ** 2 for p, q in zip(a, b, strict=True))


def length(a, b):
    return squared(a, b) ** 0.5


def moments(x):
    """Return the moments of a series (channels, moments), each a list of Python's own numbers: quicker to loop on."""
    return np.asarray(x, np.float64).T.tolist()


def spread(x):
    return float(np.std(x))


def slopes(x):
    return np.array([[((c[i] - c[i - 1]) + (c[i + 1] - c[i - 1]) / 2) / 2 for i in range(1, len(c) - 1)] for c in x])


def steps(measure, x, y, epsilon, i, j):
    """Return what it costs to match x_i and y_j, to move on in x alone and in y alone; i and j count from 0."""
    name, zero = measure.name, [0.0] * len(x[0])
    a, b = x[i], y[j]
    a_before, b_before = (x[i - 1] if i else zero), (y[j - 1] if j else zero)
    if name in ("dtw", "ddtw"):
        return (squared(a, b),) * 3
    if name == "wdtw":
        n = max(len(x), len(y))
        return (squared(a, b) / (1 + exp(-measure.g * (abs(i - j) - n / 2))),) * 3
    if name == "erp":
        gap = [measure.g] * len(zero)
        return length(a, b), length(a, gap), length(b, gap)
    if name == "twe":
        match = length(a, b) + length(a_before, b_before) + 2 * measure.nu * abs(i - j)
        return match, *(measure.nu + measure.lmbda + length(u, v) for u, v in ((a, a_before), (b, b_before)))
    if name == "lcss":
        return (-1.0, inf, inf) if length(a, b) <= epsilon else (inf, 0.0, 0.0)
    if name == "edr":
        return float(length(a, b) >= epsilon), 1.0, 1.0
    split, match = (one_split, abs(a[0] - b[0])) if measure.channels == "independent" else (ball_split, squared(a, b))
    return match, measure.c + split(a, a_before, b), measure.c + split(b, a, b_before)


def tolerance(measure, x, y):
    """Return how far apart two moments may be and still match, for those measures that ask."""
    if measure.name == "edr" and measure.epsilon is None:
        return max(spread(x), spread(y)) / 4
    return getattr(measure, "epsilon", None)


def one_split(value, a, b):
    low, high = sorted((a[0], b[0]))
    return 0.0 if low <= value[0] <= high else min(abs(value[0] - a[0]), abs(value[0] - b[0]))


def ball_split(value, a, b):
    middle = [(p + q) / 2 for p, q in zip(a, b, strict=True)]
    return 0.0 if squared(middle, value) <= squared(a, b) / 4 else min(squared(value, a), squared(value, b))


def edges(measure, x):
    """Return what it costs to have left out 1, 2, ... moments at the beginning."""
    if measure.name == "erp":
        return sum(length(one, [measure.g] * len(one)) for one in x)
    return 0.0 if measure.name in ("lcss", "edr") else inf


def warped(measure, x, y):
    """Return D at the end, of series (channels, moments) that are warped together."""
    x, y = moments(x), moments(y)
    n, m, epsilon = len(x), len(y), tolerance(measure, x, y)
    inside, x_left_out, y_left_out = (0.0 if measure.name == "lcss" else inf), edges(measure, x), edges(measure, y)
    D = [[0.0] + [y_left_out] * m] + [[x_left_out] + [inside] * m for _ in range(n)]
    for i, j in np.argwhere(band(n, m, measure.window)).tolist():
        match, x_alone, y_alone = steps(measure, x, y, epsilon, i, j)
        D[i + 1][j + 1] = min(D[i][j] + match, D[i][j + 1] + x_alone, D[i + 1][j] + y_alone)
    return D[n][m]


def distance(measure, x, y):
    """Return the warping distance of two series."""
    x, y = (np.atleast_2d(np.asarray(one, np.float64)) for one in (x, y))
    if measure.name == "ddtw":
        x, y = slopes(x), slopes(y)
    views = [(x, y)] if measure.channels == "dependent" else [(a[None], b[None]) for a, b in zip(x, y, strict=True)]
    ends = sum(warped(measure, a, b) for a, b in views)
    if measure.name == "lcss":
        return len(views) + ends / min(x.shape[1], y.shape[1])
    return ends / max(x.shape[1], y.shape[1]) if measure.name == "edr" else ends


def path_cost(measure, x, y, path):
    """Return what a path costs, step by step from the first pair of moments; the first is matched."""
    x, y = (np.atleast_2d(np.asarray(one, np.float64)) for one in (x, y))
    if measure.name == "ddtw":
        x, y, path = slopes(x), slopes(y), path - 1
    x, y = moments(x), moments(y)
    epsilon = tolerance(measure, x, y)
    total = steps(measure, x, y, epsilon, *path[0].tolist())[0]
    for before, here in pairwise(path):
        total += steps(measure, x, y, epsilon, *here.tolist())[[(1, 1), (1, 0), (0, 1)].index(tuple(here - before))]
    return total


def shape_distance(x, y, standardize=True, channels="independent"):
    """Return one minus the best correlation over shifts, where every channel varies."""
    x, y = (np.atleast_2d(np.asarray(one, np.float64)) for one in (x, y))
    if standardize:
        x, y = ((one - one.mean(axis=1, keepdims=True)) / one.std(axis=1, keepdims=True) for one in (x, y))
    full = np.array([np.correlate(a, b, mode="full") for a, b in zip(x, y, strict=True)])
    if channels == "dependent":
        return 1 - full.sum(axis=0).max() / (np.linalg.norm(x) * np.linalg.norm(y))
    lengths = np.linalg.norm(x, axis=1) * np.linalg.norm(y, axis=1)
    return float(np.mean(1 - full.max(axis=1) / lengths))
