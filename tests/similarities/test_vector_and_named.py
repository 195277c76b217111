import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from hypothesis.extra.numpy import arrays
from scipy.sparse import csr_matrix
from scipy.spatial.distance import cdist
from sklearn.metrics.pairwise import chi2_kernel
from sklearn.svm import SVC

import reference
from besvm._support.threads import workers
from besvm.similarities import (
    RBF,
    Cosine,
    Laplacian,
    Linear,
    NegativeDistance,
    PairFunction,
    PairwiseKernel,
    Polynomial,
    Precomputed,
    Sigmoid,
    Similarity,
    Tanimoto,
    register,
    registered,
    resolve,
)
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
VECTOR_NAMES = sorted(name for name, cls in registered().items() if cls.vectors and name != "precomputed")


def test_every_registered_vector_similarity_has_a_naive_loop():
    assert sorted(NAIVE) == VECTOR_NAMES


@pytest.mark.parametrize("dtype", [np.float32, np.float64])
@pytest.mark.parametrize("name", VECTOR_NAMES)
def test_equals_the_naive_loop(name, dtype, rng):
    similarity, naive = NAIVE[name]
    A, B = rng.normal(size=(37, 11)).astype(dtype), rng.normal(size=(23, 11)).astype(dtype)
    got = similarity(A, B)
    assert got.dtype == dtype
    np.testing.assert_allclose(
        got, reference.all_pairs(naive, A, B), rtol=2e-5 if dtype == np.float32 else 1e-10, atol=1e-5
    )


vectors = arrays(np.float32, st.tuples(st.integers(1, 9), st.just(4)), elements=st.floats(-8, 8, width=16))


@pytest.mark.parametrize("name", VECTOR_NAMES)
@given(A=vectors, B=vectors)
@settings(max_examples=25, deadline=None)
def test_equals_the_naive_loop_on_any_vectors(name, A, B):
    similarity, naive = NAIVE[name]
    expected = reference.all_pairs(naive, A, B)
    tolerance = 1e-4 * max(1.0, np.abs(expected).max())
    if name == "negative_distance":
        tolerance = 2e-2  # the root of a rounding error, next to the diagonal
    np.testing.assert_allclose(similarity(A, B), expected, atol=tolerance)


@pytest.mark.parametrize("name", VECTOR_NAMES)
def test_keeps_the_contract(name, rng):
    check_similarity(name, rng.normal(size=(12, 5)))


def test_far_from_the_origin_no_digits_are_lost(rng):
    A, B = rng.normal(size=(50, 20)) + 1000, rng.normal(size=(30, 20)) + 1000
    A, B = A.astype(np.float32), B.astype(np.float32)
    expected = reference.all_pairs(reference.rbf, A, B, gamma=0.05)
    np.testing.assert_allclose(RBF(0.05)(A, B), expected, atol=2e-5)


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


def test_gamma_scale_is_that_of_svc(rng):
    X = rng.normal(2, 3, size=(200, 7))
    assert RBF("scale").fit(X).gamma_ == pytest.approx(1 / (7 * X.var()))
    svc = SVC(gamma="scale").fit(X, np.arange(200) % 2)
    assert RBF("scale").fit(X).gamma_ == pytest.approx(svc._gamma)


def test_gamma_median_is_one_over_the_median_squared_distance(rng):
    X = rng.normal(size=(60, 4))
    distances = cdist(X, X, "sqeuclidean")[np.triu_indices(60, 1)]
    assert RBF("median").fit(X).gamma_ == pytest.approx(1 / np.median(distances))


def test_gamma_of_equal_rows_is_one():
    assert RBF("scale").fit(np.ones((5, 3))).gamma_ == 1.0
    assert RBF("median").fit(np.ones((5, 3))).gamma_ == 1.0


@pytest.mark.parametrize("gamma", [0, -1.0, np.nan, "skale", None])
def test_a_bad_gamma_is_refused(gamma):
    with pytest.raises(ValueError, match="gamma must be a positive number"):
        RBF(gamma).fit(np.eye(3))


