"""The kernel SVM against SVC itself, and against dense float64 algebra."""

import pickle

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from sklearn.base import clone
from sklearn.metrics.pairwise import rbf_kernel
from sklearn.model_selection import GridSearchCV, cross_val_score
from sklearn.preprocessing import FunctionTransformer, StandardScaler
from sklearn.svm import SVC

from besvm import Measure
from besvm._support.threads import workers
from besvm.baselines import KernelSVMClassifier
from besvm.blocks.plan import plan_pairs
from besvm.normalize.spectrum import SPECTRA, made_psd
from besvm.similarities import RBF, Linear, Sigmoid, Similarity

TIGHT = 1e-7  # a tolerance at which two runs of the solver agree


class Skewed(Similarity):
    """Asymmetric and indefinite: the exemplar's first number counts twice."""

    vectors = True

    def __call__(self, A, B):
        B = np.asarray(B) * np.r_[2.0, np.ones(np.shape(B)[1] - 1)]
        return np.tanh(np.asarray(A) @ B.T)


class Warned(Similarity):
    """The RBF kernel that does not declare itself definite."""

    symmetric = True
    vectors = True

    def __call__(self, A, B):
        return rbf_kernel(A, B, 0.03)


@pytest.fixture(scope="module")
def three(problem_data):
    X, y = problem_data
    X = X - X.mean()
    return X[:180], y[:180], X[180:260]


def same_as_svc(ours, svc, X):
    """Two solutions at a small tolerance: the same rows, coefficients, decisions and classes."""
    assert ours.support_.tolist() == sorted(svc.support_)
    assert ours.n_support_.tolist() == svc.n_support_.tolist()
    assert ours.decision_function(X) == pytest.approx(svc.decision_function(X), abs=1e-4)
    assert ours.predict(X).tolist() == svc.predict(X).tolist()
    sign = 1 if len(svc.classes_) == 2 else -1  # SVC changes sides between two classes and more
    assert ours.intercept_ == pytest.approx(sign * svc.intercept_, abs=1e-4)


# --- the same machine as SVC ---


@pytest.mark.parametrize("n_classes", [2, 3])
@pytest.mark.parametrize("measure", [RBF(gamma=0.03), Warned()], ids=["declared", "found definite"])
def test_equals_svc(three, n_classes, measure):
    X, y, X_test = three
    X, y = X[y < n_classes], y[y < n_classes]
    ours = KernelSVMClassifier(measure, C=2.0, tol=TIGHT).fit(X, y)
    same_as_svc(ours, SVC(C=2.0, gamma=0.03, tol=TIGHT).fit(X, y), X_test)


@pytest.mark.parametrize("dtype", [np.float32, np.float64])
def test_equals_svc_on_many_rows(digits, dtype):
    """Beyond 512 rows the tiles are float32."""
    X, y = digits[0] / 16, digits[1]
    ours = KernelSVMClassifier(RBF(gamma=0.1), C=2.0).fit(X[:900].astype(dtype), y[:900])
    svc = SVC(C=2.0, gamma=0.1, decision_function_shape="ovo").fit(X[:900], y[:900])
    assert ours._gram.dtype == np.float32
    # of pairs, not of votes: a vote jumps where a decision within tol of zero has another sign
    assert np.abs(ours.pair_decision(X[900:]) + svc.decision_function(X[900:])).max() < 0.02  # both within tol
    assert (ours.predict(X[900:]) == svc.predict(X[900:])).mean() > 0.998
    assert abs(len(ours.support_) - len(svc.support_)) <= 2


def test_equals_svc_on_strings():
    words = ["cat", "cart", "carts", "scar", "dog", "dogs", "dig", "god", "moo", "moon", "mono", "noon"]
    y = np.repeat(["c", "d", "m"], 4)

    def shared_letters(a, b):
        return float(len(set(a) & set(b)))

    K = np.array([[shared_letters(a, b) for a in words] for b in words])
    ours = KernelSVMClassifier(shared_letters, tol=TIGHT, n_jobs=1).fit(words, y)
    svc = SVC(kernel="precomputed", tol=TIGHT).fit(K, y)
    assert -ours.pair_decision(words) == pytest.approx(  # SVC's pairs, unlike its two classes, are for the first
        SVC(kernel="precomputed", tol=TIGHT, decision_function_shape="ovo").fit(K, y).decision_function(K), abs=1e-4
    )
    assert ours.predict(words).tolist() == svc.predict(K).tolist()
    assert ours.predict(["carp", "dogged"]).tolist() == ["c", "d"]


