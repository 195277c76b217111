"""Each mistake at the public edge is one clear sentence, said before any work is done."""

import re

import numpy as np
import pandas as pd
import pytest
from scipy.sparse import csr_matrix
from sklearn.base import clone

from besvm import BasisExpansion, BESVMClassifier, LinearSVMClassifier, MeanNormScaler
from besvm._support.parameters import make_rng
from besvm._support.threads import workers
from besvm._support.validation import check_block, check_sample_weight, check_vectors
from besvm.baselines import DualBESVMClassifier, KernelSVMClassifier, LineSearchMKL
from besvm.selection import GreedySelection

X = np.random.default_rng(0).normal(size=(40, 3))
y = np.arange(40) % 2


def never(exemplar, sample):
    raise AssertionError("work was done before the parameters were checked")


ESTIMATORS = [
    LinearSVMClassifier(),
    BESVMClassifier(never),
    BasisExpansion(never),
    DualBESVMClassifier(never),
    KernelSVMClassifier(never),
    LineSearchMKL([never, never]),
    GreedySelection([never, never]),
]


@pytest.mark.parametrize("estimator", ESTIMATORS, ids=lambda e: type(e).__name__)
def test_n_jobs_and_random_state_are_checked_before_any_work(estimator):
    bad = [("n_jobs", value) for value in ("a", 1.5, 0, True, [2])]
    if hasattr(estimator, "random_state"):
        bad += [("random_state", value) for value in ("a", 1.5, -1, True, [2])]
    for name, value in bad:
        with pytest.raises(ValueError, match=rf"{name} must be a whole number .* got {re.escape(repr(value))}"):
            clone(estimator).set_params(**{name: value}).fit(X, y)


def test_good_seeds_and_numbers_of_workers_are_taken():
    for seed in (None, 3, np.int64(3), np.random.RandomState(3), np.random.default_rng(3)):
        assert make_rng(seed).integers(10) >= 0
    for n_jobs in (None, 1, -1, np.int64(2)):
        with workers(n_jobs):
            pass


@pytest.mark.parametrize("small", [True, False])
def test_integers_that_float32_would_round_keep_their_digits(small):
    """Seconds since 1970 as whole numbers: float32 knows only every 128th. ``small`` data have float64 features."""
    rng = np.random.default_rng(0)
    times = 1_700_000_000 + rng.integers(0, 60, size=(300 if small else 1500, 3))
    assert times.dtype == np.int64
    labels = times[:, 0] >= 1_700_000_030
    basis = 100 if small else 300
    for data in (times, pd.DataFrame(times), times.tolist()):
        clf = BESVMClassifier("rbf", basis=basis, random_state=0).fit(data, labels)
        assert clf.score(data, labels) > 0.95


@pytest.mark.parametrize(
    ("given", "expected"),
    [
        ("uint8", "float32"),
        ("int16", "float32"),
        ("bool", "float32"),
        ("float16", "float32"),
        ("float32", "float32"),
        ("int32", "float64"),
        ("uint64", "float64"),
        ("float64", "float64"),
        ("object", "float64"),
    ],
)
def test_vectors_are_float32_where_that_rounds_nothing_off(given, expected):
    data = np.ones((4, 2), dtype=given)
    assert check_vectors(BESVMClassifier(), data, vectors=True).dtype == expected
    if given not in ("float16", "object"):
        assert check_vectors(BESVMClassifier(), csr_matrix(data), vectors=True).dtype == expected


BAD_WEIGHTS = [
    (np.ones(39), "sample_weight must hold a weight for each of the 40 rows, got 39"),
    (np.ones((40, 2)), r"sample_weight must be 1-D, a weight for each row, got an array of shape \(40, 2\)"),
    (np.r_[np.nan, np.ones(39)], "sample_weight must be finite and at least 0, got nan for row 0"),
    (np.r_[np.ones(39), np.inf], "sample_weight must be finite and at least 0, got inf for row 39"),
    (np.r_[1.0, -2.0, np.ones(38)], "sample_weight must be finite and at least 0, got -2 for row 1"),
    (np.zeros(40), "sample_weight must be above zero for some rows, got only zeros"),
    (["much"] * 40, "sample_weight must be numbers, got"),
]


@pytest.mark.parametrize("estimator", [LinearSVMClassifier(), BESVMClassifier("linear"), MeanNormScaler()])
def test_bad_sample_weights(estimator):
    for weights, sentence in BAD_WEIGHTS:
        with pytest.raises(ValueError, match=sentence):
            estimator.fit(X, y, sample_weight=weights)


def test_good_sample_weights():
    assert check_sample_weight(None, 2, np.float32).tolist() == [1, 1]
    assert check_sample_weight(3, 2, np.float32).tolist() == [3, 3]
    assert check_sample_weight(pd.Series([0, 2]), 2, np.float32).dtype == np.float32


def name_pair(i, j):
    return f"exemplar {j} and sample {i}"


@pytest.mark.parametrize(
    ("block", "sentence"),
    [
        (np.ones((2, 3)), r"it must return a matrix of shape \(3, 2\) \(samples, exemplars\), got \(2, 3\)"),
        (np.full((3, 2), "1"), "it must return real numbers, got dtype <U1"),
        (np.array([[1, 2], [3, np.nan], [5, 6]]), "it must be finite, got nan for the pair of exemplar 1 and sample 1"),
        (np.array([[1, 2], [3, 4], [-np.inf, np.inf]]), "got -inf for the pair of exemplar 0 and sample 2"),
    ],
)
def test_bad_blocks(block, sentence):
    with pytest.raises(ValueError, match=sentence):
        check_block(block, (3, 2), "it", name_pair)


def test_good_blocks():
    huge = np.full((3, 2), 3e38, dtype=np.float32)  # finite, though its sum is not
    assert check_block(huge, (3, 2), "it", name_pair) is huge
    assert check_block([[True, False]], (1, 2), "it", name_pair).dtype == bool
    assert np.isnan(check_block([[np.nan]], (1, 1), "it")).all()  # numbers are not looked at
