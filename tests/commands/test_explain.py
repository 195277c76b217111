"""The command `besvm explain`, on a model and data that need no files."""

import json
import sys
from pathlib import Path
from types import ModuleType, SimpleNamespace

import numpy as np
import pytest
from typer.testing import CliRunner

from besvm import BESVMClassifier
from besvm.cli import app

run = CliRunner().invoke


class Samples:
    """Images in blocks of eight, as they come from a folder."""

    name = "pets"

    def __init__(self, X):
        self.X, self.read = X, 0

    def __iter__(self):
        for start in range(0, len(self.X), 8):
            X = self.X[start : start + 8]
            self.read += len(X)
            yield SimpleNamespace(X=X, names=[f"{start + k}.png" for k in range(len(X))])


def check_new(path, force):
    if Path(path).exists() and not force:
        raise ValueError(f"{path!r} is there already and is kept")
    return Path(path)


@pytest.fixture
def samples(monkeypatch):
    """Put a model and samples where the command looks for them."""
    rng = np.random.default_rng(0)
    X, y = rng.integers(0, 256, (20, 16, 16, 3), dtype=np.uint8), np.array(["cat", "dog"] * 10)
    fitted = BESVMClassifier(["H8R", "P6(2)"], basis=5, C=1.0, random_state=0).fit(X, y)
    found = Samples(X)

    def load_model(path):
        if path == "none.besvm":
            raise FileNotFoundError("'none.besvm' must be a model file")
        return fitted

    parts = {"load_model": load_model, "samples_for": lambda model, name, data: found}
    for name, functions in (("models", parts), ("outputs", {"check_new": check_new})):
        module = ModuleType(f"besvm.commands.{name}")
        vars(module).update(functions)
        monkeypatch.setitem(sys.modules, module.__name__, module)
    return found


def explain(*arguments):
    return run(app, ["explain", "m.besvm", "pets", *arguments])


def test_says_what_pulled(samples):
    done = explain("--row", "3", "--top", "4")
    assert done.exit_code == 0, done.output
    lines = done.stdout.splitlines()
    assert lines[0] == "2.png"
    assert lines[1].startswith("predicted: ")
    assert "from the other 6 exemplars" in done.stdout
    assert samples.read == 8


@pytest.mark.parametrize(("row", "name"), [("9", "8.png"), ("12.png", "12.png"), ("-1", "19.png"), ("20", "19.png")])
def test_a_sample_by_its_number_or_name(samples, row, name):
    data = json.loads(explain("--row", row, "--json").stdout)
    assert data["sample"] == name
    assert len(data["contributions"]) == 10
    assert "match" in data["contributions"][0]


@pytest.mark.parametrize("name", ["why.png", "why.svg", "why.html"])
def test_a_picture_or_a_page(samples, tmp_path, name):
    path = tmp_path / name
    done = explain("--row", "3", "--top", "1", "-o", str(path))
    assert done.exit_code == 0, done.output
    before = path.read_bytes()
    assert len(before) > 1000
    done = explain("-o", str(path))
    assert done.exit_code == 2
    assert "is there already and is kept" in done.stderr
    assert path.read_bytes() == before
    assert explain("-o", str(path), "--force").exit_code == 0
    assert path.read_bytes() != before


@pytest.mark.parametrize("row", ["0", "21", "-2", "rose", "-", "1.5"])
def test_a_sample_that_is_not_there(samples, row):
    done = explain("--row", row)
    assert (done.exit_code, done.stdout) == (2, "")
    said = f"besvm: --row must be the name of a sample of pets, or its number, from 1 to 20, got {row!r}\n"
    assert done.stderr == said


def test_bad_input(samples, tmp_path):
    done = explain("-o", str(tmp_path / "why.gif"))
    assert done.exit_code == 2
    assert "-o must end in .png or .svg for a picture, or in .html for a page" in done.stderr
    assert explain("--top", "0").exit_code == 2
    done = run(app, ["explain", "none.besvm", "pets"])
    assert (done.exit_code, done.stderr) == (2, "besvm: 'none.besvm' must be a model file\n")
