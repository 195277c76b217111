"""One sample, however it comes; and what cannot be explained."""

import numpy as np
import pandas as pd
import pytest
from scipy.sparse import csr_matrix
from sklearn.exceptions import NotFittedError
from sklearn.feature_extraction.text import TfidfVectorizer
from sklearn.linear_model import LogisticRegression
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler

from besvm import BasisExpansion, BESVMClassifier, LinearSVMClassifier, Measure, explain
from besvm.baselines import JitteredClassifier
from besvm.explanations import carriers, explain_many


@pytest.fixture(scope="module")
def vectors():
    X = np.random.default_rng(0).normal(size=(30, 3))
    return BESVMClassifier("rbf", basis=5, C=1.0, random_state=0).fit(X, X[:, 0] > 0), X


def test_forms_of_a_vector(vectors):
    model, X = vectors
    expected = explain(model, X[2]).decision
    for sample in (X[2:3], list(X[2]), tuple(X[2]), [list(X[2])], csr_matrix(X[2:3])):
        assert explain(model, sample).decision == pytest.approx(expected)


def test_short_vectors_are_shown_by_the_names_of_their_columns():
    """As they came, though the measure scales them: how alike two are is judged behind that."""
    rng = np.random.default_rng(0)
    X = pd.DataFrame({"small": rng.normal(size=30), "large": 1000 * rng.normal(size=30)})
    y = X["small"] > 0
    model = BESVMClassifier(Measure("rbf", features=StandardScaler()), basis=5, C=1.0, random_state=0).fit(X, y)
    why = explain(model, X.iloc[[2]])
    one = next(one for one in why.contributions if one.row != 2)
    pair, row = why.pair(one), X.iloc[one.row]
    assert pair.exemplar.kind == pair.sample.kind == "values"
    apart = np.abs((X.iloc[2] - row) / X.std(ddof=0))
    for (name, x, b, alike), column in zip(pair.match.values, X.columns, strict=True):
        assert (name, x, b) == (column, pytest.approx(X.iloc[2][column]), pytest.approx(row[column]))
        assert alike == pytest.approx(1 - apart[column] / apart.max(), abs=1e-5)
    assert all(name in why.to_html() for name in X)
    unnamed = BESVMClassifier("rbf", basis=5, C=1.0).fit(X.to_numpy(), y)
    assert "column 2" in explain(unnamed, X.to_numpy()[2]).to_html()
    many = rng.normal(size=(30, 41))
    assert explain(BESVMClassifier("rbf", basis=5, C=1.0).fit(many, y), many[0]).pair(one).sample.kind == "series"


def test_graphs_are_told_and_not_drawn_as_curves():
    networkx = pytest.importorskip("networkx")
    graphs = [make(n) for n in range(3, 13) for make in (networkx.cycle_graph, networkx.path_graph)]
    model = BESVMClassifier("weisfeiler-lehman", basis=6, C=1.0, random_state=0).fit(graphs, [0, 1] * 10)
    pair = (why := explain(model, graphs[2])).pair(why.contributions[0])
    assert (pair.sample.kind, pair.sample.data) == ("none", "a graph of 4 nodes")
    assert "a graph of 4 nodes" in why.to_html()


def test_a_row_of_a_frame():
    X = pd.DataFrame({"age": [20.0, 30, 40, 50] * 5, "city": ["Rome", "Oslo"] * 10})
    y = np.arange(20) % 2
    model = BESVMClassifier([Measure("rbf", column="age"), Measure("edit", column="city")], basis=4).fit(X, y)
    expected = explain(model, X.iloc[[2]]).decision
    assert explain(model, X.iloc[2]).decision == expected
    assert explain(model, {"age": 40.0, "city": "Rome"}).decision == expected
    numbers = BESVMClassifier("rbf", basis=4).fit(X[["age"]], y)
    assert explain(numbers, X[["age"]].iloc[2]).decision == explain(numbers, X[["age"]].iloc[2:3]).decision
    with pytest.raises(ValueError, match="explain takes a single sample, got 20 rows"):
        explain(model, X)


def test_texts_and_tokens():
    words = ["cat", "cart", "dog", "dig"] * 3
    model = BESVMClassifier("edit", basis=4, C=1.0).fit(words, list("ccdd") * 3)
    assert explain(model, "cats").decision == explain(model, ["cats"]).decision
    with pytest.raises(ValueError, match="explain takes a single sample, got 2; choose one"):
        explain(model, ["cats", "dogs"])
    tokens = BESVMClassifier("edit", basis=4, C=1.0).fit([list(word) for word in words], list("ccdd") * 3)
    assert explain(tokens, list("cats")).decision == pytest.approx(explain(tokens, [list("cats")]).decision)


