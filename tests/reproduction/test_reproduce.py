"""`besvm reproduce --quick`, as a user runs it: tables, figures, the page in a real browser, and kill -9."""

import csv
import hashlib
import json
import os
import re
import shutil
import signal
import subprocess
import sys
import time
from pathlib import Path

import numpy as np
import pytest
from typer.testing import CliRunner

from besvm.datasets import cifar_files
from besvm.cli import app
from besvm.datasets import make_digit_images
from besvm.reproduction import MODULES, experiments
from besvm.reproduction.config import QUICK
from besvm.reproduction.reproduce import markdown_of

SMALLEST_TEXT = 7 * 4 / 3  # points in the figures, as pixels of an image as wide as it was drawn
READABLE = {1200: 7, 390: 6}  # pixels
CHROMIUM, DRIVER = shutil.which("chromium"), shutil.which("chromedriver")


def command(out: Path, *names: str) -> list[str]:
    return [sys.executable, "-m", "besvm.cli", "reproduce", *names, "--quick", "--data", "digits", "--out", str(out)]


def environment() -> dict[str, str]:
    return os.environ | {"OMP_NUM_THREADS": "1", "OPENBLAS_NUM_THREADS": "1", "NUMBA_NUM_THREADS": "1"}


def run(out: Path, *names: str) -> str:
    done = subprocess.run(command(out, *names), capture_output=True, text=True, env=environment(), timeout=600)
    assert done.returncode == 0, done.stderr
    assert done.stderr == ""  # no warnings
    return done.stdout


def finished(out: Path) -> dict[str, int]:
    return {str(path): path.stat().st_mtime_ns for path in (out / "cells").glob("*/*.json")}


@pytest.fixture(scope="module")
def everything(tmp_path_factory):
    """A quick run of everything: the folder, and what was printed."""
    out = tmp_path_factory.mktemp("everything")
    return out, run(out)


def test_everything_quick(everything):
    out, said = everything
    assert "cells" in said.split("\n")[0]  # the plan comes first
    assert re.search(r"  about \d+ s left\n", said)
    rows = {"baselines": 18, "full": 11, "eigs": 6, "greedy": 4, "multiple": 90, "mkl": 3, "sparsity": 0}
    rows |= {"jittering": 8, "toy": 14, "complexity": 12, "endtoend": 4, "variants": 27}
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


def test_page_of_everything(everything):
    out, _ = everything
    page, figures = (out / "index.html").read_text(), figures_of(out)
    assert page.count("<img ") == page.count("<figcaption>") == len(figures)
    assert "the verdicts below say nothing about the paper" in page
    assert "besvm reproduce --quick --data digits" in page
    assert "200 images for testing" in page or "200 for testing" in page
    assert "does not hold" in page or "holds" in page
    assert re.search(r"All cells took \d+ (s|min) and at most [\d.]+ [MG]B of memory, in one go or in parts\.", page)
    in_markdown = markdown_of(out, "figures")
    assert in_markdown.count("![") == len(figures)
    assert all(claim.sentence in in_markdown for claim in experiments(["toy"])[0].claims(QUICK, []))


def test_nothing_is_run_twice(everything):
    out, _ = everything
    page, before = (out / "index.html").read_text(), finished(out)
    assert "  accuracy 0" not in run(out)
    assert finished(out) == before
    assert (out / "index.html").read_text() == page


@pytest.mark.skipif(not (CHROMIUM and DRIVER), reason="needs the packages chromium and chromium-driver")
def test_page_of_everything_in_a_browser(everything):
    out, _ = everything
    look_at(out / "index.html", len(figures_of(out)))


def figures_of(out: Path) -> set[str]:
    return {path.stem for path in (out / "figures").glob("*.svg")}


def look_at(page: Path, n_figures: int) -> None:
    """Open the page in Chromium, as wide as a desk and as narrow as a telephone."""
    from selenium import webdriver

    options = webdriver.ChromeOptions()
    options.binary_location = CHROMIUM
    quiet = ["--disable-background-networking", "--disable-component-update", "--disable-sync", "--no-first-run"]
    for argument in ["--headless", "--no-sandbox", "--disable-gpu", "--disable-dev-shm-usage", *quiet]:
        options.add_argument(argument)
    options.set_capability("goog:loggingPrefs", {"browser": "ALL"})
    browser = webdriver.Chrome(options=options, service=webdriver.ChromeService(executable_path=DRIVER))
    try:
        for width in (1200, 390):
            browser.execute_cdp_cmd(
                "Emulation.setDeviceMetricsOverride",
                {"width": width, "height": 800, "deviceScaleFactor": 1, "mobile": width < 600},
            )
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
    finally:
        browser.quit()


def test_killed_at_any_moment_it_goes_on_where_it_was(tmp_path):
    process = subprocess.Popen(
        command(tmp_path, "multiple", "eigs"), stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL, env=environment()
    )
    until = time.monotonic() + 120
    while len(finished(tmp_path)) < 5 and time.monotonic() < until:
        time.sleep(0.02)
    process.send_signal(signal.SIGKILL)
    process.wait()
    before = finished(tmp_path)
    total = 90 + 6
    assert 5 <= len(before) < total
    for path in before:
        json.loads(Path(path).read_text())  # whole
    run(tmp_path, "multiple", "eigs")
    after = finished(tmp_path)
    assert len(after) == total
    assert {path: after[path] for path in before} == before  # none was run again
    assert not list(tmp_path.rglob("*.part"))


