"""The commands as a user runs them: every kind of data from its file to a model, to predictions, to an evaluation."""

import csv
import json
import re
from pathlib import Path

import numpy as np
import pandas as pd
import pytest
from PIL import Image
from sklearn.datasets import load_iris
from typer.testing import CliRunner

import besvm
from besvm.cli import app
from besvm.inputs import read

invoke = CliRunner().invoke


def run(*arguments, code=0, **options):
    done = invoke(app, [str(argument) for argument in arguments], **options)
    assert done.exit_code == code, done.output
    return done


def rows(text):
    return list(csv.DictReader(text.splitlines()))


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    """A small file of every kind, with classes that can be learned."""
    folder, rng = tmp_path_factory.mktemp("data"), np.random.default_rng(0)
    X, y = load_iris(return_X_y=True)
    lines = [f"{','.join(map(str, row))},{'abc'[label]}" for row, label in zip(X, y, strict=True)]
    (folder / "vectors.csv").write_text("\n".join(["w,x,y1,z,class", *lines]))
    np.savez(folder / "vectors.npz", X=X, y=y)
    np.savez(folder / "kernel.npz", X=X @ X[::5].T, y=y)
    words = ["".join(rng.choice(list("abcd" if k % 2 else "wxyz"), 6)) for k in range(40)]
    (folder / "text.csv").write_text("\n".join(["word,label", *(f"{w},{k % 2}" for k, w in enumerate(words))]))
    acids = ["".join(rng.choice(list("ACDE" if k % 2 else "KLMN"), 12)) for k in range(40)]
    (folder / "sequences.csv").write_text("\n".join(["s,label", *(f"{w},{k % 2}" for k, w in enumerate(acids))]))
    records = [f"{w},{['Rome', 'Oslo'][k % 2]},{k % 7 or ''},{k % 2}" for k, w in enumerate(words)]
    (folder / "records.csv").write_text("\n".join(["word,city,number,label", *records]))
    waves = np.sin(np.arange(24) / np.where(np.arange(40) % 2, 2.0, 5.0)[:, None] + rng.random((40, 1)))
    series = [f"{','.join(map(str, wave.round(4)))}:{k % 2}" for k, wave in enumerate(waves)]
    (folder / "series.ts").write_text("\n".join(["@classLabel true 0 1", "@data", *series]))
    for k in range(16):
        path = folder / "images" / "ab"[k % 2] / f"{k}.png"
        path.parent.mkdir(parents=True, exist_ok=True)
        pixels = (
            rng.integers(0, 60, (16, 16, 3)) + 150 * (k % 2) * (np.indices((16, 16)).sum(axis=0) % 8 < 4)[..., None]
        )
        Image.fromarray(pixels.astype(np.uint8)).save(path)
    return folder


KINDS = {
    "vectors.csv": ("vectors", ["rbf"]),
    "vectors.npz": ("vectors", ["rbf"]),
    "text.csv": ("text", ["edit", "jaro-winkler", "kmers(k=2)", "kmers(k=3)", "kmers(k=4)"]),
    "sequences.csv": ("sequences", ["align-global", "align-local", "kmers(k=1)", "kmers(k=2)", "kmers(k=3)"]),
    "records.csv": ("records", ["gower", "edit[word]"]),
    "series.ts": ("series", ["pieces"]),
    "images": ("images", None),
}


@pytest.mark.parametrize(("basis", "exemplars"), [("20", 20), ("30.0", 30), ("1", 1), ("0.5", 0.5), ("1.0", 1.0)])
def test_a_basis_is_a_number_or_a_share_as_in_python(folder, tmp_path, basis, exemplars):
    done = run("train", folder / "vectors.csv", "--no-check", "--json", "--basis", basis, "-o", tmp_path / "model")
    result = json.loads(done.stdout)
    wanted = exemplars if isinstance(exemplars, int) else exemplars * result["rows"]
    assert result["exemplars"] == wanted


def test_a_basis_that_is_no_number_is_explained(folder, tmp_path):
    done = run("train", folder / "vectors.csv", "--basis", "many", "-o", tmp_path / "model", code=2)
    assert "--basis must be a number of exemplars, like 300, or a share of the rows, like 0.5" in done.stderr


