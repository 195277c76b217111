"""The line search for a mixture of two kernels, against the same search done by hand with SVC."""

import numpy as np
import pytest
from sklearn.metrics.pairwise import rbf_kernel
from sklearn.model_selection import StratifiedKFold
from sklearn.svm import SVC

from besvm import Measure
from besvm.baselines import LineSearchMKL
from besvm.baselines.mkl import _best, _symmetrize
from besvm.similarities import RBF, Linear, Sigmoid


class First:
    """A transformer that keeps some columns."""

    def __init__(self, start=0, stop=None):
        self.start, self.stop = start, stop

    def get_params(self, deep=True):
        return {"start": self.start, "stop": self.stop}

    def fit(self, X, y=None):
        return self

    def transform(self, X):
        return X[:, self.start : self.stop]


@pytest.fixture(scope="module")
def two_views():
    """Three classes, half of the truth in each view."""
    rng = np.random.default_rng(1)
    y = np.arange(150) % 3
    X = rng.normal(size=(150, 6))
    X[:, 0] += 2 * (y == 1)
    X[:, 3] += 2 * (y == 2)
    measures = [
        Measure(RBF(gamma=0.3), features=First(0, 3), name="left"),
        Measure(RBF(gamma=0.3), features=First(3, 6), name="right"),
    ]
    return X, y, measures


def test_accuracies_and_choice_equal_those_of_a_search_by_hand(two_views):
    X, y, measures = two_views
    folds = list(StratifiedKFold(4, shuffle=True, random_state=3).split(X, y))
    mkl = LineSearchMKL(measures, alphas=(0, 0.25, 0.5, 1), cv=folds, C=2.0).fit(X, y)
    K1, K2 = rbf_kernel(X[:, :3], X[:, :3], 0.3), rbf_kernel(X[:, 3:], X[:, 3:], 0.3)
    expected = np.empty((4, 4))
    for i, alpha in enumerate((0, 0.25, 0.5, 1)):
        K = alpha * K1 + (1 - alpha) * K2
        for j, (train, test) in enumerate(folds):
            svc = SVC(kernel="precomputed", C=2.0).fit(K[np.ix_(train, train)], y[train])
            expected[i, j] = svc.score(K[np.ix_(test, train)], y[test])
    assert mkl.cv_accuracy_ == pytest.approx(expected, abs=1 / 36)  # one sample, at most, on the boundary
    assert np.abs(mkl.cv_accuracy_ - expected).max(axis=1).min() == pytest.approx(0)
    assert mkl.alpha_ in (0.25, 0.5)
    best = mkl.alpha_ * K1 + (1 - mkl.alpha_) * K2
    svc = SVC(kernel="precomputed", C=2.0).fit(best, y)
    assert mkl.decision_function(X) == pytest.approx(svc.decision_function(best), abs=5e-3)
    assert mkl.model_.gram(X) == pytest.approx(best)


def test_both_views_beat_either(two_views):
    X, y, measures = two_views
    mkl = LineSearchMKL(measures, random_state=0).fit(X, y)
    mean = mkl.cv_accuracy_.mean(axis=1)
    assert mkl.cv_accuracy_.shape == (11, 5)
    assert mean.max() > max(mean[0], mean[-1]) + 0.05
    assert 0 < mkl.alpha_ < 1
    assert mkl.predict(X).tolist() == mkl.model_.predict(X).tolist()
    again = LineSearchMKL(measures, random_state=0, n_jobs=2).fit(X, y)
    assert np.array_equal(again.cv_accuracy_, mkl.cv_accuracy_)


@pytest.mark.parametrize(
    ("accuracy", "chosen"), [([0.9, 0.9, 0.9, 0.9, 0.9], 0.5), ([0.9, 0.8, 0.7, 0.8, 0.9], 0.0), ([1, 2, 3, 4, 5], 1)]
)
def test_ties_go_to_the_middle(accuracy, chosen):
    assert _best([0.0, 0.25, 0.5, 0.75, 1.0], np.array(accuracy)) == chosen


@pytest.mark.parametrize("n", [1, 7, 1024, 1500])
def test_symmetrize(rng, n):
    K = rng.normal(size=(n, n)).astype(np.float32)
    expected = (K + K.T) / 2
    _symmetrize(K)
    assert np.array_equal(K, expected)


def test_indefinite_measure_is_refused_or_fixed(two_views):
    X, y, _ = two_views
    measures = [Sigmoid(gamma=0.5), Linear()]
    with pytest.raises(ValueError, match="'sigmoid' must be positive semi-definite"):
        LineSearchMKL(measures, alphas=(1.0,), cv=2).fit(X, y)
    assert LineSearchMKL(measures, alphas=(0.5, 1.0), cv=2, spectrum="clip").fit(X, y).score(X, y) > 0.5


