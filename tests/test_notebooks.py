"""Notebooks are those of the tutorials as they are now, small, and run."""

import re
import runpy
from pathlib import Path

import nbformat
import pytest

MAKER = runpy.run_path(str(Path(__file__).parent.parent / "docs" / "notebooks.py"))
SCRIPTS = {path.stem: path for path in MAKER["scripts"]()}
LARGEST = 300_000  # bytes


def written(name):
    return nbformat.read(MAKER["NOTEBOOKS"] / f"{name}.ipynb", 4)


def test_there_is_a_notebook_for_each_and_no_other():
    assert {path.stem for path in MAKER["NOTEBOOKS"].glob("*.ipynb")} == set(SCRIPTS), "run make notebooks"


@pytest.mark.parametrize("name", SCRIPTS)
def test_the_cells_are_those_of_the_tutorial(name):
    made, kept = MAKER["notebook"](SCRIPTS[name]), written(name)
    sources = [[(cell.cell_type, cell.source) for cell in book.cells] for book in (kept, made)]
    assert sources[0] == sources[1], "run make notebooks"
    nbformat.validate(kept)


@pytest.mark.parametrize("name", SCRIPTS)
def test_it_was_run_and_is_small(name):
    path = MAKER["NOTEBOOKS"] / f"{name}.ipynb"
    assert path.stat().st_size < LARGEST
    cells = [cell for cell in written(name).cells if cell.cell_type == "code"]
    assert [cell.execution_count for cell in cells] == list(range(1, len(cells) + 1))
    outputs = [output for cell in cells for output in cell.outputs]
    assert any("image/png" in output.get("data", {}) for output in outputs)
    assert all(output.output_type != "error" and output.get("name") != "stderr" for output in outputs)
    text = "".join(output.get("text", "") for output in outputs)
    assert not re.search(r"/(tmp|home|root|Users)/", text), "a place on somebody's machine"


@pytest.mark.slow  # a few seconds each, for a kernel that starts
@pytest.mark.parametrize("name", SCRIPTS)
@pytest.mark.filterwarnings("default")  # of what runs the notebook, in this process
def test_it_runs(name):
    book = MAKER["run"](MAKER["notebook"](SCRIPTS[name]))
    assert any(cell.get("outputs") for cell in book.cells)


def test_prose_becomes_markdown():
    text = """Title
=====

See `Dask
<https://docs.dask.org>`_, :class:`~besvm.BESVMClassifier`, :doc:`the guide </guide>`
and ``a *c* :d``. Type::

    besvm train
      more

Part
----

.. note::

   Mind *this*.
   And that.

- one
  of two
"""
    assert MAKER["markdown"](text).splitlines() == [
        *("# Title", "", "See [Dask](https://docs.dask.org), `BESVMClassifier`, the guide"),
        *("and `a *c* :d`. Type:", "", "```", "besvm train", "  more", "```", ""),
        *("## Part", "", "> **Note.** Mind *this*.", "> And that.", "", "- one", "  of two"),
    ]


def test_math_and_code_keep_their_form():
    made = MAKER["markdown"](".. code-block:: bash\n\n    ls\n\n.. math:: a + b\n\nwhere :math:`a > b`.")
    assert made == "```bash\nls\n```\n\n$$\na + b\n$$\n\nwhere $a > b$."


def test_what_has_no_form_is_refused():
    with pytest.raises(ValueError, match="no form for the directive 'raw'"):
        MAKER["markdown"](".. raw:: html\n\n    <b>")


def test_blocks_of_a_script():
    source = '"""\nTitle\n=====\n"""\n\nN = 3\n\n# %%\n# Text\n# goes on.\n\n# a comment\nprint(N)\n\n# %%\nprint(1)\n'
    assert list(MAKER["blocks"](source)) == [
        ("markdown", "Title\n====="),
        ("code", "N = 3"),
        ("markdown", "Text\ngoes on."),
        ("code", "# a comment\nprint(N)"),
        ("markdown", ""),
        ("code", "print(1)"),
    ]
