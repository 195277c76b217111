"""Which exemplars carry a model."""

import json

import numpy as np
import pytest
from sklearn.pipeline import make_pipeline

from besvm import BasisExpansion, BESVMClassifier, LinearSVMClassifier, Nystrom
from besvm.explanations import carriers
from besvm.similarities import SeriesParts


@pytest.fixture(scope="module")
def data():
    rng = np.random.default_rng(0)
    X = rng.normal(size=(200, 12))
    return np.vstack([X, X[:1]]), np.append(np.arange(200) % 3, 0)  # the last row is the first again


def test_weights_alone(data):
    X, y = data
    model = BESVMClassifier("rbf", basis=10, C=1.0, random_state=0).fit(X, y)
    found = carriers(model)
    assert len(found) == 10
    assert [one.carries for one in found] == sorted((one.carries for one in found), reverse=True)
    for one in found:
        assert one.weight == pytest.approx(np.linalg.norm(model.coef_[:, one.exemplar]))
        assert list(one.weights.values()) == pytest.approx(model.coef_[:, one.exemplar])
        assert one.label == y[one.row]
        assert one.spread is one.nearest is one.explained is None
    assert sum(one.share for one in found) == pytest.approx(1)
    assert "give samples" in str(found)
    with pytest.raises(ValueError, match="pass some, as in carriers"):
        found.redundant()


def test_what_they_carry_is_how_much_their_contributions_vary(data):
    X, y = data
    for measures in (["rbf", "linear"], [SeriesParts(5, regions=2)]):
        model = BESVMClassifier(measures, basis=8, C=1.0, random_state=0).fit(X, y)
        terms = model.transform(X).astype(float)
        found, column = {}, 0
        for measure in model._map.expander.measures:
            each = measure.similarity.columns_each
            for k in range(measure.n_exemplars):
                own = slice(column, column + each)
                pulls = terms[:, own] @ model.coef_[:, own].T
                found[measure.label, k] = np.sqrt((pulls.std(axis=0) ** 2).sum())
                column += each
        for one in carriers(model, X):
            assert one.carries == pytest.approx(found[one.measure, one.exemplar], rel=1e-6)
            assert one.carries == pytest.approx(one.weight * one.spread)


def test_copies_and_mixtures_are_redundant(data):
    X, y = data
    model = BESVMClassifier(["linear", "rbf"], basis=[0, 200, 5, 6, 7], C=1.0).fit(X, y)
    found = carriers(model, X)
    redundant = found.redundant()
    assert [one.row in (0, 200) for one in redundant] == [True, True]  # one of each measure
    assert {one.measure for one in redundant} == {"linear", "rbf"}
    for one in found:
        if one.row in (0, 200):
            assert {one.row, one.nearest.row} == {0, 200}
            assert one.correlation == pytest.approx(1)


def test_what_is_explained_is_what_least_squares_explains(data):
    X, y = data
    model = BESVMClassifier(["rbf", "linear"], basis=8, C=1.0, random_state=0).fit(X, y)
    features = model.transform(X).astype(float)
    features -= features.mean(axis=0)
    found = carriers(model, X)
    columns = [8 * ["rbf", "linear"].index(one.measure) + one.exemplar for one in found]
    for place, one in enumerate(found):
        target, before = features[:, columns[place]], features[:, columns[:place]]
        left = target - before @ np.linalg.lstsq(before, target, rcond=None)[0] if place else target
        assert one.explained == pytest.approx(1 - (left @ left) / (target @ target), abs=1e-4)


def test_too_few_samples_to_tell(data):
    X, y = data
    model = BESVMClassifier("rbf", basis=[0, 200, 5], C=1.0).fit(X, y)
    found = carriers(model, X[:5])
    assert found[0].explained is None
    assert {one.row for one in found.redundant()} == {0, 200}
    with pytest.raises(ValueError, match="threshold must be a number above 0"):
        found.redundant(2)


@pytest.mark.parametrize("normalize", [None, "z-score", Nystrom()])
@pytest.mark.parametrize("n_classes", [2, 3])
def test_every_normalization(data, normalize, n_classes):
    X, y = data
    model = BESVMClassifier("rbf", basis=10, normalize=normalize, C=1.0, random_state=0).fit(X, y % n_classes)
    assert np.isfinite([one.carries for one in carriers(model, X)]).all()
    pipe = make_pipeline(BasisExpansion("rbf", basis=5, normalize=normalize), LinearSVMClassifier()).fit(
        X, y % n_classes
    )
    assert len(carriers(pipe, X)) == 5


def test_how_they_are_shown(data):
    X, y = data
    model = BESVMClassifier(["rbf", SeriesParts(5)], basis=10, C=1.0, random_state=0).fit(X, y)
    found = carriers(model, X)
    shown = str(found)
    assert "exemplars carry half of what the decision values vary by" in shown
    assert "are redundant" in shown
    frame = found.to_frame()
    assert len(frame) == 20
    assert {"measure", "row", "label", "carries", "share", "nearest", "explained", "weight_0"} < set(frame.columns)
    plain = json.loads(json.dumps(found.to_dict(top=3), allow_nan=False))
    assert len(plain["exemplars"]) == 3
    figure = found.plot(top=5)
    figure.canvas.draw()
    assert len(figure.axes) == 2
