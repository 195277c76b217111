"""The figures of the page, against counting by hand and against scikit-learn's."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from sklearn.metrics import confusion_matrix, f1_score, precision_score, recall_score

from besvm._support.shares import wilson
from besvm.report.charts import nice_ticks, powers
from besvm.report.figures import calibration, confusion, joint_classes, per_class, worst_pairs


@given(st.integers(1, 10_000).flatmap(lambda n: st.tuples(st.integers(0, n), st.just(n))))
def test_the_interval_solves_its_equation(counts):
    """Its ends lie 1.96 of their own standard errors away from the share: that defines it."""
    right, n = counts
    low, high = wilson(right, n)
    assert 0 <= low <= right / n <= high <= 1
    for end in (low, high):
        if 1e-9 < end < 1 - 1e-9:
            assert abs(right / n - end) == pytest.approx(1.959964 * np.sqrt(end * (1 - end) / n), rel=1e-4, abs=1e-9)


def test_confusions_and_classes_are_those_of_sklearn(rng):
    truth, predicted = rng.integers(0, 5, 300), rng.integers(0, 4, 300)
    matrix = confusion(truth, predicted, 6)
    np.testing.assert_array_equal(matrix[:5, :5], confusion_matrix(truth, predicted))
    rows = per_class(matrix, list("abcdef"))
    options = {"average": None, "labels": range(4)}
    np.testing.assert_allclose([r.precision for r in rows[:4]], precision_score(truth, predicted, **options))
    np.testing.assert_allclose([r.recall for r in rows[:4]], recall_score(truth, predicted, **options))
    np.testing.assert_allclose([r.f1 for r in rows[:4]], f1_score(truth, predicted, **options))
    assert (rows[4].precision, rows[4].recall, rows[4].f1) == (None, 0.0, None)
    assert (rows[5].count, rows[5].precision, rows[5].recall) == (0, None, None)


def test_the_worst_pairs_come_first():
    matrix = np.array([[9, 1, 0], [4, 9, 2], [0, 0, 9]])
    assert worst_pairs(matrix, 2) == [(1, 0, 4), (1, 2, 2)]
    assert worst_pairs(np.diag([3, 3]), 5) == []


def test_calibration_adds_up(rng):
    confidence = rng.random(5000)
    right = rng.random(5000) < confidence  # calibrated by nature
    found = calibration(confidence, right)
    assert sum(one.count for one in found.bins) == 5000
    assert found.error < 0.03
    assert found.sure == "about as sure as it should be"
    naive = sum(abs((right[b] * 1.0).mean() - confidence[b].mean()) * b.mean() for b in in_bins(confidence))
    assert found.error == pytest.approx(naive)
    assert calibration(np.ones(10), np.arange(10) < 5).sure == "too sure of itself"
    assert calibration(np.full(10, 0.5), np.ones(10, bool)).sure == "less sure than it could be"


def in_bins(confidence):
    edges = np.arange(11) / 10
    masks = [(confidence >= a) & (confidence < b) for a, b in zip(edges, [*edges[1:-1], 2.0], strict=False)]
    return [mask for mask in masks if mask.any()]


def test_classes_that_the_model_does_not_know_are_added():
    names, truth = joint_classes(np.array(["a", "b"]), np.array(["b", "z", "a", "z"]))
    assert names == ["a", "b", "z"]
    assert truth.tolist() == [1, 2, 0, 2]


def test_labels_read_as_texts_are_understood():
    names, truth = joint_classes(np.array([0, 1, 10]), np.array(["10", "0"]))
    assert (names, truth.tolist()) == (["0", "1", "10"], [2, 0])


def test_floats_are_understood_as_files_write_them():
    names, truth = joint_classes(np.array([0.0, 0.5, 1.0]), np.array(["1", "0", "0.5", "2"]))
    assert (names, truth.tolist()) == (["0.0", "0.5", "1.0", "2"], [2, 0, 1, 3])


def test_labels_of_something_else_are_refused():
    with pytest.raises(ValueError, match=r"classes that the model knows, cat, dog, got 3, 4; is this the label column"):
        joint_classes(np.array(["cat", "dog"]), np.array([3, 4]))


@given(st.floats(-1e3, 1e3), st.floats(1e-2, 1e6))
def test_ticks_are_round_and_around(low, span):
    ticks = nice_ticks(low, low + span)
    assert 2 <= len(ticks) <= 9
    assert ticks[0] <= low + 1e-6 * span
    assert ticks[-1] >= low + span - 1e-6 * span


def test_powers():
    assert powers(1) == [1]
    assert powers(100) == [1, 10, 100]