@pytest.mark.parametrize("name", KINDS)
def test_from_a_file_to_a_model_to_predictions(folder, tmp_path, name):
    data, model = folder / name, tmp_path / "model.besvm"
    done = run("train", data, "-o", model, "--json", "--basis", "20")
    result = json.loads(done.stdout)
    kind, measures = KINDS[name]
    assert result["kind"] == kind
    assert measures is None or result["measures"] == measures
    assert result["accuracy"]["low"] <= result["accuracy"]["value"] <= result["accuracy"]["high"]
    assert result["accuracy"]["value"] > 0.8
    assert f"besvm: {kind}: " in done.stderr
    judged = json.loads(run("evaluate", model, data, "--json").stdout)
    assert judged["accuracy"]["value"] > 0.8
    assert judged["accuracy"]["rows"] == result["rows"]
    predicted = rows(run("predict", model, data, "--probabilities").stdout)
    assert len(predicted) == result["rows"]
    truth = read(data).y
    assert np.mean([row["prediction"] == own for row, own in zip(predicted, truth, strict=True)]) == pytest.approx(
        judged["accuracy"]["value"]
    )
    shares = [float(value) for column, value in predicted[0].items() if column.startswith("p(")]
    assert sum(shares) == pytest.approx(1, abs=1e-4)
    facts = besvm.load(model).facts_
    assert (facts["kind"], facts["source"], facts["rows"]) == (kind, name, result["rows"])


def test_similarities_of_a_users_own(folder, tmp_path):
    model = tmp_path / "k.besvm"
    done = run("train", folder / "kernel.npz", "--kind", "precomputed", "-o", model)
    assert "precomputed" in done.stderr
    assert "accuracy  1.0" in done.stdout
    run("evaluate", model, folder / "kernel.npz")
    wrong = run("train", folder / "kernel.npz", "--kind", "precomputed", "--basis", 3, "-o", tmp_path / "n", code=2)
    assert "--basis cannot be used with precomputed similarities" in wrong.stderr


@pytest.fixture(scope="module")
def iris(folder):
    run("train", folder / "vectors.csv", "-o", folder / "iris.besvm", "--cv", "3")
    return folder / "iris.besvm"


def test_what_people_see(folder, iris, tmp_path):
    done = run("train", folder / "vectors.csv", "-o", tmp_path / "m.besvm")
    said = done.stderr.splitlines()
    assert said[0] == "besvm: vectors.csv: 150 rows of vectors, 4 numbers (w, x, y1, z); classes in 'class'"
    assert said[1] == "besvm: vectors: rbf (columns scaled to unit variance)"
    accuracy, trained, model = done.stdout.splitlines()
    assert accuracy.startswith("accuracy  0.9")
    assert accuracy.endswith("; 30 rows, held out)")
    assert trained.startswith("trained   on all 150 rows, 3 classes, in ")
    assert model.startswith(f"model     {tmp_path / 'm.besvm'} (")
    shown = run("inspect", iris).stdout
    for part in (
        "model       BESVMClassifier, C = ",
        "kind        vectors",
        "150 rows, 3-fold cross-validation)",
        "3: a, b, c",
    ):
        assert part in shown
    assert "RBF" in shown.splitlines()[-1]
    plain = json.loads(run("inspect", iris, "--json").stdout)
    assert plain["facts"]["accuracy"]["rows"] == 150
    assert plain["measures"][0]["name"] == "rbf"
    table = run("evaluate", iris, folder / "vectors.csv").stdout
    assert "expected  0.9" in table
    assert "class  rows  precision  recall     f1" in table
    assert "true \\ predicted   a   b   c" in table


def test_the_same_seed_gives_the_same_model(folder, iris, tmp_path):
    run("train", folder / "vectors.csv", "-o", tmp_path / "again.besvm", "--cv", "3", "--seed", "0")
    assert (tmp_path / "again.besvm").read_bytes() == iris.read_bytes()


def test_predictions_as_json_on_lines_and_to_a_file(folder, iris, tmp_path):
    done = run("predict", iris, folder / "vectors.csv", "--json", "--probabilities")
    first = json.loads(done.stdout.splitlines()[0])
    assert (first["sample"], first["prediction"], set(first["probabilities"])) == ("1", "a", set("abc"))
    out = tmp_path / "new" / "p.csv"
    assert run("predict", iris, folder / "vectors.csv", "-o", out).stdout == ""
    assert len(rows(out.read_text())) == 150
    assert [path.name for path in out.parent.iterdir()] == ["p.csv"]


