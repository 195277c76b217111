"""The toy problem."""

from __future__ import annotations

import numpy as np
import pytest
from sklearn.svm import SVC

from besvm.datasets import make_toy


def test_toy_is_the_same_problem_at_every_noise() -> None:
    X, y = make_toy(300, random_state=0)
    assert (X.shape, X.dtype, set(y)) == ((300, 2), np.float64, {0, 1})
    assert np.abs(X).max() <= 1
    little, much = (make_toy(300, noise, random_state=0) for noise in (0.01, 0.2))
    np.testing.assert_array_equal(little[1], y)
    np.testing.assert_allclose((much[0] - X) / 20, little[0] - X, atol=1e-12)
    assert 0.18 < (much[0] - X).std() < 0.22


def test_toy_needs_a_curve() -> None:
    X, y = make_toy(400, noise=0.05, random_state=1)
    X_test, y_test = make_toy(400, noise=0.05, random_state=2)
    assert SVC(kernel="linear").fit(X, y).score(X_test, y_test) < 0.75
    assert SVC(gamma=10, C=10).fit(X, y).score(X_test, y_test) > 0.97


@pytest.mark.parametrize(("imbalance", "n_ones"), [(1, 60), (2, 40), (0.5, 80), (11, 10)])
def test_toy_imbalance(imbalance: float, n_ones: int) -> None:
    assert make_toy(120, imbalance=imbalance, random_state=0)[1].sum() == n_ones


@pytest.mark.parametrize("options", [{"noise": -1}, {"imbalance": 0}, {"n_samples": 1}, {"imbalance": 1e6}])
def test_toy_refuses_what_makes_no_problem(options: dict[str, float]) -> None:
    with pytest.raises(ValueError, match="must"):
        make_toy(**options)
