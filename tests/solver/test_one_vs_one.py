"""One-vs-one BE-SVM, in both readings of the paper, against a classifier trained pair by pair."""

import numpy as np
import pytest
from numpy.testing import assert_allclose
from sklearn.multiclass import OneVsOneClassifier
from threadpoolctl import threadpool_limits

from besvm import BasisExpansion, BESVMClassifier, LinearSVMClassifier, Nystrom
from besvm._support.threads import _libraries
from besvm.basis import Exemplars
from besvm.blocks import ComputedBlocks, MemoryBlocks
from besvm.similarities import RBF
from besvm.solver.newton import solve
from besvm.solver.one_vs_one import gather
from besvm.solver.training import SOLVERS
from besvm.solver.votes import class_pairs, class_scores


@pytest.fixture
def four_classes(digits):
    X, y = digits
    rows = np.flatnonzero(y < 4)
    return X[rows] / 16, np.array(list("abcd"))[y[rows]]


OPTIONS = {"basis": 60, "C": 2.0, "tol": 1e-6, "random_state": 0}


@pytest.mark.parametrize("own", [False, True])
def test_every_pair_is_a_problem_of_its_own(four_classes, own):
    X, y = four_classes
    clf = BESVMClassifier("rbf", multi_class="ovo-pair-basis" if own else "ovo", probability=False, **OPTIONS).fit(X, y)
    rows = clf.basis_rows_[0]
    features = BasisExpansion("rbf", basis=rows).fit_transform(X).astype(np.float64)
    margins = clf._margins(X)
    assert clf.coef_.shape == (6, 60)
    for k, (a, b) in enumerate(class_pairs(4)):
        two = np.isin(y, clf.classes_[[a, b]])
        columns = np.isin(y[rows], clf.classes_[[a, b]]) if own else np.full(60, True)
        alone = LinearSVMClassifier(C=2.0, tol=1e-6).fit(features[two][:, columns], y[two])
        assert_allclose(margins[:, k], alone.decision_function(features[:, columns]), atol=1e-3)
        assert not clf.coef_[k, ~columns].any()


def test_scores_are_scikit_learns(four_classes):
    X, y = four_classes
    clf = BESVMClassifier("rbf", multi_class="ovo", probability=False, **OPTIONS).fit(X, y)
    features = BasisExpansion("rbf", basis=clf.basis_rows_[0]).fit_transform(X).astype(np.float64)
    theirs = OneVsOneClassifier(LinearSVMClassifier(C=2.0, tol=1e-6)).fit(features, y)
    assert_allclose(clf.decision_function(X), theirs.decision_function(features), atol=1e-3)
    assert np.array_equal(clf.predict(X), theirs.predict(features))


def test_votes_come_before_margins():
    margins = np.array([[0.1, 0.1, -9.0], [-0.1, 0.2, 0.3]])  # pairs (0,1), (0,2), (1,2)
    scores = class_scores(margins, class_pairs(3), 3)
    assert scores[0].argmax() == 1
    assert scores[1].argmax() == 2
    assert np.array_equal(np.rint(scores), [[0, 2, 1], [1, 0, 2]])


def test_circle_of_votes_is_decided_by_margins():
    assert class_scores(np.array([[5.0, -1.0, 1.0]]), class_pairs(3), 3).argmax() == 1  # a vote each


@pytest.mark.parametrize("multi_class", ["ovo", "ovo-pair-basis"])
def test_probabilities_follow_the_scores(four_classes, multi_class):
    X, y = four_classes
    rng = np.random.default_rng(0)
    noisy = X + rng.normal(scale=0.6, size=X.shape)
    clf = BESVMClassifier("rbf", multi_class=multi_class, **OPTIONS).fit(noisy[::2], y[::2])
    chance = clf.predict_proba(noisy[1::2])
    assert np.array_equal(clf.classes_[chance.argmax(axis=1)], clf.predict(noisy[1::2]))
    right = clf.predict(noisy[1::2]) == y[1::2]
    assert abs(chance.max(axis=1).mean() - right.mean()) < 0.1


