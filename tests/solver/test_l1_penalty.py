"""The L1 penalty in the two classifiers: sparse weights, and a model without the exemplars that nobody uses."""

import pickle

import numpy as np
import pytest
from scipy.sparse import csr_matrix
from sklearn.base import clone
from sklearn.metrics import log_loss
from sklearn.svm import LinearSVC

from besvm import BESVMClassifier, LinearSVMClassifier, Measure
from besvm.basis import Exemplars
from besvm.expand import FeatureMap, fit_expander
from besvm.measures import as_measures
from besvm.normalize.affine import Affine
from besvm.normalize.nystrom import Rotation
from besvm.similarities import Linear


@pytest.mark.parametrize("kind", [np.asarray, csr_matrix, np.float32])
@pytest.mark.parametrize("n_classes", [2, 3])
def test_linear_is_a_drop_in_for_linear_svc(problem_data, kind, n_classes):
    X, y = problem_data
    X, y = X[y < n_classes] - 2.9, y[y < n_classes]
    ours = LinearSVMClassifier(0.1, penalty="l1", penalize_intercept=True, tol=1e-5).fit(kind(X), y)
    theirs = LinearSVC(C=0.1, penalty="l1", dual=False, tol=1e-5, max_iter=50_000, random_state=0).fit(X, y)
    assert ours.coef_.shape == theirs.coef_.shape
    np.testing.assert_allclose(ours.coef_, theirs.coef_, atol=1e-3)
    np.testing.assert_allclose(ours.intercept_, theirs.intercept_, atol=1e-3)
    assert (ours.coef_ == 0).any()


def test_warm_starts_follow_a_path_of_c(problem_data):
    X, y = problem_data
    model = LinearSVMClassifier(penalty="l1", warm_start=True, probability=False, tol=1e-6)
    for C in (1.0, 0.1, 0.01, 1.0):
        model.set_params(C=C).fit(X, y)
        alone = clone(model).fit(X, y)
        np.testing.assert_allclose(model.coef_, alone.coef_, atol=1e-4)


@pytest.mark.slow
def test_probabilities_are_worth_having(digits):
    X, y = digits
    model = BESVMClassifier("rbf", basis=200, penalty="l1", random_state=0).fit(X[:900], y[:900])
    proba = model.predict_proba(X[900:])
    np.testing.assert_allclose(proba.sum(axis=1), 1)
    np.testing.assert_array_equal(model.classes_[proba.argmax(axis=1)], model.predict(X[900:]))
    assert log_loss(y[900:], proba) < 0.5


class Undropped(BESVMClassifier):
    """Keeps a copy of what it was before exemplars were dropped."""

    def _train(self, blocks, *args, **options):
        self.features_ = blocks.matrix.copy()
        model = super()._train(blocks, *args, **options)
        self.margins_ = self.features_ @ model.coef.T + model.intercept
        return model


def closeness(b, x):
    return float(-np.abs(b - x).sum())


MEASURES = {
    "one": "rbf",
    "several": ["rbf", "linear", Measure("sigmoid", basis=30)],
    "function": closeness,
    "no normalization": Linear(),
}


@pytest.mark.parametrize("name", MEASURES)
def test_dropping_changes_no_decision(digits, name):
    X, y = digits[0][:300] / 16, digits[1][:300]
    normalize = None if name == "no normalization" else "mean-norm"
    model = Undropped(MEASURES[name], basis=80, penalty="l1", C=0.3, normalize=normalize, random_state=0, n_jobs=1)
    model.fit(X, y)
    np.testing.assert_allclose(model.decision_function(X), model.margins_, atol=1e-6)
    width = model.features_.shape[1]
    kept = [len(rows) for rows in model.basis_rows_]
    assert model.coef_.shape[1] == sum(kept) < width
    assert (model.coef_ != 0).any(axis=0).all()
    assert model.n_basis_ == len(np.unique(np.concatenate(model.basis_rows_)))
    again = pickle.loads(pickle.dumps(model))
    np.testing.assert_array_equal(again.decision_function(X), model.decision_function(X))


@pytest.mark.parametrize("storage", ["memory", "disk", "recompute"])
def test_every_storage_agrees(digits, storage):
    X, y = digits[0][:400] / 16, digits[1][:400]
    model = BESVMClassifier("rbf", basis=60, penalty="l1", C=1.0, random_state=0, tol=1e-6, probability=False)
    expected = clone(model).fit(X, y)
    got = clone(model).set_params(storage=storage, memory_limit="2 GB").fit(X, y)
    assert got.storage_ == storage
    np.testing.assert_array_equal(got.basis_rows_[0], expected.basis_rows_[0])
    np.testing.assert_allclose(got.decision_function(X), expected.decision_function(X), atol=1e-4)
    np.testing.assert_array_equal(clone(got).fit(X, y).coef_, got.coef_)  # twice the same


def test_exemplars_given_outright_are_counted_once(digits):
    X, y = digits[0][:300] / 16, digits[1][:300]
    model = BESVMClassifier(["rbf", "linear"], basis=Exemplars(X[:50]), penalty="l1", C=0.3).fit(X, y)
    numbers = [measure.numbers for measure in model._map.expander.measures]
    assert model.basis_rows_ == [None, None]
    assert model.n_basis_ == len(np.union1d(*numbers)) < sum(map(len, numbers))
    assert max(map(max, numbers)) > model.coef_.shape[1] // 2
    for measure, places in zip(model._map.expander.measures, numbers, strict=True):
        np.testing.assert_array_equal(measure.exemplars, X[places])


def test_a_measure_without_exemplars_is_not_computed_any_more(digits):
    X, y = digits[0][:200] / 16, digits[1][:200]
    calls = []

    def noise(b, x):
        calls.append(1)
        return 1e-9 * (b[0] + x[1])

    noisy = Measure(noise, basis=3)
    model = BESVMClassifier(["rbf", noisy], basis=40, penalty="l1", normalize=None, random_state=0, n_jobs=1)
    model.fit(X, y)
    assert len(model.basis_rows_[1]) == 0
    calls.clear()
    model.predict(X)
    assert calls == []


def test_a_constant_classifier_says_that_it_is_one(digits):
    X, y = digits[0][:200], np.array([1] * 150 + [0] * 50)
    with pytest.warns(UserWarning, match="makes all weights zero: every sample gets the same class"):
        model = BESVMClassifier(basis=40, penalty="l1", C=1e-6).fit(X, y)
    assert model.coef_.shape == (1, 0)
    assert model.n_basis_ == 0
    assert model.converged_
    assert (model.predict(X) == 1).all()
    np.testing.assert_allclose(model.decision_function(X), 0.5, atol=1e-5)  # (150 - 50) / 200
    assert model.predict_proba(X[:1]).shape == (1, 2)


def test_a_normalizer_that_mixes_features_keeps_them_all(rng):
    X = rng.normal(size=(20, 3))
    expander = fit_expander(X, None, as_measures("rbf"), 5, rng)
    used = np.array([True, False, False, True, False])
    mixing = FeatureMap(expander, Rotation(expander.groups, [np.eye(5)]))
    assert mixing.keep(used) is mixing
    kept = FeatureMap(expander, Affine(np.arange(5.0), np.ones(5))).keep(used)
    np.testing.assert_array_equal(kept.normalizer.mean, [0, 3])
    np.testing.assert_array_equal(kept.expander.measures[0].rows, expander.measures[0].rows[[0, 3]])
    np.testing.assert_allclose(kept.expander(X), expander(X)[:, [0, 3]])
