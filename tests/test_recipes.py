"""The recipes are what they say, and train."""

import numpy as np
import pytest

from besvm import BESVMClassifier, recipes


@pytest.mark.parametrize(
    ("size", "parts", "whole"), [("small", 300, 500), ("medium", 900, 1000), ("large", 2200, 1500)]
)
def test_the_sizes_of_images_are_as_said(size, parts, whole):
    measures = recipes.images(size)
    assert sum(m.basis.n for m in measures if m.label.startswith("P")) == parts
    assert {m.basis.n for m in measures if not m.label.startswith("P")} == {whole}
    assert len({m.label for m in measures}) == len(measures)


def test_images_are_learned_with_all_measures_and_shared_exemplars():
    rng = np.random.default_rng(0)
    X, y = rng.integers(0, 200, (80, 32, 32, 3), dtype=np.uint8), np.arange(80) % 2
    X[y == 1, 8:20, 8:20] //= 3
    measures = [m.set_params(basis=m.basis.set_params(n=30)) for m in recipes.images("small")]
    model = BESVMClassifier(measures, C=1.0, random_state=0).fit(X[:60], y[:60])
    assert model.n_basis_ == 60
    assert model.score(X[60:], y[60:]) > 0.9


def test_a_few_images_are_all_exemplars_and_nobody_is_warned():
    X, y = np.random.default_rng(0).integers(0, 200, (20, 32, 32, 3), dtype=np.uint8), np.arange(20) % 2
    model = BESVMClassifier(recipes.images("small"), C=1.0, random_state=0).fit(X, y)  # warnings are errors
    assert {len(rows) for rows in model.basis_rows_[1:]} == {20}


@pytest.mark.parametrize(("size", "parts"), [("small", 500), ("medium", 2000), ("large", 5000)])
def test_the_sizes_of_series_are_as_said(size, parts):
    (measure,) = recipes.series(size)
    assert measure.basis.n == parts


def test_other_sizes_are_refused():
    with pytest.raises(ValueError, match="size must be 'small', 'medium' or 'large', got 'huge'"):
        recipes.images("huge")
    with pytest.raises(ValueError, match="size must be"):
        recipes.series(3)
