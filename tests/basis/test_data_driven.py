"""The data-driven bases, against naive loops on the whole matrix."""

import tracemalloc
from collections import Counter

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from sklearn.base import clone

from besvm import BESVMClassifier, MeanNormScaler, Measure
from besvm.basis import FarthestBasis, GradientBasis, KMedoidsBasis, PivotedBasis, RandomBasis
from besvm.basis.choose import Candidates, choose_basis
from besvm.basis.contract import BasisSelector
from besvm.basis.diverse import _Pairs
from besvm.basis.gradient import _match
from besvm.similarities import RBF, Linear, NegativeDistance, PairFunction, Precomputed, Sigmoid

SELECTORS = [PivotedBasis, FarthestBasis, GradientBasis]
SIMILARITIES = [RBF(gamma=0.3), Linear(), Sigmoid(gamma=0.7, coef0=-0.5), NegativeDistance()]


def choose(basis, X, y=None, similarity=None, seed=0):
    return choose_basis(basis, Candidates(X, y, similarity or RBF(gamma=0.5)), np.random.default_rng(seed)).rows


def symmetrized(X, similarity):
    S = np.asarray(similarity(X, X), dtype=np.float64)
    return (S + S.T) / 2


def naive_pivots(S, k, rng):
    """Randomly pivoted Cholesky with the whole residual matrix, seen from the first row."""
    first = rng.integers(len(S))
    residual = S - S[first] - S[:, [first]] + S[first, first]
    left = np.maximum(np.diag(residual), 0)
    chosen = [first]
    while len(chosen) < k:
        pivot = rng.choice(len(S), 1, p=left / left.sum())[0]
        rng.random()
        column = residual[:, pivot] / np.sqrt(left[pivot])
        residual = residual - np.outer(column, column)
        left = np.maximum(left - column**2, 0)
        left[pivot] = 0
        chosen.append(pivot)
    return chosen


def naive_farthest(S, first, k):
    own = np.diag(S)
    D = own[:, None] + own - 2 * S
    chosen = [first]
    while len(chosen) < k:
        free = [i for i in range(len(S)) if i not in chosen]
        chosen.append(max(free, key=lambda i: min(D[i, j] for j in chosen)))
    return chosen


@pytest.mark.parametrize("similarity", [RBF(gamma=0.3), NegativeDistance()], ids=str)
def test_pivots_are_those_of_the_naive_elimination(rng, similarity):
    X = rng.normal(size=(60, 3))
    S = symmetrized(X, similarity)
    for seed in range(5):
        pairs = _Pairs(X, np.arange(60), similarity)
        ours = PivotedBasis()._choose(pairs, 8, np.random.default_rng(seed), at_once=1)
        assert ours.tolist() == naive_pivots(S, 8, np.random.default_rng(seed))


@pytest.mark.slow
def test_drawing_several_pivots_at_once_does_not_change_their_chances(rng):
    X = rng.normal(size=(6, 2))
    pairs = _Pairs(X, np.arange(6), RBF(gamma=0.3))
    trials = 1000

    def counts(at_once):
        draws = np.random.default_rng(at_once)
        return Counter(tuple(sorted(PivotedBasis()._choose(pairs, 3, draws, at_once).tolist())) for _ in range(trials))

    one, many = counts(1), counts(5)
    for rows in one | many:
        spread = np.sqrt(one[rows] + many[rows])
        assert abs(one[rows] - many[rows]) < 5 * spread, rows


@pytest.mark.parametrize("similarity", SIMILARITIES, ids=str)
@pytest.mark.parametrize("at_once", [1, 7, 64])
def test_the_farthest_rows_are_those_of_the_naive_loop(rng, similarity, at_once):
    X = rng.normal(size=(40, 3))
    pairs = _Pairs(X, np.arange(40), similarity)
    ours = FarthestBasis()._choose(pairs, 12, np.random.default_rng(3), at_once).tolist()
    assert ours == naive_farthest(symmetrized(X, similarity), ours[0], 12)


def test_an_asymmetric_similarity_is_symmetrized(rng):
    K = rng.normal(size=(30, 30))
    pairs = _Pairs(K, np.arange(30), Precomputed())
    np.testing.assert_allclose(pairs.own, np.diag(K))
    np.testing.assert_allclose(pairs.columns(np.array([4, 9])), ((K + K.T) / 2)[:, [4, 9]])
    some = np.array([3, 8, 20])
    np.testing.assert_allclose(_Pairs(K, some, Precomputed()).columns(np.array([2]))[:, 0], ((K + K.T) / 2)[some, 20])
    for selector in (PivotedBasis(12), FarthestBasis(12)):
        assert len(set(choose(selector, K, None, Precomputed()))) == 12


