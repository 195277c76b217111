"""Histograms and point clouds compared one by one: the naive loops that the fast ways are checked against."""

import numpy as np


def normalized(x):
    return np.asarray(x, float) / np.sum(x)


def intersection(b, x):
    return sum(min(p, q) for p, q in zip(b, x, strict=True))


def chi2(b, x):
    return 0.5 * sum((p - q) ** 2 / (p + q) for p, q in zip(b, x, strict=True) if p + q > 0)


def hellinger(b, x):
    return np.sqrt(sum((np.sqrt(p) - np.sqrt(q)) ** 2 for p, q in zip(b, x, strict=True)) / 2)


def quantile(values, weights, t):
    """Return the smallest value at or below which more than the share t of the weight lies."""
    total = 0.0
    for value, weight in sorted(zip(values, weights, strict=True)):
        total += weight / sum(weights)
        if total > t:
            return value
    return max(values)


def sliced_wasserstein(b, x, directions, quantiles, order):
    """Return the distance of two clouds (points, weights)."""
    total = 0.0
    for direction in directions:
        for k in range(quantiles):
            t = (k + 0.5) / quantiles
            apart = quantile(b[0] @ direction, b[1], t) - quantile(x[0] @ direction, x[1], t)
            total += abs(apart) ** order
    return (total / len(directions) / quantiles) ** (1 / order)


def sinkhorn(b, x, costs, regularization, iterations=20_000):
    """Return the cost of the entropic plan that moves weights b to weights x."""
    K = np.exp(-costs / regularization)
    v = np.ones(len(x))
    for _ in range(iterations):
        u, before = b / (K @ v), v
        v = x / (K.T @ u)
        if np.allclose(v, before, rtol=1e-14, atol=0):
            break
    return float((u[:, None] * K * v * costs).sum())


def all_pairs(function, A, B):
    return np.array([[function(b, a) for b in B] for a in A])