def test_texts_behind_a_vectorizer():
    texts = ["a cat sat", "cats sit", "the dog ran", "dogs run"] * 3
    pipe = make_pipeline(TfidfVectorizer(), BESVMClassifier("cosine", basis=4, C=1.0)).fit(texts, list("ccdd") * 3)
    assert explain(pipe, "a cat").decision == explain(pipe, ["a cat"]).decision
    model = BESVMClassifier(Measure("cosine", features=TfidfVectorizer()), basis=4, C=1.0).fit(texts, list("ccdd") * 3)
    why = explain(model, "a cat sat")
    assert why.pair(why.contributions[0]).exemplar.kind == "text"  # its words
    why.to_html()


def test_structured_records():
    X = np.array([(20.0, "Rome"), (30.0, "Oslo")] * 6, dtype=[("age", float), ("city", "U5")])
    model = BESVMClassifier("gower", basis=4, C=1.0).fit(X, [0, 1] * 6)
    why = explain(model, X[0])
    assert why.prediction == 0
    assert why.match(why.contributions[0]).values[1][0] == "city"


def test_several_samples_are_refused(vectors):
    model, X = vectors
    with pytest.raises(ValueError, match="explain takes a single sample, got 30; choose one"):
        explain(model, X)
    with pytest.raises(ValueError, match="explain takes a single sample, got 2 rows"):
        explain(model, csr_matrix(X[:2]))
    with pytest.raises(ValueError, match="3 features"):
        explain(model, X[0, :2])


def test_other_models_are_refused(vectors):
    _, X = vectors
    y = X[:, 0] > 0
    message = "the model to explain must be a fitted BESVMClassifier"
    for model in (LogisticRegression(), LinearSVMClassifier(), make_pipeline(StandardScaler(), LinearSVMClassifier())):
        for function in (lambda m: explain(m, X[0]), lambda m: explain_many(m, X), carriers):
            with pytest.raises(TypeError, match=message):
                function(model.fit(X, y))
    between = make_pipeline(BasisExpansion("rbf", basis=5), StandardScaler(), LinearSVMClassifier()).fit(X, y)
    with pytest.raises(TypeError, match="got a LinearSVMClassifier after a StandardScaler"):
        explain(between, X[0])
    grids = X.reshape(len(X), 1, 1, -1)
    jittered = JitteredClassifier(BESVMClassifier("rbf", basis=5, C=1.0), rigid=0).fit(grids, y)
    with pytest.raises(TypeError, match="got a JitteredClassifier"):  # its exemplars are no rows of the user's
        explain(jittered, grids[0])
    with pytest.raises(NotFittedError):
        explain(BESVMClassifier(), X[0])


@pytest.mark.parametrize("top", [0, -1, 1.5, "3"])
def test_top_must_be_a_count(vectors, top):
    model, X = vectors
    with pytest.raises(ValueError, match="top must be a whole number of at least 1"):
        explain(model, X[0], top=top)
    with pytest.raises(ValueError, match="top must be a whole number of at least 1"):
        explain_many(model, X, top=top)
    with pytest.raises(ValueError, match="top must be a whole number of at least 1"):
        explain(model, X[0]).plot(top=top)


def test_training_rows_must_be_there(vectors):
    model, X = vectors
    with pytest.raises(ValueError, match="training must be the samples that the model was fitted on"):
        explain(model, X[0], training=X[:2])


def test_values_and_clouds_of_points_are_written_not_drawn(rng):
    """Numbers of records have as many digits as are read, and points are no pixels."""
    X = pd.DataFrame({"age": rng.normal(size=20), "city": ["Rome", None] * 10})
    why = explain(BESVMClassifier("gower", basis=4, C=1.0).fit(X, [0, 1] * 10), X.iloc[0])
    assert f">{X['age'][0]:.4g}<" in why.to_html()
    assert str(X["age"][0]) not in why.to_html()
    clouds = [rng.normal(size=(5 + k % 2, 2)) for k in range(20)]
    why = explain(BESVMClassifier("sliced-wasserstein", basis=4, C=1.0).fit(clouds, [0, 1] * 10), clouds[0])
    assert why.pair(why.contributions[0]).sample.kind == "none"
    assert "5 points of 2 numbers" in why.to_html()
    why.plot()