def test_equals_svc_on_precomputed(three):
    X, y, X_test = three
    K, K_test = rbf_kernel(X, X, 0.03), rbf_kernel(X_test, X, 0.03)
    ours = KernelSVMClassifier("precomputed", C=3.0, tol=TIGHT).fit(K, y)
    svc = SVC(kernel="precomputed", C=3.0, tol=TIGHT).fit(K, y)
    assert ours.decision_function(K_test) == pytest.approx(svc.decision_function(K_test), abs=1e-4)
    assert ours.gram(K) == pytest.approx(K)
    assert len(pickle.dumps(ours)) < K.nbytes / 4  # the columns' numbers are kept, not the similarities
    assert cross_val_score(ours, K, y, cv=3) == pytest.approx(
        cross_val_score(SVC(kernel="precomputed", C=3.0, tol=TIGHT), K, y, cv=3)
    )


@pytest.mark.parametrize("class_weight", [None, "balanced", {0: 3.0, 1: 0.5, 2: 1.0}])
def test_weights_as_in_svc(three, rng, class_weight):
    X, y, X_test = three
    sample_weight = rng.uniform(0.2, 2.0, len(X))
    sample_weight[::7] = 0
    kept = sample_weight > 0
    ours = KernelSVMClassifier(RBF(gamma=0.03), tol=TIGHT, class_weight=class_weight).fit(X, y, sample_weight)
    svc = SVC(gamma=0.03, tol=TIGHT, class_weight=class_weight)
    svc.fit(X, y, sample_weight)
    assert ours.decision_function(X_test) == pytest.approx(svc.decision_function(X_test), abs=1e-4)
    assert kept[ours.support_].all()


def test_ties_of_votes_fall_as_in_svc(rng):
    """Many classes and noise: ties are common, and ours must fall on the same side."""
    X, y = rng.normal(size=(200, 3)), rng.integers(0, 8, 200)
    X_test = rng.normal(size=(500, 3))
    ours = KernelSVMClassifier(RBF(gamma=0.5), tol=TIGHT).fit(X, y)
    decisions = ours.pair_decision(X_test)
    votes = np.stack(
        [
            sum((decisions[:, p] < 0) == (c == a) for p, (a, b) in enumerate(ours.pairs_) if c in (a, b))
            for c in range(8)
        ]
    )
    assert ((votes == votes.max(axis=0)).sum(axis=0) > 1).sum() > 10
    assert ours.predict(X_test).tolist() == SVC(gamma=0.5, tol=TIGHT).fit(X, y).predict(X_test).tolist()


# --- what is learned ---


@pytest.mark.parametrize("spectrum", ["shift", "ignore", "clip", "flip", "square"])
def test_attributes_fit_together(three, spectrum):
    X, y, X_test = three
    model = KernelSVMClassifier(Sigmoid(gamma=0.05), C=1.5, spectrum=spectrum, tol=TIGHT).fit(X, y)
    K_test = np.tanh(0.05 * X_test @ X.T)
    assert model.dual_coef_.shape == (len(model.exemplar_rows_), 3)
    by_hand = K_test[:, model.exemplar_rows_] @ model.dual_coef_ + model.intercept_
    assert model.pair_decision(X_test) == pytest.approx(by_hand, abs=1e-9)
    assert model.gram(X) == pytest.approx(np.tanh(0.05 * X @ X.T))
    for (a, b), (rows, signed) in zip(model.pairs_, model.alphas_, strict=True):
        assert ((signed > 0) == (y[rows] == b)).all()
        assert set(y[rows]) == {a, b}
        assert np.abs(signed).max() <= 1.5 + 1e-9
        assert signed.sum() == pytest.approx(0, abs=1e-9)
        assert set(rows) <= set(model.support_)
    compares = set(model.exemplar_rows_)
    assert compares == set(model.support_) if spectrum in ("shift", "ignore") else len(compares) == len(X)


