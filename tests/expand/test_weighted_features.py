"""Features whose ``fit`` takes weights see those of the rows: weight 0 is leaving out, and weight 2 is two copies."""

import numpy as np
import pytest
import sklearn
from sklearn.decomposition import PCA
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import FunctionTransformer, MinMaxScaler, StandardScaler

from besvm import BESVMClassifier, MeanNormScaler, Measure
from besvm.expand import room
from besvm.features import Pixels

FEATURES = {
    "alone": Measure("rbf", features=StandardScaler()),
    "ours": Measure("rbf", features=MeanNormScaler()),
    "a step": Measure("rbf", features=make_pipeline(FunctionTransformer(), StandardScaler(), "passthrough")),
    "behind a column": Measure("rbf", column=[0, 1], features=StandardScaler()),
}
KEPT = np.arange(60)  # of 100 rows; the others are 50 times as large


@pytest.fixture
def rows(rng):
    X = rng.normal(size=(100, 4))
    X[60:] *= 50
    return X, (X[:, 0] > 0).astype(int)


def decisions(measure, X, y, weights=None):
    model = BESVMClassifier(measure, basis=np.arange(20), C=1.0, tol=1e-8, probability=False)
    return model.fit(X, y, sample_weight=weights).decision_function(X[KEPT])


@pytest.mark.parametrize("name", FEATURES)
@pytest.mark.parametrize("routing", [False, True])
def test_weight_zero_is_leaving_out(rows, name, routing):
    X, y = rows
    with sklearn.config_context(enable_metadata_routing=routing):
        weighted = decisions(FEATURES[name], X, y, (np.arange(100) < 60).astype(float))
    np.testing.assert_allclose(weighted, decisions(FEATURES[name], X[KEPT], y[KEPT]), atol=1e-9)


@pytest.mark.parametrize("name", FEATURES)
def test_weight_two_is_two_copies(rows, name):
    X, y = rows
    copied = np.r_[np.arange(100), np.arange(50, 100)]
    weighted = decisions(FEATURES[name], X, y, np.where(np.arange(100) < 50, 1.0, 2.0))
    np.testing.assert_allclose(weighted, decisions(FEATURES[name], X[copied], y[copied]), atol=1e-9)


def test_features_learned_by_blocks_see_them_too(rng, monkeypatch):
    X, y = rng.random((80, 4, 4, 1)), np.arange(80) % 2
    measure = Measure("rbf", features=make_pipeline(Pixels(), MeanNormScaler()))
    X[60:] *= 50
    whole = decisions(measure, X, y, (np.arange(80) < 60).astype(float))
    monkeypatch.setattr(room, "WORK_BYTES", 1000)
    by_blocks = decisions(measure, X, y, (np.arange(80) < 60).astype(float))
    np.testing.assert_allclose(by_blocks, whole, atol=1e-5)
    np.testing.assert_allclose(by_blocks, decisions(measure, X[KEPT], y[KEPT]), atol=1e-5)


@pytest.mark.parametrize("features", [MinMaxScaler(), PCA(2)])
def test_others_learn_from_all_rows_alike(rows, features):
    X, y = rows
    weights = (np.arange(100) < 60).astype(float)
    described = features.fit_transform(X)
    expected = decisions("rbf", described, y, weights)
    np.testing.assert_allclose(decisions(Measure("rbf", features=features), X, y, weights), expected, atol=1e-9)


def test_weights_that_do_not_differ_change_nothing(rows):
    X, y = rows
    measure = FEATURES["alone"]
    np.testing.assert_array_equal(decisions(measure, X, y, np.ones(100)), decisions(measure, X, y))
