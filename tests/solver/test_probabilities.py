"""Probabilities: which rows are held out to settle them, and what they are worth, on rows of every kind."""

import numpy as np
import pytest
from scipy.sparse import csr_matrix
from sklearn.calibration import CalibratedClassifierCV
from sklearn.datasets import make_blobs
from sklearn.metrics import log_loss
from sklearn.preprocessing import normalize
from sklearn.svm import LinearSVC

from besvm import BESVMClassifier, LinearSVMClassifier
from besvm.blocks import MemoryBlocks
from besvm.solver.calibration import N_FOLDS, deal_folds, most_likely_slope
from besvm.solver.problem import Problem
from stores import STORES, make


def folds_of(X, y, weights=None, blocks=None):
    weights = np.ones(len(y)) if weights is None else weights
    n_classes = int(y.max()) + 1
    return deal_folds(blocks or MemoryBlocks(X), Problem(y, np.arange(n_classes), weights), n_classes).of_rows


def unit_rows(rng, n=200):
    return normalize(rng.normal(size=(n, 10))), rng.integers(0, 4, n)


def shares(fold, y, weights):
    """What every class (row) weighs in every fold (column)."""
    return np.array([np.bincount(fold[y == k], weights[y == k], minlength=N_FOLDS) for k in np.unique(y)])


@pytest.mark.parametrize("dtype", [np.float32, np.float64])
@pytest.mark.parametrize("shift", [0, 1e4])  # far from the origin float32 can hardly tell the rows apart
def test_every_class_is_spread_evenly_over_the_folds(rng, dtype, shift):
    X, y = unit_rows(rng)
    weights = rng.integers(1, 4, len(y)).astype(float)
    share = shares(folds_of((X + shift).astype(dtype), y, weights), y, weights)
    assert np.ptp(share, axis=1).max() <= 4 * weights.max()
    assert share.shape == (4, N_FOLDS)


def test_even_weights_differ_by_one_row_at_most(rng):
    X, y = unit_rows(rng)
    assert np.ptp(shares(folds_of(X, y), y, np.ones(len(y))), axis=1).max() <= 1


@pytest.mark.parametrize("store", STORES)
def test_folds_depend_neither_on_the_store_nor_on_the_order(rng, store, tmp_path):
    X, y = unit_rows(rng)
    X = X.astype(np.float32)
    expected = folds_of(X, y)
    order = rng.permutation(len(y))
    with make(store, X[order][:, rng.permutation(X.shape[1])], tmp_path) as blocks:
        np.testing.assert_array_equal(folds_of(None, y[order], blocks=blocks), expected[order])


def test_a_row_of_weight_two_is_two_rows(rng):
    X, y = unit_rows(rng)
    counts = rng.integers(0, N_FOLDS, len(y))
    again = np.repeat(np.arange(len(y)), counts)
    weighted = folds_of(X, y, counts.astype(float))
    np.testing.assert_array_equal(folds_of(X[again], y[again]), weighted[again])
    assert (weighted[counts == 0] == N_FOLDS).all()


