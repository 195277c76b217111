"""The command `besvm explain`, on a model of images and a folder of them."""

import json

import numpy as np
import pytest
from PIL import Image
from typer.testing import CliRunner

import besvm
from besvm import BESVMClassifier
from besvm.cli import app
from besvm.commands.explain import find
from besvm.inputs import stream
from variants import first_fast

run = CliRunner().invoke


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    """A model, and a folder of images, 00.png to 19.png."""
    folder, rng = tmp_path_factory.mktemp("explain"), np.random.default_rng(0)
    X, y = rng.integers(0, 256, (20, 16, 16, 3), dtype=np.uint8), np.array(["cat", "dog"] * 10)
    (folder / "pets").mkdir()
    for k, image in enumerate(X):
        Image.fromarray(image).save(folder / "pets" / f"{k:02}.png")
    fitted = BESVMClassifier(["H8R", "P6(2)"], basis=5, C=1.0, random_state=0).fit(X, y)
    besvm.save(fitted, folder / "m.besvm", facts={"kind": "images", "size": [16, 16]})
    return folder


@pytest.fixture
def samples(folder, monkeypatch):
    """Samples where the command is run."""
    monkeypatch.chdir(folder)


def explain(*arguments):
    return run(app, ["explain", "m.besvm", "pets", *arguments])


def test_reads_no_further_than_to_the_sample(folder):
    samples = stream(folder / "pets", rows=8)
    name, X = find(samples, "3")
    assert (name, X.shape, samples.done) == ("02.png", (1, 16, 16, 3), 8)


def test_says_what_pulled(samples):
    done = explain("--row", "3", "--top", "4")
    assert done.exit_code == 0, done.output
    lines = done.stdout.splitlines()
    assert lines[0] == "02.png"
    assert lines[1].startswith("predicted: ")
    assert "from the other 6 exemplars" in done.stdout


def test_exemplars_are_numbered_as_rows_are(samples):
    """Rows of files are numbered from 1 in all commands, rows of arrays from 0 in Python."""
    listed = json.loads(explain("--row", "3", "--json").stdout)["contributions"]
    model = besvm.load("m.besvm")
    here = {(one.measure, one.exemplar): one.row for one in besvm.explain(model, np.zeros((16, 16, 3))).contributions}
    assert all(one["row"] == here[one["measure"], one["exemplar"]] + 1 for one in listed)
    assert f"row {listed[0]['row']}" in explain("--row", "3").stdout


@pytest.mark.parametrize(("row", "name"), [("9", "08.png"), ("12.png", "12.png"), ("-1", "19.png"), ("20", "19.png")])
def test_a_sample_by_its_number_or_name(samples, row, name):
    data = json.loads(explain("--row", row, "--json").stdout)
    assert data["sample"] == name
    assert len(data["contributions"]) == 10
    assert "match" in data["contributions"][0]


@pytest.mark.parametrize("name", first_fast(["why.png", "why.html", "why.svg"], 2))
def test_a_picture_or_a_page(samples, tmp_path, name):
    path = tmp_path / name
    done = explain("--row", "3", "--top", "1", "-o", str(path))
    assert done.exit_code == 0, done.output
    before = path.read_bytes()
    assert len(before) > 1000
    done = explain("-o", str(path))
    assert done.exit_code == 2
    assert "already exists" in done.stderr
    assert path.read_bytes() == before
    assert explain("-o", str(path), "--force").exit_code == 0
    assert path.read_bytes() != before


@pytest.mark.parametrize("row", ["0", "21", "-2", "rose", "-", "--1", "1.5"])
def test_a_sample_that_is_not_there(samples, row):
    done = explain(f"--row={row}")
    assert (done.exit_code, done.stdout) == (2, "")
    said = f"besvm: --row must be the name of a sample in pets or a number from 1 to 20, got {row!r}\n"
    assert done.stderr == said


def test_bad_input(samples, tmp_path):
    done = explain("-o", str(tmp_path / "why.gif"))
    assert done.exit_code == 2
    assert "-o must end in .png or .svg for a picture, or in .html for a web page" in done.stderr
    assert explain("--top", "0").exit_code == 2
    done = run(app, ["explain", "none.besvm", "pets"])
    said = "besvm: there is no model file 'none.besvm'; `besvm train` writes one\n"
    assert (done.exit_code, done.stderr) == (2, said)
