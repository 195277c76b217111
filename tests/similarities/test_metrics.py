"""Distances and kernels that scikit-learn knows by name."""

from __future__ import annotations

import numpy as np
import pytest
from scipy.spatial.distance import cdist
from sklearn.metrics.pairwise import chi2_kernel, distance_metrics, kernel_metrics, pairwise_kernels

from besvm.similarities import NegativeDistance, PairwiseKernel, resolve
from besvm.similarities.metrics import KERNEL_NAMES, distance_names

ALIASES = {"manhattan": "cityblock", "l1": "cityblock", "l2": "euclidean"}
OF_BITS = ("dice", "jaccard", "rogerstanimoto", "russellrao", "sokalsneath", "yule")


@pytest.fixture
def vectors(rng):
    return rng.random((6, 4)), rng.random((5, 4))


@pytest.mark.filterwarnings("ignore:Data was converted to boolean")
@pytest.mark.parametrize("name", distance_names())
def test_every_distance_is_minus_that_of_scipy(name, vectors):
    A, B = (np.where(X < 0.4, 0.0, X) for X in vectors)
    pair = (A > 0, B > 0) if name in OF_BITS else (A, B)
    expected = cdist(*pair, ALIASES.get(name, name))
    np.testing.assert_allclose(NegativeDistance(name)(A, B), -expected, rtol=1e-6, atol=1e-7)


def test_the_names_of_distances_are_those_of_scikit_learn():
    assert set(distance_metrics()) - set(distance_names()) == {"precomputed", "haversine", "nan_euclidean"}


@pytest.mark.parametrize("name", KERNEL_NAMES)
def test_every_kernel_is_that_of_scikit_learn(name, vectors):
    np.testing.assert_allclose(PairwiseKernel(name)(*vectors), pairwise_kernels(*vectors, metric=name))


def test_the_names_of_kernels_are_those_of_scikit_learn():
    assert set(KERNEL_NAMES) == set(kernel_metrics())


def test_a_kernel_has_parameters_of_its_own(vectors):
    np.testing.assert_allclose(PairwiseKernel("chi2", {"gamma": 2.0})(*vectors), chi2_kernel(*vectors, gamma=2.0))


def test_a_name_means_a_registered_similarity_then_a_kernel_then_a_distance():
    assert repr([resolve(name) for name in ("rbf", "chi2", "cosine", "canberra")]) == (
        "[RBF(), PairwiseKernel(metric='chi2'), Cosine(), NegativeDistance(metric='canberra')]"
    )


def test_a_name_that_no_longer_works_is_unknown():
    with pytest.raises(ValueError, match="must be a known name, got 'wminkowski'; did you mean 'minkowski'"):
        resolve("wminkowski")