def test_a_row_with_a_copy_for_every_fold_is_spread_over_them(rng):
    category = np.repeat(np.arange(4), [50, 40, 30, 20])
    fold = folds_of(np.eye(4)[category], category // 2)
    for k in range(4):
        assert np.ptp(np.bincount(fold[category == k], minlength=N_FOLDS)) <= 1


@pytest.mark.parametrize("copies", [1, 4, 20])
def test_no_class_is_held_out_whole(rng, copies):
    X, y = unit_rows(rng)
    X, y = np.vstack([X, np.tile(X[:1], (copies, 1))]), np.append(y, np.full(copies, 4))
    fold = folds_of(X, y)[-copies:]
    assert (fold == N_FOLDS).all() if copies < N_FOLDS else (np.bincount(fold) == copies // N_FOLDS).all()


def test_of_very_many_rows_fewer_than_a_fifth_are_held_out(rng, monkeypatch):
    monkeypatch.setattr("besvm.solver.calibration.MOST_HELD_OUT", 300)
    X, y = unit_rows(rng, 6000)
    held_out = folds_of(X, y) == 0
    assert 290 <= held_out.sum() <= 310
    assert np.ptp(np.bincount(y[held_out]) / np.bincount(y)) < 0.005  # of every class alike


@pytest.mark.parametrize("n_different", [1, 3, 2000])
def test_of_very_many_rows_some_of_every_class_are_held_out(rng, monkeypatch, n_different):
    """Also where a class has few different rows, which are drawn together or not at all."""
    monkeypatch.setattr("besvm.solver.calibration.MOST_HELD_OUT", 300)
    y = np.arange(6000) % 3
    X = rng.normal(size=(6000, 10))
    X[y == 1] = X[rng.integers(0, n_different, 2000)]
    held_out = folds_of(X, y) == 0
    assert 250 <= held_out.sum() <= 350
    assert (np.bincount(y[held_out], minlength=3) > 60).all()


def normalized_blobs(rng):
    X, y = make_blobs(600, 20, centers=3, cluster_std=8.0, random_state=0)
    return normalize(X), y


def categories(rng, n_categories=12, n=600):
    category = rng.integers(0, n_categories, n)
    return np.eye(n_categories)[category], np.where(rng.random(n) < 0.05, rng.integers(0, 3, n), category % 3)


def words(rng, n=600):
    """Counts of words as in short texts of three topics, weighed by their rarity, as unit rows."""
    topics = 0.15 * rng.dirichlet(np.full(300, 0.05), 3) + 0.85 * rng.dirichlet(np.full(300, 0.3))
    y = rng.integers(0, 3, n)
    counts = np.array([rng.multinomial(40, topics[k]) for k in y]).astype(float)
    return csr_matrix(normalize(counts * np.log(n / (1 + (counts > 0).sum(axis=0))))), y


def plain_blobs(rng):
    return make_blobs(600, 5, centers=3, cluster_std=3.0, random_state=0)


def one_row_a_class(rng):
    y = np.arange(600) % 3
    return np.eye(3)[y], y


@pytest.mark.parametrize("data", [normalized_blobs, categories, words, plain_blobs, one_row_a_class])
@pytest.mark.parametrize("n_classes", [2, 3])
@pytest.mark.parametrize("penalty", ["l2", "l1"])
def test_log_loss_is_that_of_platt_or_better(rng, data, n_classes, penalty):
    X, y = data(rng)
    X, y = X[y < n_classes], y[y < n_classes]
    half = len(y) // 2
    chance = LinearSVMClassifier(penalty=penalty).fit(X[:half], y[:half]).predict_proba(X[half:])
    platt = CalibratedClassifierCV(
        LinearSVC(dual=False, penalty=penalty, max_iter=10_000, random_state=0), ensemble=False
    ).fit(X[:half], y[:half])
    assert log_loss(y[half:], chance) < 1.1 * log_loss(y[half:], platt.predict_proba(X[half:]))


@pytest.mark.parametrize("multi_class", ["ovr", "ovo", "ovo-pair-basis"])
@pytest.mark.parametrize("penalty", ["l2", "l1"])
def test_classes_of_one_row_spoil_nothing(multi_class, penalty):
    X, y = make_blobs(120, 4, centers=4, random_state=0)
    y = y + 1
    y[0], y[1] = 0, 5
    clf = BESVMClassifier(multi_class=multi_class, penalty=penalty, random_state=0).fit(X, y)
    assert clf.score(X, y) > 0.97
    assert np.isfinite(clf.predict_proba(X)).all()
    assert log_loss(y, clf.predict_proba(X)) < 0.5


@pytest.mark.parametrize("multi_class", ["ovr", "ovo"])
@pytest.mark.parametrize("penalty", ["l2", "l1"])
def test_two_classes_that_weigh_nothing_spoil_nothing(multi_class, penalty):
    X, y = make_blobs(120, 4, centers=4, random_state=0)
    clf = BESVMClassifier(multi_class=multi_class, penalty=penalty, class_weight={0: 0, 1: 0}, random_state=0)
    clf.fit(X, y)
    assert clf.score(X[y > 1], y[y > 1]) == 1
    assert np.isfinite(clf.predict_proba(X)).all()


def test_without_held_out_rows_margins_are_left_as_they_are():
    assert most_likely_slope(np.empty((0, 3)), np.empty(0, dtype=int), np.empty(0), 3) == 1
    chance = LinearSVMClassifier().fit([[-1.0], [1.0]], [0, 1]).predict_proba([[3.0]])
    assert chance[0, 1] > 0.8
