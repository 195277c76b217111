"""What an explanation tells, and how it is shown."""

import json
from html.parser import HTMLParser

import numpy as np
import pandas as pd
import pytest

import besvm
from besvm import BESVMClassifier, Measure, explain
from besvm.measures import mirrored
from besvm.similarities import Match, Similarity
from variants import first_fast


@pytest.fixture(scope="module")
def iris():
    from sklearn.datasets import load_iris

    X, y = load_iris(return_X_y=True)
    names = np.array(["setosa", "versicolor", "virginica"])
    model = BESVMClassifier(["rbf", "linear"], basis=10, C=1.0, random_state=0).fit(X, names[y])
    return model, X, names[y]


def test_rows_say_which_exemplar_it_is(iris):
    model, X, y = iris
    why = explain(model, X[0])
    assert why.prediction == "setosa" == why.focus
    assert why.classes == ["setosa", "versicolor", "virginica"]
    assert len(why.contributions) == why.n_exemplars == 20
    sizes = [abs(one.contribution["setosa"]) for one in why.contributions]
    assert sizes == sorted(sizes, reverse=True)
    raw = model._map.expander(X[:1])[0]
    mean = model._map.normalizer.mean
    for one in why.contributions:
        measure = ["rbf", "linear"].index(one.measure)
        assert one.row == model.basis_rows_[measure][one.exemplar]
        assert one.label == y[one.row]
        assert one.similarity == raw[10 * measure + one.exemplar]
        assert one.usual == mean[10 * measure + one.exemplar]
        assert one.place is None
        assert one.column == ""
    for c in why.classes:
        assert sum(abs(one.share[c]) for one in why.contributions) == pytest.approx(1)


def test_towards_against_and_between(iris):
    model, X, _ = iris
    why = explain(model, X[80])
    for c in why.classes:
        towards, against = why.towards(c), why.against(c)
        assert len(towards) + len(against) == 20
        pulls = [one.contribution[c] for one in towards]
        assert pulls == sorted(pulls, reverse=True)
        assert min(pulls) > 0
        assert [one.contribution[c] for one in against] == sorted(one.contribution[c] for one in against)
        assert why.towards(c, top=2) == towards[:2]
        assert why.against(c, 1) == against[:1]
    assert why.towards() == why.towards(why.prediction)
    found = why.between("versicolor", "virginica")
    total = sum(value for _, value in found) + why.constant["versicolor"] - why.constant["virginica"]
    assert total == pytest.approx(why.decision["versicolor"] - why.decision["virginica"])
    assert abs(found[0][1]) == max(abs(value) for _, value in found)


def test_per_measure_adds_up(iris):
    model, X, _ = iris
    why = explain(model, X[80])
    sums = why.per_measure()
    assert list(sums) == ["rbf", "linear"]
    for c in why.classes:
        assert sums["rbf"][c] == pytest.approx(sum(o.contribution[c] for o in why.contributions if o.measure == "rbf"))
        assert sum(s[c] for s in sums.values()) + why.constant[c] == pytest.approx(why.decision[c])


def test_the_rest_of_a_list_that_is_cut(iris):
    model, X, _ = iris
    whole, cut = explain(model, X[80]), explain(model, X[80], top=3)
    assert cut.contributions == whole.contributions[:3]
    assert cut.measures == whole.measures
    for c in cut.classes:
        total = sum(one.contribution[c] for one in cut.contributions) + cut.rest[c] + cut.constant[c]
        assert total == pytest.approx(cut.decision[c], rel=1e-12)
    assert whole.top(100).contributions == whole.contributions
    assert whole.to_dict(top=3) == cut.to_dict()


def test_some_classes(iris):
    model, X, _ = iris
    why = explain(model, X[0], classes="virginica")
    assert why.prediction == "setosa"
    assert why.focus == "virginica"
    assert list(why.decision) == ["virginica"]
    assert explain(model, X[0], classes=["versicolor", "setosa"]).classes == ["versicolor", "setosa"]
    with pytest.raises(ValueError, match="classes must be classes of the model"):
        explain(model, X[0], classes=["rose"])
    with pytest.raises(ValueError, match="got none"):
        explain(model, X[0], classes=[])
    with pytest.raises(ValueError, match=r"cls must be one of the explained classes, \['virginica'\], got 'setosa'"):
        why.towards("setosa")


