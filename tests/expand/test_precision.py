"""Numbers of any size and with any offset: float64 where float32 would not do, float32 where it does."""

import numpy as np
import pytest

from besvm import BasisExpansion, BESVMClassifier
from besvm.baselines import KernelSVMClassifier
from besvm.similarities import RBF, Polynomial, Similarity
from variants import first_fast

Z = np.random.default_rng(0).normal(size=(1500, 6))
t = Z[:, 0] > 0
BASIS = 300  # with 1,500 rows large enough for float32


class Dot(Similarity):
    """A dot product that a user has changed."""

    vectors = symmetric = True

    def __init__(self, factor=1.0, offset=0.0):
        self.factor = factor
        self.offset = offset

    def __call__(self, A, B):
        return np.asarray(A) @ np.asarray(B).T * self.factor + self.offset


EXTREME = [  # a similarity, what Z is multiplied by for it, and a similarity that gives Z itself the same features
    (Polynomial(degree=3, gamma=1.0), 1e3, Polynomial(degree=3, gamma=1.0, coef0=1e-6)),
    *[("linear", scale, "linear") for scale in (1e9, 1e-13, 1e-30, 1e100, 1e-100)],
    *[("sqeuclidean", scale, "sqeuclidean") for scale in (1e9, 1e25)],
    *[("rbf", scale, "rbf") for scale in (1e25, 1e150, 1e-150)],
    *[("cosine", scale, "cosine") for scale in (1e25, 1e-25)],
    ("laplacian", 1e30, "laplacian"),
    ("tanimoto", 1e-25, "tanimoto"),
    (RBF(gamma=1e-9), 1.0, "sqeuclidean"),
    (Dot(offset=1e9), 1.0, "linear"),
    (Dot(factor=1e50), 1.0, "linear"),
]


def dtypes_of(X):
    """Return the types that hold the numbers of X, which float32 may round to infinity or to little of themselves."""
    with np.errstate(over="ignore", under="ignore"):
        single = X.astype(np.float32)
    held = np.isfinite(single).all() and np.abs(single).min() > 1e-40
    return ["float32", "float64"] if held else ["float64"]


TYPED = [(*case, dtype) for case in EXTREME for dtype in dtypes_of(case[1] * Z)]


@pytest.mark.parametrize("normalize", first_fast(["mean-norm", "z-score"]))
@pytest.mark.parametrize(("similarity", "scale", "plain", "dtype"), TYPED, ids=str)
def test_the_features_are_those_of_numbers_near_one(similarity, scale, plain, normalize, dtype):
    X = (scale * Z).astype(dtype)
    expansion = BasisExpansion(similarity, basis=BASIS, normalize=normalize, random_state=0)
    features = expansion.fit_transform(X)
    assert features.dtype == np.float32
    np.testing.assert_allclose(expansion.transform(X), features, atol=1e-5)
    expected = expansion.set_params(measures=plain).fit_transform(Z)
    np.testing.assert_allclose(features, expected, rtol=1e-3, atol=1e-3)


@pytest.mark.parametrize(("similarity", "scale", "plain", "dtype"), TYPED, ids=str)
def test_the_classes_are_found(similarity, scale, plain, dtype):
    X = (scale * Z).astype(dtype)
    model = BESVMClassifier(similarity, basis=BASIS, random_state=0, probability=False).fit(X, t)
    assert model.score(X, t) > 0.98


@pytest.mark.parametrize("normalize", [None, "mean-norm", "z-score"])
def test_precomputed_similarities_with_a_large_offset(normalize):
    K = Z @ Z[:BASIS].T
    model = BESVMClassifier("precomputed", normalize=normalize, probability=False)
    assert model.fit(1e9 + K, t).score(1e9 + K, t) > 0.99
    plain = BasisExpansion("precomputed", normalize=normalize).fit_transform(K)
    moved = BasisExpansion("precomputed", normalize=normalize).fit_transform(1e9 + K)
    np.testing.assert_allclose(moved - moved.mean(axis=0), plain - plain.mean(axis=0), atol=1e-4)


@pytest.mark.parametrize("similarity", ["rbf", "linear", "sqeuclidean", "manhattan", "cosine", Dot()], ids=str)
def test_ordinary_numbers_take_float32(similarity):
    model = BESVMClassifier(similarity, basis=BASIS, probability=False).fit(3 + Z, t)
    assert model._map.expander.dtype == np.float32


def test_raw_similarities_that_float32_does_not_hold_come_in_float64():
    for similarity in (Dot(factor=1e50), Dot(offset=1e9)):
        expansion = BasisExpansion(similarity, basis=[0, 1], normalize=None)
        features = expansion.fit_transform(Z)
        assert features.dtype == np.float64
        np.testing.assert_allclose(features, similarity(Z, Z[:2]))
        assert expansion.transform(Z).dtype == np.float64


def test_what_a_model_of_float32_cannot_hold_is_refused():
    def huge_beyond_nine(b, x):
        return 1e50 if x[0] > 9 else float(b @ x)

    model = BESVMClassifier(huge_beyond_nine, basis=BASIS, probability=False).fit(Z, t)
    with pytest.raises(
        ValueError, match=r"must be finite in float32, got 1e\+50 for the pair of exemplar 0 .*sample 1"
    ):
        model.predict([Z[0], 10 + Z[0]])
    raw = BasisExpansion(huge_beyond_nine, basis=5, normalize=None).fit(Z)
    with pytest.raises(ValueError, match=r"features must be finite in float32, got 1e\+50 for sample 1"):
        raw.transform([Z[0], 10 + Z[0]])


def test_a_few_huge_rows_are_seen():
    X = Z.copy()
    X[777] = 1e22
    model = BESVMClassifier("linear", basis=np.arange(700, 1000), probability=False).fit(X, t)
    assert model._map.expander.dtype == np.float64


def test_a_kernel_svm_decides_in_the_same_way():
    model = KernelSVMClassifier(Dot(offset=1e6), C=1.0, spectrum="clip").fit(Z[:700], t[:700])
    assert model._gram.dtype == np.float64
    assert model.score(Z, t) > 0.98
