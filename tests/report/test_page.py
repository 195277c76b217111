"""The page as a file: what is in it, that nothing of the data is taken for HTML, and what is refused."""

import base64
import json
import re
import sys
import zlib
from html.parser import HTMLParser
from types import SimpleNamespace

import numpy as np
import pandas as pd
import pytest
from sklearn.linear_model import LogisticRegression
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler

from besvm import BESVMClassifier, LinearSVMClassifier, Measure, explain
from besvm.features import Pixels
from besvm.measures import mirrored
from besvm.report import matches, write_page
from besvm.similarities import Parts, SeriesParts
from report_data import HOSTILE, TRIED


def pieces_of(page):
    """Return what the page's program reads, by name: JSON as it is, numbers as a flat array."""
    found = {}
    for name, form, text in re.findall(
        r'<script type="text/plain" id="piece-([\w-]+)" data-form="([\w/]+)">([^<]*)<', page.read_text()
    ):
        data = base64.b64decode(text)
        if form == "json":
            found[name] = json.loads(zlib.decompress(data))
        elif form.endswith("Array"):
            kind = {"Int": "i", "Uint": "u", "Float": "f"}[re.match(r"[A-Za-z]+?(?=\d)", form).group()]
            bits = int(re.search(r"\d+", form).group())
            found[name] = np.frombuffer(zlib.decompress(data), f"<{kind}{bits // 8}")
        else:
            found[name] = data
    return found


class Tags(HTMLParser):
    """Every tag with its attributes, and the texts."""

    def __init__(self, text):
        super().__init__()
        self.tags, self.texts = [], []
        self.feed(text)

    def handle_starttag(self, tag, attrs):
        self.tags.append((tag, dict(attrs)))

    def handle_data(self, data):
        self.texts.append(data)


def test_the_page_says_what_the_model_does(digit_page, digit_model, frames):
    _, _, X, y = frames
    text, found = digit_page.read_text(), pieces_of(digit_page)
    accuracy = digit_model.score(X, y)
    assert f'id="accuracy">{accuracy:.1%}'.replace("%", " %") in text
    assert "<title>Digits</title>" in text
    np.testing.assert_array_equal(found["truth"], y)
    np.testing.assert_array_equal(found["predicted"], digit_model.predict(X))
    chances = digit_model.predict_proba(X)
    np.testing.assert_allclose(found["confidence"], chances.max(axis=1), rtol=1e-5)
    assert found["about"]["n_exemplars"] == digit_model.n_basis_ == 60
    assert found["about"]["measures"] == ["rigid", "plain"]
    assert found["carries"].sum() == pytest.approx(1, rel=1e-5)
    assert found["samples-sheet-0"].startswith(b"\x89PNG")
    assert found["exemplars-sheet-0"].startswith(b"\x89PNG")
    assert "How indefinite is rigid?" in text
    assert "positive semi-definite" in text.lower()
    assert "Expected calibration error" in text
    assert "How much do the strongest exemplars decide?" in text
    matches = found["matches-0"]
    assert len(matches) == TRIED
    assert matches[0]["0-0"]["grid"] == [12, 12]
    shifts = [abs(move) for one in matches for match in one.values() for move in match["moves"]]
    assert max(shifts) == 1  # which is as far as the measure looks
    ranked = found["ranked"].reshape(TRIED, 6)
    assert (ranked == y[:, None]).any(axis=1).all()  # the true class is always there


def test_nothing_of_the_data_is_taken_for_html(names_page, names_model):
    _, data = names_model
    text = names_page.read_text()
    assert HOSTILE not in text
    assert "onerror=alert" not in text.replace("onerror=alert(1)&gt;", "")
    parsed = Tags(text)
    assert {tag for tag, _ in parsed.tags} & {"img", "iframe", "object", "embed"} == set()
    assert not any(name.startswith("on") for _, attributes in parsed.tags for name in attributes)
    scripts = [attributes for tag, attributes in parsed.tags if tag == "script"]
    assert [one.get("type") for one in scripts].count("module") == 1
    assert {one.get("type") for one in scripts} == {"module", "text/plain"}
    assert HOSTILE in "".join(parsed.texts)  # shown all the same
    found = pieces_of(names_page)
    assert found["about"]["classes"] == sorted([HOSTILE, "d & <b>"])
    assert found["names"][3] == f"{HOSTILE}3.txt"
    assert found["samples-texts"][5] == data.X[5]


def test_the_page_asks_for_nothing_from_elsewhere(names_page):
    text = names_page.read_text()
    policy = re.search(r'http-equiv="Content-Security-Policy" content="([^"]*)"', text).group(1)
    assert "default-src &#39;none&#39;" in policy
    assert "script-src &#39;sha256-" in policy
    addresses = set(re.findall(r"https?://[^\s\"'<>)]+", text)) - {"http://www.w3.org/2000/svg"}
    assert addresses == set()


