"""The similarities of vectors against the naive loops."""

from __future__ import annotations

import tracemalloc

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from hypothesis.extra.numpy import arrays
from scipy.sparse import csr_matrix

import reference
from besvm._support.threads import workers
from besvm.similarities import (
    RBF,
    Cosine,
    Laplacian,
    Linear,
    NegativeDistance,
    Polynomial,
    Sigmoid,
    Tanimoto,
    registered,
    resolve,
)
from besvm.similarities.vector import VectorSimilarity
from besvm.testing import check_similarity

NAIVE = {
    "linear": (Linear(), lambda b, x: b @ x),
    "rbf": (RBF(gamma=0.3), lambda b, x: reference.rbf(b, x, 0.3)),
    "laplacian": (Laplacian(gamma=0.2), lambda b, x: reference.laplacian(b, x, 0.2)),
    "polynomial": (Polynomial(3, 0.5, 1.0), lambda b, x: reference.polynomial(b, x, 3, 0.5, 1.0)),
    "sigmoid": (Sigmoid(0.1, 0.2), lambda b, x: reference.sigmoid(b, x, 0.1, 0.2)),
    "cosine": (Cosine(), reference.cosine),
    "tanimoto": (Tanimoto(), reference.tanimoto),
    "negative_distance": (NegativeDistance(), lambda b, x: -np.sqrt(((b - x) ** 2).sum())),
}
NOT_NUMBERS = ("sets", "distributions")  # kinds of vectors that have files of their own, as they take no others
VECTOR_NAMES = sorted(
    name for name, cls in registered().items() if issubclass(cls, VectorSimilarity) and cls.kind not in NOT_NUMBERS
)


def test_every_registered_vector_similarity_has_a_naive_loop():
    assert sorted(NAIVE) == sorted([*VECTOR_NAMES, "tanimoto"])


@pytest.mark.parametrize("dtype", [np.float32, np.float64])
@pytest.mark.parametrize("name", NAIVE)
def test_equals_the_naive_loop(name, dtype, rng):
    similarity, naive = NAIVE[name]
    A, B = rng.normal(size=(37, 11)).astype(dtype), rng.normal(size=(23, 11)).astype(dtype)
    got = similarity(A, B)
    assert got.dtype == dtype
    np.testing.assert_allclose(
        got, reference.all_pairs(naive, A, B), rtol=2e-5 if dtype == np.float32 else 1e-10, atol=1e-5
    )


vectors = arrays(np.float32, st.tuples(st.integers(1, 9), st.just(4)), elements=st.floats(-8, 8, width=16))


@pytest.mark.parametrize("name", NAIVE)
@given(A=vectors, B=vectors)
@settings(max_examples=25)
def test_equals_the_naive_loop_on_any_vectors(name, A, B):
    similarity, naive = NAIVE[name]
    expected = reference.all_pairs(naive, A, B)
    tolerance = 1e-4 * max(1.0, np.abs(expected).max())
    if name == "negative_distance":
        tolerance = 2e-2  # the root of a rounding error, next to the diagonal
    np.testing.assert_allclose(similarity(A, B), expected, atol=tolerance)


@pytest.mark.parametrize("name", NAIVE)
def test_keeps_the_contract(name, rng):
    check_similarity(name, rng.normal(size=(12, 5)))


@pytest.mark.parametrize("name", NAIVE)
def test_nothing_to_compare(name, rng):
    similarity, X = NAIVE[name][0], rng.normal(size=(4, 3))
    assert similarity(X[:0], X).shape == (0, 4)
    assert similarity(X, X[:0]).shape == (4, 0)


def test_far_from_the_origin_no_digits_are_lost(rng):
    A, B = rng.normal(size=(50, 20)) + 1000, rng.normal(size=(30, 20)) + 1000
    A, B = A.astype(np.float32), B.astype(np.float32)
    expected = reference.all_pairs(reference.rbf, A, B, gamma=0.05)
    np.testing.assert_allclose(RBF(0.05)(A, B), expected, atol=2e-5)


