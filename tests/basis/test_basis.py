import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from sklearn.datasets import load_wine
from sklearn.model_selection import cross_val_score
from sklearn.preprocessing import StandardScaler

from besvm import BESVMClassifier
from besvm.basis import (
    Exemplars,
    FarthestBasis,
    GradientBasis,
    IndexBasis,
    KMeansBasis,
    KMedoidsBasis,
    PivotedBasis,
    RandomBasis,
)
from besvm.basis.choose import Candidates, choose_basis
from besvm.basis.contract import _even_shares
from besvm.similarities import RBF, Linear, PairFunction, Precomputed
from besvm.sources import ArraySource, RowSource

y10 = np.array([0, 1, 1, 0, 2, 2, 2, 1, 0, 2])
X10 = np.arange(20.0).reshape(10, 2)


def choose(basis, X=X10, y=y10, similarity=None, seed=0, weights=None):
    chosen = choose_basis(basis, Candidates(X, y, similarity or Linear(), weights), np.random.default_rng(seed))
    return chosen.items if chosen.rows is None else chosen.rows


def test_index_basis_takes_the_first_rows_of_each_class():
    np.testing.assert_array_equal(choose(IndexBasis(per_class=2)), [0, 1, 2, 3, 4, 5])
    np.testing.assert_array_equal(choose(IndexBasis(4), y=None), [0, 1, 2, 3])


def test_random_basis_is_balanced_distinct_and_reproducible():
    rows = choose(RandomBasis(6), seed=1)
    assert np.bincount(y10[rows]).tolist() == [2, 2, 2]
    assert len(set(rows)) == 6
    np.testing.assert_array_equal(rows, choose(RandomBasis(6), seed=1))
    assert any(not np.array_equal(rows, choose(RandomBasis(6), seed=seed)) for seed in range(2, 6))
    assert len(choose(RandomBasis(per_class=3))) == 9
    assert len(choose(RandomBasis(5, balanced=False))) == 5


@given(st.lists(st.integers(1, 50), min_size=1, max_size=8), st.data())
def test_shares_are_as_even_as_the_classes_allow(sizes, data):
    total = data.draw(st.integers(1, sum(sizes)))
    shares = _even_shares(total, sizes)
    assert sum(shares) == total
    assert all(0 <= share <= size for share, size in zip(shares, sizes, strict=True))
    unfilled = [share for share, size in zip(shares, sizes, strict=True) if share < size]
    if unfilled:
        assert max(shares) - min(unfilled) <= 1


def test_k_medoids_finds_the_middles_of_clear_clusters(rng):
    centers = np.array([[0.0, 0.0], [8.0, 0.0], [0.0, 8.0]])
    X = np.concatenate([center + rng.normal(size=(30, 2)) for center in centers])
    rows = choose(KMedoidsBasis(3), X, None, RBF(gamma=0.05))
    assert sorted(np.abs(X[rows][:, None] - centers).sum(axis=2).argmin(axis=1)) == [0, 1, 2]
    assert np.abs(X[rows][:, None] - centers).sum(axis=2).min(axis=1).max() < 1.2


def test_k_medoids_beats_random_on_its_own_objective(rng):
    X = rng.normal(size=(200, 3))
    D = ((X[:, None] - X) ** 2).sum(axis=2)

    def cost(rows):
        return D[:, rows].min(axis=1).sum()

    medoids = choose(KMedoidsBasis(10), X, None, Linear())
    assert cost(medoids) < min(cost(rng.choice(200, 10, replace=False)) for _ in range(20))


def test_k_medoids_per_class_and_on_a_subsample(rng):
    X, y = rng.normal(size=(300, 2)), np.repeat([0, 1, 2], 100)
    rows = choose(KMedoidsBasis(per_class=5, max_rows=40), X, y, RBF(gamma=1.0))
    assert np.bincount(y[rows]).tolist() == [5, 5, 5]


def test_k_medoids_survives_an_indefinite_asymmetric_similarity():
    words = ["a", "ab", "abc", "b", "bc", "bcd", "x", "xy"]
    rows = choose(KMedoidsBasis(3), words, None, PairFunction(lambda a, b: len(set(a) - set(b)) - 2.0))
    assert len(set(rows)) == 3


