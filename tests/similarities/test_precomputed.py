"""Similarities that the user has already computed."""

from __future__ import annotations

import tracemalloc

import numpy as np
import pytest
from sklearn.model_selection import cross_val_score
from sklearn.preprocessing import FunctionTransformer

from besvm import BasisExpansion, BESVMClassifier, Measure, Nystrom
from besvm.baselines import DualBESVMClassifier, KernelSVMClassifier, LineSearchMKL
from besvm.selection import GreedySelection
from besvm.similarities import RBF, Linear, Precomputed

Z = np.random.default_rng(0).normal(size=(60, 4))
y = (Z[:, 0] * Z[:, 1] > 0).astype(int)
new = np.random.default_rng(1).normal(size=(20, 4))
KERNELS = (RBF(0.5), Linear())


def behind(A):
    return np.dstack([kernel(A, Z) for kernel in KERNELS])


def beside(A):
    return np.hstack([kernel(A, Z) for kernel in KERNELS])


def columns(start):
    return Measure("precomputed", features=FunctionTransformer(lambda S: S[:, start : start + 60]), name=str(start))


WAYS = {"behind": (behind, ["precomputed", "precomputed"]), "beside": (beside, [columns(0), columns(60)])}


def test_precomputed_picks_columns(rng):
    S = rng.normal(size=(5, 8))
    np.testing.assert_array_equal(Precomputed()(S, [1, 6]), S[:, [1, 6]])


@pytest.mark.parametrize("way", WAYS)
@pytest.mark.parametrize(
    "estimator",
    [
        BESVMClassifier(basis=np.arange(60)),
        BESVMClassifier(basis=20, random_state=0),
        BESVMClassifier(basis=20, normalize=Nystrom(), random_state=0),
        DualBESVMClassifier(),
        KernelSVMClassifier(),
        LineSearchMKL(cv=2, random_state=0),
    ],
    ids=str,
)
def test_two_matrices_give_what_two_measures_give(estimator, way):
    shape, measures = WAYS[way]
    expected = estimator.set_params(measures=list(KERNELS)).fit(Z, y).decision_function(new)
    got = estimator.set_params(measures=measures).fit(shape(Z), y).decision_function(shape(new))
    np.testing.assert_allclose(got, expected, rtol=1e-3, atol=1e-3)


@pytest.mark.parametrize("way", WAYS)
def test_two_matrices_by_default_are_cross_validated_and_selected(way):
    shape, measures = WAYS[way]
    clf = BESVMClassifier(measures)
    assert clf.fit(shape(Z), y).coef_.shape == (1, 120)
    assert np.isfinite(cross_val_score(clf, shape(Z), y, cv=3)).all()
    assert GreedySelection(measures, n_measures=2, random_state=0).fit(shape(Z), y).predict(shape(new)).shape == (20,)


def test_two_matrices_of_different_widths():
    halves = [
        Measure("precomputed", features=FunctionTransformer(part)) for part in (lambda S: S[:, :7], lambda S: S[:, 7:])
    ]
    assert BasisExpansion(halves).fit_transform(Z @ Z[:12].T).shape == (60, 12)


def test_a_square_cut_by_cross_validation_keeps_its_layers():
    scores = cross_val_score(BESVMClassifier(["precomputed"] * 2, basis=10), behind(Z), y, cv=3, error_score="raise")
    assert np.isfinite(scores).all()


@pytest.mark.parametrize(
    ("measures", "X", "sentence"),
    [
        ("precomputed", behind(Z), "layer must be the number of one of the 2 matrices in X, counting from 0, got None"),
        (Precomputed(2), behind(Z), "layer must be the number of one of the 2 matrices in X, counting from 0, got 2"),
        (
            Precomputed("a"),
            behind(Z),
            "layer must be the number of one of the 2 matrices in X, counting from 0, got 'a'",
        ),
        (
            ["precomputed"] * 2,
            behind(Z)[:, :, [0, 1, 1]],
            "as many matrices as 'precomputed' measures, 2, got 3; remove",
        ),
        (["precomputed"] * 2, Z @ Z.T, r"needs X of shape \(samples, exemplars, matrices\), got \(60, 60\)"),
        (["precomputed"] * 2, np.stack([Z @ Z.T] * 2, axis=1), r"needs X of shape .* got \(60, 2, 60\)"),
    ],
)
def test_which_matrix_is_meant_must_be_clear(measures, X, sentence):
    with pytest.raises(ValueError, match=sentence):
        BESVMClassifier(measures).fit(X, y)


@pytest.mark.slow
def test_a_matrix_mapped_from_a_file_is_not_copied_into_memory(tmp_path, rng):
    n, n_exemplars = 24_000, 2500  # a sample of 64 MB is taken for the solver
    labels = np.arange(n) % 2
    S = np.lib.format.open_memmap(tmp_path / "S.npy", "w+", np.float32, (n, n_exemplars))
    S[:] = rng.normal(size=(n, n_exemplars)) + 0.2 * labels[:, None]
    S.flush()
    mapped = np.load(tmp_path / "S.npy", mmap_mode="r")
    clf = BESVMClassifier("precomputed", C=0.01, probability=False, storage="disk", tol=0.1)
    clf.fit(mapped[:200], labels[:200])  # whatever is imported and compiled
    tracemalloc.start()
    predicted = clf.fit(mapped, labels).predict(mapped)
    peak = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()
    assert peak < S.nbytes / 2
    np.testing.assert_array_equal(predicted, labels)
