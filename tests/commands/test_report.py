"""`besvm report`, as a user runs it."""

import numpy as np
import pytest
from typer.testing import CliRunner

import besvm
from besvm import BESVMClassifier
from besvm.cli import app


@pytest.fixture(scope="module")
def files(tmp_path_factory):
    """A folder with a model, the table that it was trained on, and another."""
    folder = tmp_path_factory.mktemp("report")
    rng = np.random.default_rng(0)
    X = rng.normal(size=(120, 3))
    y = np.array(["<no>", "yes"])[(X[:, 0] > 0).astype(int)]
    for name, rows in (("train.csv", slice(0, 80)), ("test.csv", slice(80, 120))):
        lines = [",".join([*(f"{v:.4f}" for v in row), label]) for row, label in zip(X[rows], y[rows], strict=True)]
        (folder / name).write_text("\n".join(["a,b,c,label", *lines]) + "\n")
    model = BESVMClassifier("rbf", basis=20, C=1.0, random_state=0).fit(X[:80].round(4), y[:80])
    besvm.save(model, folder / "model.besvm", facts={"kind": "vectors", "label": "label"})
    (folder / "bare.csv").write_text("a,b,c\n1,2,3\n")
    return folder


def run(*arguments):
    return CliRunner().invoke(app, ["report", *map(str, arguments)], env={"COLUMNS": "120"})


def test_the_page_is_written(files, tmp_path):
    page = tmp_path / "page.html"
    done = run(files / "model.besvm", files / "test.csv", "-o", page, "--title", "Mine", "--samples", 10)
    assert done.exit_code == 0, done.output
    assert "open it in a browser" in done.stdout
    text = page.read_text()
    assert "<title>Mine</title>" in text
    assert "10 of 40 samples" in text
    assert "&lt;no&gt;" in text


def test_what_is_there_is_kept(files, tmp_path):
    page = tmp_path / "page.html"
    page.write_text("years of work")
    done = run(files / "model.besvm", files / "test.csv", "-o", page)
    assert (done.exit_code, page.read_text()) == (2, "years of work")
    assert "already exists; choose another name, or add --force" in done.stderr
    done = run(files / "model.besvm", files / "test.csv", "-o", page, "--force", "--training", files / "train.csv")
    assert done.exit_code == 0, done.output
    assert "years of work" not in page.read_text()


@pytest.mark.parametrize(
    ("arguments", "says"),
    [
        (["nowhere.besvm", "test.csv"], "nowhere.besvm"),
        (["model.besvm", "nowhere.csv"], "nowhere.csv"),
        (["train.csv", "test.csv"], "train.csv"),
        (["model.besvm", "bare.csv"], "label"),
        (["model.besvm", "test.csv", "--training", "bare.csv"], "label"),
    ],
)
def test_bad_input_gets_one_sentence(files, tmp_path, monkeypatch, arguments, says):
    monkeypatch.chdir(files)
    done = run(*arguments, "-o", tmp_path / "page.html")
    assert done.exit_code == 2
    assert says in done.stderr
    assert done.stderr.count("\n") == 1
    assert not (tmp_path / "page.html").exists()
