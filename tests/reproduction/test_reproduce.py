"""`besvm reproduce --quick`, as a user runs it: tables, figures, the page in a real browser, and kill -9."""

import csv
import hashlib
import json
import os
import re
import signal
import subprocess
import sys
import time
from dataclasses import replace
from functools import cache
from pathlib import Path

import numpy as np
import pytest
from typer.testing import CliRunner

from besvm.cli import app
from besvm.datasets import cifar10, make_digit_images
from besvm.reproduction import reproduce
from besvm.reproduction.config import QUICK
from besvm.reproduction.experiments import MODULES, experiments
from browser import DESK, TELEPHONE, chromium, needs_chromium, set_width

TINY = replace(
    QUICK, rows_per_fold=100, sizes=(1, 2, 4), fold_counts=(1, 5), size=2, greedy_size=1, toy_levels=2, toy_points=40
)
SMALLEST_TEXT = 7 * 4 / 3  # points in the figures, as pixels of an image as wide as it was drawn
READABLE = {DESK: 7, TELEPHONE: 6}  # pixels


@pytest.fixture(autouse=True, scope="module")
def tiny():
    """Less than --quick, and four classes of the digits, wherever the command is run in this process."""
    load = cache(reproduce.load)

    def four_classes(data: str, rows_per_fold: int) -> list[np.ndarray]:
        images, labels, fold = load(data, rows_per_fold)
        return [part[labels < 4] for part in (images, labels, fold)]

    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(reproduce, "QUICK", TINY)
        patch.setattr(reproduce, "load", four_classes)
        yield


def invoke(*arguments: str | Path):
    command = ["reproduce", "--quick", *map(str, arguments)]
    return CliRunner().invoke(app, command, env={"COLUMNS": "160"}, catch_exceptions=False)


def run(out: Path, *names: str) -> str:
    done = invoke(*names, "--data", "digits", "--out", out)
    assert done.exit_code == 0, done.stderr
    assert done.stderr == ""
    return done.stdout


def finished(out: Path) -> dict[str, int]:
    return {str(path): path.stat().st_mtime_ns for path in (out / "cells").glob("*/*.json")}


@pytest.fixture(scope="module")
def everything(tmp_path_factory):
    """A tiny run of everything: the folder, and what was printed."""
    out = tmp_path_factory.mktemp("everything")
    return out, run(out)


@pytest.mark.slow
def test_everything(everything):
    out, output = everything
    assert "cells" in output.split("\n")[0]  # the plan comes first
    assert re.search(r"  about \d+ s left\n", output)
    rows = {"baselines": 18, "full": 11, "eigs": 6, "greedy": 4, "multiple": 2 * 3 * 6, "mkl": 3, "sparsity": 0}
    rows |= {"jittering": 8, "toy": 2 * 3 + 5, "complexity": 12, "endtoend": 4, "variants": 25}
    rows |= {"selection": 11 * (1 + 2 + 4 + 5), "normalizations": 9 * (11 + 3)}
    assert set(rows) == set(MODULES)
    for name, count in rows.items():
        table = json.loads((out / "tables" / f"{name}.json").read_text())["rows"]
        assert len(table) == count, name
        with open(out / "tables" / f"{name}.csv") as file:
            assert len(list(csv.DictReader(file))) == count
        for row in table:
            assert 0 <= row.get("accuracy", 0.5) <= 1
    figures = figures_of(out)
    assert figures == {path.stem for path in (out / "figures").glob("*.png")}
    assert {"full", "basis_selection", "eigs", "multiple_sims", "params_support", "toy", "toy_noise"} <= figures
    assert {"normalization_one_sim", "normalization_multi_sim", "greedy", "baselines", "complexity", "mkl"} <= figures
    assert not list(out.rglob("*.part"))


@pytest.mark.slow
def test_page_of_everything(everything, build):
    out, _ = everything
    page, figures = (out / "index.html").read_text(), figures_of(out)
    assert page.count("<img ") == page.count("<figcaption>") == len(figures)
    assert "the verdicts below say nothing about the paper" in page
    assert "besvm reproduce --quick --data digits" in page
    assert re.search(r"5 x \d\d images for training, \d\d for testing, 4 classes", page)
    assert re.search(r"All cells took \d+ s and at most [\d.]+ [MG]B of memory, in one go or in parts\.", page)
    kept = build["read_page"](out)
    assert [section.experiment.name for section in kept.sections] == list(MODULES)
    verdicts = [claim.verdict for section in kept.sections for claim in section.claims]
    assert page.count(">holds</td>") == verdicts.count("holds") > 0
    assert page.count(">does not hold</td>") == verdicts.count("does not hold") > 0
    in_markdown = build["markdown_page"](kept, "figures")
    assert in_markdown.count("![") == len(figures)
    assert all(claim.sentence in in_markdown for section in kept.sections for claim in section.claims)


