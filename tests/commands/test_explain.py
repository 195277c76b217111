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
from besvm.explanations.models import read_model
from besvm.inputs import stream
from besvm.report.basis import basis_of
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


@pytest.mark.parametrize(("row", "place"), [("1", 19), ("20", 7), ("30", 29), ("-1", 29)])
def test_a_name_wins_wherever_it_is(tmp_path, row, place):
    """Even if the row of that number was read long before."""
    ids = np.random.default_rng(0).permutation(np.arange(100, 130))
    ids[19], ids[7] = 1, 20
    (tmp_path / "ids.csv").write_text("id,a,label\n" + "".join(f"{n},{k},{'xy'[k % 2]}\n" for k, n in enumerate(ids)))
    name, X = find(stream(tmp_path / "ids.csv", rows=8), row)
    assert (name, X.tolist()) == (str(ids[place]), [[place]])


def test_where_names_are_the_numbers_no_more_is_read(tmp_path):
    (tmp_path / "t.csv").write_text("a,label\n" + "".join(f"{k},{'xy'[k % 2]}\n" for k in range(20000)))
    samples = stream(tmp_path / "t.csv", rows=8)
    name, X = find(samples, "11")
    assert (name, X.tolist()) == ("11", [[10]])
    assert samples.done < samples.total / 2


def test_says_what_pulled(samples):
    done = explain("--row", "3", "--top", "4")
    assert done.exit_code == 0, done.output
    lines = done.stdout.splitlines()
    assert lines[0] == "sample 02.png"
    assert lines[1].startswith("predicted: ")
    assert "from the other 6 exemplars" in done.stdout


def test_exemplars_are_numbered_as_rows_are(samples):
    """Rows of files are numbered from 1 in all commands, rows of arrays from 0 in Python."""
    listed = json.loads(explain("--row", "3", "--json").stdout)["contributions"]
    model = besvm.load("m.besvm")
    here = {(one.measure, one.exemplar): one.row for one in besvm.explain(model, np.zeros((16, 16, 3))).contributions}
    assert all(one["row"] == here[one["measure"], one["exemplar"]] + 1 for one in listed)
    assert f"row {listed[0]['row']}" in explain("--row", "3").stdout


def test_exemplars_are_called_as_their_files_are(folder, tmp_path):
    """As far as these have names: rows of a table without any are called by their numbers."""
    for k, pet in enumerate(sorted((folder / "pets").iterdir())):
        target = tmp_path / "train" / ("cat" if k % 2 else "dog") / pet.name
        target.parent.mkdir(parents=True, exist_ok=True)
        target.write_bytes(pet.read_bytes())
    (tmp_path / "table.csv").write_text("a,b,class\n" + "".join(f"{k},{k * k % 7},{k % 2}\n" for k in range(20)))
    for data, measure in (("train", "H8R"), ("table.csv", "rbf")):
        command = ["train", str(tmp_path / data), "-m", measure, "--basis", "5", "--no-check", "--force"]
        assert run(app, [*command, "-o", str(tmp_path / "m.besvm")]).exit_code == 0
        model, sample = besvm.load(tmp_path / "m.besvm"), str(tmp_path / data)
        listed = json.loads(run(app, ["explain", str(tmp_path / "m.besvm"), sample, "--json"]).stdout)["contributions"]
        rows = model.basis_rows_[0]
        if data == "train":
            files = [str(one.relative_to(tmp_path / data)) for one in sorted((tmp_path / data).rglob("*.png"))]
            assert {one["row"]: one["file"] for one in listed} == {row + 1: files[row] for row in rows}
            said = run(app, ["explain", str(tmp_path / "m.besvm"), sample]).stdout
            assert listed[0]["file"] in said
            assert "row " not in said
            reading = read_model(model)
            assert basis_of(reading.map.expander, 1, reading.files).name(0) == files[rows[0]]  # on the report
        else:
            assert all("file" not in one for one in listed)
            assert "names" not in model.facts_


@pytest.mark.parametrize("names", [{"0": 3}, {"x": "a", "9" * 5000: "b", "-1": "c"}, ["a"], "abc", {"0": "a\x1b[2Jb"}])
def test_names_that_a_file_makes_up_do_no_harm(samples, names):
    model = besvm.load("m.besvm")
    model.facts_ = {"names": names}
    said = str(besvm.explain(model, np.zeros((16, 16, 3))))
    assert "\x1b" not in said
    assert "row " in said


def test_a_picture_shows_as_many_as_asked_and_is_named(samples, tmp_path):
    sizes = {}
    for top in ("1", "3"):
        out = tmp_path / f"{top}.html"
        done = explain("--row", "3", "--top", top, "-o", str(out))
        assert done.stdout.splitlines()[-1] == f"wrote {out}"
        sizes[top] = out.read_text().count("more than usual") + out.read_text().count("less than usual")
    assert sizes == {"1": 2, "3": 6}


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
