"""Latent and Jitter as the formulas write them: loops over the variants of every pair, in float64."""

from __future__ import annotations

import numpy as np


def pairs(b, x, exemplar_variants=None, sample_variants=None):
    """Every (z_b, z_x, variant of b, variant of x)."""
    of_b = [b] if exemplar_variants is None else exemplar_variants(b)
    of_x = [x] if sample_variants is None else sample_variants(x)
    return [(i, j, v, w) for i, v in enumerate(of_b) for j, w in enumerate(of_x)]


def latent_pair(kernel, b, x, exemplar_penalty=None, sample_penalty=None, **variants):
    """s(b, x) of eq. indef_sim, for the exemplar b and the sample x."""
    return max(
        kernel(v, w)
        + (0.0 if exemplar_penalty is None else exemplar_penalty[i])
        + (0.0 if sample_penalty is None else sample_penalty[j])
        for i, j, v, w in pairs(b, x, **variants)
    )


def jitter_pair(kernel, b, x, **variants):
    """K_I of the two variants at the smallest distance."""
    near = [(kernel(v, v) - 2 * kernel(v, w) + kernel(w, w), kernel(v, w)) for _, _, v, w in pairs(b, x, **variants)]
    return min(near, key=lambda one: one[0])[1]


def matrix(pair, kernel, A, B, **parameters):
    """The matrix of s(B[j], A[i])."""
    A, B = np.asarray(A, np.float64), np.asarray(B, np.float64)
    return np.array([[pair(kernel, b, a, **parameters) for b in B] for a in A]).reshape(len(A), len(B))
