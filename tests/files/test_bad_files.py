"""Files that are altered, cut short, of another kind, or hostile, and models that no file can hold."""

import json
import struct
from contextlib import suppress

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from sklearn.base import BaseEstimator, TransformerMixin

import besvm
from altered_files import hostile, measure_of, parts, refuse, sealed, with_bytes
from besvm import BESVMClassifier, LinearSVMClassifier, Measure
from besvm.files import ModelFileError, describe
from besvm.similarities import Similarity, register
from besvm.similarities.contract import _registry

X = np.random.default_rng(0).normal(size=(40, 3))
Y = np.arange(40) % 2


@pytest.fixture(scope="module")
def good(tmp_path_factory):
    """Return the bytes of a sound file."""
    path = tmp_path_factory.mktemp("good") / "model.besvm"
    besvm.save(BESVMClassifier(["rbf", "linear"], basis=6, random_state=0, C=1.0).fit(X, Y), path)
    return path.read_bytes()


def test_a_sound_file_is_sound(tmp_path, good):
    (tmp_path / "same").write_bytes(hostile(good, lambda description: None))
    besvm.load(tmp_path / "same")


@pytest.mark.parametrize("file", [b"", b"PK\x03\x04", b"\x80\x04\x95", b"x" * 5000, b"\n"])
def test_no_model(tmp_path, file):
    refuse(tmp_path, file, "is not a besvm model")


def test_a_missing_file(tmp_path):
    with pytest.raises(FileNotFoundError, match=r"none\.besvm"):
        besvm.load(tmp_path / "none.besvm")


@pytest.mark.parametrize("share", [0.001, 0.01, 0.5, 0.999])
def test_cut_short(tmp_path, good, share):
    refuse(tmp_path, good[: max(10, int(share * len(good)))], "is incomplete")


def test_longer_than_it_was(tmp_path, good):
    refuse(tmp_path, good + b"more", "changed or damaged: its sizes")


def test_one_byte_of_the_numbers_is_another(tmp_path, good):
    refuse(tmp_path, good[:-100] + bytes([good[-100] ^ 1]) + good[-99:], "changed or damaged after it was written")


def test_larger_than_the_memory(tmp_path, good, monkeypatch):
    """A file may be of almost nothing but holes: it takes no room on the disk, but would in memory."""
    monkeypatch.setattr("besvm.files.container.available_memory", lambda: 1000)
    refuse(tmp_path, good, r"of memory, but only 1\.0 kB are free; use a machine with more")


def test_a_newer_format(tmp_path, good):
    refuse(tmp_path, good[:8] + struct.pack("<I", 2) + good[12:], r"newer besvm, in format 2.*update besvm")


def test_an_unregistered_similarity(tmp_path):
    @register("test-soon-gone")
    class SoonGone(Similarity):
        def __call__(self, A, B):
            return np.asarray(A) @ np.asarray(B).T

    try:
        besvm.save(BESVMClassifier(SoonGone(), basis=5).fit(X, Y), tmp_path / "model")
    finally:
        del _registry["test-soon-gone"]
    refuse(tmp_path, (tmp_path / "model").read_bytes(), r"'test-soon-gone', which is not registered; import the module")


def deep(levels: int) -> list:
    out: list = []
    for _ in range(levels):
        out = [out]
    return out


def set_in(description, key, value):
    description["model"]["state"][key] = value


HOSTILE = {
    "a class of Python's": lambda d: d["model"].update({"class": "subprocess.Popen"}),
    "a class of a module that is allowed": lambda d: d["model"].update({"class": "sklearn.pipeline._name_estimators"}),
    "a name with path separators": lambda d: d["model"].update({"class": "besvm/../../etc.passwd"}),
    "a function as a class": lambda d: d["model"].update({"class": "besvm.features.mirror"}),
    "no attributes": lambda d: d["model"].pop("state"),
    "attributes that are methods": lambda d: set_in(d, "predict", 1),
    "attributes of Python's": lambda d: set_in(d, "__class__", 1),
    "no arrays": lambda d: d.pop("arrays"),
    "an array of objects": lambda d: d["arrays"][0].update(dtype="|O"),
    "an array with fields": lambda d: d["arrays"][0].update(dtype="f4,f4"),
    "an absurd shape": lambda d: d["arrays"][0].update(shape=[1 << 40, 1 << 40]),
    "a shape that overflows": lambda d: d["arrays"][0].update(shape=[1 << 62, 4]),
    "a negative shape": lambda d: d["arrays"][0].update(shape=[-1]),
    "a huge item": lambda d: d["arrays"][0].update(dtype="<U999999999"),
    "outside of the file": lambda d: d["arrays"][0].update(at=1 << 40),
    "a place that is no number": lambda d: d["arrays"][0].update(at=True),
    "weights that are not there": lambda d: d["model"]["state"].pop("coef_"),
    "weights of another shape": lambda d: set_in(d, "coef_", d["model"]["state"]["intercept_"]),
    "weights that are texts": lambda d: set_in(d, "coef_", "none"),
    "an infinite slope": lambda d: set_in(d, "probability_slope_", {"$": "float", "value": "inf"}),
    "features that are not there": lambda d: measure_of(d).update(transformer=7),
    "a similarity that is a text": lambda d: measure_of(d).update(similarity="rbf"),
    "exemplars that are missing": lambda d: measure_of(d).update(exemplars=None),
    "fewer exemplars": lambda d: measure_of(d).update(exemplars=[1, 2]),
    "an unknown kind": lambda d: set_in(d, "C", {"$": "code", "value": "1"}),
    "an array that is not there": lambda d: set_in(d, "coef_", {"$": "array", "n": 999}),
    "a number of an array that is none": lambda d: set_in(d, "coef_", {"$": "array", "n": "0"}),
    "deep lists": lambda d: set_in(d, "C", deep(500)),
    "no model": lambda d: d.update(model=[1, 2]),
    "no facts": lambda d: d.update(facts=None),
    "a list": lambda d: [d],
    "NaN": lambda d: set_in(d, "C", float("nan")),
}