@pytest.mark.parametrize("d", [2, 50, 5000])
def test_distances_in_float32_are_off_by_little_of_the_whole(d, rng):
    """Those of copies and of near copies by most; a root makes much of what is near zero."""
    X = (100 * rng.normal(size=(20, d)) + 1000).astype(np.float32)
    X = np.concatenate([X, X + rng.normal(size=X.shape).astype(np.float32) / 1000])
    got, exact = NegativeDistance()(X, X), NegativeDistance()(X.astype(float), X.astype(float))
    extent = np.linalg.norm(X - np.median(X, axis=0), axis=1).max()
    np.testing.assert_allclose(got, exact, rtol=0, atol=3e-3 * extent)


def test_a_large_exponent_underflows_to_zero():
    got = RBF(1.0)(np.float32([[0.0]]), np.float32([[0.0], [9.0], [9.5], [15.0]]))
    np.testing.assert_allclose(got, [[1.0, np.exp(-81.0), 0.0, 0.0]], rtol=1e-4)


def test_many_tiles_and_threads_equal_one(rng):
    A, B = rng.normal(size=(5000, 6)).astype(np.float32), rng.normal(size=(700, 6)).astype(np.float32)
    with workers(1):
        one = RBF(0.5)(A, B)
    with workers(3):
        three = RBF(0.5)(A, B)
    assert np.array_equal(one, three)
    np.testing.assert_allclose(one[::997], reference.all_pairs(reference.rbf, A[::997], B, gamma=0.5), rtol=1e-4)


def test_sparse_rows_are_as_good_as_dense(rng):
    A = rng.normal(size=(9, 5)) * (rng.random((9, 5)) < 0.5)
    for similarity in (RBF(), RBF("median"), Laplacian()):
        dense = similarity.fit(A)(A, A)
        np.testing.assert_allclose(similarity.fit(csr_matrix(A))(csr_matrix(A), A), dense)


def test_vectors_of_unequal_length_are_refused():
    with pytest.raises(ValueError, match="must have 3 numbers, as the exemplars do, got 2"):
        Linear()(np.ones((4, 2)), np.ones((4, 3)))
    with pytest.raises(ValueError, match="2-D array"):
        Linear()(np.ones(4), np.ones((4, 3)))


@pytest.mark.parametrize("name", ["linear", "rbf", "laplacian", "polynomial", "sigmoid", "cosine", "tanimoto"])
@pytest.mark.parametrize("dtype", [np.float32, np.float64])
def test_thin_sparse_matrices_give_what_arrays_give(rng, name, dtype):
    A, B = (csr_matrix(rng.random((n, 300)) * (rng.random((n, 300)) < 0.03), dtype=dtype) for n in (70, 40))
    similarity = resolve(name)
    expected = similarity.fit(A)(A.toarray(), B.toarray())
    for samples, exemplars in [(A, B), (A.toarray(), B), (A, B.toarray())]:
        np.testing.assert_allclose(similarity(samples, exemplars), expected, rtol=1e-5, atol=1e-6)


@pytest.mark.parametrize("name", ["cosine", "rbf", "sqeuclidean", "laplacian", "canberra"])
def test_no_array_of_a_wide_sparse_matrix_is_made(rng, name):
    """An array of the 2,000 rows would take 1.6 GB."""
    A = csr_matrix((rng.random(40_000), rng.integers(0, 100_000, 40_000), range(0, 40_001, 20)), shape=(2000, 100_000))
    similarity = resolve(name)
    with workers(2):
        similarity.fit(A)(A[:20], A[:2])
        tracemalloc.start()
        assert similarity(A if similarity.sparse else A[:100], A[:100]).all() in (True, False)
        _, peak = tracemalloc.get_traced_memory()
        tracemalloc.stop()
    assert peak < 8e7
