"""Sets compared one by one: the naive loops that the fast ways are checked against."""

import numpy as np


def jaccard(b, x):
    """Return the share of the elements of either set that both have."""
    union = b | x
    return len(b & x) / len(union) if union else 1.0


def all_pairs(function, A, B):
    return np.array([[function(b, x) for b in B] for x in A]).reshape(len(A), len(B))


def as_rows(sets, n):
    """Return sets of numbers below n as rows of zeros and ones."""
    return np.array([[number in one for number in range(n)] for one in sets], dtype=bool).reshape(len(sets), n)