@pytest.mark.slow
def test_nothing_is_run_twice(everything):
    out, _ = everything
    plan = invoke("--plan", "--data", "digits", "--out", out).stdout
    assert len(re.findall(r" done\s*\n", plan)) == len(MODULES)


@pytest.mark.slow
@needs_chromium
def test_page_of_everything_in_a_browser(everything):
    out, _ = everything
    look_at(out / "index.html", len(figures_of(out)))


def figures_of(out: Path) -> set[str]:
    return {path.stem for path in (out / "figures").glob("*.svg")}


def look_at(page: Path, n_figures: int) -> None:
    """Open the page in Chromium, as wide as a desk and as narrow as a telephone."""
    with chromium() as browser:
        for width in (DESK, TELEPHONE):
            set_width(browser, width)
            browser.get(page.as_uri())
            widths = browser.execute_script("return [...document.images].map(i => i.complete ? i.naturalWidth : 0)")
            assert len(widths) == n_figures
            assert min(widths) > 0
            assert browser.execute_script("return document.documentElement.scrollWidth") <= width
            small = "[...document.querySelectorAll('p, td, th, li')].map(e => parseFloat(getComputedStyle(e).fontSize))"
            assert browser.execute_script(f"return Math.min(...{small})") >= 12
            scales = browser.execute_script("return [...document.images].map(i => i.width / i.naturalWidth)")
            assert max(scales) <= 1.01  # not blown up
            assert min(scales) * SMALLEST_TEXT >= READABLE[width]
        assert browser.get_log("browser") == []


def start(out: Path, name: str) -> subprocess.Popen:
    command = [sys.executable, "-m", "besvm.cli", "reproduce", name, "--quick", "--data", "digits", "--out", str(out)]
    return subprocess.Popen(
        command,
        stdout=subprocess.DEVNULL,
        stderr=subprocess.PIPE,
        env=os.environ | {"OMP_NUM_THREADS": "1", "OPENBLAS_NUM_THREADS": "1", "NUMBA_NUM_THREADS": "1"},
        preexec_fn=lambda: signal.signal(signal.SIGINT, signal.default_int_handler),  # a background shell ignores it
    )


def stop(process: subprocess.Popen, number: signal.Signals, out: Path, n_cells: int) -> str:
    """Send a signal as soon as so many cells are finished; return what the process wrote to standard error."""
    until = time.monotonic() + 120
    while len(finished(out)) < n_cells and time.monotonic() < until:
        time.sleep(0.01)
    process.send_signal(number)
    return process.communicate(timeout=120)[1].decode()


@pytest.mark.slow  # make torture kills it 50 times
def test_killed_or_interrupted_it_goes_on_where_it_was(tmp_path):
    stop(start(tmp_path, "multiple"), signal.SIGKILL, tmp_path, 5)
    killed = finished(tmp_path)
    assert 5 <= len(killed) < 90
    for path in killed:
        json.loads(Path(path).read_text())  # whole
    process = start(tmp_path, "multiple")
    errors = stop(process, signal.SIGINT, tmp_path, len(killed) + 5)
    interrupted = finished(tmp_path)
    assert process.returncode == 130
    assert errors == "besvm: interrupted; run the same command again to continue\n"  # and no warnings
    assert len(killed) < len(interrupted) < 90
    assert killed.items() <= interrupted.items()  # none was run again
    left = 90 - len(interrupted)
    assert f"Left out: {left} cells, not run yet" in (tmp_path / "index.html").read_text()
    assert not list(tmp_path.rglob("*.part"))


@pytest.mark.slow
def test_page_shows_all_that_was_ever_run(tmp_path):
    """Run in parts, the page is whole; the figure of model sizes is drawn from two other experiments."""
    done = invoke("sparsity", "--data", "digits", "--out", tmp_path)
    assert done.exit_code == 1  # nothing was run
    assert "sparsity is drawn from what baselines and multiple found: run these first" in done.stderr
    run(tmp_path, "toy")
    (tmp_path / "cells" / f"x.json.besvm-{'0' * 32}.part").write_text("half")  # of a process that was killed
    output = run(tmp_path, "baselines", "sparsity")
    page = (tmp_path / "index.html").read_text()
    for name in ("toy", "baselines", "sparsity"):
        assert f'<h2 id="{name}">' in page
    assert '<h2 id="jittering">' not in page
    assert "BE-SVM can be made more than 5 times sparser" in page
    assert "toy:" not in output  # not run again
    assert not list(tmp_path.rglob("*.part"))


def test_plan_alone_runs_nothing(tmp_path):
    arguments = ["--plan", "--data", "digits", "--out", tmp_path]
    plan = invoke(*arguments).stdout
    assert all(experiment.name in plan for experiment in experiments())
    assert "left out of baselines: 2 cells, only with --thorough" in plan
    assert "left out" not in invoke(*arguments, "--thorough").stdout
    assert list(tmp_path.iterdir()) == []


