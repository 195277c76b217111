"""Every mistake gets one sentence and an exit code, and nothing is half-written."""

import errno
import os
import resource
import subprocess
import sys

import numpy as np
import pytest
from PIL import Image
from typer.testing import CliRunner

import besvm
from besvm._support import files
from besvm.cli import app
from besvm.commands.errors import exit_code, is_of_output, sentence
from besvm.inputs import Data, read
from variants import first_fast

invoke = CliRunner().invoke
TABLE = "a,b,label\n" + "".join(f"{k},{k % 5},{'xy'[k % 2]}\n" for k in range(20))


@pytest.fixture(scope="module")
def here(tmp_path_factory):
    """A folder with a model of vectors, one of images, and files with something wrong about them."""
    folder, rng = tmp_path_factory.mktemp("here"), np.random.default_rng(0)
    (folder / "good.csv").write_text(TABLE)
    (folder / "empty.csv").write_text("")
    (folder / "broken.csv").write_text(TABLE.replace("7,2,y", "7,2"))
    (folder / "blank.csv").write_text(TABLE.replace("7,2,y", "7,2,"))
    (folder / "header.csv").write_text("a,b,label\n")
    (folder / "few.csv").write_text("a,label\n1,x\n2,y\n3,z\n")
    (folder / "one.csv").write_text("a,label\n1,x\n2,x\n3,x\n")
    (folder / "texts.csv").write_text("word,label\n" + "".join(f"word{k},{k % 2}\n" for k in range(9)))
    (folder / "plain.txt").write_text("one\ntwo\n")
    (folder / "nothing").mkdir()
    (folder / "broken.besvm").write_bytes(b"no model")
    for k in range(8):
        path = folder / "pets" / "ab"[k % 2] / f"{k}.png"
        path.parent.mkdir(parents=True, exist_ok=True)
        Image.fromarray(rng.integers(0, 255, (16, 16, 3), dtype=np.uint8)).save(path)
    (folder / "half").mkdir()
    for path in (folder / "pets").rglob("*.png"):
        other = folder / "half" / path.parent.name / path.name
        other.parent.mkdir(exist_ok=True)
        other.write_bytes(path.read_bytes()[: 300 if path.name == "3.png" else None])
    data = read(folder / "good.csv")
    model = besvm.BESVMClassifier("rbf", random_state=0).fit(data.X, data.y)
    facts = {"kind": "vectors", "columns": data.columns, "label": "label"}
    besvm.save(model, folder / "vectors.besvm", facts=facts)
    besvm.save(model, folder / "images.besvm", facts={"kind": "images", "size": [16, 16]})
    besvm.save(besvm.BasisExpansion("rbf").fit(data.X), folder / "expansion.besvm")
    return folder


