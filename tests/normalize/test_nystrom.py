"""Nyström features against the equations of the paper, in dense float64 algebra, and against scikit-learn."""

import numpy as np
import pytest
from numpy.testing import assert_allclose
from sklearn.kernel_approximation import Nystroem
from sklearn.metrics.pairwise import rbf_kernel

from besvm import BasisExpansion, BESVMClassifier, Nystrom
from besvm.basis import Exemplars
from besvm.normalize.nystrom import WAYS
from besvm.similarities import RBF, Deformable, Linear, NegativeDistance, Sigmoid


def near(X, Y):
    """Return an indefinite similarity that is symmetric and of full rank."""
    return 1 - np.abs(X[:, None, :] - Y[None]).max(axis=2)


@pytest.fixture
def parts(rng):
    X = rng.normal(size=(60, 3))
    return near(X, X[:12]), near(X[:12], X[:12])


def low_rank(K_nm, K_mm):
    """Eq. nystrom_low_rank."""
    return K_nm @ np.linalg.inv(K_mm) @ K_nm.T


@pytest.mark.parametrize("spectrum", WAYS)
def test_inner_products_are_the_low_rank_approximation(parts, spectrum):
    K_nm, K_mm = parts
    values, vectors = np.linalg.eigh(K_mm)
    assert values[0] < 0 < values[-1]
    if spectrum == "clip":
        kept = values > 0
        expected = K_nm @ (vectors[:, kept] / values[kept]) @ vectors[:, kept].T @ K_nm.T
    elif spectrum == "shift":
        raised = values - values[0]
        expected = K_nm @ (vectors[:, 1:] / raised[1:]) @ vectors[:, 1:].T @ K_nm.T
    else:
        within = {
            "flip": (vectors * np.abs(values)) @ vectors.T,
            "square": K_mm.T @ K_mm,
            "covariance": np.cov(K_nm.T, bias=True),
        }[spectrum]
        expected = low_rank(K_nm, within)
    features = Nystrom(spectrum).fit(K_nm if spectrum == "covariance" else K_mm).transform(K_nm)
    assert_allclose(features @ features.T, expected, rtol=1e-6, atol=1e-8)


def test_flip_is_what_scikit_learn_does_without_saying(rng):
    """Nystroem takes singular values for eigenvalues: the features are ours up to a rotation."""
    X = rng.normal(size=(60, 3))
    theirs = Nystroem(kernel=lambda a, b: 1 - np.abs(a - b).max(), n_components=12, random_state=0).fit(X)
    basis = theirs.components_
    K_mm, K_nm = near(basis, basis), near(X, basis)
    ours = Nystrom("flip").fit(K_mm).transform(K_nm)
    expected = theirs.transform(X)
    assert np.linalg.eigvalsh(K_mm)[0] < -0.1
    assert_allclose(ours @ ours.T, expected @ expected.T, atol=1e-9)
    values, vectors = np.linalg.eigh(K_mm)
    assert_allclose(ours @ ((vectors * np.sign(values)) @ vectors.T), expected, atol=1e-9)
    clipped = Nystrom("clip").fit(K_mm).transform(K_nm)
    assert np.abs(clipped @ clipped.T - expected @ expected.T).max() > 0.1


def test_positive_definite_kernel_needs_no_fix(rng):
    X = rng.normal(size=(60, 3))
    K_nm, K_mm = rbf_kernel(X, X[:12], gamma=0.5), rbf_kernel(X[:12], gamma=0.5)
    expected = low_rank(K_nm, K_mm)
    for spectrum in ("clip", "flip", "shift"):
        features = Nystrom(spectrum).fit(K_mm).transform(K_nm)
        assert_allclose(features @ features.T, expected, atol=1e-8)


def test_within_the_basis_the_similarity_is_reproduced(parts):
    """K_mm K_mm⁻¹ K_mm = K_mm, with the negative part clipped or flipped."""
    _, K_mm = parts
    values, vectors = np.linalg.eigh(K_mm)
    for spectrum, fixed in [("clip", np.maximum(values, 0)), ("flip", np.abs(values))]:
        features = Nystrom(spectrum).fit(K_mm).transform(K_mm)
        assert_allclose(features @ features.T, (vectors * fixed) @ vectors.T, atol=1e-9)