@pytest.mark.parametrize("spectrum", SPECTRA)
@pytest.mark.parametrize("measure", [Sigmoid(gamma=0.05), Skewed()], ids=["symmetric", "asymmetric"])
def test_spectrum_fixes_against_dense_algebra(three, spectrum, measure):
    X, y, X_test = three
    X, y = X[y < 2][:70], y[y < 2][:70]
    model = KernelSVMClassifier(measure, spectrum=spectrum, tol=TIGHT).fit(X, y)
    settled = clone(measure).fit(X)
    K = (settled(X, X) + settled(X, X).T) / 2
    K_test = (settled(X_test, X) + settled(X, X_test).T) / 2
    fixed, carry = made_psd(K, spectrum)
    svc = SVC(kernel="precomputed", tol=TIGHT).fit(fixed, y)
    seen = K_test if carry is None else K_test @ carry
    scale = np.abs(svc.decision_function(seen)).max()
    assert model.decision_function(X_test) / scale == pytest.approx(svc.decision_function(seen) / scale, abs=1e-4)
    coef = svc.dual_coef_[0]
    norm = coef @ fixed[np.ix_(svc.support_, svc.support_)] @ coef
    assert model.squared_norms_ == pytest.approx([norm], rel=1e-4)


@given(seed=st.integers(0, 10_000), n_classes=st.integers(2, 5), n_measures=st.integers(1, 3))
@settings(max_examples=15)
def test_sum_of_measures(seed, n_classes, n_measures):
    rng = np.random.default_rng(seed)
    X, y = rng.normal(size=(40, 4)), np.arange(40) % n_classes
    gammas, weights = rng.uniform(0.05, 2, n_measures), rng.uniform(0.1, 3, n_measures)
    model = KernelSVMClassifier([RBF(gamma=g) for g in gammas], weights=weights, tol=TIGHT).fit(X, y)
    K = sum(w * rbf_kernel(X, X, g) for w, g in zip(weights, gammas, strict=True))
    assert model.gram(X) == pytest.approx(K)
    svc = SVC(kernel="precomputed", tol=TIGHT).fit(K, y)
    assert model.decision_function(X) == pytest.approx(svc.decision_function(K), abs=1e-4)


def test_measures_weigh_the_same_by_default_and_zero_leaves_one_out(three):
    X, y, X_test = three
    pair = [RBF(gamma=0.03), Measure(Linear(), features=StandardScaler())]
    Z = (X - X.mean(axis=0)) / X.std(axis=0)
    model = KernelSVMClassifier(pair).fit(X, y)
    assert model.gram(X) == pytest.approx((rbf_kernel(X, X, 0.03) + Z @ Z.T) / 2)
    alone = KernelSVMClassifier(pair, weights=(1, 0)).fit(X, y)
    assert len(alone._gram.parts) == 1
    assert np.array_equal(alone.pair_decision(X_test), KernelSVMClassifier(pair[0]).fit(X, y).pair_decision(X_test))


def test_a_class_without_weight_never_wins(three):
    X, y, X_test = three
    model = KernelSVMClassifier(RBF(gamma=0.03)).fit(X, y, sample_weight=(y != 1).astype(float))
    without = SVC(gamma=0.03).fit(X[y != 1], y[y != 1])
    assert model.n_support_[1] == 0
    assert model.predict(X_test).tolist() == without.predict(X_test).tolist()


def test_threads_memory_and_pickling_change_nothing(digits):
    X, y = digits[0][:600] / 16, digits[1][:600]
    expected = KernelSVMClassifier(RBF(gamma=0.1), n_jobs=1).fit(X, y)
    sizes = np.bincount(y).tolist()
    with workers(1):
        held = 3 * 4 * X.size
        tight = plan_pairs(sizes, 4, None, True, 10**9, held).need - 1
        assert not plan_pairs(sizes, 4, None, True, tight, held).keep
    frugal = KernelSVMClassifier(RBF(gamma=0.1), memory_limit=tight, n_jobs=2).fit(X, y)
    threaded = KernelSVMClassifier(RBF(gamma=0.1), n_jobs=3).fit(X, y)
    for other in (frugal, threaded, pickle.loads(pickle.dumps(threaded))):
        assert np.array_equal(other.pair_decision(X), expected.pair_decision(X))


