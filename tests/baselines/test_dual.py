"""The dual BE-SVM against LIBSVM on the dense float64 Gram matrix of the features."""

import numpy as np
import pytest
from scipy.sparse import csr_matrix
from sklearn.base import clone
from sklearn.metrics.pairwise import rbf_kernel
from sklearn.model_selection import GridSearchCV
from sklearn.svm import SVC

from besvm import BESVMClassifier, Measure
from besvm.baselines import DualBESVMClassifier
from besvm.basis import IndexBasis
from besvm.datasets import make_toy
from besvm.similarities import RBF, Linear, Sigmoid


@pytest.fixture(scope="module")
def toy():
    return make_toy(150, noise=0.1, random_state=0)


@pytest.fixture(scope="module")
def three(problem_data):
    """Three classes of rows with labels that are not numbers, and the features of two RBF measures."""
    X, y = problem_data
    X, y = X[:180], np.array(["ash", "birch", "cedar"])[y[:180]]
    return X, y, np.hstack([rbf_kernel(X, gamma=gamma) for gamma in (0.01, 0.1)])


THREE = [RBF(gamma=0.01), RBF(gamma=0.1)]


def test_kernel_is_the_sum_over_measures_and_bases(toy):
    """Eq. besvm_mult_kernel, term by term."""
    X, y = toy[0][:30], toy[1][:30]
    clf = DualBESVMClassifier([RBF(gamma=10.0), Sigmoid(gamma=0.5, coef0=-1.0)], basis=[0, 7, 20]).fit(X, y)
    measures = (lambda b, x: np.exp(-10.0 * ((b - x) ** 2).sum()), lambda b, x: np.tanh(0.5 * (b @ x) - 1.0))
    naive = [[sum(s(b, p) * s(b, q) for s in measures for b in X[[0, 7, 20]]) for q in X] for p in X]
    np.testing.assert_allclose(clf.gram(X), naive, rtol=1e-6)


def test_two_classes_are_libsvm_on_the_gram_matrix(toy):
    X, y = toy
    S = rbf_kernel(X, gamma=10.0)
    clf = DualBESVMClassifier(RBF(gamma=10.0), C=10.0, tol=1e-6).fit(X, y)
    svc = SVC(kernel="precomputed", C=10.0, tol=1e-6).fit(S.T @ S, y)
    np.testing.assert_allclose(clf.decision_function(X), svc.decision_function(S.T @ S), atol=1e-4)
    np.testing.assert_array_equal(clf.predict(X), svc.predict(S.T @ S))
    np.testing.assert_array_equal(clf.support_, np.sort(svc.support_))
    np.testing.assert_array_equal(clf.n_support_, svc.n_support_)
    assert clf.pairs_ == [(0, 1)]


def test_dual_variables_keep_the_conditions_of_the_optimum(toy):
    X, y = toy
    C = 2.0
    clf = DualBESVMClassifier(RBF(gamma=10.0), C=C, tol=1e-8).fit(X, y)
    ((rows, support),) = clf.alphas_
    signed = np.zeros(len(X))
    signed[rows] = support
    sign = np.where(y == 1, 1, -1)
    beta = signed * sign
    np.testing.assert_array_equal(rows, clf.support_)
    assert beta[rows].min() > 0
    assert beta.max() <= C + 1e-9
    assert signed.sum() == pytest.approx(0, abs=1e-9)
    S = rbf_kernel(X, gamma=10.0)
    w = S @ signed
    np.testing.assert_allclose(clf.coef_[0], w, rtol=1e-8)
    assert clf.squared_norms_[0] == pytest.approx(w @ w)
    slack = np.maximum(0, 1 - sign * clf.decision_function(X))
    dual = beta.sum() - w @ w / 2
    assert w @ w / 2 + C * slack.sum() == pytest.approx(dual, rel=1e-5)  # no gap between primal and dual


def test_several_classes_are_svc_pair_by_pair(three):
    X, y, S = three
    clf = DualBESVMClassifier(THREE, tol=1e-6).fit(X, y)
    svc = SVC(kernel="precomputed", tol=1e-6).fit(S @ S.T, y)
    assert clf.pairs_ == [(0, 1), (0, 2), (1, 2)]
    np.testing.assert_array_equal(clf.predict(X), svc.predict(S @ S.T))
    np.testing.assert_allclose(clf.decision_function(X), svc.decision_function(S @ S.T), atol=1e-4)
    np.testing.assert_array_equal(clf.support_, np.sort(svc.support_))
    np.testing.assert_array_equal(clf.n_support_, svc.n_support_)
    for (a, b), (rows, signed), w, b0 in zip(clf.pairs_, clf.alphas_, clf.coef_, clf.intercept_, strict=True):
        assert set(y[rows]) == {clf.classes_[a], clf.classes_[b]}
        np.testing.assert_array_equal(signed > 0, y[rows] == clf.classes_[b])
        np.testing.assert_allclose(w, signed @ S[rows], rtol=1e-6, atol=1e-9)
        rows = np.flatnonzero(np.isin(y, clf.classes_[[a, b]]))
        pair = SVC(kernel="precomputed", tol=1e-6).fit((S @ S.T)[np.ix_(rows, rows)], y[rows])
        np.testing.assert_allclose(S @ w + b0, pair.decision_function((S @ S.T)[:, rows]), atol=1e-4)


