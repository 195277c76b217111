"""Every tutorial runs from an empty folder, without a warning, and shows the reader something."""

import ast
import re
import runpy
import subprocess
import sys
import tempfile
from pathlib import Path

import matplotlib as mpl
import pytest
from matplotlib import pyplot as plt

from besvm._support.extras import EXTRA_OF
from besvm.similarities import contract

ROOT = Path(__file__).parent.parent
TUTORIALS = sorted((ROOT / "examples" / "tutorials").glob("*.py"))
WITH_COMMANDS = [path for path in TUTORIALS if "code-block:: console" in path.read_text(encoding="utf-8")]
FAST = {"first_steps"}  # the others are run by make test-all, and by make docs
LAST = "When another tool is the better one"


@pytest.fixture
def alone(tmp_path, monkeypatch):
    """An empty folder to work in; what a tutorial registers, draws and sets is gone afterwards."""
    monkeypatch.chdir(tmp_path)
    monkeypatch.setattr(contract, "_registry", dict(contract._registry))
    plt.close("all")
    with mpl.rc_context():
        yield tmp_path
    plt.close("all")


@pytest.mark.parametrize(
    "path",
    [pytest.param(path, marks=() if path.stem in FAST else pytest.mark.slow, id=path.stem) for path in TUTORIALS],
)
@pytest.mark.filterwarnings("ignore:FigureCanvasAgg is non-interactive")  # of plt.show(), where there is a screen
def test_a_tutorial_runs_prints_and_draws(path, alone, capsys):
    beside = set(path.parent.iterdir())
    runpy.run_path(str(path), run_name="__main__")  # a warning is an error
    printed = capsys.readouterr().out
    assert len(printed.splitlines()) >= 5
    for place in (str(ROOT), str(alone), tempfile.gettempdir()):  # of this machine, which no reader has
        assert place not in printed
    assert plt.get_fignums()
    for number in plt.get_fignums():
        width, height = plt.figure(number).get_size_inches()
        assert width <= 8, f"figure {number} is {width} inches wide, and would be too small to read on a page"
        assert height <= 14
    assert set(path.parent.iterdir()) - {path.parent / "__pycache__"} <= beside


@pytest.mark.slow
@pytest.mark.parametrize("path", WITH_COMMANDS, ids=lambda path: path.stem)
def test_the_commands_of_a_tutorial_show_what_it_says(path):
    command = [sys.executable, ROOT / "docs" / "transcripts.py", "--check", path.name]
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr


@pytest.mark.parametrize("path", TUTORIALS, ids=lambda path: path.stem)
def test_a_tutorial_has_a_title_a_beginning_and_an_end(path):
    text = path.read_text(encoding="utf-8")
    title = re.match(r'"""\n(?P<title>.+)\n(?P<line>=+)\n\n\S', text)
    assert title, "begin with a docstring that has a title, underlined, and an introduction"
    assert len(title["line"]) >= len(title["title"])
    headings = re.findall(r"^# (\S.*)\n# (-+)$", text, flags=re.MULTILINE)
    assert all(len(line) >= len(heading) for heading, line in headings)
    assert headings[-1][0] == LAST
    ending = text[text.rindex(f"# {LAST}") :]
    assert len(ending.split()) > 40, "say when, and which tool"


@pytest.mark.parametrize("path", TUTORIALS, ids=lambda path: path.stem)
def test_a_tutorial_says_what_it_needs(path):
    tree = ast.parse(path.read_text(encoding="utf-8"))
    needed = re.search(r"\nYou need: (.+?)\. Run ``pip install \"\.\[(.+?)\]\"(.*?)`` ", ast.get_docstring(tree))
    assert needed, "say at the top which extras and packages it needs"
    said, extras, more = needed[1], needed[2].split(","), needed[3].split()
    assert said == f"the extra{'s' * (len(extras) > 1)} {' and '.join(f'``{one}``' for one in extras)}" + "".join(
        f", and {one}" for one in more
    )
    imported = {alias.name for node in ast.walk(tree) if isinstance(node, ast.Import) for alias in node.names}
    imported |= {node.module for node in ast.walk(tree) if isinstance(node, ast.ImportFrom)}
    present = {*sys.stdlib_module_names, "besvm", "numba", "numpy", "sklearn"}
    others = {name.split(".")[0] for name in imported} - present
    assert {EXTRA_OF.get(name, name) for name in others} <= {*extras, *more}


def test_there_is_a_tutorial_for_each_kind_of_data():
    names = {path.stem for path in TUTORIALS}
    kinds = {"images_in_folders", "time_series", "strings_and_names", "sequences", "graphs", "mixed_columns"}
    assert kinds <= names
