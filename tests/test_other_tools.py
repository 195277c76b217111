"""besvm in other people's tools: inspection, stacking, data frames in and out, pickle and skops."""

import pickle

import numpy as np
import pandas as pd
import pytest
from sklearn.base import clone
from sklearn.calibration import CalibratedClassifierCV
from sklearn.compose import make_column_transformer
from sklearn.datasets import load_iris
from sklearn.ensemble import BaggingClassifier, StackingClassifier, VotingClassifier
from sklearn.inspection import (
    DecisionBoundaryDisplay,
    PartialDependenceDisplay,
    partial_dependence,
    permutation_importance,
)
from sklearn.linear_model import LogisticRegression
from sklearn.model_selection import cross_val_score
from sklearn.pipeline import FeatureUnion, make_pipeline
from sklearn.preprocessing import OneHotEncoder, StandardScaler

from besvm import BasisExpansion, BESVMClassifier, LinearSVMClassifier, Measure, Nystrom
from besvm.measures import mirrored
from besvm.similarities import RBF, Edit, Similarity, contract, register


@pytest.fixture(scope="module")
def iris():
    X, y = load_iris(return_X_y=True, as_frame=True)
    return X, y.map(dict(enumerate(["setosa", "versicolor", "virginica"])))


@pytest.fixture(scope="module")
def model(iris):
    return BESVMClassifier("rbf", basis=20, C=1.0, random_state=0).fit(*iris)


def test_permutation_importance(iris, model):
    X, y = iris
    found = permutation_importance(model, X, y, n_repeats=3, random_state=0)
    assert found.importances_mean.shape == (4,)
    assert found.importances_mean[2:].min() > found.importances_mean[:2].max()  # petals tell more than sepals


def test_partial_dependence(iris, model):
    X, _ = iris
    for method in ("decision_function", "predict_proba"):
        found = partial_dependence(model, X, ["petal length (cm)"], response_method=method, grid_resolution=5)
        assert found["average"].shape == (3, 5)
    figure = PartialDependenceDisplay.from_estimator(model, X, [2, (2, 3)], target="setosa", grid_resolution=5)
    assert len(figure.axes_.ravel()) == 2


@pytest.mark.parametrize("response", ["predict", "decision_function", "predict_proba"])
def test_decision_boundaries(iris, response, axes):
    X, y = iris
    X = X.iloc[:, 2:]
    two = BESVMClassifier("rbf", basis=10, C=1.0, random_state=0).fit(X, y == "setosa")
    DecisionBoundaryDisplay.from_estimator(two, X, response_method=response, grid_resolution=5, ax=axes)


@pytest.mark.parametrize(
    ("stack_method", "final"),
    [
        ("auto", BESVMClassifier("rbf", basis=10, C=1.0, random_state=0)),
        ("predict", LogisticRegression()),
        pytest.param("predict_proba", LogisticRegression(), marks=pytest.mark.slow),
        pytest.param("decision_function", LogisticRegression(), marks=pytest.mark.slow),
    ],
)
def test_stacking(iris, stack_method, final):
    X, y = iris
    below = [
        ("besvm", make_pipeline(StandardScaler(), BESVMClassifier("rbf", basis=15, C=1.0, random_state=0))),
        ("expanded", make_pipeline(BasisExpansion("linear", basis=10, random_state=0), LinearSVMClassifier())),
    ]
    if stack_method == "predict":
        final = make_pipeline(OneHotEncoder(), LogisticRegression())
        below = [(name, one) for name, one in below]
        y = y.map({"setosa": 0, "versicolor": 1, "virginica": 2})
    stack = StackingClassifier(below, clone(final), stack_method=stack_method, cv=3).fit(X, y)
    assert stack.score(X, y) > 0.9
    assert len(stack.get_feature_names_out()) == (2 if stack_method == "predict" else 6)


def test_voting_bagging_and_calibration(iris):
    X, y = iris
    one = BESVMClassifier("rbf", basis=10, C=1.0, random_state=0)
    for whole in (
        VotingClassifier([("a", one), ("b", LogisticRegression(max_iter=500))], voting="soft"),
        BaggingClassifier(one, n_estimators=2, random_state=0),
        CalibratedClassifierCV(one, cv=2),
    ):
        assert whole.fit(X, y).score(X, y) > 0.9


def test_feature_names_in_and_out(iris, model):
    X, y = iris
    assert list(model.feature_names_in_) == list(X.columns)
    assert model.n_features_in_ == 4
    with pytest.raises(ValueError, match="feature names should match"):
        model.predict(X.rename(columns=str.upper))
    with pytest.warns(UserWarning, match="does not have valid feature names"):
        model.predict(X.to_numpy())
    names = model.get_feature_names_out()
    assert list(names) == [f"rbf_{row}" for row in model.basis_rows_[0]]
    expansion = BasisExpansion(["rbf", "linear"], basis=3, random_state=0).fit(X, y)
    assert list(expansion.feature_names_in_) == list(X.columns)
    assert [name.split("_")[0] for name in expansion.get_feature_names_out()] == ["rbf"] * 3 + ["linear"] * 3
    mixed = BasisExpansion("rbf", basis=3, normalize=Nystrom()).fit(X)
    assert list(mixed.get_feature_names_out()) == ["rbf_nystrom0", "rbf_nystrom1", "rbf_nystrom2"]