def test_page_shows_all_that_was_ever_run(tmp_path):
    """Run in parts, the page is whole; the figure of model sizes is drawn from two other experiments."""
    run(tmp_path, "jittering")
    (tmp_path / "cells" / f"x.json.besvm-{'0' * 32}.part").write_text("half")  # of a process that was killed
    said = run(tmp_path, "baselines", "sparsity")
    page = (tmp_path / "index.html").read_text()
    for name in ("jittering", "baselines", "sparsity"):
        assert f'<h2 id="{name}">' in page
    assert '<h2 id="toy">' not in page
    assert "BE-SVM can be made more than 5 times sparser" in page
    assert "jittering" not in said  # not run again
    assert not list(tmp_path.rglob("*.part"))


def test_interrupted_run_shows_what_is_finished(tmp_path):
    process = subprocess.Popen(
        command(tmp_path, "normalizations"),
        stdout=subprocess.DEVNULL,
        stderr=subprocess.PIPE,
        env=environment(),
        preexec_fn=lambda: signal.signal(signal.SIGINT, signal.default_int_handler),  # a background shell ignores it
    )
    until = time.monotonic() + 120
    while len(finished(tmp_path)) < 15 and time.monotonic() < until:  # all measures are compiled by then
        time.sleep(0.02)
    process.send_signal(signal.SIGINT)
    _, said = process.communicate(timeout=120)
    assert process.returncode == 130
    assert said.decode() == "besvm: interrupted; the same command goes on from here\n"  # and no warnings
    assert "cells, not run yet" in (tmp_path / "index.html").read_text()


def test_plan_alone_runs_nothing(tmp_path):
    done = subprocess.run([*command(tmp_path), "--plan"], capture_output=True, text=True, env=environment())
    assert done.returncode == 0
    assert all(experiment.name in done.stdout for experiment in experiments())
    assert not (tmp_path / "cells").exists()
    assert not (tmp_path / "index.html").exists()


@pytest.mark.parametrize(
    ("arguments", "says"),
    [
        (["table"], "no experiment is called 'table'; there are baselines"),
        (["toy", "--data", "nowhere"], "nowhere"),
        (["toy", "--memory-limit", "much"], "memory_limit must be"),
        (["toy", "--cache-limit", "lots"], "cache_limit must be"),
        (["toy", "--out", __file__], "--out must be a folder, got the file"),
    ],
)
def test_bad_input_gets_one_sentence(tmp_path, arguments, says):
    done = CliRunner().invoke(app, ["reproduce", "--quick", "--out", str(tmp_path / "out"), *arguments])
    assert done.exit_code == 2
    assert says in done.stderr
    assert "Traceback" not in done.stderr
    assert done.stderr.count("\n") <= 2


def invoke(*arguments: str):
    return CliRunner().invoke(app, ["reproduce", "--quick", *arguments], env={"COLUMNS": "160"})


def test_without_matplotlib_nothing_is_begun(tmp_path, monkeypatch):
    monkeypatch.setitem(sys.modules, "matplotlib", None)
    done = invoke("toy", "--data", "digits", "--out", str(tmp_path / "out"))
    assert done.exit_code == 2
    assert done.stderr == "besvm: drawing the figures needs matplotlib; install besvm[plots]\n"
    assert not (tmp_path / "out").exists()


def test_experiment_without_its_inputs_names_them(tmp_path):
    done = invoke("sparsity", "--data", "digits", "--out", str(tmp_path))
    assert done.exit_code == 0
    assert "sparsity is drawn from what baselines and multiple found: run these first" in done.stdout


def test_thorough_leaves_nothing_out(tmp_path):
    arguments = ["--plan", "--data", "digits", "--out", str(tmp_path)]
    assert "left out of baselines: 2 cells, only with --thorough" in invoke(*arguments).stdout
    assert "left out" not in invoke(*arguments, "--thorough").stdout


def test_images_of_a_folder(tmp_path, monkeypatch):
    images, labels = make_digit_images(60, random_state=0)
    records = np.column_stack([labels, images.transpose(0, 3, 1, 2).reshape(60, -1)]).astype(np.uint8)
    for k, name in enumerate(cifar_files.FOLD_FILES):
        (tmp_path / name).write_bytes(records[10 * k : 10 * k + 10].tobytes())
    sums = {name: hashlib.md5((tmp_path / name).read_bytes()).hexdigest() for name in cifar_files.FOLD_FILES}
    monkeypatch.setattr(cifar_files, "OFFICIAL", cifar_files.Checksums("", sums))
    done = invoke("--plan", "--data", str(tmp_path), "--out", str(tmp_path / "out"))
    assert done.exit_code == 0
    assert "60 images; about" in done.stdout