def test_weights_are_those_of_svc(three):
    X, y, S = three
    own = {"ash": 0.3, "birch": 2.0, "cedar": 1.0}
    rows = np.random.default_rng(0).uniform(0.5, 2.0, len(X))
    clf = DualBESVMClassifier(THREE, class_weight=own, tol=1e-6).fit(X, y, sample_weight=rows)
    svc = SVC(kernel="precomputed", class_weight=own, tol=1e-6).fit(S @ S.T, y, sample_weight=rows)
    np.testing.assert_allclose(clf.decision_function(X), svc.decision_function(S @ S.T), atol=1e-4)


def test_class_without_weight_is_never_predicted(three):
    X, y, _ = three
    clf = DualBESVMClassifier(THREE).fit(X, y, sample_weight=(y != "birch").astype(float))
    assert clf.pairs_ == [(0, 2)]
    assert set(clf.predict(X)) == {"ash", "cedar"}
    assert clf.decision_function(X).shape == (len(X), 3)
    assert clf.n_support_[1] == 0


@pytest.mark.parametrize("normalize", ["mean-norm", "z-score"])
def test_normalization_is_that_of_besvm(three, normalize):
    X, y, _ = three
    shared = {"basis": IndexBasis(per_class=10), "normalize": normalize}
    ours = DualBESVMClassifier(THREE, **shared).fit(X, y)
    primal = BESVMClassifier(THREE, **shared).fit(X, y)
    features = primal._map(X)
    np.testing.assert_allclose(ours.gram(X), features @ features.T, rtol=1e-6, atol=1e-9)
    assert ours.n_basis_ == primal.n_basis_ == 30


def test_many_rows_in_float32_agree_with_float64(digits):
    X, y = digits[0][:600] / 16, digits[1][:600]
    clf = DualBESVMClassifier(RBF(gamma=0.1), tol=1e-4).fit(X, y)
    assert clf._map.expander.dtype == np.float32
    S = rbf_kernel(X, gamma=0.1)
    np.testing.assert_allclose(clf.gram(X), S @ S, rtol=1e-5)
    svc = SVC(kernel="precomputed", tol=1e-4).fit(S @ S, y)
    T = rbf_kernel(digits[0][600:900] / 16, X, gamma=0.1)
    assert (clf.predict(digits[0][600:900] / 16) == svc.predict(T @ S)).mean() > 0.995


def test_anything_that_can_be_compared():
    words = ["cat", "cart", "carts", "dog", "dogs", "dig"]
    clf = DualBESVMClassifier(lambda a, b: len(set(a) & set(b))).fit(words, ["c", "c", "c", "d", "d", "d"])
    np.testing.assert_array_equal(clf.predict(["cats", "digs"]), ["c", "d"])
    assert clf.gram(words[:2]).tolist() == [[9 + 9 + 9, 9 + 12 + 12], [9 + 12 + 12, 9 + 16 + 16]]


def test_sparse_rows_precomputed_and_search(three):
    X, y, _ = three
    dense = DualBESVMClassifier(Linear(), basis=[0, 50, 100]).fit(X, y)
    sparse = DualBESVMClassifier(Linear(), basis=[0, 50, 100]).fit(csr_matrix(X), y)
    np.testing.assert_allclose(sparse.coef_, dense.coef_, rtol=1e-5)
    K = rbf_kernel(X, gamma=0.05)
    given = DualBESVMClassifier("precomputed").fit(K, y)
    np.testing.assert_array_equal(given.predict(K), DualBESVMClassifier(RBF(gamma=0.05)).fit(X, y).predict(X))
    search = GridSearchCV(DualBESVMClassifier("precomputed"), {"C": [0.1, 1.0]}, cv=2).fit(K, y)
    assert search.best_score_ > 0.5
    grid = GridSearchCV(DualBESVMClassifier(RBF()), {"measures__gamma": [0.001, 0.05]}, cv=2).fit(X, y)
    assert clone(grid.best_estimator_).get_params()["measures__gamma"] in (0.001, 0.05)


def test_features_before_the_similarity(toy):
    from sklearn.preprocessing import StandardScaler

    X, y = toy
    clf = DualBESVMClassifier(Measure(Linear(), features=StandardScaler()), basis=[1, 2]).fit(X, y)
    Z = StandardScaler().fit_transform(X)
    np.testing.assert_allclose(clf.gram(X), Z @ Z[[1, 2]].T @ Z[[1, 2]] @ Z.T, rtol=1e-5, atol=1e-9)


def test_memory_is_said_or_refused(toy, capsys):
    X, y = toy
    DualBESVMClassifier(verbose=1).fit(X, y)
    assert "the 150 x 150 matrix of the largest pair of classes 180 kB" in capsys.readouterr().err
    with pytest.raises(
        MemoryError, match=r"150 x 150 matrix .* would need 630 kB, but the memory limit is 100 kB; raise memory_limit"
    ):
        DualBESVMClassifier(memory_limit="100 kB").fit(X, y)


@pytest.mark.parametrize(
    ("options", "says"),
    [
        ({"C": 0}, "C must be a positive number, got 0"),
        ({"tol": -1}, "tol must be a positive number, got -1"),
        ({"normalize": "l2"}, "normalize must be .* got 'l2'"),
        ({"basis": "every"}, "basis must be .* got 'every'"),
        ({"memory_limit": "much"}, "memory_limit must be .* got 'much'"),
    ],
)
def test_bad_parameters(toy, options, says):
    with pytest.raises(ValueError, match=says):
        DualBESVMClassifier(**options).fit(*toy)
