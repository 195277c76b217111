"""Contributions and the constant add up to the decision, whatever the model."""

from math import fsum

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from sklearn.model_selection import GridSearchCV
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler

from besvm import BasisExpansion, BESVMClassifier, LinearSVMClassifier, Measure, Nystrom, explain
from besvm.features import Pixels, Shifts
from besvm.measures import mirrored
from besvm.normalize import Affine, MeanNorm, Normalization, Normalizer
from besvm.selection import GreedySelection
from besvm.similarities import Latent, Parts, SeriesParts
from reference_explanations import contributions


def data(n_classes, seed=0, n=40):
    rng = np.random.default_rng(seed)
    y = np.arange(n) % n_classes
    return rng.normal(size=(n, 4)) + y[:, None], y


def decisions(model, X):
    """Return the decision values of the classes, (n, classes), as the model itself gives them."""
    values = model.decision_function(X)
    return np.column_stack([-values, values]) if values.ndim == 1 else values


def check_sum(model, X, rows=(0, 7)):
    """The sum is exact, and it is exact not because everything is in the constant."""
    for row in rows:
        sample = X[row : row + 1]
        why = explain(model, sample)
        expected = decisions(model, sample)[0]
        np.testing.assert_array_equal(list(why.decision.values()), expected)
        assert why.prediction == model.predict(sample)[0]
        size = sum(abs(one.contribution[c]) for one in why.contributions for c in why.classes)
        for c in why.classes:
            total = fsum([one.contribution[c] for one in why.contributions] + [why.constant[c], why.rest[c]])
            assert abs(total - why.decision[c]) <= np.spacing(max(abs(why.constant[c]), abs(why.decision[c])))
            plain = sum(one.contribution[c] for one in why.contributions) + why.constant[c]
            assert plain == pytest.approx(why.decision[c], rel=1e-6, abs=1e-12 * max(1, size))
            assert abs(why.rounding[c]) <= 1e-6 * max(1.0, size)
        if why.probability is not None:
            np.testing.assert_allclose(list(why.probability.values()), model.predict_proba(sample)[0], rtol=1e-12)
    return why


NORMALIZATIONS = ["mean-norm", "z-score", None, MeanNorm(balanced=True), Nystrom(), Nystrom("covariance")]


@settings(max_examples=40)
@given(
    measures=st.sampled_from(["rbf", ["rbf", "linear"], ["sigmoid", ("near", "laplacian")], "manhattan"]),
    normalize=st.sampled_from(NORMALIZATIONS),
    n_classes=st.sampled_from([2, 3, 4]),
    multi_class=st.sampled_from(["ovr", "ovo"]),
    penalty=st.sampled_from(["l2", "l1"]),
    fit_intercept=st.booleans(),
    seed=st.integers(0, 3),
)
def test_every_form_of_the_classifier(measures, normalize, n_classes, multi_class, penalty, fit_intercept, seed):
    X, y = data(n_classes, seed)
    model = BESVMClassifier(
        measures,
        basis=8,
        normalize=normalize,
        multi_class=multi_class,
        penalty=penalty,
        fit_intercept=fit_intercept,
        C=1.0,
        random_state=seed,
    ).fit(X, y)
    why = check_sum(model, X)
    assert (why.votes is None) == (multi_class == "ovr" or n_classes == 2)
    for c in why.classes:
        known = model.intercept_ if multi_class == "ovr" else None
        if known is not None and n_classes > 2:
            assert why.constant[c] - why.rounding[c] == pytest.approx(known[c], abs=1e-12)


@pytest.mark.parametrize("normalize", NORMALIZATIONS)
@pytest.mark.parametrize("n_classes", [2, 3])
def test_contributions_are_those_of_the_definition(normalize, n_classes):
    X, y = data(n_classes)
    model = BESVMClassifier(["rbf", "linear"], basis=6, normalize=normalize, C=1.0, random_state=0).fit(X, y)
    why = explain(model, X[5])
    expected, constant = contributions(model, X[5:6])
    found = np.array([list(one.contribution.values()) for one in sorted(why.contributions, key=lambda one: one.number)])
    np.testing.assert_allclose(found, expected, rtol=1e-9, atol=1e-12)
    np.testing.assert_allclose(list(why.constant.values()), constant, atol=1e-6)


def test_pair_bases_and_balanced_exemplars():
    X, y = data(3)
    check_sum(BESVMClassifier("rbf", basis=9, multi_class="ovo-pair-basis", C=1.0, random_state=0).fit(X, y), X)


def test_a_model_in_float32():
    """Whose product rounds more, which the constant takes up."""
    rng = np.random.default_rng(0)
    X = rng.normal(size=(3000, 5))
    model = BESVMClassifier("rbf", basis=100, C=1.0, random_state=0).fit(X, X[:, 0] > 0)
    assert model._map.expander.dtype == np.float32
    why = check_sum(model, X)
    assert any(why.rounding.values())