def test_from_standard_input(folder, iris, tmp_path):
    done = run("predict", iris, "-", input="x,w,z,y1\n3.5,5.1,0.2,1.4\n3.2,7.0,1.4,4.7\n")
    assert [row["prediction"] for row in rows(done.stdout)] == ["a", "b"]
    run("train", folder / "text.csv", "-o", tmp_path / "t.besvm")
    done = run("predict", tmp_path / "t.besvm", "-", "--json", input="abcabc\nzyxwzz\n")
    assert [json.loads(line)["prediction"] for line in done.stdout.splitlines()] == ["1", "0"]
    text = (folder / "vectors.csv").read_text()
    assert json.loads(run("evaluate", iris, "-", "--json", input=text).stdout)["accuracy"]["rows"] == 150
    run("train", "-", "-o", tmp_path / "stdin.besvm", input=text)


def test_blocks_predict_what_the_whole_does(folder, iris, monkeypatch):
    whole = run("predict", iris, folder / "vectors.csv").stdout
    from besvm.commands import models

    stream = models.stream
    monkeypatch.setattr(models, "stream", lambda *args, **options: stream(*args, **options, rows=7))
    assert run("predict", iris, folder / "vectors.csv").stdout == whole


@pytest.mark.parametrize("check", [["--cv", "4"], ["--holdout", "0.5"], ["--no-check"]])
def test_checks(folder, tmp_path, check):
    done = json.loads(run("train", folder / "text.csv", "-o", tmp_path / "m", "--json", *check).stdout)
    expected = {"--cv": (40, "4-fold cross-validation"), "--holdout": (20, "held out")}
    if check == ["--no-check"]:
        assert done["accuracy"] is None
        assert "accuracy" not in besvm.load(tmp_path / "m").facts_
    else:
        assert (done["accuracy"]["rows"], done["accuracy"]["how"]) == expected[check[0]]


def test_a_plan_writes_nothing(folder, tmp_path):
    done = run("train", folder / "vectors.csv", "--plan", "-o", tmp_path / "m.besvm", "--cv", "5")
    lines = done.stdout.splitlines()
    assert lines[0] == "compare   rbf (150): 150 features of 150 rows, 3 classes"
    assert lines[1] == "check     5-fold cross-validation: 30 + 30 + 30 + 30 + 30 rows"
    assert lines[2].startswith("time      about ")
    assert lines[3].startswith("memory    about ")
    assert list(tmp_path.iterdir()) == []
    measures = ["-m", "P6|mirror", "-m", "H8R"]
    plan = json.loads(run("train", folder / "images", *measures, "--plan", "-o", tmp_path / "m", "--json").stdout)
    assert plan["measures"] == {
        "P6|mirror": {"exemplars": 1000, "features": 9000},  # parts of sixteen images, in nine regions
        "H8R": {"exemplars": 16, "features": 16},
    }
    assert plan["seconds"] > 0


def test_select(folder, tmp_path):
    model = tmp_path / "m.besvm"
    options = [
        "--label",
        "class",
        "-m",
        "rbf",
        "-m",
        "linear",
        "-m",
        "cosine",
        "-n",
        "2",
        "--folder",
        tmp_path / "kept",
    ]
    done = run("select", folder / "vectors.csv", *options)
    assert "2 of 3 measures, chosen on 30 held-out rows" in done.stdout
    assert done.stdout.splitlines()[-1].startswith(f"besvm train {folder / 'vectors.csv'} --measure ")
    assert done.stdout.endswith(" --C 1 --label class -o MODEL\n")
    plain = json.loads(run("select", folder / "vectors.csv", *options, "-o", model, "--json").stdout)
    assert len(plain["measures"]) == 2
    assert besvm.load(model).facts_["measures"] == plain["measures"]
    run("evaluate", model, folder / "vectors.csv")


def test_an_array_of_another_width_is_refused_before_it_is_read(folder, tmp_path, monkeypatch):
    model = tmp_path / "m.besvm"
    run("train", folder / "vectors.npz", "-o", model, "--no-check", "--basis", "5")
    np.savez_compressed(tmp_path / "wide.npz", X=np.zeros((1, 1_000_000)))
    monkeypatch.setattr("besvm.inputs.reading.Stream.__iter__", None)
    said = run("predict", model, tmp_path / "wide.npz", code=2).stderr
    assert said == "besvm: wide.npz must have 4 columns, as the training data did, got 1,000,000\n"


