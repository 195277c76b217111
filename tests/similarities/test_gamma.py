"""Gamma, from the data where it is not given."""

from __future__ import annotations

import numpy as np
import pytest
from scipy.sparse import csr_matrix
from scipy.spatial.distance import cdist
from sklearn.svm import SVC
from sklearn.utils.validation import has_fit_parameter

from besvm.similarities import RBF, Laplacian, Polynomial, Sigmoid


def test_gamma_scale_is_that_of_svc(rng):
    X = rng.normal(2, 3, size=(200, 7))
    assert RBF("scale").fit(X).gamma_ == pytest.approx(1 / (7 * X.var()))
    svc, ours = (SVC(gamma=gamma).fit(X, np.arange(200) % 2) for gamma in ("scale", RBF("scale").fit(X).gamma_))
    np.testing.assert_allclose(ours.decision_function(X), svc.decision_function(X), rtol=1e-6)


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


FROM_DATA = [RBF("scale"), RBF("median"), Laplacian("scale"), Laplacian("median"), Polynomial(), Sigmoid()]
each_from_data = pytest.mark.parametrize("similarity", FROM_DATA, ids=str)


@each_from_data
@pytest.mark.parametrize("n", [2, 5, 40, 700, 1500])  # with the copies, fewer and more than the median looks at
@pytest.mark.parametrize("container", [np.asarray, csr_matrix])
def test_a_row_of_weight_two_is_two_rows_and_one_of_weight_zero_none(similarity, n, container, rng):
    X = rng.normal(5, 2, size=(n, 3)) * (rng.random((n, 3)) < 0.8)
    copies = rng.integers(0, 4, n)
    copies[1] = 2
    weighted = similarity.fit(container(X), sample_weight=copies).gamma_
    repeated = similarity.fit(container(np.repeat(X, copies, axis=0))).gamma_
    assert weighted == pytest.approx(repeated, rel=1e-12)


@each_from_data
def test_a_row_of_weight_zero_may_be_anything(similarity, rng):
    X = rng.normal(size=(30, 3))
    weights = np.ones(30)
    weights[[0, 7]] = 0
    expected = similarity.fit(np.delete(X, [0, 7], axis=0)).gamma_
    X[0], X[7] = 1e12, np.nan
    assert similarity.fit(X, sample_weight=weights).gamma_ == pytest.approx(expected, rel=1e-12)


@pytest.mark.parametrize("n", [50, 3000])
def test_small_weights_count_in_proportion(n, rng):
    X = rng.normal(size=(n, 3))
    X[: n // 2] *= 10
    for similarity in (RBF("scale"), RBF("median")):
        even = similarity.fit(X).gamma_
        assert similarity.fit(X, sample_weight=np.full(n, 0.01)).gamma_ == pytest.approx(even, rel=0.05)
        wide = similarity.fit(X, sample_weight=np.where(np.arange(n) < n // 2, 1e-3, 1e-6)).gamma_
        assert wide == pytest.approx(similarity.fit(X[: n // 2]).gamma_, rel=0.05)


@each_from_data
def test_weights_must_fit_the_rows(similarity):
    assert has_fit_parameter(similarity, "sample_weight")
    with pytest.raises(ValueError, match="inconsistent numbers of samples"):
        similarity.fit(np.eye(3), sample_weight=[1, 1])
    with pytest.raises(ValueError, match="needs at least one row with a weight above 0"):
        similarity.fit(np.eye(3), sample_weight=np.zeros(3))


@pytest.mark.parametrize("similarity", [RBF(), RBF("median"), Laplacian(), Laplacian("median")], ids=str)
def test_gamma_of_huge_and_tiny_numbers(similarity, rng):
    X, order = rng.normal(size=(50, 3)), similarity.gamma_order
    expected = similarity.fit(X).gamma_
    for k in (400, -400):
        assert similarity.fit(np.ldexp(X, k)).gamma_ == pytest.approx(np.ldexp(expected, -k * order))
    if order == 2:
        with pytest.raises(
            ValueError, match=r"needs values that are neither huge nor tiny, got about 1e1\d\d; scale X"
        ):
            similarity.fit(np.ldexp(X, 600))