def test_as_plain_data(iris):
    model, X, _ = iris
    why = explain(model, X[0])
    data = json.loads(json.dumps(why.to_dict(top=4, matches=True), allow_nan=False))
    assert data["prediction"] == "setosa"
    assert len(data["contributions"]) == 4
    for k in range(3):
        total = sum(row["contribution"][k] for row in data["contributions"]) + data["rest"][k] + data["constant"][k]
        assert total == pytest.approx(data["decision"][k])
    match = data["contributions"][0]["match"]
    assert list(match) == ["values"]
    assert [row[0] for row in match["values"]] == ["column 1", "column 2", "column 3", "column 4"]
    assert {"measure", "exemplar", "row", "label", "place", "similarity", "usual", "share"} < set(
        data["contributions"][0]
    )


def test_classes_of_any_kind():
    X = np.random.default_rng(0).normal(size=(20, 2))
    for y in (X[:, 0] > 0, (X[:, 0] > 0).astype(int), np.where(X[:, 0] > 0, 3.0, -2.0)):
        model = BESVMClassifier("rbf", basis=4, C=1.0).fit(X, y)
        why = explain(model, X[0])
        assert why.prediction == model.predict(X[:1])[0]
        assert why.decision[why.prediction] == max(why.decision.values())
        assert len(why.towards(model.classes_[0])) + len(why.against(model.classes_[0])) == 4
        json.dumps(why.to_dict())
        assert why.towards(model.classes_[1]) == why.against(model.classes_[0])


def test_as_a_frame(iris):
    model, X, y = iris
    frame = explain(model, X[0]).to_frame()
    assert len(frame) == 20
    assert (y[frame["row"]] == frame["label"]).all()
    total = frame["contribution_setosa"].sum() + explain(model, X[0]).constant["setosa"]
    assert total == pytest.approx(explain(model, X[0]).decision["setosa"])


def test_as_text(iris):
    model, X, _ = iris
    shown = str(explain(model, X[0]))
    assert shown.startswith("predicted: setosa; decision value of setosa: ")
    assert "from the other 10 exemplars" in shown
    assert "by measure: rbf" in shown
    assert len(shown.splitlines()) == 1 + 11 + 3
    ovo = BESVMClassifier("rbf", basis=5, C=1.0, multi_class="ovo").fit(X, iris[2])
    assert "votes and intercepts" in str(explain(ovo, X[0]))


class Balanced(HTMLParser):
    """Checks that all tags are closed, and collects the text."""

    def __init__(self, page):
        super().__init__()
        self.open, self.text = [], ""
        self.feed(page)
        assert self.open == []

    def handle_starttag(self, tag, attrs):
        if tag != "br":
            self.open.append(tag)

    def handle_startendtag(self, tag, attrs):
        pass

    def handle_endtag(self, tag):
        assert self.open.pop() == tag

    def handle_data(self, data):
        self.text += data


HOSTILE = "<script>alert('$x_1$ & \"')</script>"


def test_html_is_whole_and_escaped():
    words = ["cat", "cart", "carts", HOSTILE, "dogs", "dig"]
    model = BESVMClassifier([(HOSTILE, "edit")], basis=[0, 3], C=1.0).fit(words, ["c", "c", "c", HOSTILE, "d", "d"])
    why = explain(model, HOSTILE)
    page = why._repr_html_()
    assert "<script" not in page
    assert HOSTILE in Balanced(page).text
    why.plot()
    assert page == why.to_html(why.focus)


class Kind(Similarity):
    """Says what it sees in a Match of its own."""

    def __call__(self, A, B):
        return np.array([[1.0 * (a["color"] == b["color"]) for b in B] for a in A])

    def show(self, x, b):
        return Match("both red", values=[("color", x["color"], b["color"], 1.0)])


def kinds():
    rng = np.random.default_rng(0)
    y = np.arange(24) % 2
    images = rng.integers(0, 256, (24, 16, 16, 3), dtype=np.uint8)
    series = np.cumsum(rng.normal(size=(24, 30)), axis=1)
    frame = pd.DataFrame({"size": rng.normal(size=24), "city": ["Rome", "Oslo"] * 12})
    yield "images", ["H8R", "H4(1,1)", mirrored("H4(1,0)"), "P6(2)", mirrored("P6")], images, y
    yield "series", ["dtw", "sbd", "series-euclidean", "series-parts", "msm"], series, y
    yield "channels", ["dtw", "msm", "sbd"], rng.normal(size=(24, 2, 20)), y
    yield (
        "text",
        ["edit", "lcs", "jaro-winkler", "token-ratio", "partial-ratio", "text-parts"],
        ["a cat sat", "the dogs ran"] * 12,
        y,
    )
    yield "tokens", ["edit"], [["a", "cat"], ["the", "dog", "ran"]] * 12, y
    yield "sequences", ["align-local", "align-global", "kmers"], ["HEAGAWGHEE", "PAWHEAE"] * 12, y
    yield "sets", ["jaccard", "tanimoto"], [{"salt", "egg"}, {"rice"}] * 12, y
    yield "records", ["gower"], frame, y
    yield "columns", [Measure("edit", column="city"), Measure("rbf", column="size")], frame, y
    yield "own", [Kind()], [{"color": "red"}, {"color": "blue"}] * 12, y
    yield "function", [lambda a, b: -abs(a - b)], [1.0, 2.0] * 12, y
    yield "vectors", ["rbf", "cosine"], rng.normal(size=(24, 3)), y
    yield "precomputed", ["precomputed"], rng.normal(size=(24, 24)), y