MISTAKES = {
    "train none.csv": "'none.csv' does not exist",
    "train empty.csv": "empty.csv must hold samples, but is empty",
    "train nothing": "nothing must have images, or one folder of images per class, got neither",
    "train pets/a": "a must have a class for every sample to train on, but has none; put the images of each class",
    "train good.csv --label lable": "good.csv has no label column 'lable'; did you mean 'label'?",
    "train good.csv --column c": "good.csv has no column 'c'; its columns are 'a', 'b', 'label'",
    "train broken.csv": "line 9 of broken.csv must have 3 values, as the first line does, got 2; correct or remove it",
    "train half": "1 file in half cannot be read as images: half/b/3.png: ",
    "train few.csv": "few.csv must have at least two samples for each class, got 3 samples of 3",
    "train one.csv": "one.csv must have samples of at least two classes, got only x",
    "train plain.txt": "plain.txt must have a class for every sample to train on, but has none; name their column",
    "train good.csv --kind images": "good.csv must hold images, but is a table",
    "train good.csv --kind pictures": "kind must be one of images, series, text",
    "train good.csv --measure rbff": "--measure must be a known name, got 'rbff'; did you mean 'rbf'?",
    "train good.csv --measure edit": "--measure edit compares text, but good.csv has vectors",
    "train good.csv --size huge": "--size must be one of small, medium, large, got 'huge'",
    "train good.csv --C big": "--C must be a positive number or auto, got 'big'",
    "train good.csv --C -1": "C must be a positive number, got -1.0",
    "train good.csv --basis 0": "basis must be a whole number of at least 1, or a share above 0.0 and up to 1.0, got 0",
    "train good.csv --cv 1": "--cv must be at least 2 folds, got 1",
    "train good.csv --holdout 1": "--holdout must be a share between 0 and 1, such as 0.2, got 1.0",
    "train good.csv --memory-limit lots": "--memory-limit must be a positive number of bytes or text like '4 GB', got",
    "train good.csv --jobs 0": "--jobs must be a whole number from 1 to 10,000",
    "train good.csv --labels none.txt": "none.txt: No such file or directory",
    "train good.csv -o good.csv": "'good.csv' already exists; choose another name, or add --force",
    "train good.csv -o pets": "-o must be the name of a file, got the folder 'pets'",
    "train good.csv -o /dev/null": "-o must be the name of a file, got '/dev/null', which is a device or a pipe",
    "predict none.besvm good.csv": "there is no model file 'none.besvm'; `besvm train` writes one",
    "predict broken.besvm good.csv": "broken.besvm is not a besvm model: it does not begin like one",
    "predict expansion.besvm good.csv": "'expansion.besvm' must be a classifier, but it is a BasisExpansion",
    "predict vectors.besvm none.csv": "'none.csv' does not exist",
    "predict vectors.besvm empty.csv": "empty.csv must hold samples, but is empty",
    "predict vectors.besvm pets": "vectors.besvm was trained on vectors: pets must hold vectors, but is a folder",
    "predict images.besvm good.csv": "images.besvm was trained on images: good.csv must hold images, but is a table",
    "predict vectors.besvm texts.csv": "texts.csv has no column 'a', which the model needs; its columns are 'word'",
    "predict vectors.besvm broken.csv": "line 9 of broken.csv must have 3 values",
    "predict vectors.besvm good.csv -o good.csv": "'good.csv' already exists",
    "evaluate vectors.besvm none.csv": "'none.csv' does not exist",
    "evaluate images.besvm pets/a": "a must have a class for every sample to evaluate on, but has none; name",
    "evaluate vectors.besvm good.csv --label lable": "good.csv has no label column 'lable'",
    "evaluate images.besvm half": "1 file in half cannot be read as images: half/b/3.png: ",
    "evaluate vectors.besvm pets": "vectors.besvm was trained on vectors: pets must hold vectors",
    "inspect none.besvm": "there is no model file 'none.besvm'",
    "inspect broken.besvm": "broken.besvm is not a besvm model",
    "evaluate vectors.besvm blank.csv": "blank.csv must have a class for every sample, but 8 has none",
    "explain vectors.besvm none.csv": "'none.csv' does not exist",
    "explain vectors.besvm header.csv": "header.csv must have at least one sample, but it is empty",
    "explain images.besvm good.csv": "images.besvm was trained on images: good.csv must hold images, but is a table",
    "report none.besvm good.csv": "there is no model file 'none.besvm'",
    "report vectors.besvm pets": "vectors.besvm was trained on vectors: pets must hold vectors, but is a folder",
    "report vectors.besvm good.csv --label lable": "good.csv has no label column 'lable'",
    "report vectors.besvm blank.csv": "blank.csv must have a class for every sample, but 8 has none",
    "report vectors.besvm good.csv -o /dev/full": "-o must be the name of a file, got '/dev/full', which is a device",
    "prune vectors.besvm broken.csv -n 5": "line 9 of broken.csv must have 3 values",
    "prune vectors.besvm blank.csv -n 5": "blank.csv must have a class for every sample, but 8 has none",
    "prune images.besvm good.csv -n 5": "images.besvm was trained on images: good.csv must hold images",
    "select none.csv": "'none.csv' does not exist",
    "select one.csv": "one.csv must have samples of at least two classes",
    "select good.csv -m rbff": "--measure must be a known name, got 'rbff'",
    "select good.csv -o good.csv": "'good.csv' already exists",
}