def contents(folder: Path) -> dict[Path, bytes]:
    return {path: path.read_bytes() for path in folder.rglob("*") if path.is_file()}


@pytest.mark.parametrize("options", [["--plan"], ["--cache-limit", "1 kB"], ["--plan", "--cache-limit", "1 kB"]])
@pytest.mark.parametrize("out", [".", "", "mine", "mine/cache"])
def test_files_of_others_are_left_alone(tmp_path, monkeypatch, out, options):
    """Whatever they are called: here as our own unfinished files, matrices and page are."""
    monkeypatch.chdir(tmp_path)
    for folder in (tmp_path, tmp_path / "mine"):
        for name in ("index.html", "a.part", f"a.besvm-{'0' * 32}.part", f"cache/{'0' * 32}.npy", "cells/toy/a.json"):
            (folder / name).parent.mkdir(parents=True, exist_ok=True)
            (folder / name).write_text("years of work")
    before = contents(tmp_path)
    done = invoke("toy", "--data", "digits", "--out", out, *options)
    assert contents(tmp_path) == before
    assert done.exit_code == (0 if out and "--plan" in options else 2)
    if done.exit_code:
        assert ("got an empty string" if not out else "must be a new or empty folder") in done.stderr


@pytest.mark.slow
def test_a_folder_of_ours_keeps_what_else_is_put_there(tmp_path):
    run(tmp_path, "toy")
    mine = [tmp_path / name for name in ("notes.part", "cache/mine.npy", "notes/index.html", "tables/draft.tex")]
    for path in mine:
        path.parent.mkdir(exist_ok=True)
        path.write_text("years of work")
    done = invoke("eigs", "--data", "digits", "--out", tmp_path, "--cache-limit", "1 kB")
    assert done.exit_code == 0
    assert {path.read_text() for path in mine} == {"years of work"}


def test_a_limit_within_which_nothing_can_be_run_is_no_success(tmp_path):
    done = invoke("toy", "eigs", "--data", "digits", "--out", tmp_path / "out", "--memory-limit", "1 kB")
    assert done.exit_code == 2
    assert re.search(
        r"nothing can be run within 1.0 kB, because the smallest cell needs .* MB; raise --memory-limit", done.stderr
    )
    assert not (tmp_path / "out").exists()


def test_a_cell_whose_file_was_altered_is_run_again(tmp_path):
    run(tmp_path, "toy")
    path = next((tmp_path / "cells" / "toy").iterdir())
    kept = json.loads(path.read_text())
    path.write_text(json.dumps(kept | {"row": kept["row"] | {"added": 1}}))
    run(tmp_path, "toy")
    assert json.loads(path.read_text())["row"].keys() == kept["row"].keys()


@pytest.mark.parametrize(
    ("arguments", "says"),
    [
        (["table"], "there is no experiment 'table'; choose from baselines"),
        (["toy", "--data", "nowhere"], "nowhere"),
        (["toy", "--memory-limit", "much"], "memory_limit must be"),
        (["toy", "--cache-limit", "lots"], "cache_limit must be"),
        (["toy", "--out", __file__], "--out must be a folder, new or existing"),
    ],
)
def test_bad_input_gets_one_sentence(tmp_path, arguments, says):
    done = invoke("--out", tmp_path / "out", *arguments)
    assert done.exit_code == 2
    assert says in done.stderr
    assert "Traceback" not in done.stderr
    assert done.stderr.count("\n") <= 2


def test_without_matplotlib_nothing_is_begun(tmp_path, monkeypatch):
    monkeypatch.setitem(sys.modules, "matplotlib", None)
    done = invoke("toy", "--data", "digits", "--out", tmp_path / "out")
    assert done.exit_code == 2
    assert done.stderr == "besvm: drawing the figures needs matplotlib; install besvm with the extra 'plots'\n"
    assert not (tmp_path / "out").exists()


def test_images_of_a_folder(tmp_path, monkeypatch):
    images, labels = make_digit_images(60, random_state=0)
    records = np.column_stack([labels, images.transpose(0, 3, 1, 2).reshape(60, -1)]).astype(np.uint8)
    for k, name in enumerate(cifar10.FOLD_FILES):
        (tmp_path / name).write_bytes(records[10 * k : 10 * k + 10].tobytes())
    sums = {name: hashlib.md5((tmp_path / name).read_bytes()).hexdigest() for name in cifar10.FOLD_FILES}
    monkeypatch.setattr(cifar10, "OFFICIAL", cifar10.Checksums("", sums))
    done = invoke("--plan", "--data", tmp_path, "--out", tmp_path / "out")
    assert done.exit_code == 0
    assert f"{(labels < 4).sum()} images; about" in done.stdout