@pytest.mark.parametrize(
    ("measures", "X", "y"),
    [  # series of several channels have compiled code of their own
        pytest.param(*rest, id=name, marks=[pytest.mark.slow] if name == "channels" else []) for name, *rest in kinds()
    ],
)
@pytest.mark.parametrize("with_training", first_fast([True, False]))
def test_every_kind_of_data_can_be_shown(measures, X, y, with_training):
    model = BESVMClassifier(
        measures, basis="auto" if measures == ["precomputed"] else 4, C=1.0, random_state=0, n_jobs=1
    ).fit(X, y)
    sample = X.iloc[3] if hasattr(X, "iloc") else X[3]
    why = explain(model, sample, training=X if with_training else None)
    assert why.prediction == model.predict(X.iloc[3:4] if hasattr(X, "iloc") else X[3:4])[0]
    figure = why.plot(top=2, columns=1 if with_training else 2)
    figure.canvas.draw()
    boxes = [ax.get_position() for ax in figure.axes]
    assert min(min(box.x0, box.y0) for box in boxes) >= 0
    assert max(max(box.x1, box.y1) for box in boxes) <= 1
    Balanced(why.to_html(top=3))
    json.dumps(why.to_dict(matches=True), allow_nan=False)


def test_a_figure_in_one_column_on_a_figure_of_pyplot(iris):
    from matplotlib import pyplot as plt

    model, X, _ = iris
    why = explain(model, X[0])
    given = plt.figure()
    try:
        assert why.plot(top=3, columns=1, figure=given) is given
        wide = why.plot(top=3)
        assert given.get_figwidth() < 0.6 * wide.get_figwidth()
        assert given.get_figheight() > wide.get_figheight()
        assert plt.get_fignums() == [given.number]
    finally:
        plt.close(given)
    with pytest.raises(ValueError, match="columns must be 1 or 2, got 3"):
        why.plot(columns=3)


def test_what_an_image_with_all_kinds_of_matches_shows():
    _, measures, X, y = next(kinds())
    model = BESVMClassifier(measures, basis=4, C=1.0, random_state=0).fit(X, y)
    why = explain(model, X[3], training=X)
    for one in why.contributions:
        pair = why.pair(one)
        assert pair.sample.kind == pair.exemplar.kind == "image"
        if pair.match.exemplar is None:
            np.testing.assert_array_equal(pair.exemplar.data, X[one.row])
        assert (pair.within is None) == (one.place is None)
    borrowed = explain(model, X[3])  # the mirrored measures keep their exemplars raw, for all measures to show
    for one in borrowed.contributions:
        if one.measure in ("H8R", "H4(1,1)"):
            np.testing.assert_array_equal(borrowed.pair(one).exemplar.data, X[one.row])


@pytest.mark.parametrize(("measure", "side"), [("H8R", 32), ("P6(2)", 6)])
def test_exemplars_that_are_known_by_their_features_alone(measure, side):
    """HOG cells are drawn as strokes, 16 pixels a cell; pieces are shown as such."""
    _, _, X, y = next(kinds())
    why = explain(BESVMClassifier([measure], basis=4, C=1.0, random_state=0).fit(X, y), X[3])
    for one in why.contributions:
        pair = why.pair(one)
        assert pair.exemplar.data.shape[:2] == (side, side)
        assert pair.within is None


def test_a_model_from_a_file_explains_alike(iris, tmp_path):
    model, X, _ = iris
    besvm.save(model, tmp_path / "iris.besvm")
    assert explain(besvm.load(tmp_path / "iris.besvm"), X[80]).to_dict() == explain(model, X[80]).to_dict()


def test_a_model_from_a_file_shows_its_exemplars(tmp_path):
    X = np.random.default_rng(0).integers(0, 256, (20, 16, 16, 3), dtype=np.uint8)
    besvm.save(BESVMClassifier(["H4R"], basis=4, C=1.0).fit(X, np.arange(20) % 2), tmp_path / "images.besvm")
    why = explain(besvm.load(tmp_path / "images.besvm"), X[3])
    for one in why.contributions:
        np.testing.assert_array_equal(why.pair(one).exemplar.data, X[one.row])