@pytest.fixture(scope="module")
def images():
    rng = np.random.default_rng(0)
    return rng.integers(0, 256, (30, 16, 16, 3), dtype=np.uint8), np.arange(30) % 3


@pytest.mark.parametrize(
    "measures", ["P6(2)", [mirrored("H8R"), "H4(1,1)"], Measure(Parts(4, 2, pool=("max", "mean")), features=Pixels())]
)
def test_images_and_their_parts(images, measures):
    X, y = images
    why = check_sum(BESVMClassifier(measures, basis=5, C=1.0, random_state=0).fit(X, y), X)
    assert len(why.contributions) == 5 * (2 if isinstance(measures, list) else 1)


def test_series_and_their_parts():
    rng = np.random.default_rng(0)
    X, y = rng.normal(size=(30, 40)), np.arange(30) % 3
    model = BESVMClassifier(["dtw", SeriesParts(5, regions=2)], basis=5, C=1.0, random_state=0).fit(X, y)
    why = check_sum(model, X)
    assert {one.column for one in why.contributions if one.measure == "series-parts"} <= {
        "r0",
        "r1",
        "r0mean",
        "r1mean",
    }


def test_texts():
    words = ["cat", "cart", "carts", "dog", "dogs", "dig"] * 4
    check_sum(
        BESVMClassifier(["edit", "text-parts"], basis=5, C=1.0, random_state=0).fit(words, list("cccddd") * 4), words
    )


def test_variants_and_precomputed():
    X, y = data(3)
    check_sum(
        BESVMClassifier(Latent("rbf", exemplar_variants=Shifts(0)), basis=5, C=1.0).fit(X[:, :, None], y), X[:, :, None]
    )
    S = X @ X.T
    why = check_sum(BESVMClassifier("precomputed", C=1.0).fit(S, y), S)
    assert {one.label for one in why.contributions} == {None}
    why = check_sum(BESVMClassifier("precomputed", basis=6, C=1.0, random_state=0).fit(S, y), S)
    assert {one.label for one in why.contributions} == {0, 1, 2}
    wide = np.hstack([S, S, S])  # more columns than rows
    check_sum(BESVMClassifier("precomputed", C=1.0).fit(wide, y), wide)


@pytest.mark.parametrize("normalize", NORMALIZATIONS)
def test_pipelines(normalize):
    X, y = data(3)
    expansion = BasisExpansion("rbf", basis=8, normalize=normalize, random_state=0)
    check_sum(make_pipeline(StandardScaler(), expansion, LinearSVMClassifier()).fit(X, y), X)
    check_sum(make_pipeline(StandardScaler(), BESVMClassifier("rbf", basis=8, normalize=normalize)).fit(X, y), X)


def test_pipelines_that_give_data_frames():
    X, y = data(3)
    pipe = make_pipeline(StandardScaler(), BasisExpansion("rbf", basis=8, random_state=0), LinearSVMClassifier())
    check_sum(pipe.set_output(transform="pandas").fit(X, y), X)


def test_searches_and_wrappers():
    X, y = data(3)
    search = GridSearchCV(BESVMClassifier("rbf", basis=8, random_state=0), {"C": [0.1, 1.0]}, cv=2).fit(X, y)
    check_sum(search, X)
    greedy = GreedySelection(["rbf", "linear"], n_measures=1, basis=6, random_state=0).fit(X, y)
    assert explain(greedy, X[0]).prediction == greedy.predict(X[:1])[0]


def test_a_model_without_exemplars():
    """An L1 penalty that leaves none: the intercept decides."""
    X, y = data(3)
    with pytest.warns(UserWarning, match="all weights zero"):
        model = BESVMClassifier("rbf", basis=8, penalty="l1", C=1e-6, random_state=0).fit(X, y)
    why = explain(model, X[0])
    assert why.contributions == []
    assert why.constant == why.decision
    assert "predicted" in str(why)
    assert why.to_frame().empty
    assert "nothing" in why._repr_html_()


class Halved(Normalization):
    def learn(self, raw):
        ones = np.ones(raw.blocks.shape[1], raw.blocks.dtype)
        return Affine(mean=0 * ones, scale=2 * ones)


class Swapped(Normalizer):
    """Mixes exemplars, and does not say how."""

    mixes = True

    def __call__(self, block):
        block[:] = block[:, ::-1].copy()
        return block

    def keep(self, columns):
        raise TypeError


class Swapping(Normalization):
    mixes = True

    def learn(self, raw):
        return Swapped()


def test_a_normalization_of_ones_own():
    X, y = data(3)
    why = check_sum(BESVMClassifier("rbf", basis=5, normalize=Halved(), C=1.0).fit(X, y), X)
    assert why.contributions[0].usual is None
    model = BESVMClassifier("rbf", basis=5, normalize=Swapping(), C=1.0).fit(X, y)
    with pytest.raises(TypeError, match="implement unmixed"):
        explain(model, X[0])