def test_k_means_takes_the_rows_nearest_to_the_centers_of_clear_clusters(rng):
    centers = np.array([[0.0, 0.0], [8.0, 0.0], [0.0, 8.0]])
    X = np.concatenate([center + rng.normal(size=(30, 2)) for center in centers])
    rows = choose(KMeansBasis(3), X, None, None)
    means = X.reshape(3, 30, 2).mean(axis=1)
    nearest = ((X[:, None] - means) ** 2).sum(axis=2).argmin(axis=0)
    np.testing.assert_array_equal(rows, nearest)


def test_k_means_chooses_different_rows_also_of_many_copies(rng):
    X = np.repeat(rng.normal(size=(4, 2)), 10, axis=0)
    assert len(set(choose(KMeansBasis(12), X, None, None))) == 12


def test_k_means_refuses_what_has_no_vectors():
    with pytest.raises(ValueError, match=r"KMeansBasis needs vectors, got samples of shape .* KMedoidsBasis"):
        choose(KMeansBasis(2), ["a", "b", "c"], None, None)
    with pytest.raises(ValueError, match="max_iter must be a whole number of at least 1, got 0"):
        choose(KMeansBasis(2, max_iter=0), np.ones((4, 2)), None, None)


def test_what_a_user_may_pass():
    assert len(choose("auto")) == 10
    assert len(choose(4)) == 4
    np.testing.assert_array_equal(choose([7, 2]), [7, 2])
    np.testing.assert_array_equal(choose(np.array([True] * 3 + [False] * 7)), [0, 1, 2])
    np.testing.assert_array_equal(choose(lambda X, y, similarity, rng: [1, 3]), [1, 3])
    np.testing.assert_array_equal(choose(np.ones((3, 2))), np.ones((3, 2)))
    assert choose(["ab", "c"], X=["a"] * 4, y=None) == ["ab", "c"]
    np.testing.assert_array_equal(choose(Exemplars(np.arange(3)), X=np.arange(9), y=None), np.arange(3))


def test_auto_takes_a_thousand_leaves_out_copies_and_rows_without_weight(rng):
    assert len(choose("auto", rng.normal(size=(3000, 2)), None)) == 1000
    X = np.repeat(np.eye(4), 3, axis=0)
    np.testing.assert_array_equal(choose("auto", X, None), [0, 3, 6, 9])
    np.testing.assert_array_equal(choose("auto", weights=np.arange(10) % 2), [1, 3, 5, 7, 9])


def by_position(X, y, similarity, rng):
    return [0, len(X) - 1]


@pytest.mark.parametrize(
    "basis",
    [4, IndexBasis(4), RandomBasis(4, balanced=False), KMeansBasis(4), KMedoidsBasis(4), PivotedBasis(4),
     FarthestBasis(4), GradientBasis(4), by_position],
    ids=lambda basis: getattr(basis, "__name__", str(basis)),
)  # fmt: skip
@pytest.mark.parametrize("similarity", [Linear(), Precomputed()], ids=str)
def test_no_selector_sees_rows_without_weight(rng, basis, similarity):
    X, y = rng.normal(size=(30, 30)), np.arange(30) % 3
    weights = np.where((y == 1) | (np.arange(30) < 6), 0.0, 2.0)
    heavy = np.flatnonzero(weights)
    alone = X[np.ix_(heavy, heavy)] if isinstance(similarity, Precomputed) else X[heavy]
    chosen = choose(basis, X, y, similarity, weights=weights)
    np.testing.assert_array_equal(chosen, heavy[choose(basis, alone, y[heavy], similarity)])
    assert set(chosen) <= set(heavy)
    np.testing.assert_array_equal(choose([0, 1], X, y, similarity, weights=weights), [0, 1])  # said is said


def test_a_class_without_weight_gives_no_exemplars(digits):
    X, y = digits[0][:300], digits[1][:300]
    for basis in (20, PivotedBasis(20), GradientBasis(20)):
        clf = BESVMClassifier("rbf", basis=basis, random_state=0).fit(X, y, sample_weight=(y != 3).astype(float))
        assert 3 not in y[clf.basis_rows_[0]]
    with pytest.warns(
        UserWarning, match="there are only 268 rows to choose from, fewer than the 300 exemplars asked for"
    ):
        BESVMClassifier(basis=300).fit(X, y, sample_weight=(y != 3).astype(float))


def test_a_random_basis_takes_all_without_a_word_where_that_is_asked_for(rng):
    X, y = rng.normal(size=(50, 2)), np.repeat([0, 1], [40, 10])
    np.testing.assert_array_equal(choose(RandomBasis(51, warn=False), X, y), np.arange(50))
    assert len(choose(RandomBasis(per_class=20, warn=False), X, y)) == 30


