"""The command `besvm explain`, on a model and data that need no files."""

import json
import sys
from dataclasses import dataclass
from types import ModuleType
from typing import Any

import numpy as np
import pytest
from typer.testing import CliRunner

import besvm
from besvm import BESVMClassifier
from besvm.cli import app

run = CliRunner().invoke


@dataclass
class Data:
    X: Any
    names: list[str]


@pytest.fixture
def model(monkeypatch):
    """Put a model and some data behind besvm.load and besvm.inputs.read."""
    rng = np.random.default_rng(0)
    X, y = rng.integers(0, 256, (20, 16, 16, 3), dtype=np.uint8), np.array(["cat", "dog"] * 10)
    fitted = BESVMClassifier(["H8R", "P6(2)"], basis=5, C=1.0, random_state=0).fit(X, y)
    inputs = ModuleType("besvm.inputs")
    inputs.read = lambda path, **options: Data(X, [f"{path}/{k}.png" for k in range(20)])
    monkeypatch.setitem(sys.modules, "besvm.inputs", inputs)
    monkeypatch.setattr(besvm, "inputs", inputs, raising=False)
    monkeypatch.setattr(besvm, "load", lambda path: fitted, raising=False)
    return fitted


def test_says_what_pulled(model):
    done = run(app, ["explain", "m.besvm", "pets", "--row", "3", "--top", "4"])
    assert done.exit_code == 0, done.output
    lines = done.stdout.splitlines()
    assert lines[0] == "pets/3.png"
    assert lines[1].startswith("predicted: ")
    assert "from the other 6 exemplars" in done.stdout


def test_as_json(model):
    data = json.loads(run(app, ["explain", "m.besvm", "pets", "--row", "-1", "--json"]).stdout)
    assert data["row"] == 19
    assert data["name"] == "pets/19.png"
    assert len(data["contributions"]) == 10
    assert data["contributions"][0]["match"] is not None


@pytest.mark.parametrize("name", ["why.png", "why.svg", "why.html"])
def test_a_picture_or_a_page(model, tmp_path, name):
    path = tmp_path / name
    done = run(app, ["explain", "m.besvm", "pets", "--row", "3", "-o", str(path)])
    assert done.exit_code == 0, done.output
    before = path.read_bytes()
    assert len(before) > 1000
    done = run(app, ["explain", "m.besvm", "pets", "-o", str(path)])
    assert done.exit_code == 2
    assert "is there already, and stays as it is; give --force to replace it" in done.stderr
    assert path.read_bytes() == before
    assert run(app, ["explain", "m.besvm", "pets", "-o", str(path), "--force"]).exit_code == 0
    assert path.read_bytes() != before


def test_bad_input(model, tmp_path, monkeypatch):
    def said(*arguments):
        done = run(app, ["explain", "m.besvm", "pets", *arguments])
        assert done.exit_code == 2
        assert done.stdout == ""
        return done.stderr

    assert said("--row", "20") == "besvm: --row must be a number from 0 to 19, a row of pets, got 20\n"
    assert "--output must end in .png or .svg" in said("-o", str(tmp_path / "why.gif"))
    assert "Invalid value" in said("--top", "0")

    def missing(path):
        raise FileNotFoundError(f"{path} is not there")

    monkeypatch.setattr(besvm, "load", missing)
    assert said() == "besvm: m.besvm is not there\n"
