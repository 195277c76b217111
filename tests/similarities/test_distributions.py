"""The similarities of histograms and point clouds against the naive loops."""

import pickle

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from hypothesis.extra.numpy import arrays
from scipy.sparse import csr_matrix
from sklearn.exceptions import ConvergenceWarning
from sklearn.metrics.pairwise import additive_chi2_kernel

import reference_distributions as reference
from besvm import BESVMClassifier
from besvm._support.threads import workers
from besvm.similarities import (
    ChiSquared,
    FromDistance,
    Hellinger,
    HistogramIntersection,
    Sinkhorn,
    SlicedWasserstein,
    resolve,
)
from besvm.testing import check_similarity
from variants import first_fast

HISTOGRAMS = {
    "histogram-intersection": (HistogramIntersection(), reference.intersection, 1),
    "chi2-distance": (ChiSquared(how="negative", scale=1), reference.chi2, -1),
    "hellinger": (Hellinger(how="negative", scale=1), reference.hellinger, -1),
}
several = arrays(np.float64, st.tuples(st.integers(1, 7), st.just(5)), elements=st.integers(0, 9))


@pytest.mark.parametrize("normalize", [True, False])
@pytest.mark.parametrize("name", HISTOGRAMS)
@given(A=several, B=several)
@settings(max_examples=25)
def test_equals_the_naive_loop(name, normalize, A, B):
    similarity, naive, sign = HISTOGRAMS[name]
    if normalize:
        A[:, 0] += 1
        B[:, 2] += 1
    given = (A / A.sum(axis=1, keepdims=True), B / B.sum(axis=1, keepdims=True)) if normalize else (A, B)
    got = similarity.set_params(normalize=normalize)(A, B)
    np.testing.assert_allclose(got, sign * reference.all_pairs(naive, *given), atol=2e-7)


@pytest.mark.parametrize("name", HISTOGRAMS)
@pytest.mark.parametrize("dtype", [np.float32, np.float64, np.int64, np.uint8])
def test_any_type_of_numbers_and_many_tiles(name, dtype, rng):
    A = rng.integers(1, 50, (700, 33)).astype(dtype)
    similarity, naive, sign = HISTOGRAMS[name]
    with workers(1):
        one = similarity.set_params(normalize=True)(A, A[:90])
    with workers(3):
        assert np.array_equal(similarity(A, A[:90]), one)
    rows = [reference.normalized(row) for row in A[:90:10]]
    np.testing.assert_allclose(one[:90:10, ::10], sign * reference.all_pairs(naive, rows, rows), atol=1e-3)


@pytest.mark.parametrize("name", HISTOGRAMS)
def test_keeps_the_contract(name, rng):
    check_similarity(name, rng.random((12, 6)))
    check_similarity(name, csr_matrix(rng.random((12, 60)) * (rng.random((12, 60)) < 0.1) + np.eye(12, 60)))
    similarity = resolve(name).fit(rng.random((5, 6)))
    assert pickle.loads(pickle.dumps(similarity))(rng.random((2, 6)), rng.random((3, 6))).shape == (2, 3)


@pytest.mark.parametrize("how", ["negative", "exponential", "gaussian", "inverse", "log"])
@pytest.mark.parametrize("name", ["chi2-distance", "hellinger", "sliced-wasserstein"])
def test_every_form_of_a_distance(name, how, rng):
    X = rng.random((10, 6)) if name != "sliced-wasserstein" else rng.random((10, 6, 2))
    check_similarity(resolve(name).set_params(how=how), X)
    check_similarity(FromDistance(name, how=how) if name != "sliced-wasserstein" else name, X)


def test_chi_squared_is_half_that_of_scikit_learn(rng):
    A = rng.random((6, 4))
    got = ChiSquared(normalize=False, how="negative", scale=1)(A, A)
    np.testing.assert_allclose(got, additive_chi2_kernel(A) / 2, atol=1e-12)