@pytest.mark.parametrize(
    "Selector", [RandomBasis, IndexBasis, KMeansBasis, KMedoidsBasis, PivotedBasis, FarthestBasis, GradientBasis]
)
def test_more_than_there_is_means_all_and_a_share_is_a_part(Selector, rng):
    X, y = rng.normal(size=(50, 2)), np.repeat([0, 1], [40, 10])
    with pytest.warns(
        UserWarning, match="there are only 50 rows to choose from, fewer than the 51 exemplars asked for"
    ):
        np.testing.assert_array_equal(choose(Selector(51), X, y), np.arange(50))
    with pytest.warns(
        UserWarning, match="there are only 10 rows of class 1 to choose from, fewer than the 20 exemplars asked for"
    ):
        assert np.bincount(y[choose(Selector(per_class=20), X, y)]).tolist() == [20, 10]
    assert len(choose(Selector(0.1), X, y)) == 5
    assert np.bincount(y[choose(Selector(per_class=0.2), X, y)]).tolist() == [8, 2]
    assert len(choose(Selector(1.0), X, y)) == 50
    assert len(choose(Selector(1e-9), X, y)) == 1, "never none"
    with pytest.raises(ValueError, match=r"n must be a whole number of at least 1, or a share above 0.0 .* got 1\.5"):
        choose(Selector(1.5), X, y)


@pytest.mark.parametrize("share", [0.1, np.float32(0.1)])
def test_a_share_as_basis(share):
    assert len(choose(share, X=np.arange(40.0).reshape(20, 2), y=None)) == 2


def test_cross_validation_with_more_exemplars_than_a_fold_has_rows():
    X, y = load_wine(return_X_y=True)
    X = StandardScaler().fit_transform(X)
    with pytest.warns(UserWarning, match="there are only 11. rows"):
        assert np.isfinite(cross_val_score(BESVMClassifier(basis=150), X, y, cv=3)).all()


@pytest.mark.parametrize(
    ("basis", "sentence"),
    [
        (0, "basis must be a whole number of at least 1, or a share above 0.0 and up to 1.0, got 0"),
        (-0.1, "basis must be a whole number of at least 1, or a share"),
        (np.nan, "basis must be a whole number of at least 1, or a share"),
        (1j, "basis must be a whole number of at least 1, or a share"),
        (IndexBasis(per_class=0), "per_class must be a whole number of at least 1, or a share"),
        ([0, 10], r"must be between 0 and 9 \(there are 10 rows\), got 10"),
        ([-1], "got -1"),
        ([3, 4, 3], "must not repeat, got row 3 2 times"),
        ([], "at least one row number"),
        ("all", "basis must be 'auto'"),
        (None, "basis must be 'auto'"),
        (2.5, "basis must be a whole number of at least 1, or a share above 0.0 and up to 1.0, got 2.5"),
        ({1: 2}, "basis must be 'auto'"),
        ({1, 2}, "basis must be 'auto'"),
        (object(), "basis must be 'auto'"),
        (RandomBasis(), "either n or per_class"),
        (RandomBasis(3, per_class=1), "either n or per_class"),
        (lambda X, y, similarity, rng: [99], "the selector's rows must be between 0 and 9"),
    ],
)
def test_a_bad_basis_is_explained(basis, sentence):
    with pytest.raises(ValueError, match=sentence):
        choose(basis)


def test_per_class_needs_labels():
    with pytest.raises(ValueError, match="per_class needs class labels"):
        choose(IndexBasis(per_class=2), y=None)


def test_k_means_refuses_a_source_that_does_not_fit_before_it_reads_it():
    class Unread(RowSource):
        def read(self, first, stop):
            raise AssertionError("nothing should be read")

    for basis in (KMeansBasis(5), KMeansBasis(1.0)):
        basis.room = 1e6
        with pytest.raises(MemoryError, match=r"clustering 1,000 rows by KMeansBasis would need"):
            basis(Unread((1000, 1000), np.float32), None, Linear(), np.random.default_rng(0))


def test_k_means_of_a_source_chooses_as_of_an_array(rng):
    X = rng.normal(size=(60, 3))
    np.testing.assert_array_equal(choose(KMeansBasis(5), ArraySource(X), None), choose(KMeansBasis(5), X, None))
