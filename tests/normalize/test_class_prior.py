"""The class-prior effect (second observation of the toy section), and its remedy.

The two classes are mirror images of each other, row by row, so that the fair boundary is exactly 0. Nine tenths of the
exemplars are of the class on the left. What moves the boundary is then the basis, and nothing else.
"""

import numpy as np
import pytest
from numpy.testing import assert_allclose

from besvm import BasisExpansion, BESVMClassifier
from besvm.basis import Exemplars
from besvm.normalize import MeanNorm, Unscaled
from besvm.similarities import RBF


def boundary(seed: int, **options) -> float:
    rng = np.random.default_rng(seed)
    right = rng.normal(1, 0.7, size=(200, 1))
    X, y = np.concatenate([-right, right]), np.repeat([0, 1], 200)
    rows = np.concatenate([rng.permutation(200)[:45], 200 + rng.permutation(200)[:5]])
    clf = BESVMClassifier(RBF(gamma=0.5), basis=rows, probability=False, **options).fit(X, y)
    line = np.linspace(-1.5, 1.5, 3001)
    return float(line[np.argmax(clf.decision_function(line[:, None]) > 0)])


def boundaries(**options) -> tuple[float, float]:
    """Return the mean boundary over twenty draws, and its standard error."""
    found = np.array([boundary(seed, **options) for seed in range(20)])
    return found.mean(), found.std(ddof=1) / np.sqrt(len(found))


def test_without_intercept_the_boundary_moves_towards_the_class_with_fewer_exemplars():
    """As the paper says, which omits the intercept."""
    options = {"fit_intercept": False, "C": 3e-4}
    shift, error = boundaries(normalize=None, **options)
    assert shift > 5 * error
    balanced, error_balanced = boundaries(normalize=Unscaled(balanced=True), **options)
    assert abs(balanced) < 3 * error_balanced
    assert abs(balanced) < shift / 4


@pytest.mark.parametrize(("kind", "C"), [(Unscaled, 0.01), (MeanNorm, 1.0)])
def test_with_an_intercept_it_moves_the_other_way(kind, C):
    """A free intercept makes up for the missing exemplars, and overdoes it."""
    shift, error = boundaries(normalize=kind(), C=C)
    assert shift < -5 * error
    balanced, _ = boundaries(normalize=kind(balanced=True), C=C)
    assert abs(balanced) < abs(shift) / 4


def test_balanced_weights_make_classes_contribute_equally(rng):
    """The share of each class in the inner products of eq. besvm_mult_kernel, all similarities being equal."""
    X, y = rng.normal(size=(30, 2)), np.repeat([0, 1, 2], 10)
    rows = [0, 1, 2, 3, 4, 5, 10, 11, 20]
    ones = BasisExpansion(lambda a, b: 1.0, basis=rows, normalize=Unscaled(balanced=True)).fit_transform(X, y)
    share = [(ones[0, y[rows] == k] ** 2).sum() for k in range(3)]
    assert_allclose(share, [3, 3, 3], rtol=1e-6)


def test_even_basis_needs_no_weights(rng):
    X, y = rng.normal(size=(30, 2)), np.repeat([0, 1, 2], 10)
    rows = [0, 1, 10, 11, 20, 21]
    for kind in (Unscaled, MeanNorm):
        plain = BasisExpansion("rbf", basis=rows, normalize=kind()).fit_transform(X, y)
        weighted = BasisExpansion("rbf", basis=rows, normalize=kind(balanced=True)).fit_transform(X, y)
        assert_allclose(weighted, plain, atol=1e-6)


def test_weighted_features_still_have_mean_norm_one(rng):
    X, y = rng.normal(size=(50, 2)), (np.arange(50) > 40).astype(int)
    expansion = BasisExpansion("rbf", basis=range(20, 50), normalize=MeanNorm(balanced=True))
    features = expansion.fit_transform(X, y)
    assert_allclose(features.mean(axis=0), 0, atol=1e-6)
    assert_allclose(np.linalg.norm(features, axis=1).mean(), 1, rtol=1e-5)
    assert_allclose(expansion.transform(X), features, atol=1e-6)


def test_balancing_needs_the_classes_of_the_exemplars(rng):
    X, y = rng.normal(size=(20, 2)), np.repeat([0, 1], 10)
    with pytest.raises(ValueError, match="needs class labels; pass y"):
        BasisExpansion("rbf", normalize=MeanNorm(balanced=True)).fit(X)
    with pytest.raises(ValueError, match="the classes of exemplars passed as basis are unknown"):
        BESVMClassifier("rbf", basis=Exemplars([[0.0, 0.0]]), normalize=MeanNorm(balanced=True)).fit(X, y)


def test_columns_of_a_block_of_similarities_have_no_class(rng):
    """Precomputed similarities to items that are not among the rows: which class these have is not known."""
    X, y = rng.normal(size=(20, 2)), np.arange(20) % 3
    S = RBF(gamma=1.0)(X, rng.normal(size=(7, 2)))
    for options in ({"normalize": MeanNorm(balanced=True)}, {"multi_class": "ovo-pair-basis"}):
        with pytest.raises(ValueError, match="the classes of exemplars passed as basis are unknown"):
            BESVMClassifier("precomputed", **options).fit(S, y)
    assert BESVMClassifier("precomputed").fit(S, y).basis_rows_ == [None]