def test_too_many_rows_are_refused_with_the_figure():
    X, y = np.zeros((30_000, 1), dtype=np.float32), np.arange(30_000) % 2
    with pytest.raises(MemoryError, match=r"within 2.0 GB, but the two 30,000 x 30,000 matrices need 7.2 GB"):
        LineSearchMKL(memory_limit="2 GB").fit(X, y)


@pytest.mark.parametrize("by_class", [False, True])
def test_weights_are_those_of_a_search_by_hand(two_views, by_class):
    X, y, measures = two_views
    row_weight = np.random.default_rng(0).choice([0.0, 0.5, 1.0, 3.0], len(y))
    class_weight = {0: 1.0, 1: 0.2, 2: 4.0} if by_class else None
    weights = row_weight * np.array([class_weight[label] if by_class else 1.0 for label in y])
    folds = [(np.flatnonzero(part != k), np.flatnonzero(part == k)) for part in [np.arange(150) % 4] for k in range(4)]
    params = {"alphas": (0.25, 0.5), "cv": folds, "C": 2.0, "tol": 1e-6, "class_weight": class_weight}
    mkl = LineSearchMKL(measures, **params).fit(X, y, sample_weight=row_weight)
    K1, K2 = rbf_kernel(X[:, :3], X[:, :3], 0.3), rbf_kernel(X[:, 3:], X[:, 3:], 0.3)
    for i, alpha in enumerate((0.25, 0.5)):
        K = alpha * K1 + (1 - alpha) * K2
        for j, (train, test) in enumerate(folds):
            train = train[weights[train] > 0]
            svc = SVC(kernel="precomputed", C=2.0, tol=1e-6).fit(K[np.ix_(train, train)], y[train], weights[train])
            expected = svc.score(K[np.ix_(test, train)], y[test], sample_weight=row_weight[test])
            assert mkl.cv_accuracy_[i, j] == pytest.approx(expected, abs=1e-9)
    best = mkl.alpha_ * K1 + (1 - mkl.alpha_) * K2
    used = weights > 0
    svc = SVC(kernel="precomputed", C=2.0, tol=1e-6).fit(best[np.ix_(used, used)], y[used], weights[used])
    assert mkl.decision_function(X) == pytest.approx(svc.decision_function(best[:, used]), abs=1e-3)


def test_rows_without_weight_are_in_no_fold(two_views):
    X, y, measures = two_views
    used = y != 1
    searches = [
        LineSearchMKL(measures, alphas=(0.5,), random_state=0).fit(X, y, sample_weight=used.astype(float)),
        LineSearchMKL(measures, alphas=(0.5,), random_state=0).fit(X[used], y[used]),
    ]
    assert np.array_equal(searches[0].cv_accuracy_, searches[1].cv_accuracy_)
    rows = np.arange(150)
    folds = [(rows[y != 1].tolist(), rows[y == 1].tolist()), (rows[::2].tolist(), rows[1::2].tolist())]
    with pytest.raises(
        ValueError,
        match="every fold of cv must have at least one row with a weight above 0 to train on, and one to test on",
    ):
        LineSearchMKL(measures, cv=folds).fit(X, y, sample_weight=used.astype(float))


@pytest.mark.parametrize(
    ("limit", "spectrum", "n_classes", "says"),
    [
        (
            "19 MB",
            None,
            10,
            "the two 1,500 x 1,500 matrices already take 18 MB of memory, and training must stay within 19 MB, ",
        ),
        ("130 MB", "clip", 2, "^training must stay within 130 MB"),  # the folds would fit, all rows would not
    ],
)
def test_what_will_not_fit_is_refused_before_it_is_computed(limit, spectrum, n_classes, says):
    called = []

    class Counted(Linear):
        psd = False

        def __call__(self, A, B):
            called.append(len(A))
            return super().__call__(A, B)

    X, y = np.random.default_rng(0).normal(size=(1500, 3)), np.arange(1500) % n_classes
    with pytest.raises(MemoryError, match=says):
        LineSearchMKL([Counted(), "rbf"], spectrum=spectrum, memory_limit=limit, n_jobs=1).fit(X, y)
    assert not called


@pytest.mark.parametrize(
    ("params", "says"),
    [
        ({"measures": ["rbf"]}, "LineSearchMKL needs exactly two measures, got 1"),
        ({"alphas": [0.5, 1.2]}, r"alphas must be numbers between 0 and 1, at least one, got \[0.5, 1.2\]"),
        ({"alphas": []}, "alphas must be"),
        ({"alphas": 0.5}, "alphas must be"),
        ({"spectrum": "none"}, "spectrum must be"),
        ({"tol": 0}, "tol must be a positive number, got 0"),
        ({"class_weight": {0: -1.0, 1: 1.0, 2: 1.0}}, "class_weight must be a finite number of at least 0"),
    ],
)
def test_bad_parameters(two_views, params, says):
    X, y, measures = two_views
    with pytest.raises(ValueError, match=says):
        LineSearchMKL(**{"measures": measures, **params}).fit(X, y)