@pytest.mark.parametrize("multi_class", ["ovo", "ovo-pair-basis"])
@pytest.mark.parametrize("storage", ["disk", "recompute"])
def test_storages_agree(four_classes, multi_class, storage):
    X, y = four_classes
    X = X.astype(np.float32)
    inside = BESVMClassifier("rbf", multi_class=multi_class, storage="memory", **OPTIONS).fit(X, y)
    other = BESVMClassifier("rbf", multi_class=multi_class, storage=storage, **OPTIONS).fit(X, y)
    assert_allclose(other.decision_function(X), inside.decision_function(X), atol=1e-3)


@pytest.mark.parametrize("multi_class", ["ovo", "ovo-pair-basis"])
def test_two_classes_are_one_problem_either_way(four_classes, multi_class):
    X, y = four_classes
    two = np.isin(y, ["a", "b"])
    clf = BESVMClassifier("rbf", multi_class=multi_class, **OPTIONS).fit(X[two], y[two])
    plain = BESVMClassifier("rbf", **OPTIONS).fit(X[two], y[two])
    assert_allclose(clf.decision_function(X), plain.decision_function(X))


def test_changing_the_parameter_does_not_change_the_fitted_model(four_classes):
    X, y = four_classes
    clf = BESVMClassifier("rbf", **OPTIONS).fit(X, y)
    before = clf.decision_function(X)
    assert np.array_equal(clf.set_params(multi_class="ovo").decision_function(X), before)


def test_own_exemplars_must_have_a_class(four_classes):
    X, y = four_classes
    with pytest.raises(ValueError, match=r"exemplars passed as basis are unknown.*; pass row numbers"):
        BESVMClassifier(RBF(1.0), basis=Exemplars(X[:5]), multi_class="ovo-pair-basis").fit(X, y)


def test_gather_is_fancy_indexing(rng):
    F = rng.normal(size=(100, 7))
    rows, columns = np.array([0, 3, 4, 50, 98, 99]), np.array([1, 6])
    computed = ComputedBlocks(F.shape, lambda span: F[span], np.float64, rows_each=16)
    for blocks in (MemoryBlocks(F), computed):
        assert np.array_equal(gather(blocks, rows, columns), F[np.ix_(rows, columns)])


def test_own_exemplars_of_every_two_classes_are_needed(four_classes):
    X, y = four_classes
    first = np.flatnonzero(y == "a")[:5]
    with pytest.raises(ValueError, match="the basis has none of b or c; use a basis with exemplars of all classes"):
        BESVMClassifier("rbf", basis=first, multi_class="ovo-pair-basis").fit(X, y)


def test_own_exemplars_cannot_be_told_apart_after_nystrom(four_classes):
    X, y = four_classes
    with pytest.raises(ValueError, match="mixes exemplars; use multi_class='ovo' or 'ovr'"):
        BESVMClassifier("rbf", basis=20, normalize=Nystrom(), multi_class="ovo-pair-basis").fit(X, y)


@pytest.mark.parametrize("multi_class", ["ovo", "ovo-pair-basis"])
def test_sparse_weights(four_classes, multi_class):
    X, y = four_classes
    clf = BESVMClassifier("rbf", multi_class=multi_class, penalty="l1", probability=False, **OPTIONS).fit(X, y)
    assert (clf.coef_ == 0).mean() > 0.3
    assert clf.n_basis_ < 60
    assert clf.score(X, y) > 0.95


def test_small_pairs_are_trained_on_one_thread(four_classes, monkeypatch):
    """Threads of BLAS cost more than they save there, and very much more on a busy machine."""
    seen = []

    def spy(*args, **kwargs):
        seen.append(max(n for _, n in _libraries()))
        return solve(*args, **kwargs)

    monkeypatch.setitem(SOLVERS, "l2", spy)
    with threadpool_limits(2, user_api="blas"):
        BESVMClassifier("linear", multi_class="ovo", probability=False).fit(*four_classes)
    assert len(seen) >= 6
    assert set(seen) == {1}