@pytest.mark.parametrize("dtype", [np.float32, np.float64])
@pytest.mark.parametrize("spectrum", WAYS)
def test_copies_and_nearly_equal_exemplars_stay_finite_and_small(rng, spectrum, dtype):
    """Tiny eigenvalues are rounding errors; inverted, they would drown the features in noise."""
    X = rng.normal(size=(50, 2)).astype(dtype)
    basis = np.concatenate([X[:10], X[:10], X[:5] + dtype(1e-7)])
    K = RBF(gamma=0.5)
    K_mm, K_nm = K(basis, basis), K(X, basis)
    nystrom = Nystrom(spectrum).fit(K_nm if spectrum == "covariance" else K_mm)
    features = nystrom.transform(K_nm)
    assert np.isfinite(features).all()
    assert nystrom.rank_ <= 24 if spectrum == "shift" else nystrom.rank_ <= 12
    if spectrum in ("clip", "flip"):
        once = Nystrom(spectrum).fit(K(X[:10], X[:10])).transform(K(X, X[:10]))
        assert_allclose(features @ features.T, once @ once.T, atol=1e-2 if dtype == np.float32 else 1e-6)
    assert np.linalg.norm(features, axis=1).max() < 20


@pytest.mark.parametrize("spectrum", WAYS)
def test_no_similarity_at_all(spectrum):
    features = Nystrom(spectrum).fit(np.zeros((4, 4))).transform(np.zeros((3, 4)))
    assert not features.any()


def test_asymmetric_similarity_is_symmetrized_within_the_basis(rng):
    K = rng.normal(size=(8, 8))
    assert_allclose(Nystrom().fit(K).normalization_, Nystrom().fit((K + K.T) / 2).normalization_)


@pytest.mark.parametrize(
    ("K", "says"),
    [
        (np.zeros((3, 2)), "the similarities within the basis must be square"),
        (np.array([[1, np.nan], [0, 1]]), "NaN"),
        (np.eye(2) * 1j, "Complex data not supported; take the real part"),
    ],
)
def test_bad_matrix(K, says):
    with pytest.raises(ValueError, match=says):
        Nystrom().fit(K)


def test_bad_spectrum(rng):
    with pytest.raises(ValueError, match=r"spectrum must be 'clip', 'flip', .* got 'snip'"):
        Nystrom("snip").fit(np.eye(2))
    with pytest.raises(ValueError, match=r"spectrum must be 'clip', 'flip', .* got 'snip'"):
        BasisExpansion(normalize=Nystrom("snip")).fit(rng.normal(size=(5, 2)))


# --- as the normalization of a basis expansion -------------------------------------------------------------------


@pytest.mark.parametrize("similarity", [RBF(gamma=0.3), Sigmoid(gamma=0.5, coef0=0.2), NegativeDistance(), Linear()])
@pytest.mark.parametrize("spectrum", WAYS)
def test_expansion_normalizes_by_its_own_basis(rng, similarity, spectrum):
    X, fresh = rng.normal(size=(40, 3)), rng.normal(size=(7, 3))
    rows = [3, 9, 12, 20, 31]
    expansion = BasisExpansion(similarity, basis=rows, normalize=Nystrom(spectrum))
    got = expansion.fit_transform(X)
    (K,) = expansion.similarities_
    alone = Nystrom(spectrum).fit(K(X, X[rows]) if spectrum == "covariance" else K(X[rows], X[rows]))
    assert_allclose(got, alone.transform(K(X, X[rows])), rtol=1e-4, atol=1e-5)
    assert_allclose(expansion.transform(fresh), alone.transform(K(fresh, X[rows])), rtol=1e-4, atol=1e-5)
    assert not hasattr(expansion, "mean_")


def test_exemplars_given_outright_and_precomputed_similarities(rng):
    X = rng.normal(size=(30, 3))
    rows = np.array([1, 5, 8])
    by_rows = BasisExpansion(RBF(gamma=1.0), basis=rows, normalize=Nystrom()).fit_transform(X)
    outright = BasisExpansion(RBF(gamma=1.0), basis=Exemplars(X[rows]), normalize=Nystrom()).fit_transform(X)
    precomputed = BasisExpansion("precomputed", basis=rows, normalize=Nystrom()).fit_transform(rbf_kernel(X, gamma=1.0))
    assert_allclose(outright, by_rows, atol=1e-6)
    assert_allclose(precomputed, by_rows, atol=1e-6)
    with pytest.raises(ValueError, match=r"must be square \(30 x 30\) for this normalization, got 30 x 4"):
        BasisExpansion("precomputed", normalize=Nystrom()).fit(rbf_kernel(X, X[:4]))