@pytest.mark.parametrize("arguments", MISTAKES)
def test_one_sentence_and_nothing_written(here, monkeypatch, arguments):
    monkeypatch.chdir(here)
    before = {path: path.stat().st_mtime_ns for path in here.rglob("*")}
    words = arguments.split()
    if words[0] == "train" and "-o" not in words:
        words += ["-o", "new.besvm"]
    done = invoke(app, words)
    assert done.exit_code == 2
    last = done.stderr.splitlines()[-1]
    assert last.startswith(f"besvm: {MISTAKES[arguments]}"), last
    assert done.stdout == "" or words[0] == "predict"
    assert {path: path.stat().st_mtime_ns for path in here.rglob("*")} == before


def test_an_output_that_exists_is_replaced_only_by_force(here, tmp_path, monkeypatch):
    monkeypatch.chdir(here)
    out = tmp_path / "p.csv"
    out.write_text("precious")
    assert invoke(app, ["predict", "vectors.besvm", "good.csv", "-o", str(out)]).exit_code == 2
    assert out.read_text() == "precious"
    assert invoke(app, ["predict", "vectors.besvm", "broken.csv", "-o", str(out), "--force"]).exit_code == 2
    assert out.read_text() == "precious"
    assert invoke(app, ["predict", "vectors.besvm", "good.csv", "-o", str(out), "--force"]).exit_code == 0
    assert out.read_text().startswith("sample,prediction\n1,")
    assert list(tmp_path.iterdir()) == [out]


@pytest.mark.parametrize("command", ["train", "predict", "prune", "report"])
def test_a_file_that_is_made_in_the_meantime_stays(here, tmp_path, monkeypatch, command):
    monkeypatch.chdir(here)
    out = tmp_path / "out.html"
    arguments = {
        "train": ["good.csv", "--no-check", "-m", "rbf"],
        "predict": ["vectors.besvm", "good.csv"],
        "prune": ["vectors.besvm", "good.csv", "-n", "5"],
        "report": ["vectors.besvm", "good.csv"],
    }[command]

    def meanwhile(unfinished):
        out.write_text("precious")
        return locked(unfinished)

    locked = files._locked
    monkeypatch.setattr(files, "_locked", meanwhile)
    done = invoke(app, [command, *arguments, "-o", str(out)])
    assert done.exit_code == 2
    assert done.stderr.splitlines()[-1] == (
        f"besvm: {str(out)!r} was made by someone else in the meantime, so nothing was written; choose another name, "
        "or add --force to overwrite it"
    )
    assert out.read_text() == "precious"
    assert list(tmp_path.iterdir()) == [out]
    assert invoke(app, [command, *arguments, "-o", str(out), "--force"]).exit_code == 0
    assert out.read_bytes() != b"precious"


@pytest.mark.skipif(sys.platform == "darwin", reason="has no such names")
@pytest.mark.parametrize("bad", first_fast(["class", "file"]))
def test_names_that_are_not_in_utf_8(here, tmp_path, monkeypatch, bad):
    """What cannot be written is replaced, in files as on the screen."""
    for path in (here / "pets").rglob("*.png"):
        folder = path.parent.name.replace("b", "b\udce9" if bad == "class" else "b")
        copy = tmp_path / "pets" / folder / path.name.replace(".", "\udce9." if bad == "file" else ".")
        copy.parent.mkdir(parents=True, exist_ok=True)
        copy.write_bytes(path.read_bytes())
    monkeypatch.chdir(tmp_path)
    (tmp_path / "t\udce9.csv").write_text(TABLE)
    for arguments in (
        ["train", "pets", "--no-check", "-m", "H8R", "-o", "m.besvm"],
        ["predict", "m.besvm", "pets", "-o", "p.csv"],
        ["predict", "m.besvm", "pets", "--json", "-o", "p.json"],
        ["report", "m.besvm", "pets", "-o", "r.html"],
        ["report", str(here / "vectors.besvm"), "t\udce9.csv", "-o", "t.html"],
        ["explain", "m.besvm", "pets", "-o", "x.html"],
        ["explain", "m.besvm", "pets", "-o", "x.png"],
    ):
        done = invoke(app, arguments)
        assert done.exit_code == 0, done.stderr
    assert f"{'b?/1.png' if bad == 'class' else 'b/1?.png'}," in (tmp_path / "p.csv").read_text(encoding="utf-8")