@pytest.mark.parametrize("which", HOSTILE)
def test_hostile_descriptions(tmp_path, good, which):
    refuse(tmp_path, hostile(good, HOSTILE[which]), "get a new copy")


@pytest.mark.parametrize("value", [np.nan, np.inf])
def test_weights_that_are_not_finite(tmp_path, good, value):
    _, description, _ = parts(good)
    number = description["model"]["state"]["coef_"]["n"]
    wrong = np.array([value], description["arrays"][number]["dtype"]).tobytes()
    refuse(tmp_path, with_bytes(good, number, wrong), "coef_")


def test_text_that_is_no_json(tmp_path, good):
    front, _, data = parts(good)
    for text in (b"", b"{", b"[" * 200_000, b'{"a": ' * 50_000, b"\xff\xfe", b"9" * 10_000):
        refuse(tmp_path, sealed(front, text, data), "cannot be read")


SIMPLE = st.none() | st.booleans() | st.integers(-(1 << 70), 1 << 70) | st.floats(allow_nan=False) | st.text()
ODD = SIMPLE | st.lists(SIMPLE, max_size=3) | st.dictionaries(st.text(), SIMPLE, max_size=2)


def random_change(data, node):
    """Change something somewhere in plain data."""
    while isinstance(node, (dict, list)) and node:
        keys = list(node) if isinstance(node, dict) else range(len(node))
        key = data.draw(st.sampled_from(list(keys)))
        if not isinstance(node[key], (dict, list)) or data.draw(st.integers(0, 5)) == 0:
            simple = (
                st.none() | st.booleans() | st.integers(-(1 << 70), 1 << 70) | st.floats(allow_nan=False) | st.text()
            )
            node[key] = data.draw(
                simple | st.lists(simple, max_size=3) | st.dictionaries(st.text(), simple, max_size=2)
            )
            return
        node = node[key]


@settings(max_examples=150)
@given(st.data())
def test_anything_may_be_changed_and_sealed_again(tmp_path_factory, good, data):
    """It is refused by a sentence, or it loads and predicts, or says in prediction what is wrong: never a crash."""
    front, description, arrays = parts(good)
    for _ in range(data.draw(st.integers(1, 3))):
        random_change(data, description)
    path = tmp_path_factory.mktemp("fuzz") / "model.besvm"
    path.write_bytes(sealed(front, json.dumps(description).encode(), arrays))
    try:
        model = besvm.load(path)
    except ModelFileError:
        return
    with suppress(Exception):  # any will do: the process lives
        model.predict(X)


def test_a_function_cannot_be_saved(tmp_path):
    model = BESVMClassifier(lambda a, b: -abs(a[0] - b[0]), basis=5, n_jobs=1, random_state=0).fit(X.tolist(), Y)
    with pytest.raises(TypeError, match=r"a Python function cannot be saved, but .*measures.*register it"):
        besvm.save(model, tmp_path / "model")
    assert list(tmp_path.iterdir()) == []


class Unregistered(Similarity):
    def __call__(self, A, B):
        return np.asarray(A) @ np.asarray(B).T


def test_a_similarity_without_a_name_cannot_be_saved(tmp_path):
    with pytest.raises(TypeError, match=r"a Unregistered, a similarity without a registered name; register it"):
        besvm.save(BESVMClassifier(Unregistered(), basis=5).fit(X, Y), tmp_path / "model")


class Twice(TransformerMixin, BaseEstimator):
    def fit(self, X, y=None):
        return self

    def transform(self, X):
        return 2 * X


def test_features_that_nobody_registered_cannot_be_saved(tmp_path):
    model = BESVMClassifier(Measure("rbf", features=Twice()), basis=5).fit(X, Y)
    with pytest.raises(TypeError, match=r"Twice, which a model file cannot hold; if it is yours, register it"):
        besvm.save(model, tmp_path / "model")


def test_what_is_no_trained_model(tmp_path):
    with pytest.raises(ValueError, match="must be trained before it is saved"):
        besvm.save(LinearSVMClassifier(), tmp_path / "model")
    with pytest.raises(TypeError, match="must be a trained estimator"):
        besvm.save({"a": 1}, tmp_path / "model")
    with pytest.raises(ValueError, match="facts must be a dict of plain data"):
        besvm.save(LinearSVMClassifier().fit(X, Y), tmp_path / "model", facts={"a": object()})


def test_a_full_disk_leaves_nothing(tmp_path, monkeypatch):
    def full(*_):
        raise OSError(28, "No space left on device")

    monkeypatch.setattr("besvm.files.container._chunks", full)
    with pytest.raises(OSError, match=r"model cannot be written: No space left"):
        besvm.save(LinearSVMClassifier().fit(X, Y), tmp_path / "model")
    assert list(tmp_path.iterdir()) == []


def test_describe_reads_no_arrays(tmp_path, good):
    path = tmp_path / "model"
    path.write_bytes(good[:-100] + bytes(100))
    found = describe(path)
    assert found["class"] == "BESVMClassifier"
    assert found["bytes"] == len(good)
    path.write_bytes(b"nothing")
    with pytest.raises(ModelFileError, match="is not a besvm model"):
        describe(path)