@pytest.mark.parametrize("name", HISTOGRAMS)
def test_sparse_histograms_give_what_arrays_give(name, rng):
    A = rng.random((30, 80)) * (rng.random((30, 80)) < 0.05) + np.eye(30, 80)
    similarity = HISTOGRAMS[name][0].set_params(normalize=True)
    expected = similarity(A, A[:9])
    for samples, exemplars in [(csr_matrix(A), csr_matrix(A[:9])), (A, csr_matrix(A[:9])), (csr_matrix(A), A[:9])]:
        np.testing.assert_allclose(similarity(samples, exemplars), expected, atol=2e-7)


def test_a_classifier_of_histograms(rng):
    y = np.arange(120) % 3
    X = rng.poisson(2 + 8 * np.eye(3)[y].repeat(4, axis=1))
    for name in HISTOGRAMS:
        assert BESVMClassifier(name, basis=30, random_state=0).fit(X, y).score(X, y) > 0.95


@pytest.mark.parametrize(
    ("row", "sentence"),
    [
        ([-1.0, 2.0], "row 2 has -1.0"),
        ([np.nan, 2.0], "row 2 has nan"),
        ([2.0, np.inf], "row 2 has inf"),
        ([0.0, 0.0], "must not be all zeros when they are normalized, but row 2 is; remove it, or set normalize=False"),
    ],
)
@pytest.mark.parametrize("make", [np.array, csr_matrix])
@pytest.mark.parametrize("name", HISTOGRAMS)
def test_a_wrong_histogram_is_named(name, make, row, sentence):
    similarity = HISTOGRAMS[name][0].set_params(normalize=True)
    fine = [[1.0, 1.0], [0.0, 2.0]]
    with pytest.raises(ValueError, match=sentence):
        similarity.fit(make([*fine, row]))
    with pytest.raises(ValueError, match=sentence):
        similarity(make([*fine, row]), make(fine))


@pytest.mark.parametrize("name", HISTOGRAMS)
def test_what_is_no_histogram_is_refused(name):
    similarity = HISTOGRAMS[name][0].set_params(normalize=True)
    with pytest.raises(ValueError, match="must have 3 bins, as the exemplars do, got 2"):
        similarity(np.ones((2, 2)), np.ones((2, 3)))
    with pytest.raises(ValueError, match="must be a 2-D array"):
        similarity(np.ones(3), np.ones(3))
    with pytest.raises(TypeError, match="must hold numbers"):
        similarity([["a", "b"]], [["a", "b"]])
    with pytest.raises(ValueError, match="normalize must be True or False"):
        similarity.set_params(normalize="yes").fit(np.ones((2, 3)))
    similarity.set_params(normalize=True)


def random_clouds(rng, n, weighted=False, dimensions=2):
    clouds = []
    for _ in range(n):
        points = rng.normal(size=(int(rng.integers(1, 12)), dimensions)) + rng.normal(size=dimensions)
        clouds.append((points, rng.integers(0, 4, len(points)) + np.eye(len(points))[0]) if weighted else points)
    return clouds


def with_weights(cloud):
    return cloud if isinstance(cloud, tuple) else (cloud, np.ones(len(cloud)))


@pytest.mark.parametrize("order", [1, 2])
@pytest.mark.parametrize("weighted", [True, False])
@pytest.mark.parametrize("quantiles", [7, 24])
def test_sliced_wasserstein_equals_the_naive_loop(order, weighted, quantiles, rng):
    clouds = random_clouds(rng, 8, weighted)
    sliced = SlicedWasserstein(6, quantiles, order, how="negative", scale=1).fit(clouds)
    pairs = [with_weights(cloud) for cloud in clouds]
    expected = reference.all_pairs(
        lambda b, x: reference.sliced_wasserstein(b, x, sliced.directions_, quantiles, order), pairs, pairs[:5]
    )
    np.testing.assert_allclose(sliced(clouds, clouds[:5]), -expected, atol=1e-6)