def test_a_grid_search_scores_as_that_over_svc_does(three):
    X, y, _ = three
    grid = {"C": [1.0, 10.0], "gamma": [0.003, 0.03]}
    expected = GridSearchCV(SVC(), grid, cv=2).fit(X, y)
    ours = {"C": grid["C"], "measures__gamma": grid["gamma"]}
    search = GridSearchCV(KernelSVMClassifier(RBF()), ours, cv=2).fit(X, y)
    scores = expected.cv_results_["mean_test_score"]
    assert search.cv_results_["mean_test_score"] == pytest.approx(scores, abs=1.5 / len(y))
    assert len(set(scores)) == 4
    assert search.best_estimator_.measures.gamma == expected.best_params_["gamma"]


# --- what is refused ---


def test_indefinite_is_refused_with_the_eigenvalue(three):
    X, y, _ = three
    with pytest.raises(ValueError, match=r"'sigmoid' must be positive.*classes 0 and 1 .* eigenvalue is -\d.*'clip'"):
        KernelSVMClassifier(Sigmoid(gamma=0.05)).fit(X, y)


def test_too_large_is_refused_with_the_figure_before_anything_is_computed():
    class Never(Similarity):
        vectors = True

        def __call__(self, A, B):
            raise AssertionError("computed all the same")

    X, y = np.zeros((40_000, 1), dtype=np.float32), np.arange(40_000) % 4
    with pytest.raises(MemoryError, match=r"within 1.0 GB.* 20,000 rows, needs 8.5 GB \(its matrix alone 3.2 GB\)"):
        KernelSVMClassifier(Never(), memory_limit="1 GB").fit(X, y)


def test_features_that_are_too_large_are_refused_before_they_are_computed():
    """They were described first, and counted then."""

    def widened(X):
        assert len(X) < 500, "computed all the same"
        return np.repeat(X, 2000, axis=1)

    X, y = np.random.default_rng(0).normal(size=(500, 10)), np.arange(500) % 4
    with pytest.raises(
        MemoryError, match=r"the features of 500 rows would need 240 MB, but the memory limit is 100 MB"
    ):
        KernelSVMClassifier(Measure(RBF(0.1), features=FunctionTransformer(widened)), memory_limit="100 MB").fit(X, y)


def test_the_plan_is_told(three, capsys):
    X, y, _ = three
    KernelSVMClassifier(verbose=1, n_jobs=1).fit(X, y)
    assert "the largest pair's matrix takes 1" in capsys.readouterr().err


@pytest.mark.parametrize(
    ("params", "says"),
    [
        ({"spectrum": "chop"}, "spectrum must be None, 'clip', .*, got 'chop'"),
        ({"C": 0}, "C must be a positive number, got 0"),
        ({"tol": -1}, "tol must be a positive number"),
        ({"weights": [1, 2]}, r"weights must be 1 finite numbers of at least 0.*, got \[1, 2\]"),
        ({"weights": [0.0]}, "not all 0"),
        ({"weights": "half"}, "weights must be"),
        ({"measures": ["rbf", "linear"], "weights": [1, -1]}, "weights must be 2 finite numbers"),
    ],
)
def test_bad_parameters(three, params, says):
    X, y, _ = three
    with pytest.raises(ValueError, match=says):
        KernelSVMClassifier(**params).fit(X, y)


@pytest.mark.parametrize(
    ("K", "says"),
    [
        (np.ones((4, 3)), r"must be square \(4 x 4\) to train a kernel SVM, got 4 x 3"),
        (np.triu(np.ones((4, 4))), "must be symmetric for a kernel SVM, got .* average both directions"),
    ],
)
def test_bad_precomputed(K, says):
    with pytest.raises(ValueError, match=says):
        KernelSVMClassifier("precomputed").fit(K, [0, 0, 1, 1])


def test_a_bad_number_names_the_pair_of_rows(three):
    X = three[0]

    def spoilt(a, b):
        return np.nan if a[0] == X[7, 0] and b[0] == X[3, 0] else 1.0

    with pytest.raises(ValueError, match=r"must be finite, got nan .* \(training row 7\) and sample 3"):
        KernelSVMClassifier(spoilt, n_jobs=1).fit(list(X[:12]), np.arange(12) % 2)