def test_two_pages_of_one_model_are_alike(names_page, names_model, tmp_path):
    assert write_page(*names_model, tmp_path / "page.html", title=HOSTILE).read_bytes() == names_page.read_bytes()


def test_pages_that_cannot_keep_all_matches_are_alike_too(names_model, tmp_path, monkeypatch):
    """How many matches are kept is planned, whatever the time they take."""
    monkeypatch.setattr(matches, "BYTES", 2000)
    one, two = (write_page(*names_model, tmp_path / name) for name in ("a.html", "b.html"))
    assert one.read_bytes() == two.read_bytes()
    about = pieces_of(one)["about"]["matches"]
    assert not about["all"]
    assert 0 < about["pairs"] < 12 * 64
    monkeypatch.setattr(matches, "PAIRS", 3)
    assert pieces_of(write_page(*names_model, tmp_path / "c.html"))["about"]["matches"]["pairs"] == 3


def test_a_part_is_shown_where_it_pulls_most(rng, tmp_path):
    """The page and the explanation agree on the region, for the class and for its rival."""
    images = rng.random((40, 14, 14, 3)).astype(np.float32)
    y = np.arange(40) % 3
    model = BESVMClassifier([Measure(Parts(4, 2, pool=("max", "mean")), features=Pixels())], basis=8, C=1.0)
    model.fit(images, y)
    found = pieces_of(write_page(model, (images, y), tmp_path / "page.html"))
    chosen, nearer = found["chosen"].reshape(40, 2, 6).astype(int) - 1, found["nearer"].reshape(40, 2, 6)
    regions = set()
    for i in range(0, 40, 5):
        why = explain(model, images[i])
        assert found["predicted"][i] == why.prediction
        for side, cls in enumerate((found["predicted"][i], found["rival"][i])):
            for slot, number in enumerate(chosen[i, side]):
                if number >= 0:
                    (one,) = [one for one in why.contributions if one.exemplar == number]
                    match = why.match(one, cls)
                    assert found["matches-0"][i][f"{side}-{slot}"]["place"] == match.places[match.region].tolist()
                    regions.add(match.region)
                    if side == 0:  # the class in focus, which the explanation's similarities are for
                        assert nearer[i, side, slot] == np.sign(one.similarity - one.usual)
    assert len(regions) == 4


def test_fewer_samples_are_listed_but_all_are_counted(digit_model, frames, tmp_path):
    _, _, X, y = frames
    page = write_page(digit_model, (X, y), tmp_path / "page.html", samples=50)
    text, found = page.read_text(), pieces_of(page)
    assert len(found["truth"]) == found["about"]["n"] == 50
    assert f"50 of {TRIED} samples, evenly spaced" in text
    assert f"{digit_model.score(X, y):.1%}".replace("%", " %") in text
    np.testing.assert_array_equal(found["truth"], y[np.linspace(0, TRIED - 1, 50).astype(int)])


def series_data(rng):
    series = np.cumsum(rng.normal(size=(60, 80)), axis=1)
    y = np.arange(60) % 2
    series[y == 1, 30:50] += 6 * np.sin(np.arange(20))
    return series, y


KINDS = {
    "series": lambda rng: (BESVMClassifier("dtw", basis=10, C=1.0), *series_data(rng)),
    "parts": lambda rng: (BESVMClassifier([SeriesParts(9)], basis=10, C=1.0), *series_data(rng)),
    "records": lambda rng: (
        BESVMClassifier("gower", basis=10, C=1.0),
        pd.DataFrame({"age": rng.normal(size=60), "job": rng.choice(["a", "b"], 60)}),
        np.arange(60) % 2,
    ),
    "precomputed": lambda rng: (
        BESVMClassifier("precomputed", basis=10, C=1.0),
        rng.random((60, 60)),
        np.arange(60) % 2,
    ),
    "vectors": lambda rng: (
        BESVMClassifier("rbf", basis=10, C=1.0, probability=False),
        rng.random((60, 4)),
        np.arange(60) % 3,
    ),
    "image parts": lambda rng: (
        BESVMClassifier([Measure(Parts(4)), "H8R"], basis=6, C=1.0),
        rng.random((60, 16, 16, 3)),
        np.arange(60) % 2,
    ),
    "mirrored": lambda rng: (
        BESVMClassifier([mirrored("H8(1,0)")], basis=8, C=1.0),
        rng.random((60, 24, 24, 3)),
        np.arange(60) % 2,
    ),
    "records with text": lambda rng: (
        BESVMClassifier([Measure("edit", column="name"), Measure("gower", column=["age"])], basis=8, C=1.0),
        pd.DataFrame({"age": rng.normal(size=60), "name": ["ann", "bob", "cy"] * 20}),
        np.arange(60) % 3,
    ),
    "clouds": lambda rng: (
        BESVMClassifier("sliced-wasserstein", basis=8, C=1.0),
        [rng.normal(size=(4 + k % 3, 2)) for k in range(60)],
        np.arange(60) % 2,
    ),
    "pipeline": lambda rng: (
        make_pipeline(StandardScaler(), BESVMClassifier("rbf", basis=10, C=1.0)),
        rng.random((60, 4)),
        np.arange(60) % 2,
    ),
    "linear": lambda rng: (LinearSVMClassifier(), rng.random((60, 4)), np.arange(60) % 2),
    "another's": lambda rng: (LogisticRegression(), rng.random((60, 4)), np.arange(60) % 2),
}
SAYS = {
    "series": "How indefinite is dtw?",
    "parts": "its exemplars are parts, looked for in whole samples",
    "precomputed": "it was precomputed",
    "vectors": "This model has no probabilities",
}