def test_a_cloud_on_a_line_needs_no_approximation(rng):
    a, b = rng.normal(size=20), rng.normal(size=20)
    sliced = SlicedWasserstein(how="negative", scale=1).fit([a])
    expected = np.sqrt(np.mean((np.sort(a) - np.sort(b)) ** 2))
    np.testing.assert_allclose(sliced([a], [b]), [[-expected]])
    np.testing.assert_allclose(sliced([(a, np.full(20, 3.0))], [b]), [[-expected]])


def test_clouds_keep_the_contract(rng):
    clouds = random_clouds(rng, 9)
    for X in (clouds, random_clouds(rng, 9, weighted=True), rng.normal(size=(9, 5, 3)), rng.normal(size=(9, 5))):
        check_similarity("sliced-wasserstein", X)
        check_similarity(Sinkhorn(0.5), X)
    fitted = SlicedWasserstein(random_state=None).fit(clouds)
    assert np.array_equal(pickle.loads(pickle.dumps(fitted))(clouds, clouds), fitted(clouds, clouds))


def test_the_directions_follow_from_the_seed(rng):
    clouds = random_clouds(rng, 4)
    one, same, other = (SlicedWasserstein(random_state=seed).fit(clouds)(clouds, clouds) for seed in (1, 1, 2))
    assert np.array_equal(one, same)
    assert not np.array_equal(one, other)


@pytest.mark.parametrize("weighted", first_fast([True, False]))
def test_sinkhorn_equals_the_naive_loop(weighted, rng):
    clouds = random_clouds(rng, 6, weighted)
    sinkhorn = Sinkhorn(0.3, how="negative", scale=1).fit(clouds)

    def naive(b, x):
        (b, b_weights), (x, x_weights) = with_weights(b), with_weights(x)
        costs = ((b[:, None] - x) ** 2).sum(axis=2)
        plan = reference.sinkhorn(
            *(b_weights / b_weights.sum(), x_weights / x_weights.sum(), costs, 0.3 * sinkhorn.cost_scale_)
        )
        return -np.sqrt(plan)

    np.testing.assert_allclose(sinkhorn(clouds, clouds[:4]), reference.all_pairs(naive, clouds, clouds[:4]), rtol=1e-4)


def test_sinkhorn_of_histograms_with_a_cost(rng):
    cost = np.abs(np.subtract.outer(np.arange(5), np.arange(5))).astype(float)
    X = rng.integers(0, 4, (7, 5)) + np.eye(7, 5, dtype=int) + np.eye(7, 5, -5, dtype=int)
    sinkhorn = Sinkhorn(0.5, cost, how="negative", scale=1).fit(X)
    assert sinkhorn.cost_scale_ == 2

    def naive(b, x):
        b, x = b + 1e-300, x + 1e-300
        return -reference.sinkhorn(b / b.sum(), x / x.sum(), cost, 1.0)

    np.testing.assert_allclose(sinkhorn(X, X[:3]), reference.all_pairs(naive, X, X[:3]), rtol=1e-4, atol=1e-5)
    check_similarity(Sinkhorn(0.5, cost), X)


def test_sinkhorn_where_costs_are_large_beside_the_regularization(rng):
    near, far = rng.normal(size=(5, 2)), 50 * rng.normal(size=(6, 2)) + 200
    sinkhorn = Sinkhorn(0.01, how="negative", scale=1, max_iter=100).fit([near, near + 1])
    with pytest.warns(ConvergenceWarning, match="did not converge"):
        got = sinkhorn([near, far], [near, far])
    assert np.isfinite(got).all()
    assert got[0, 1] < -100


def test_what_has_not_converged_is_said(rng):
    clouds = list(rng.normal(size=(3, 8, 2)))
    with pytest.warns(ConvergenceWarning, match=r"did not converge for \d pairs, .* raise max_iter \(2\) or reg"):
        Sinkhorn(0.01, max_iter=2, scale=1).fit(clouds)(clouds, clouds)