def test_matching_is_the_naive_pursuit_of_the_residuals(rng):
    features, residuals = rng.normal(size=(50, 20)), rng.normal(size=(50, 3))
    taken, groups = np.zeros(20, dtype=bool), np.arange(20) % 2
    taken[[0, 5]] = True
    ours = _match(features.T @ features, features.T @ residuals, taken, groups, np.array([4, 7]), 6)
    free, room, naive = [i for i in range(20) if not taken[i]], {0: 3, 1: 6}, []
    while len(naive) < 6:
        able = [i for i in free if room[i % 2] > 0]
        fall = {i: ((features[:, i] @ residuals) ** 2).sum() / (features[:, i] ** 2).sum() for i in able}
        best = max(fall, key=fall.get)
        column = features[:, best] / np.linalg.norm(features[:, best])
        residuals = residuals - np.outer(column, column @ residuals)
        naive.append(best)
        free.remove(best)
        room[best % 2] -= 1
    assert ours.tolist() == naive


def test_the_first_row_of_the_gradient_basis_is_the_steepest(digits):
    X, y = digits[0][:200], digits[1][:200]
    similarity = RBF(gamma=1e-3)
    row = choose(GradientBasis(1, oversample=1000), X, y, similarity)[0]
    features = similarity(X, X).astype(np.float64)
    features -= features.mean(axis=0)
    signs = np.where(y[:, None] == np.arange(10), 1.0, -1.0)
    slack = np.maximum(1 - signs * signs.mean(axis=0), 0) * signs
    assert row == (((features.T @ slack) ** 2).sum(axis=1) / (features**2).sum(axis=0)).argmax()


@pytest.mark.slow
def test_the_gradient_basis_beats_random_rows_where_few_are_allowed(digits):
    X, y = digits
    train, test = (X[:1000], y[:1000]), (X[1000:], y[1000:])

    def mean_score(basis):
        clf = BESVMClassifier("rbf", basis=basis, C=1.0, probability=False)
        return np.mean([clone(clf).set_params(random_state=seed).fit(*train).score(*test) for seed in range(4)])

    assert mean_score(GradientBasis(30)) > mean_score(RandomBasis(30)) + 0.01


def test_diverse_rows_find_the_rare_clusters():
    rng = np.random.default_rng(0)
    cluster = np.repeat(np.arange(8), [400, 300, 200, 50, 4, 3, 2, 1])
    X = 10.0 * rng.normal(size=(8, 4))[cluster] + 0.1 * rng.normal(size=(len(cluster), 4))
    for selector in (PivotedBasis(10, max_rows=10_000), FarthestBasis(10)):
        assert set(cluster[choose(selector, X, None, RBF(gamma=0.02))]) == set(range(8))


@pytest.mark.parametrize("Selector", SELECTORS)
def test_quotas_order_and_reproducibility(rng, Selector):
    X, y = rng.normal(size=(90, 3)), np.repeat([0, 1, 2], [50, 30, 10])
    rows = choose(Selector(per_class=6), X, y)
    assert np.bincount(y[rows]).tolist() == [6, 6, 6]
    assert (np.diff(rows) > 0).all()
    np.testing.assert_array_equal(rows, choose(Selector(per_class=6), X, y))
    assert any(not np.array_equal(rows, choose(Selector(per_class=6), X, y, seed=seed)) for seed in (1, 2, 3))
    assert len(choose(Selector(20, max_rows=40), X, y)) == 20
    np.testing.assert_array_equal(choose(Selector(90), X, y), np.arange(90))
    if Selector is not GradientBasis:
        assert np.bincount(y[choose(Selector(18), X, y)]).tolist() == [6, 6, 6]
        assert len(choose(Selector(18, balanced=False), X, y)) == 18
        assert len(choose(Selector(7), X, None)) == 7


