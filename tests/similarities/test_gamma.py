"""Gamma, from the data where it is not given."""

from __future__ import annotations

import numpy as np
import pytest
from scipy.spatial.distance import cdist
from sklearn.svm import SVC

from besvm.similarities import RBF


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
