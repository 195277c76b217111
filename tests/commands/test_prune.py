"""The command `besvm prune`, on a model that `besvm train` has made."""

import json
from types import SimpleNamespace

import numpy as np
import pytest
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler
from typer.testing import CliRunner

import besvm
from besvm.cli import app
from besvm.inputs import read
from besvm.selection import GreedySelection


def run(app, arguments):
    return CliRunner().invoke(app, arguments)


@pytest.fixture
def files(tmp_path, rng, monkeypatch):
    """A model in a file, and the table that it was trained on."""
    monkeypatch.chdir(tmp_path)
    X, y = rng.normal(size=(120, 4)), np.arange(120) % 2
    X[y == 1] += 1
    lines = [",".join([*map(str, row), "ab"[label]]) for row, label in zip(X, y, strict=True)]
    (tmp_path / "data.csv").write_text("\n".join(["p,q,r,s,label", *lines]) + "\n")
    (tmp_path / "unlabeled.csv").write_text("\n".join(["p,q,r,s", *(line[:-2] for line in lines)]) + "\n")
    path = tmp_path / "model.besvm"
    options = ["-m", "rbf", "--basis", "40", "--C", "1", "--no-check"]
    done = run(app, ["train", "data.csv", "-o", str(path), *options])
    assert done.exit_code == 0, done.output
    return SimpleNamespace(path=path, folder=tmp_path)


def saved(path):
    model = besvm.load(path)
    return model, model.facts_


def models(files):
    return sorted(path.name for path in files.folder.glob("*.besvm"))


def test_saves_a_smaller_model_beside_the_large_one(files):
    done = run(app, ["prune", str(files.path), "data.csv", "-n", "10"])
    assert done.exit_code == 0, done.output
    name = str(files.folder / "model-10.besvm")
    assert done.stdout.strip() == f"kept 10 of 40 exemplars; saved {name}"
    small, facts = saved(name)
    assert small.n_basis_ == 10
    assert facts["pruned from"] == 40
    assert facts["rows"] == 120
    assert "accuracy" not in facts  # which was that of the large one


def test_a_share_a_loss_and_a_name(files):
    out = str(files.folder / "small.besvm")
    done = run(app, ["prune", str(files.path), "data.csv", "-n", "0.5", "-o", out])
    assert done.exit_code == 0, done.output
    assert saved(out)[0].n_basis_ == 20
    done = run(app, ["prune", str(files.path), "data.csv", "--max-loss", "0.5", "-o", out, "--json", "--force"])
    assert done.exit_code == 0, done.output
    told = json.loads(done.stdout)
    assert told["kept"] == min(told["curve"]["sizes"]) == saved(out)[0].n_basis_
    assert told["saved"] == out


def test_one_is_a_number_and_not_a_share(files):
    done = run(app, ["prune", str(files.path), "data.csv", "-n", "1"])
    assert done.exit_code == 0, done.output
    assert saved(files.folder / "model-1.besvm")[0].n_basis_ == 1


def test_the_curve_alone_saves_nothing(files):
    done = run(app, ["prune", str(files.path), "data.csv", "--curve", "--random", "1"])
    assert done.exit_code == 0, done.output
    assert done.stdout.startswith("accuracy on 120 held-out rows")
    assert models(files) == ["model.besvm"]
    told = json.loads(run(app, ["prune", str(files.path), "data.csv", "--curve", "--json"]).stdout)
    assert told["exemplars"] == told["curve"]["sizes"][0] == 40
    assert "saved" not in told


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (["data.csv"], "give the number of exemplars to keep (-n)"),
        (["data.csv", "-n", "ten"], "-n must be a number of exemplars, such as 500, or a share, such as 0.5, got ten"),
        (["data.csv", "-n", "50"], "n must be at most 40"),
        (["data.csv", "-n", "0"], "n must be a whole number of at least 1"),
        (["data.csv", "-n", "10", "--max-loss", "0.1"], "pass either n or max_loss"),
        (["unlabeled.csv", "-n", "10"], "must have a class for every row to refit on"),
    ],
)
def test_one_sentence_and_nothing_saved(arguments, message, files):
    done = run(app, ["prune", str(files.path), *arguments])
    assert done.exit_code == 2
    assert message in done.stderr
    assert len(done.stderr.strip().splitlines()) == 1
    assert models(files) == ["model.besvm"]


