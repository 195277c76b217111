"""Many samples at once tell the same as one by one."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from sklearn.pipeline import make_pipeline

from besvm import BasisExpansion, BESVMClassifier, LinearSVMClassifier, Nystrom, explain
from besvm.explanations import explain_many
from besvm.explanations.many import largest
from besvm.similarities import SeriesParts

OPTIONS = {"basis": 7, "C": 1.0, "random_state": 0}
MODELS = {
    "two measures": BESVMClassifier(["rbf", "linear"], **OPTIONS),
    "mixtures": BESVMClassifier("rbf", normalize=Nystrom(), **OPTIONS),
    "one-vs-one": BESVMClassifier("rbf", multi_class="ovo", **OPTIONS),
    "two classes": BESVMClassifier("rbf", **OPTIONS),
    "parts": BESVMClassifier([SeriesParts(5, regions=2), "dtw"], **OPTIONS),
    "pipeline": make_pipeline(BasisExpansion("rbf", basis=7, random_state=0), LinearSVMClassifier()),
}


@pytest.mark.parametrize("name", MODELS)
def test_the_same_as_one_by_one(name):
    rng = np.random.default_rng(0)
    X, y = rng.normal(size=(40, 30)), np.arange(40) % (2 if name == "two classes" else 3)
    model = MODELS[name].fit(X, y)
    whole, some = explain_many(model, X), explain_many(model, X, top=3)
    assert len(whole) == 40
    np.testing.assert_array_equal(whole.predictions, model.predict(X))
    np.testing.assert_allclose(whole.contributions.sum(axis=1) + whole.constant, whole.decision, rtol=1e-9, atol=1e-9)
    for row in (0, 17):
        why = explain(model, X[row])
        np.testing.assert_allclose(whole.decision[row], list(why.decision.values()), rtol=1e-6)
        for one in why.contributions:
            expected = list(one.contribution.values())
            np.testing.assert_allclose(whole.contributions[row, one.number], expected, rtol=1e-9, atol=1e-12)
            assert whole.exemplars[one.number].name == one.name
        for c, label in enumerate(why.classes):
            ranked = sorted(why.contributions, key=lambda one: -abs(one.contribution[label]))[:3]
            assert [one.number for one in ranked] == some.which[row, c].tolist()
            expected = [one.contribution[label] for one in ranked]
            np.testing.assert_allclose(some.contributions[row, c], expected, rtol=1e-9)
            total = some.contributions[row, c].sum() + some.rest[row, c] + some.constant[row, c]
            assert total == pytest.approx(some.decision[row, c])
            if label == why.focus:
                np.testing.assert_allclose(some.similarities[row, c], [one.similarity for one in ranked], rtol=1e-6)


@given(st.integers(0, 5), st.integers(1, 400), st.integers(0, 12), st.sampled_from([3, 10**6]), st.integers(0, 10**6))
def test_the_largest_are_those_of_a_sort(n, width, top, values, seed):
    """Also where many are equal."""
    sizes = np.random.default_rng(seed).integers(0, values, (n, width)).astype(float)
    top = min(top, width)
    np.testing.assert_array_equal(largest(sizes, top), np.argsort(-sizes, axis=1, kind="stable")[:, :top])


def test_more_than_there_are(rng):
    X = rng.normal(size=(20, 3))
    model = BESVMClassifier("rbf", basis=4, C=1.0).fit(X, X[:, 0] > 0)
    found = explain_many(model, X, top=100)
    assert found.which.shape == (20, 2, 4)
    np.testing.assert_allclose(found.rest, 0, atol=1e-12)
    assert found.usual.shape == (4,)


def test_blocks_do_not_matter(rng, monkeypatch):
    X = rng.normal(size=(300, 3))
    model = BESVMClassifier("rbf", basis=20, C=1.0, random_state=0).fit(X, X[:, 0] > 0)
    expected = explain_many(model, X, top=4)
    monkeypatch.setattr(type(model._map.expander), "rows_each", lambda self, X: 70)
    found = explain_many(model, X, top=4)
    np.testing.assert_allclose(found.contributions, expected.contributions, rtol=1e-9)
    np.testing.assert_array_equal(found.which, expected.which)


def test_what_would_not_fit_is_refused(rng, monkeypatch):
    from besvm.explanations import carriers, models

    X = rng.normal(size=(300, 3))
    model = BESVMClassifier("rbf", basis=20, C=1.0, random_state=0).fit(X, X[:, 0] > 0)
    monkeypatch.setattr(models, "limit_bytes", lambda limit: 5_000)
    with pytest.raises(MemoryError, match=r"the explanations of 300 samples by all exemplars take .*, as with top=10"):
        explain_many(model, X)
    with pytest.raises(MemoryError, match=r"the 20 x 20 covariances of the features take .*; leave X out"):
        carriers(model, X)