def test_unreadable_images_can_be_left_out(here, tmp_path):
    out = tmp_path / "m.besvm"
    done = invoke(app, ["train", str(here / "half"), "-o", str(out), "--skip-unreadable", "-m", "H8R", "--json"])
    assert done.exit_code == 0
    assert "besvm: skipped: " in done.stderr
    assert besvm.load(out).facts_["rows"] == 7


def test_debug_shows_the_traceback(here):
    done = invoke(app, ["predict", "none.besvm", "x", "--debug"])
    assert isinstance(done.exception, FileNotFoundError)


def program(here, *arguments, **options):
    full = [sys.executable, "-m", "besvm.cli", *map(str, arguments)]
    return subprocess.Popen(full, cwd=here, stderr=subprocess.PIPE, text=True, **options)


@pytest.mark.slow
def test_a_full_disk_leaves_nothing(here, tmp_path):
    limit = lambda: resource.setrlimit(resource.RLIMIT_FSIZE, (600, 600))  # noqa: E731
    out = tmp_path / "model.besvm"
    with program(here, "train", "good.csv", "--no-check", "-o", out, preexec_fn=limit, stdout=subprocess.PIPE) as it:
        said = it.communicate()[1].splitlines()
    assert it.returncode == 1
    assert said[-1] == f"besvm: {out} cannot be written: File too large"
    assert list(tmp_path.iterdir()) == []


def test_a_full_disk_is_told_from_a_full_output():
    """Whoever writes elsewhere says where; only standard output is left to whoever runs the command."""
    full = OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))
    elsewhere = OSError(errno.ENOSPC, "the features need 10 kB of disk; choose another folder")
    assert is_of_output(full)
    assert not is_of_output(elsewhere)
    assert (exit_code(elsewhere), sentence(elsewhere)) == (1, elsewhere.strerror)
    assert not is_of_output(OSError(errno.ENOSPC, os.strerror(errno.ENOSPC), "/a/file"))


@pytest.mark.parametrize("out", first_fast([["-o", "/dev/full"], []]))
@pytest.mark.slow
def test_a_full_device(here, out):
    with open("/dev/full", "w") as full, program(here, "predict", "vectors.besvm", "good.csv", *out, stdout=full) as it:
        said = it.communicate()[1]
    assert it.returncode == 1
    assert said.count("\n") == 1
    assert said.startswith("besvm: ")
    assert "cannot be written: No space left on device" in said
    assert os.path.exists("/dev/full")
    assert not os.path.isfile("/dev/full")


def test_ctrl_c_while_writing_predictions_leaves_nothing(here, tmp_path, monkeypatch):
    from besvm.commands import predict

    def interrupted(samples):
        yield Data(np.zeros((1, 2)), None, "vectors", ["1"])
        raise KeyboardInterrupt

    monkeypatch.setattr(predict, "judged", interrupted)
    done = invoke(app, ["predict", str(here / "vectors.besvm"), str(here / "good.csv"), "-o", str(tmp_path / "p.csv")])
    assert (done.exit_code, done.stderr) == (130, "besvm: interrupted; nothing was written\n")
    assert list(tmp_path.iterdir()) == []


def test_warnings_are_lines(here, tmp_path, monkeypatch):
    import warnings

    from besvm.commands import training

    def warned(data):
        for _ in range(2):
            warnings.warn("something\nodd", UserWarning, stacklevel=2)

    monkeypatch.setattr(training, "check_trainable", warned)
    with warnings.catch_warnings():
        warnings.simplefilter("always")
        done = invoke(app, ["train", str(here / "good.csv"), "-o", str(tmp_path / "m.besvm"), "--no-check"])
    assert done.stderr.count("besvm: note: something odd\n") == 1
