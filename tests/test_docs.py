"""What the pages show must run, and must be up to date."""

import re
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest

from besvm.reproduction.experiments import MODULES

ROOT = Path(__file__).parent.parent


def test_every_link_leads_somewhere(build):
    assert build["broken_links"]() == []


@pytest.mark.parametrize(
    "page",
    [
        "benchmarks",
        "results",
        "analysis",
        "reliability",
        "parts",
        "pruning",
        "any_data",
        "scale",
        "readme",
        "ideas",
        "choosing",
        "coming_from",
    ],
)
def test_written_pages_are_up_to_date(build, page):
    path = ROOT / "README.md" if page == "readme" else ROOT / "docs" / f"{page.replace('_', '-')}.md"
    assert path.read_text() == build[page](), "run make docs"


def test_no_line_is_a_comment_for_myst():
    """A line that begins with % is left out of the site, also in the middle of a paragraph."""
    for path in (ROOT / "docs").rglob("*.md"):
        text = re.sub(r"^ *(`{3,}|~{3,})[^\n]*\n.*?^ *\1", "", path.read_text(), flags=re.S | re.M)
        lost = re.findall(r"^ *%.*", text, flags=re.M)
        assert not lost, f"{path.relative_to(ROOT)}: break {lost[0]!r} elsewhere"


def test_results_say_what_was_not_run(build):
    shown = {path.stem for path in (ROOT / "docs" / "results" / "tables").glob("*.json")}
    for name in set(MODULES) - shown:
        assert name in build["results"]().split("## ")[0]


def test_the_examples_of_the_readme_run(rng, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    blocks = re.findall(r"```python\n(.*?)```", (ROOT / "README.md").read_text(), flags=re.S)
    assert len(blocks) == 2
    series = rng.normal(size=(40, 30)).cumsum(axis=1)
    names = {"series": series, "y": np.arange(40) % 2, "new_series": series[:3]}
    names |= {"texts": ["a b c", "c d e", "x y", "y z"] * 10, "labels": [0, 0, 1, 1] * 10}
    exec("\n".join(blocks).replace("basis=300", "basis=10").replace("basis=200", "basis=4"), names)
    assert (tmp_path / "series.besvm").exists()


def test_the_examples_of_the_architecture_run(rng):
    text = (ROOT / "docs" / "architecture.md").read_text()
    examples = re.findall(r"```python\n(.*?)```", text, flags=re.S)
    assert len(examples) > 4
    names = {"X": rng.normal(size=(200, 5)), "y": np.arange(200) % 2}
    names["images"] = rng.integers(0, 256, (30, 32, 32, 3), dtype=np.uint8)
    exec("\n".join(examples), names)


@pytest.mark.parametrize("names", [["features"], pytest.param(["images", "parts", "startup"], marks=pytest.mark.slow)])
def test_the_benchmarks_still_run(names):
    done = subprocess.run(
        [sys.executable, "-m", "benchmarks", *names, "--quick"],
        cwd=ROOT,
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == 0, done.stderr


def test_the_measures_on_the_page_about_parts_exist():
    (code,) = re.findall(r"```python\n(.*?)```", (ROOT / "docs" / "parts.md").read_text(), flags=re.S)
    exec(code, {})