@pytest.mark.parametrize("maker", [BasisExpansion, BESVMClassifier])
def test_set_output(iris, maker):
    X, y = iris
    one = maker("rbf", basis=5, random_state=0).set_output(transform="pandas").fit(X, y)
    frame = one.transform(X)
    assert isinstance(frame, pd.DataFrame)
    assert list(frame.columns) == list(one.get_feature_names_out())
    assert list(frame.index) == list(X.index)
    np.testing.assert_array_equal(frame, one.set_output(transform="default").transform(X))


def test_in_pipelines_of_data_frames(iris):
    X, y = iris
    columns = make_column_transformer(
        (BasisExpansion("rbf", basis=5, random_state=0), ["petal length (cm)", "petal width (cm)"]),
        (StandardScaler(), ["sepal length (cm)"]),
    )
    pipe = make_pipeline(columns, LinearSVMClassifier()).set_output(transform="pandas")
    assert pipe.fit(X, y).score(X, y) > 0.9
    assert len(pipe[:-1].get_feature_names_out()) == 6
    union = FeatureUnion([("near", BasisExpansion("rbf", basis=4)), ("far", BasisExpansion("linear", basis=3))])
    assert union.fit_transform(X, y).shape == (150, 7)
    assert len(union.get_feature_names_out()) == 7


def test_cross_validation_of_frames_and_texts(iris):
    X, y = iris
    assert cross_val_score(BESVMClassifier("rbf", basis=15, C=1.0, random_state=0), X, y, cv=3).min() > 0.9
    texts = ["cat", "cats", "cart", "dog", "dogs", "dig"] * 5
    assert (
        cross_val_score(BESVMClassifier("edit", basis=6, C=1.0, random_state=0), texts, list("cccddd") * 5, cv=3).min()
        == 1
    )


@register("shared-letters-here")
class SharedLetters(Similarity):
    """How many letters two texts share: a similarity of the user's own."""

    def __call__(self, A, B):
        return np.array([[len(set(a) & set(b)) for b in B] for a in A], dtype=float)


contract._registry.pop("shared-letters-here")  # other tests list what there is


def pickled_models():
    rng = np.random.default_rng(0)
    X, y = rng.normal(size=(40, 4)), np.arange(40) % 3
    words = ["cat", "cart", "dog", "dig"] * 5
    images = rng.integers(0, 256, (20, 16, 16, 3), dtype=np.uint8)
    small = {"basis": 5, "C": 1.0, "random_state": 0}
    yield "vectors", BESVMClassifier(["rbf", "manhattan"], **small).fit(X, y), X
    yield "nystrom", BESVMClassifier(RBF(gamma=0.5), normalize=Nystrom(), multi_class="ovo", **small).fit(X, y), X
    yield "texts", BESVMClassifier(Edit(), **small).fit(words, list("ccdd") * 5), words
    yield "own", BESVMClassifier(SharedLetters(), **small).fit(words, list("ccdd") * 5), words
    yield "images", BESVMClassifier([mirrored("H4R"), "P6(2)"], **small).fit(images, np.arange(20) % 2), images
    frame = pd.DataFrame({"n": X[:20, 0], "word": words})
    columns = [Measure("rbf", column="n"), Measure("edit", column="word")]
    yield "records", BESVMClassifier(columns, **small).fit(frame, list("ccdd") * 5), frame
    pipe = make_pipeline(StandardScaler(), BasisExpansion("rbf", basis=5, random_state=0), LinearSVMClassifier())
    yield "pipeline", pipe.fit(X, y), X


@pytest.fixture(scope="module")
def fitted():
    return {name: (model, X) for name, model, X in pickled_models()}


NAMES = ["vectors", "nystrom", "texts", "own", "images", "records", "pipeline"]


@pytest.mark.parametrize("name", NAMES)
def test_pickle(fitted, name):
    model, X = fitted[name]
    again = pickle.loads(pickle.dumps(model))
    np.testing.assert_array_equal(again.decision_function(X), model.decision_function(X))


@pytest.mark.parametrize("name", NAMES)
def test_skops(fitted, name):
    skops = pytest.importorskip("skops.io", reason="skops is no extra of besvm")
    model, X = fitted[name]
    saved = skops.dumps(model)
    unknown = skops.get_untrusted_types(data=saved)
    assert all(not one.startswith(("builtins.eval", "os.", "subprocess.")) for one in unknown)
    again = skops.loads(saved, trusted=unknown)
    np.testing.assert_array_equal(again.decision_function(X), model.decision_function(X))
