"""Distances and kernels that scikit-learn knows by name."""

from __future__ import annotations

import numpy as np
import pytest
from scipy.spatial.distance import cdist
from sklearn.metrics.pairwise import chi2_kernel

from besvm.similarities import NegativeDistance, PairwiseKernel, resolve


@pytest.mark.parametrize("metric", ["manhattan", "chebyshev", "cosine", "sqeuclidean", "canberra"])
def test_negative_distances_are_those_of_scipy(metric, rng):
    A, B = rng.random((6, 4)), rng.random((5, 4))
    names = {"manhattan": "cityblock"}
    np.testing.assert_allclose(
        resolve(metric)(A, B) if metric != "cosine" else NegativeDistance("cosine")(A, B),
        -cdist(A, B, names.get(metric, metric)),
        rtol=1e-6,
        atol=1e-9,
    )


def test_a_scikit_learn_kernel_by_name(rng):
    A, B = rng.random((6, 4)), rng.random((5, 4))
    np.testing.assert_allclose(resolve("chi2")(A, B), chi2_kernel(A, B))
    np.testing.assert_allclose(PairwiseKernel("chi2", {"gamma": 2.0})(A, B), chi2_kernel(A, B, gamma=2.0))
