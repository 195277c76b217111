"""What pulls on decisions, against a naive loop over samples, exemplars and measures."""

import numpy as np
import pytest
from sklearn.pipeline import make_pipeline

from besvm import FHOG, BESVMClassifier, Measure, Nystrom
from besvm.explanations.models import read_model
from besvm.features import CellPCA
from besvm.report.basis import basis_of
from besvm.report.evidence import AGAINST, FOR, curve_sizes, gather, smallest
from besvm.similarities import Parts, SeriesParts


def gathered(model, X, truth):
    reading = read_model(model)
    basis = basis_of(reading.map.expander)
    return reading, basis, gather(reading, basis, X, truth)


MODELS = {
    "two measures": {"measures": ["rbf", "linear"], "basis": 25},
    "own bases": {"measures": ["rbf", "manhattan"], "basis": [3, 5, 7, 11, 13, 19]},
    "one-vs-one": {"measures": "rbf", "basis": 25, "multi_class": "ovo"},
    "nystrom": {"measures": "rbf", "basis": 25, "normalize": Nystrom()},
    "sparse": {"measures": ["rbf", "linear"], "basis": 25, "penalty": "l1"},
}


@pytest.mark.parametrize("name", MODELS)
def test_pulls_are_those_of_a_loop(problem_data, name):
    X, y = problem_data
    X = (X - X.mean(axis=0)) / X.std(axis=0)
    model = BESVMClassifier(C=1.0, random_state=0, **MODELS[name]).fit(X[:200], y[:200])
    reading, basis, found = gathered(model, X[200:260], y[200:260])
    decision = model.decision_function(X[200:260])
    np.testing.assert_allclose(found.scores, decision, rtol=1e-5, atol=1e-5)
    blocks = list(reading.blocks(reading.prepared(X[200:260])))
    terms = np.concatenate([block.terms for block in blocks]).astype(float)
    columns = [(e, m) for m, numbers in enumerate(basis.of_measure) for e in numbers]
    for row in range(0, 60, 7):
        best = int(found.scores[row].argmax())
        others = [k for k in np.argsort(-found.scores[row]) if k != best]
        rival = y[200 + row] if y[200 + row] != best else others[0]
        assert found.rival[row] == rival
        for side, k in enumerate((best, rival)):
            pulls = np.zeros((len(basis), len(basis.of_measure)))
            for column, (e, m) in enumerate(columns):
                pulls[e, m] += terms[row, column] * reading.weights[column, k]
            total = pulls.sum(axis=1)
            shown = found.chosen[row, side]
            up, down = np.argsort(-total)[:FOR], np.argsort(total)[:AGAINST]
            wanted = [*(e if total[e] > 0 else -1 for e in up), *(e if total[e] < 0 else -1 for e in down)]
            got = [*shown[: len(up)], *shown[FOR : FOR + len(down)]]
            for a, b in zip(wanted, got, strict=True):  # of equal ones, either
                assert abs(total[a] - total[b]) < 1e-4 if min(a, b) >= 0 else a == b
            for slot, e in enumerate(shown):
                if e >= 0:
                    np.testing.assert_allclose(found.pulls[row, side, slot], pulls[e], rtol=1e-3, atol=1e-4)
            whole = total.sum() + reading.constant[k]
            assert found.totals[row, side] == pytest.approx(whole, rel=1e-3, abs=1e-3)


@pytest.mark.parametrize("name", ["two measures", "own bases"])
def test_the_curve_is_that_of_a_loop(problem_data, name):
    X, y = problem_data
    model = BESVMClassifier(C=1.0, random_state=0, **MODELS[name]).fit(X[:200], y[:200])
    _, basis, found = gathered(model, X[200:], y[200:])
    phi, order = model.transform(X[200:]).astype(float), np.argsort(-found.carries, kind="stable")
    assert found.carries.sum() == pytest.approx(1)
    sizes = [size for size, _ in found.curve]
    assert sizes == curve_sizes(len(basis)).tolist()
    for size, share in found.curve:
        kept = np.isin(basis.of_column, order[:size])
        margins = phi[:, kept] @ model.coef_[:, kept].T + model.intercept_
        assert share == pytest.approx((margins.argmax(axis=1) == y[200:]).mean(), abs=0.011)
    assert found.curve[-1][1] == pytest.approx(model.score(X[200:], y[200:]))


def test_a_part_is_an_exemplar_for_itself(rng):
    series = np.cumsum(rng.normal(size=(40, 50)), axis=1)
    y = np.arange(40) % 2
    series[y == 1, 20:31] += 5 * np.sin(np.arange(11))
    model = BESVMClassifier([SeriesParts(length=11), "dtw"], basis=8, C=1.0, random_state=0).fit(series, y)
    reading, basis, _ = gathered(model, series, y)
    assert len(basis) == 16
    assert {key[0] for key in basis.keys} == {"part", "row"}
    each = reading.map.expander.measures[0].similarity.columns_each
    np.testing.assert_array_equal(basis.of_column[: 8 * each], np.repeat(np.arange(8), each))
    first, length = basis.frame(0)
    assert 0 <= first < first + length <= 50
    assert "part of training row" in basis.name(0)
    assert basis.frame(8) is None
    assert set(basis.classes(reading.labels)) <= {"0", "1"}


def test_without_any_exemplar_nothing_pulls(problem_data):
    X, y = problem_data
    with pytest.warns(UserWarning, match="raise C"):
        model = BESVMClassifier("rbf", basis=10, penalty="l1", C=1e-6).fit(X, y)
    _, basis, found = gathered(model, X[:20], y[:20])
    assert len(basis) == 0
    assert found.curve == []
    assert (found.chosen == -1).all()


def test_smallest_of_every_row(rng):
    values = rng.normal(size=(20, 9))
    for count in range(10):
        np.testing.assert_array_equal(smallest(values, count), np.argsort(values, axis=1)[:, :count])


@pytest.mark.parametrize("features", [FHOG(cell=4), make_pipeline(FHOG(cell=4), CellPCA(8))])
def test_a_part_of_an_image_is_framed_in_pixels_whatever_comes_behind_its_cells(rng, features):
    X = rng.integers(0, 255, (12, 16, 16, 3), dtype=np.uint8)
    model = BESVMClassifier(Measure(Parts(2), features=features), basis=3, C=1.0, random_state=0)
    basis = basis_of(model.fit(X, np.arange(12) % 2)._map.expander)
    for number, (row, column) in enumerate(model.basis_parts_[0].places.tolist()):
        assert basis.frame(number) == [4 * row, 4 * column, 8, 8]
