"""The command `besvm prune`, with files and data in memory: what the others write is theirs to test."""

import json
import sys
from types import ModuleType, SimpleNamespace

import numpy as np
import pytest
from typer.testing import CliRunner

import besvm
from besvm import BESVMClassifier
from besvm.cli import app

run = CliRunner().invoke


@pytest.fixture
def files(monkeypatch, tmp_path, rng):
    """A model in a file, data, and what has been saved."""
    X, y = rng.normal(size=(120, 4)), np.arange(120) % 2
    X[y == 1] += 1
    model = BESVMClassifier("rbf", basis=40, C=1.0, random_state=0).fit(X, y)
    model.facts_ = {"accuracy": 0.9, "rows": 120}
    path = tmp_path / "model.besvm"
    path.touch()
    saved = {}

    def load(name):
        if str(name) != str(path):
            raise FileNotFoundError(f"{name} does not exist")
        return model

    def save(model, name, *, facts=None):
        saved[str(name)] = model, facts

    monkeypatch.setattr(besvm, "load", load, raising=False)
    monkeypatch.setattr(besvm, "save", save, raising=False)
    inputs = ModuleType("besvm.inputs")
    inputs.read = lambda name, label=None: SimpleNamespace(X=X, y=None if name == "unlabeled.csv" else y)
    monkeypatch.setitem(sys.modules, "besvm.inputs", inputs)
    monkeypatch.setattr(besvm, "inputs", inputs, raising=False)
    return SimpleNamespace(path=path, saved=saved, folder=tmp_path)


def test_saves_a_smaller_model_beside_the_large_one(files):
    done = run(app, ["prune", str(files.path), "data.csv", "-n", "10"])
    assert done.exit_code == 0, done.output
    name = str(files.folder / "model-10.besvm")
    assert done.stdout.strip() == f"kept 10 of 40 exemplars; saved {name}"
    small, facts = files.saved[name]
    assert small.n_basis_ == 10
    assert facts["pruned from"] == 40
    assert facts["rows"] == 120
    assert "accuracy" not in facts  # which was that of the large one


def test_a_share_a_loss_and_a_name(files):
    out = str(files.folder / "small.besvm")
    done = run(app, ["prune", str(files.path), "data.csv", "-n", "0.5", "-o", out])
    assert done.exit_code == 0, done.output
    assert files.saved[out][0].n_basis_ == 20
    done = run(app, ["prune", str(files.path), "data.csv", "--max-loss", "0.5", "-o", out, "--json"])
    assert done.exit_code == 0, done.output
    told = json.loads(done.stdout)
    assert told["kept"] == min(told["curve"]["sizes"]) == files.saved[out][0].n_basis_
    assert told["saved"] == out


def test_one_is_a_number_and_not_a_share(files):
    done = run(app, ["prune", str(files.path), "data.csv", "-n", "1"])
    assert done.exit_code == 0, done.output
    assert files.saved[str(files.folder / "model-1.besvm")][0].n_basis_ == 1


def test_the_curve_alone_saves_nothing(files):
    done = run(app, ["prune", str(files.path), "data.csv", "--curve", "--random", "1"])
    assert done.exit_code == 0, done.output
    assert done.stdout.startswith("accuracy on 120 held-out rows")
    assert not files.saved
    told = json.loads(run(app, ["prune", str(files.path), "data.csv", "--curve", "--json"]).stdout)
    assert told["exemplars"] == told["curve"]["sizes"][0] == 40
    assert "saved" not in told


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (["data.csv"], "say how many exemplars to keep with -n"),
        (["data.csv", "-n", "ten"], "-n must be a number of exemplars, like 500, or a share, like 0.5, got ten"),
        (["data.csv", "-n", "50"], "n must be at most 40"),
        (["data.csv", "-n", "0"], "n must be a whole number of at least 1"),
        (["data.csv", "-n", "10", "--max-loss", "0.1"], "give either n or max_loss"),
        (["unlabeled.csv", "-n", "10"], "must say the class of every row"),
    ],
)
def test_one_sentence_and_nothing_saved(arguments, message, files):
    done = run(app, ["prune", str(files.path), *arguments])
    assert done.exit_code == 2
    assert message in done.stderr
    assert len(done.stderr.strip().splitlines()) == 1
    assert not files.saved


def test_files_that_are_missing_or_in_the_way(files):
    done = run(app, ["prune", str(files.folder / "other.besvm"), "data.csv", "-n", "10"])
    assert done.exit_code == 2
    assert "does not exist" in done.stderr
    there = files.folder / "model-10.besvm"
    there.touch()
    for arguments in (["-n", "10"], ["-n", "12", "-o", str(there)]):
        done = run(app, ["prune", str(files.path), "data.csv", *arguments])
        assert done.exit_code == 2
        assert "exists already, and is kept" in done.stderr
    assert not files.saved
    assert run(app, ["prune", str(files.path), "data.csv", "-n", "10", "--force"]).exit_code == 0
    assert str(there) in files.saved


def test_an_interrupt_saves_nothing(files, monkeypatch):
    def interrupted(*args, **options):
        raise KeyboardInterrupt

    monkeypatch.setattr(besvm, "prune", interrupted, raising=False)
    done = run(app, ["prune", str(files.path), "data.csv", "-n", "10"])
    assert done.exit_code == 130
    assert "interrupted; nothing was saved" in done.stderr
