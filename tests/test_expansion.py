import numpy as np
import pandas as pd
import pytest
from sklearn.decomposition import PCA
from sklearn.linear_model import LogisticRegression
from sklearn.model_selection import GridSearchCV, cross_val_score
from sklearn.pipeline import FeatureUnion, make_pipeline
from sklearn.preprocessing import FunctionTransformer, StandardScaler

import reference
from besvm import BasisExpansion, BESVMClassifier, LinearSVMClassifier, Measure
from besvm.basis import Exemplars, IndexBasis, KMedoidsBasis
from besvm.similarities import RBF, Linear, Rigid


def test_equals_the_formulas(rng):
    X = rng.normal(size=(60, 5))
    got = BasisExpansion(RBF(0.3), basis=[4, 9, 2]).fit_transform(X)
    raw = reference.all_pairs(reference.rbf, X, X[[4, 9, 2]], gamma=0.3)
    assert got.dtype == np.float32
    np.testing.assert_allclose(got, reference.mean_norm(raw), atol=1e-6)


def test_large_float32_path_equals_the_formulas(rng):
    """Large enough that the features are computed in float32, in several blocks."""
    X = rng.normal(size=(3000, 5)) + 10
    rows = np.arange(0, 3000, 20)
    expansion = BasisExpansion(RBF(0.3), basis=rows).fit(X)
    assert expansion._map.expander.dtype == np.float32
    raw = reference.all_pairs(reference.rbf, X[:200], X[rows], gamma=0.3)
    np.testing.assert_allclose(expansion.transform(X[:200]) * expansion.scale_ + expansion.mean_, raw, atol=1e-5)


@pytest.mark.parametrize("normalize", ["mean-norm", "z-score", None])
def test_fit_transform_is_fit_then_transform(normalize, rng):
    X = rng.normal(size=(50, 4))
    expansion = BasisExpansion("rbf", basis=7, normalize=normalize, random_state=3)
    both = expansion.fit_transform(X)
    np.testing.assert_allclose(expansion.transform(X), both, atol=1e-6)


def test_anything_with_len_and_slices():
    words = ["spam", "ham", "eggs", "bacon", "spam spam"]

    def shared(a, b):
        return len(set(a) & set(b))

    class Shelf:
        """Neither a list nor an array."""

        def __len__(self):
            return len(words)

        def __getitem__(self, item):
            return words[item]

    for X in (words, tuple(words), Shelf(), np.array(words, dtype=object), pd.Series(words)):
        got = BasisExpansion(shared, basis=[0, 2], normalize=None).fit_transform(X)
        np.testing.assert_array_equal(got[:, 0], [4, 2, 1, 1, 4])


def test_arrays_of_unequal_length(rng):
    X = [rng.normal(size=n) for n in (3, 5, 2, 7)]
    got = BasisExpansion(lambda a, b: -abs(len(a) - len(b)), basis=[1], normalize=None).fit_transform(X)
    np.testing.assert_array_equal(got[:, 0], [-2, 0, -3, -2])


def test_an_asymmetric_similarity_stays_so():
    got = BasisExpansion(lambda b, x: 10 * b + x, basis=[0, 1], normalize=None).fit_transform([1, 2, 3])
    np.testing.assert_array_equal(got, [[11, 21], [12, 22], [13, 23]])


def test_features_come_before_the_similarity(rng):
    X = rng.normal(size=(40, 6))
    pca = PCA(2, svd_solver="full").fit(X)
    measure = Measure(Linear(), features=PCA(2, svd_solver="full"))
    got = BasisExpansion(measure, basis=[3, 5], normalize=None).fit_transform(X)
    Z = pca.transform(X)
    np.testing.assert_allclose(got, Z @ Z[[3, 5]].T, atol=1e-5)
    by_medoids = BasisExpansion(Measure("rbf", features=PCA(2)), basis=KMedoidsBasis(3), random_state=0).fit(X)
    assert len(by_medoids.basis_rows_[0]) == 3


def test_exemplars_given_outright(rng):
    X, E = rng.normal(size=(20, 3)), rng.normal(size=(4, 3))
    for basis in (E, Exemplars(E)):
        expansion = BasisExpansion(Linear(), basis=basis, normalize=None).fit(X)
        np.testing.assert_allclose(expansion.transform(X), X @ E.T, rtol=1e-5, atol=1e-6)
        assert expansion.basis_rows_ == [None]
    with pytest.raises(
        ValueError, match=r"exemplars given as basis must have the shape \(3,\) of the samples, got \(5,\)"
    ):
        BasisExpansion(Linear(), basis=np.ones((2, 5))).fit(X)


def test_precomputed_block_and_square(rng):
    S = rng.normal(size=(30, 6))
    np.testing.assert_allclose(BasisExpansion("precomputed", normalize=None).fit_transform(S), S, rtol=1e-6)
    K = rng.normal(size=(30, 30))
    picked = BasisExpansion("precomputed", basis=[3, 7], normalize=None).fit(K)
    np.testing.assert_allclose(picked.transform(K[:5]), K[:5][:, [3, 7]], rtol=1e-6)
    with pytest.raises(ValueError, match="must be square"):
        BasisExpansion("precomputed", basis=[1, 2]).fit(S)
    with pytest.raises(ValueError, match="row numbers"):
        BasisExpansion("precomputed", basis=Exemplars([1])).fit(K)