def test_gamma_from_the_data_needs_the_data():
    with pytest.raises(ValueError, match="call fit"):
        RBF()(np.eye(2), np.eye(2))


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


def test_resolve_takes_names_instances_and_functions():
    rbf = RBF(2.0)
    assert resolve(rbf) is rbf
    assert isinstance(resolve("rbf"), RBF)
    assert isinstance(resolve(lambda a, b: 0), PairFunction)


@pytest.mark.parametrize(("typo", "meant"), [("rbff", "rbf"), ("tanimto", "tanimoto"), ("Linear", "linear")])
def test_an_unknown_name_suggests_the_nearest(typo, meant):
    with pytest.raises(ValueError, match=f"got '{typo}'; did you mean '{meant}'"):
        resolve(typo)


def test_what_resolve_refuses():
    with pytest.raises(ValueError, match="registered are"):
        resolve("zzzzzzzz")
    with pytest.raises(TypeError, match="with the brackets"):
        resolve(RBF)
    with pytest.raises(TypeError, match="must be a name, a Similarity, or a function"):
        resolve(3)


def test_a_similarity_of_ones_own_in_ten_lines(rng):
    @register("test-overlap")
    class Overlap(Similarity):
        symmetric = True

        def __init__(self, power=1):
            self.power = power

        def __call__(self, A, B):
            return np.array([[len(set(a) & set(b)) ** self.power for b in B] for a in A])

    check_similarity("test-overlap", ["abc", "bcd", "xyz", "a"])
    with pytest.raises(ValueError, match="already belongs to"):
        register("test-overlap")(RBF)
    with pytest.raises(TypeError, match="takes a subclass of Similarity"):
        register("nothing")(dict)


class Broken(Similarity):
    """Breaks one rule of the contract at a time."""

    symmetric = True
    psd = True

    def __init__(self, how):
        self.how = how

    def __call__(self, A, B):
        A, B = np.asarray(A, dtype=float), np.asarray(B, dtype=float)
        S = A @ B.T
        return {
            "shape": S[:, :1],
            "nan": np.where(S.max() == S, np.nan, S),
            "complex": S + 1j,
            "block": S / len(A),
            "symmetric": S + 10 * A.sum(axis=1, keepdims=True),
            "psd": -S,
        }[self.how]


@pytest.mark.parametrize(
    ("how", "rule"),
    [
        ("shape", "must have shape"),
        ("nan", "must be finite"),
        ("complex", "must be real"),
        ("block", "block of rows"),
        ("symmetric", "symmetric = True"),
        ("psd", "psd = True"),
    ],
)
def test_check_similarity_finds_what_is_broken(how, rule, rng):
    with pytest.raises(AssertionError, match=rule):
        check_similarity(Broken(how), rng.normal(size=(6, 3)))


def asymmetric(exemplar, sample):
    return 10 * exemplar + sample


def slow(exemplar, sample):
    total = 0
    for _ in range(20000):
        total += 1
    return exemplar * sample + total * 0


def test_a_function_gets_the_exemplar_first():
    got = resolve(asymmetric)([1, 2], [3, 4, 5])
    np.testing.assert_array_equal(got, [[31, 41, 51], [32, 42, 52]])


def test_a_slow_function_is_spread_over_processes(rng):
    A, B = list(range(40)), list(range(30))
    with workers(2):
        spread = PairFunction(slow)(A, B)
    np.testing.assert_array_equal(spread, np.outer(A, B))


def test_a_function_must_return_a_number():
    with pytest.raises(TypeError, match=r"must return a number, got str for the pair \('x', 'y'\)"):
        resolve(lambda a, b: "no")(["y"], ["x"])


def test_precomputed_picks_columns(rng):
    S = rng.normal(size=(5, 8))
    np.testing.assert_array_equal(Precomputed()(S, [1, 6]), S[:, [1, 6]])


def test_vectors_of_unequal_length_are_refused():
    with pytest.raises(ValueError, match="must have 3 numbers like the exemplars, got 2"):
        Linear()(np.ones((4, 2)), np.ones((4, 3)))
    with pytest.raises(ValueError, match="2-D array"):
        Linear()(np.ones(4), np.ones((4, 3)))