def test_a_classifier_of_clouds(rng):
    y = np.arange(40) % 2
    clouds = [rng.normal(size=(int(rng.integers(20, 40)), 2)) * ([1, 3] if k else [3, 1]) for k in y]
    for similarity in ("sliced-wasserstein", Sinkhorn(0.5)):
        clf = BESVMClassifier(similarity, basis=8, random_state=0).fit(clouds[:30], y[:30])
        assert clf.score(clouds[30:], y[30:]) > 0.8


def test_nothing_to_compare(rng):
    clouds = random_clouds(rng, 3)
    for similarity in (SlicedWasserstein(), Sinkhorn(0.5)):
        similarity.fit(clouds)
        assert similarity([], clouds).shape == (0, 3)
        assert similarity(clouds, []).shape == (3, 0)


@pytest.mark.parametrize(
    ("bad", "sentence"),
    [
        (np.ones((3, 5)), "point cloud 1 must have 2 dimensions like the others, got 5"),
        (np.empty((0, 2)), r"point cloud 1 must be an array \(points, dimensions\) with at least one point"),
        (np.ones((2, 2, 2)), r"point cloud 1 must be an array .* got shape \(2, 2, 2\)"),
        (np.array([[1.0, np.nan]]), "point cloud 1 must have finite points, got nan"),
        ((np.ones((2, 2)), [1.0, -1.0]), "point cloud 1 must have weights of at least 0"),
        ((np.ones((2, 2)), [0.0, 0.0]), "point cloud 1 must have weights of at least 0, not all of them 0"),
        ((np.ones((2, 2)), [1.0]), r"point cloud 1 must have a weight for each of its 2 points, got shape \(1,\)"),
        ([[1, 2], [3]], "point cloud 1 must have points in a rectangular array, got rows of different lengths"),
        (None, "point cloud 1 must have points that are numbers, got None"),
        ("ab", "point cloud 1 must have points that are numbers, got 'ab'"),
    ],
)
def test_a_wrong_cloud_is_named(bad, sentence):
    fine = np.ones((3, 2)) * [[1], [2], [3]]
    for similarity in (SlicedWasserstein(scale=1), Sinkhorn(scale=1)):
        with pytest.raises(ValueError, match=sentence):
            similarity.fit([fine, bad])
        with pytest.raises(ValueError, match=sentence):
            similarity.fit([fine])([fine, bad], [fine])


@pytest.mark.parametrize(
    ("similarity", "sentence"),
    [
        (SlicedWasserstein(projections=0), "projections must be a whole number of at least 1, got 0"),
        (SlicedWasserstein(quantiles=1.5), "quantiles must be a whole number of at least 1, got 1.5"),
        (SlicedWasserstein(quantiles=10_000), "quantiles must be at most 5,242 for 50 projections, got 10000"),
        (SlicedWasserstein(order=3), "order must be 1 or 2, got 3"),
        (SlicedWasserstein(random_state="x"), "random_state must be"),
        (Sinkhorn(regularization=0), "regularization must be a positive number, got 0"),
        (Sinkhorn(max_iter=0), "max_iter must be a whole number of at least 1, got 0"),
        (Sinkhorn(cost=[[0, 1], [2, 0]]), "cost must be a symmetric matrix"),
    ],
)
def test_parameters_are_checked(similarity, sentence):
    with pytest.raises(ValueError, match=sentence):
        similarity.fit([np.ones((2, 2))])


def test_what_is_drawn_or_measured_in_fit_is_asked_for():
    for similarity in (SlicedWasserstein(scale=1), Sinkhorn(scale=1)):
        with pytest.raises(ValueError, match=r"call fit\(X\) first"):
            similarity([np.ones((2, 2))], [np.ones((2, 2))])


def test_sinkhorn_takes_no_scale_from_samples_of_weight_zero(rng):
    clouds = [rng.normal(size=(4, 2)) * (1 if k < 6 else 50) for k in range(10)]
    weighted = Sinkhorn(1.0).fit(clouds, sample_weight=np.arange(10) < 6)
    without = Sinkhorn(1.0).fit(clouds[:6])
    assert (weighted.cost_scale_, weighted.scale_) == (without.cost_scale_, without.scale_)