@pytest.mark.parametrize("name", ["text.csv", "records.csv", "sequences.csv"])
def test_select_knows_what_to_choose_from(folder, name):
    assert "besvm train" in run("select", folder / name, "-n", "1").stdout


def test_a_class_with_one_sample_is_named(folder, tmp_path):
    lines = (folder / "vectors.csv").read_text() + "\n1,2,3,4,rare\n"
    (tmp_path / "rare.csv").write_text(lines)
    said = run("train", tmp_path / "rare.csv", "-o", tmp_path / "m.besvm", "--plan").stderr
    assert "note: 1 class with a single sample, from which little can be learned: rare" in said
    assert "note:" not in run("train", folder / "vectors.csv", "-o", tmp_path / "m.besvm", "--plan").stderr


def test_help_has_examples_and_options_say_what_they_do():
    for name in ("train", "predict", "evaluate", "select"):
        assert not re.search(r"--(force|json|plan|debug) +<", run(name, "--help").stdout), "flags take no value"
        shown = run(name, "--help", env={"COLUMNS": "120"}).stdout
        assert f"besvm {name} " in shown
        assert "--debug" in shown
    assert "edit[name]" in run("train", "--help", env={"COLUMNS": "200"}).stdout
    assert "--install-completion" in run("--help").stdout


def test_a_training_goes_on_from_its_checkpoint(folder, tmp_path):
    train = ("train", folder / "vectors.csv", "--basis", 20, "--force", "-o")
    for name in ("first.besvm", "again.besvm"):
        run(*train, tmp_path / name, "--checkpoint", tmp_path / "work")
    first, again = (besvm.load(tmp_path / f"{name}.besvm") for name in ("first", "again"))
    np.testing.assert_array_equal(first.coef_, again.coef_)
    assert again.checkpoint is None
    assert {path.name for path in (tmp_path / "work").iterdir()} == {"check-1", "all"}
    other = run(*train, tmp_path / "other.besvm", "--checkpoint", tmp_path / "work", "--C", 1, code=2)
    assert "these differ: C ('auto' there, 1.0 here)" in " ".join(other.output.split())


def test_classes_that_are_floats_in_python_and_whole_numbers_in_files(tmp_path, monkeypatch, rng):
    monkeypatch.chdir(tmp_path)
    X = rng.normal(size=(80, 3))
    y = (X[:, 0] > 0).astype(float)
    model = besvm.BESVMClassifier("rbf", basis=20, C=1.0, random_state=0).fit(X, y)
    besvm.save(model, "f.besvm", facts={"kind": "vectors"})
    np.savez("f.npz", X=X, y=y)
    found = json.loads(run("evaluate", "f.besvm", "f.npz", "--json").stdout)
    assert found["accuracy"]["value"] == model.score(X, y)
    assert found["unknown"] == {}
    assert found["confusion"]["classes"] == ["0.0", "1.0"]
    run("report", "f.besvm", "f.npz", "--out", "f.html")
    run("prune", "f.besvm", "f.npz", "-n", "5", "--out", "small.besvm")
    assert besvm.load("small.besvm").classes_.tolist() == [0.0, 1.0]


def test_a_model_of_a_data_frame_or_of_one_channel_reads_files(tmp_path, monkeypatch, rng):
    monkeypatch.chdir(tmp_path)
    people = pd.DataFrame({"age": rng.integers(10, 90, 40), "city": rng.choice(["Rome", "Oslo"], 40)})
    people.to_csv("people.csv", index=False)
    series = rng.normal(size=(40, 1, 8)).round(3)
    lines = [",".join(map(str, one[0])) + f":{k % 2}" for k, one in enumerate(series)]
    Path("series.ts").write_text("\n".join(["@classLabel true 0 1", "@data", *lines]))
    records = {"kind": "records", "columns": {"age": "number", "city": "text"}}
    for measure, X, facts, file in (
        ("gower", people, records, "people.csv"),
        ("dtw", series, {"kind": "series"}, "series.ts"),
    ):
        y = np.array(["old", "young"])[(people.age < 40).astype(int)]
        model = besvm.BESVMClassifier(measure, basis=10, C=1.0, random_state=0).fit(X, y)
        besvm.save(model, "m.besvm", facts=facts)
        run("predict", "m.besvm", file, "--out", "found.csv", "--force")
        assert [row["prediction"] for row in rows(Path("found.csv").read_text())] == model.predict(X).tolist()