@pytest.mark.parametrize("kind", KINDS)
def test_every_kind_of_data_and_model_has_a_page(kind, rng, tmp_path):
    model, X, y = KINDS[kind](rng)
    page = write_page(model.fit(X, y), (X, y), tmp_path / "page.html", samples=20)
    text, found = page.read_text(), pieces_of(page)
    assert SAYS.get(kind, "Class by class") in text
    forms = {"series": "lines", "parts": "lines", "records": "texts", "precomputed": "none", "image parts": "pictures"}
    forms |= {"mirrored": "pictures", "records with text": "texts", "clouds": "texts"}
    assert found["about"]["samples"]["form"] == forms.get(kind, "lines")
    assert (found["about"]["n_exemplars"] > 0) == (kind not in ("linear", "another's"))
    if kind == "series":
        first = found["matches-0"][0]["0-0"]["pairs"]
        assert first[0] == [0, 0]
        assert first[-1] == [79, 79]
    if kind == "records":
        assert {row[0] for row in found["matches-0"][0]["0-0"]["values"]} == {"age", "job"}
    if kind == "mirrored":
        every = [match for one in found["matches-0"] for match in one.values()]
        assert {match.get("flip", False) for match in every} == {False, True}
        assert found["about"]["note"] == ""  # its exemplars are kept as they were
    if kind == "parts":
        assert found["matches-0"][0]["0-0"]["size"] == [9]
    if kind == "clouds":
        assert "points of 2 numbers" in found["exemplars-texts"][0]


def test_a_class_that_the_model_never_saw_counts_as_wrong(digit_model, frames, tmp_path):
    _, _, X, y = frames
    strange = np.where(np.arange(TRIED) < 3, 77, y)
    found = pieces_of(write_page(digit_model, (X, strange), tmp_path / "page.html", samples=20))
    assert found["about"]["classes"][-1] == "77"
    assert found["truth"][0] == 10


def test_refitted_models_are_drawn_beside(digit_model, frames, tmp_path, monkeypatch):
    own = SimpleNamespace(sizes=[60, 30], accuracy=[0.9, 0.75])
    monkeypatch.setattr(digit_model, "curve_", own, raising=False)
    text = write_page(digit_model, frames[2:], tmp_path / "page.html", samples=20).read_text()
    assert "30 exemplars: 75.0 % right (refitted)" in text
    text = write_page(
        digit_model, frames[2:], tmp_path / "page.html", samples=20, curve=[(10, 0.5), (60, 0.9)]
    ).read_text()
    assert "10 exemplars: 50.0 % right (refitted)" in text


def test_bad_input_gets_a_sentence(digit_model, frames, tmp_path, monkeypatch):
    path, data = tmp_path / "page.html", frames[2:]
    with pytest.raises(TypeError, match="model must be a fitted classifier, got 3"):
        write_page(3, data, path)
    with pytest.raises(ValueError, match="samples must be a whole number of at least 1, got 0"):
        write_page(digit_model, data, path, samples=0)
    with pytest.raises(
        ValueError, match=r"training must be the data that the model was fitted on, with at least \d+ rows, got 5"
    ):
        write_page(digit_model, data, path, training=frames[0][:5])
    with pytest.raises(ValueError, match="classes that the model knows"):
        write_page(digit_model, (data[0], ["x"] * TRIED), path)
    (tmp_path / "file").touch()
    with pytest.raises(OSError, match="cannot be written"):
        write_page(digit_model, data, tmp_path / "file" / "page.html", samples=1)
    assert not path.exists()
    monkeypatch.setitem(sys.modules, "jinja2", None)
    with pytest.raises(ImportError, match="writing the page needs jinja2; install besvm with the extra 'report'"):
        write_page(digit_model, data, path)


def test_the_data_may_be_anything_with_the_right_names(digit_model, frames, tmp_path):
    _, _, X, y = frames
    names = [*(f"digit {k}.png" for k in range(19)), "20"]
    data = SimpleNamespace(X=X[:20], y=y[:20].astype(str), kind="images", names=names, source="folder/of digits")
    page = write_page(digit_model, data, tmp_path / "page.html")
    assert "How well it does on of digits" in page.read_text()
    assert pieces_of(page)["names"] == [*names[:19], "row 20"]