def test_files_that_are_missing_or_in_the_way(files):
    done = run(app, ["prune", str(files.folder / "other.besvm"), "data.csv", "-n", "10"])
    assert done.exit_code == 2
    assert "there is no model file" in done.stderr
    there = files.folder / "model-10.besvm"
    there.touch()
    for arguments in (["-n", "10"], ["-n", "12", "-o", str(there)]):
        done = run(app, ["prune", str(files.path), "data.csv", *arguments])
        assert done.exit_code == 2
        assert "already exists" in done.stderr
    assert there.read_bytes() == b""
    assert run(app, ["prune", str(files.path), "data.csv", "-n", "10", "--force"]).exit_code == 0
    assert saved(there)[0].n_basis_ == 10


def test_an_interrupt_saves_nothing(files, monkeypatch):
    def interrupted(*args, **options):
        raise KeyboardInterrupt

    monkeypatch.setattr(besvm, "prune", interrupted, raising=False)
    done = run(app, ["prune", str(files.path), "data.csv", "-n", "10"])
    assert done.exit_code == 130
    assert "interrupted; nothing was written" in done.stderr


def test_a_model_of_python_whose_classes_are_numbers(tmp_path, rng, monkeypatch):
    """A file has them as texts."""
    monkeypatch.chdir(tmp_path)
    X, y = rng.normal(size=(60, 3)), np.arange(60) % 3
    np.savez("data.npz", X=X, y=y)
    besvm.save(besvm.BESVMClassifier("rbf", basis=20, C=1.0, random_state=0).fit(X, y), "m.besvm")
    done = run(app, ["prune", "m.besvm", "data.npz", "-n", "8"])
    assert done.exit_code == 0, done.output
    assert besvm.load("m-8.besvm").classes_.tolist() == [0, 1, 2]


@pytest.mark.parametrize("kind", ["search", "pipeline"])
def test_what_a_model_is_inside_of(files, kind):
    """Of a search its best model is pruned, and a pipeline keeps its other steps."""
    data = read(files.folder / "data.csv")
    model = besvm.BESVMClassifier("rbf", basis=20, C=1.0, random_state=0)
    search = GreedySelection(["rbf", "linear"], n_measures=1, basis=20, random_state=0)
    whole = search if kind == "search" else make_pipeline(StandardScaler(), make_pipeline(StandardScaler(), model))
    facts = {"kind": "vectors", "columns": data.columns, "label": "label", "accuracy": {"of": "the large one"}}
    besvm.save(whole.fit(data.X * 9, data.y), "m.besvm", facts=facts)
    assert run(app, ["prune", "m.besvm", "data.csv", "--curve"]).exit_code == 0
    done = run(app, ["prune", "m.besvm", "data.csv", "-n", "5"])
    assert done.exit_code == 0, done.output
    assert done.stdout.strip() == "kept 5 of 20 exemplars; saved m-5.besvm"
    small, facts = saved("m-5.besvm")
    assert (facts["pruned from"], "accuracy" in facts) == (20, False)
    if kind == "pipeline":
        inner = whole[-1]
        expected = besvm.prune(inner[-1], 5, inner[:-1].transform(whole[:-1].transform(data.X)), data.y)
        expected_values = expected.decision_function(inner[:-1].transform(whole[:-1].transform(data.X)))
        np.testing.assert_array_equal(small.decision_function(data.X), expected_values)
        assert [name for name, _ in small.steps] == ["standardscaler", "pipeline"]


def test_a_pipeline_of_another_classifier(files):
    data = read(files.folder / "data.csv")
    besvm.save(make_pipeline(StandardScaler(), besvm.LinearSVMClassifier()).fit(data.X, data.y), "m.besvm")
    done = run(app, ["prune", "m.besvm", "data.csv", "-n", "5"])
    assert done.exit_code == 2
    assert done.stderr.splitlines()[-1] == "besvm: prune needs a fitted BESVMClassifier, got a LinearSVMClassifier"