@pytest.mark.parametrize("storage", ["memory", "disk", "recompute"])
def test_classifier_with_several_measures(digits, storage):
    X, y = digits[0][:300].astype(np.float32), digits[1][:300]
    clf = BESVMClassifier(
        ["rbf", NegativeDistance()], basis=40, normalize=Nystrom("flip"), storage=storage, random_state=0
    ).fit(X, y)
    parts = [
        BasisExpansion(m.similarity, basis=m.rows, normalize=Nystrom("flip")).fit_transform(X)
        for m in clf._map.expander.measures
    ]
    expected = np.hstack(parts).astype(np.float64) @ clf.coef_.T + clf.intercept_
    assert_allclose(clf.decision_function(X), expected, atol=2e-3)
    assert clf.score(X, y) > 0.95


def test_asymmetric_grids(rng):
    grids = rng.normal(size=(20, 4, 4, 5)).astype(np.float32)
    similarity = Deformable(rigid=0, local=1)
    expansion = BasisExpansion(similarity, basis=[0, 5, 7], normalize=Nystrom("flip"))
    K_mm = similarity(grids[[0, 5, 7]], grids[[0, 5, 7]])
    expected = Nystrom("flip").fit((K_mm + K_mm.T) / 2).transform(similarity(grids, grids[[0, 5, 7]]))
    assert np.abs(K_mm - K_mm.T).max() > 0.1
    assert_allclose(expansion.fit_transform(grids), expected, rtol=1e-4, atol=1e-5)


@pytest.mark.parametrize("scale", [1e-300, 1e-30, 1.0, 3e150, 1e300, 1e307])
@pytest.mark.parametrize("spectrum", [way for way in WAYS if way != "covariance"])
def test_the_size_of_the_similarities_does_not_matter(parts, spectrum, scale):
    """Features scale with K^(1/2), those of "square" not at all."""
    K_nm, K_mm = (part / np.abs(parts[1]).max() for part in parts)
    plain = Nystrom(spectrum).fit(K_mm)
    scaled = Nystrom(spectrum).fit(scale * K_mm)
    expected = plain.normalization_ / (scale if spectrum == "square" else np.sqrt(scale))
    assert_allclose(scaled.normalization_, expected, rtol=1e-8, atol=1e-10 * np.abs(expected).max())
    assert scaled.rank_ == plain.rank_
    assert np.isfinite(scaled.transform(scale * K_nm / 8)).all()


def test_similarities_too_large_for_a_covariance_are_refused():
    with pytest.raises(ValueError, match=r"covariance to be a finite float64, got 1e\+300; divide them by a constant"):
        Nystrom("covariance").fit(1e300 * np.eye(3))
    with pytest.raises(ValueError, match=r"covariance to be a finite float32, got 1e\+30;"):
        Nystrom("covariance").fit(np.float32(1e30) * np.eye(3, dtype=np.float32))


def test_features_are_mixtures_and_named_so(rng):
    expansion = BasisExpansion("rbf", basis=[4, 2], normalize=Nystrom("square")).fit(rng.normal(size=(9, 2)))
    assert expansion.get_feature_names_out().tolist() == ["rbf_nystrom0", "rbf_nystrom1"]


def test_decomposition_counts_against_the_memory_limit(rng):
    X, y = rng.normal(size=(1200, 3)).astype(np.float32), rng.integers(0, 2, 1200)
    options = {"basis": 1000, "memory_limit": "140 MB", "probability": False, "storage": "memory"}
    BESVMClassifier("rbf", **options).fit(X, y)
    with pytest.raises(MemoryError, match="training must stay within 140 MB"):
        BESVMClassifier("rbf", normalize=Nystrom(), **options).fit(X, y)


def test_sparse_penalty_keeps_all_exemplars(digits):
    X, y = digits[0][:300], digits[1][:300]
    clf = BESVMClassifier("rbf", basis=30, normalize=Nystrom(), penalty="l1", C=0.1, random_state=0).fit(X, y)
    assert not clf.coef_.any(axis=0).all()
    assert clf.n_basis_ == 30
    assert clf.decision_function(X).shape == (300, 10)


def test_a_large_offset_is_no_direction_of_the_covariance(rng):
    K = rng.normal(size=(300, 3)) @ rng.normal(size=(3, 10))
    assert Nystrom("covariance").fit(K).rank_ == Nystrom("covariance").fit(1e9 + K).rank_ == 3