@pytest.mark.parametrize("Selector", SELECTORS)
@pytest.mark.parametrize("kind", ["copies", "constant", "two rows", "indefinite", "negative", "zero"])
def test_odd_data(rng, Selector, kind):
    X = {"copies": np.repeat(rng.normal(size=(4, 2)), 6, axis=0), "constant": np.ones((24, 2))}.get(kind)
    X = rng.normal(size=(2 if kind == "two rows" else 24, 2)) if X is None else X
    similarity = {
        "indefinite": Sigmoid(gamma=3.0, coef0=-1.0),
        "negative": PairFunction(lambda a, b: -1.0 - float(a @ b)),
        "zero": PairFunction(lambda a, b: 0.0),
    }.get(kind, RBF(gamma=1.0))
    y = np.arange(len(X)) % 2
    for n in (1, len(X) // 2, len(X) - 1):
        rows = choose(Selector(n), X, y, similarity)
        assert len(set(rows)) == len(rows) == n


@settings(max_examples=40)
@given(st.sampled_from(SELECTORS), st.sampled_from(SIMILARITIES), st.integers(2, 30), st.data())
def test_as_many_different_rows_as_were_asked_for(Selector, similarity, n, data):
    seed = data.draw(st.integers(0, 1000))
    X = np.round(np.random.default_rng(seed).normal(size=(n, 2)), data.draw(st.integers(0, 3)))
    y = np.arange(n) % 2
    k = data.draw(st.integers(1, n))
    rows = choose(Selector(k, max_rows=data.draw(st.integers(2, 40))), X, y, similarity, seed)
    assert len(np.unique(rows)) == len(rows) == k
    assert rows.min() >= 0
    assert rows.max() < n


@pytest.mark.parametrize("Selector", SELECTORS)
def test_anything_that_can_be_compared(Selector):
    words = [a + b + c for a in "abc" for b in "uvw" for c in "xyz"]
    y = np.array([word[0] for word in words])

    def shared(a, b):
        return float(len(set(a) & set(b))) - 0.5 * (a < b)

    clf = BESVMClassifier(shared, basis=Selector(9), random_state=0, C=10).fit(words, y)
    assert clf.n_basis_ == 9
    assert clf.score(words, y) == 1.0


@pytest.mark.parametrize("Selector", SELECTORS)
def test_behind_features_the_rows_are_those_of_the_features(digits, Selector):
    X, y = digits[0][:300], digits[1][:300]
    scaler = MeanNormScaler()
    measure = Measure(RBF(gamma=1.0), features=scaler)
    behind = BESVMClassifier(measure, basis=Selector(25), random_state=0).fit(X, y)
    ahead = BESVMClassifier(RBF(gamma=1.0), basis=Selector(25), random_state=0).fit(scaler.fit_transform(X), y)
    np.testing.assert_array_equal(behind.basis_rows_[0], ahead.basis_rows_[0])


@pytest.mark.parametrize(
    ("basis", "y", "sentence"),
    [
        (GradientBasis(3), None, "GradientBasis needs class labels; pass y, or use PivotedBasis"),
        (GradientBasis(3), np.zeros(20), "needs rows of at least two classes, got only one class"),
        (GradientBasis(3, C=0), np.arange(20) % 2, "C must be a positive number, got 0"),
        (GradientBasis(3, n_rounds=0), np.arange(20) % 2, "n_rounds must be a whole number"),
        (PivotedBasis(3, max_rows=0), None, "max_rows must be a whole number"),
        (PivotedBasis(), None, "must have either n or per_class"),
    ],
)
def test_bad_parameters_are_explained(rng, basis, y, sentence):
    with pytest.raises(ValueError, match=sentence):
        choose(basis, rng.normal(size=(20, 2)), y)


@pytest.mark.parametrize("Selector", SELECTORS)
def test_a_broken_similarity_is_explained(rng, Selector):
    X, y = rng.normal(size=(20, 2)), np.arange(20) % 2
    with pytest.raises(ValueError, match="must be finite, got nan for the pair of training rows"):
        choose(Selector(4), X, y, PairFunction(lambda a, b: float("nan")))


@pytest.mark.parametrize(
    ("selector", "room"),
    [
        (KMedoidsBasis(30, max_rows=1500), 10_000_000),
        (PivotedBasis(400, max_rows=1500), 4_000_000),
        (FarthestBasis(400, max_rows=1500), 4_000_000),
        (GradientBasis(100, max_rows=1500), 6_000_000),
    ],
    ids=lambda value: type(value).__name__ if isinstance(value, BasisSelector) else "",
)
def test_choosing_keeps_to_the_room_there_is(selector, room, rng):
    """The matrices of a selector were counted by no plan: KMedoidsBasis may make 4,000 x 4,000 of them."""
    X, y = rng.normal(size=(3000, 6)), np.arange(3000) % 2

    def peak(room: float) -> int:
        tracemalloc.start()
        rows = choose_basis(selector, Candidates(X, y, RBF(gamma=0.5), None, room), np.random.default_rng(0)).rows
        _, most = tracemalloc.get_traced_memory()
        tracemalloc.stop()
        assert len(rows) == selector.n
        return most

    assert peak(room) <= room < peak(np.inf)
    with pytest.raises(
        MemoryError, match=r"rows by \w+Basis would need .*, but the memory limit is 2.0 kB; .* smaller basis"
    ):
        BESVMClassifier(RBF(gamma=0.5), basis=selector, memory_limit="2 kB").fit(X, y)