def test_in_a_union_and_by_names(digits):
    X, y = digits[0][:400], digits[1][:400]
    union = FeatureUnion([("near", BasisExpansion("rbf", basis=20, random_state=0)), ("plain", StandardScaler())])
    assert make_pipeline(union, LogisticRegression(max_iter=2000)).fit(X, y).score(X, y) > 0.9
    frame = BasisExpansion("rbf", basis=[5, 1]).set_output(transform="pandas").fit_transform(X)
    assert list(frame.columns) == ["rbf_5", "rbf_1"]


def test_a_grid_search_scores_what_each_setting_scores_by_hand(digits):
    X, y = digits[0][:400], digits[1][:400]

    def pipeline(gamma, per_class):
        expansion = BasisExpansion(RBF(gamma=gamma), basis=IndexBasis(per_class=per_class))
        return make_pipeline(expansion, LinearSVMClassifier(probability=False))

    gammas, sizes = [1e-4, 1e-3], [3, 6]
    grid = {"basisexpansion__measures__gamma": gammas, "basisexpansion__basis__per_class": sizes}
    search = GridSearchCV(pipeline(1.0, 5), grid, cv=2).fit(X, y)
    found = {
        tuple(params.values()): score
        for params, score in zip(search.cv_results_["params"], search.cv_results_["mean_test_score"], strict=True)
    }
    by_hand = {(n, gamma): cross_val_score(pipeline(gamma, n), X, y, cv=2).mean() for n in sizes for gamma in gammas}
    assert found == pytest.approx(by_hand)
    assert len(set(found.values())) == 4
    n, gamma = max(by_hand, key=by_hand.get)
    best = search.best_estimator_[0]
    assert (len(best.basis_rows_[0]), best.similarities_[0].gamma) == (10 * n, gamma)


def test_reproducible_for_a_seed_and_blind_to_the_global_one(digits):
    X, y = digits[0][:300], digits[1][:300]
    np.random.seed(1)  # noqa: NPY002  (the point of the test)
    first = BasisExpansion(basis=30, random_state=7).fit(X, y).basis_rows_[0]
    np.random.seed(2)  # noqa: NPY002
    np.testing.assert_array_equal(BasisExpansion(basis=30, random_state=7).fit(X, y).basis_rows_[0], first)
    assert not np.array_equal(BasisExpansion(basis=30, random_state=8).fit(X, y).basis_rows_[0], first)
    legacy = np.random.RandomState(3)
    assert len(BasisExpansion(basis=30, random_state=legacy).fit(X, y).basis_rows_[0]) == 30


def test_a_continuous_target_does_not_balance_the_basis(rng):
    X = rng.normal(size=(50, 2))
    assert len(BasisExpansion(basis=9).fit(X, rng.normal(size=50)).basis_rows_[0]) == 9


def test_a_vector_similarity_takes_grids_as_vectors(rng):
    X = rng.normal(size=(30, 4, 4, 2))
    flat = BasisExpansion(RBF("scale"), basis=[1, 2], normalize=None).fit_transform(X.reshape(30, -1))
    clf = BESVMClassifier(["rbf", Rigid(1)], basis=[1, 2]).fit(X, np.arange(30) % 2)
    np.testing.assert_allclose(clf._map.expander(X)[:, :2], flat, atol=1e-6)


def test_vectors_in_a_list_beside_a_function(rng):
    X = [list(row) for row in rng.normal(size=(20, 3))]
    clf = BESVMClassifier(["rbf", lambda b, x: b[0] * x[0]]).fit(X, [0, 1] * 10)
    assert clf.predict(X).shape == (20,)


def test_lists_of_exemplars_are_counted_one_by_one(rng):
    X, y = rng.normal(size=(30, 2)), np.repeat([0, 1], 15)
    own = [Measure("rbf", basis=Exemplars(X[:10])), Measure("linear", basis=Exemplars(X[10:20]))]
    assert BESVMClassifier(own).fit(X, y).n_basis_ == 20
    assert BESVMClassifier(["rbf", "linear"], basis=Exemplars(X[:10])).fit(X, y).n_basis_ == 10


def test_features_are_computed_to_settle_a_similarity_only_where_there_is_something_to_settle(rng):
    """And once for all similarities that share them."""
    described = []
    features = FunctionTransformer(lambda X: (len(X) > 1 and described.append(len(X)), X)[1])  # one is only sized up
    X = rng.normal(size=(40, 3))
    BasisExpansion([Measure("linear", features=features), Measure("cosine", features=features)], basis=[1, 2]).fit(X)
    assert sorted(described) == [2, 2, 40]  # the exemplars of both, and one block of samples
    described.clear()
    BasisExpansion([Measure("rbf", features=features), Measure("laplacian", features=features)], basis=[1, 2]).fit(X)
    assert sorted(described) == [2, 2, 40, 40]


def test_features_of_many_images_are_fitted_by_blocks(rng, monkeypatch):
    images = rng.integers(0, 256, (60, 32, 32), dtype=np.uint8)
    whole = BasisExpansion("H8R", basis=[1, 2, 3]).fit_transform(images)
    monkeypatch.setattr("besvm.expand.room.WORK_BYTES", 1 << 16)
    for X in (images, list(images)):
        np.testing.assert_allclose(BasisExpansion("H8R", basis=[1, 2, 3]).fit_transform(X), whole, atol=1e-5)
    odd = [*images, images[0, :16]]
    with pytest.raises(ValueError, match="samples must all have one shape here"):
        BasisExpansion("H8R", basis=[1, 2, 3]).fit(odd)
