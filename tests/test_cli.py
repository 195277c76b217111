import json
import os
import re
import subprocess
import sys

import numpy as np
import pytest
from typer.testing import CliRunner

from besvm import __version__
from besvm._support import extras
from besvm._support.progress import progress
from besvm.cli import app
from besvm.similarities import Similarity, contract, registered
from besvm.similarities.listing import EXAMPLES

run = CliRunner().invoke


def test_demo_prints_one_table():
    done = run(app, ["demo"], env={"COLUMNS": "120"})
    assert done.exit_code == 0
    assert "Handwritten digits" in done.stdout
    assert done.stdout.count("BE-SVM,") == 4


def test_demo_as_json():
    done = run(app, ["demo", "--json"])
    rows = json.loads(done.stdout)
    assert len(rows) == 7
    assert {"accuracy", "fit_seconds", "predict_seconds", "exemplars", "parameters"} < set(rows[0])
    by_name = {row["classifier"]: row for row in rows}
    kernel, best = by_name["kernel SVM (SVC), RBF"], by_name["BE-SVM, best shift"]
    assert best["accuracy"] > 0.94 > kernel["accuracy"]
    assert best["exemplars"] < kernel["exemplars"] / 2


class Lopsided(Similarity):
    """Asymmetric for its parameters."""

    @property
    def symmetric(self):
        return False

    def __call__(self, A, B):
        return np.zeros((len(A), len(B)))


def similarities(*arguments):
    done = run(app, ["similarities", *arguments, "--json"])
    assert done.exit_code == 0
    return {row["name"]: row for row in json.loads(done.stdout)}


def test_lists_similarities_with_their_flags(monkeypatch):
    monkeypatch.setitem(contract._registry, "lopsided", Lopsided)
    table = similarities()
    assert set(table) == set(registered())
    flags = {name: (row["symmetric"], row["positive_definite"]) for name, row in table.items()}
    assert flags["lopsided"] == (False, False)
    assert flags["rigid"] == (True, False)
    assert flags["deformable"] == (False, False)
    assert flags["rbf"] == (True, True)
    assert table["gower"]["summary"] == "How alike two records are, column by column, by Gower's measure."
    shown = run(app, ["similarities"], env={"COLUMNS": "250"}).stdout.splitlines()
    for name, row in table.items():
        (line,) = [line for line in shown if line.split()[:1] == [name] and row["summary"] in line]
        marks = "".join(mark for mark, flag in zip("sp", flags[name], strict=True) if flag)
        before = line[: line.index(row["summary"])] if row["summary"] else line
        assert before.split()[1:] == ([marks] if marks else [])


def test_similarities_stand_under_their_kind_of_data():
    table = similarities()
    kinds = [row["kind"] for row in table.values()]
    assert sorted(kinds, key=[*EXAMPLES].index) == kinds
    assert (table["rbf"]["kind"], table["parts"]["kind"], table["series-parts"]["kind"]) == (
        "vectors",
        "images",
        "series",
    )
    shown = run(app, ["similarities"], env={"COLUMNS": "160"}).stdout
    for kind in set(kinds):
        assert f"{kind}\n  {EXAMPLES[kind]}\n" in shown
        assert similarities(kind) == {name: row for name, row in table.items() if row["kind"] == kind}
    only = run(app, ["similarities", "records"], env={"COLUMNS": "160"}).stdout
    assert "gower" in only
    assert "rbf" not in only


def test_the_examples_name_similarities_of_their_kind():
    """Of the kinds that there are: where a name is registered, it is under that heading."""
    for kind, line in EXAMPLES.items():
        for name in re.findall(r'"([^"]+)"', line):
            if name in registered():
                assert registered()[name].kind == kind


class Extra(Similarity):
    """Needs what is not there."""

    kind = "dreams"
    extra = "dreaming"

    def __call__(self, A, B):
        return np.zeros((len(A), len(B)))


def test_an_extra_is_shown_and_whether_it_is_installed(monkeypatch):
    monkeypatch.setitem(contract._registry, "extra", Extra)
    monkeypatch.setitem(extras.EXTRA_OF, "no_such_module", "dreaming")
    assert similarities()["extra"]["installed"] is False
    assert "extra 'dreaming', to be installed" in run(app, ["similarities", "dreams"], env={"COLUMNS": "160"}).stdout
    monkeypatch.delitem(extras.EXTRA_OF, "no_such_module")
    monkeypatch.setitem(extras.EXTRA_OF, "numpy", "dreaming")
    assert "(extra 'dreaming')" in run(app, ["similarities", "dreams"], env={"COLUMNS": "160"}).stdout


def test_an_unknown_kind_suggests_the_nearest():
    done = run(app, ["similarities", "vector"])
    assert done.exit_code == 2
    assert done.stderr == "besvm: no similarity compares 'vector'; did you mean 'vectors'?\n"
    assert "there are vectors, images" in run(app, ["similarities", "qqq", "--json"]).stderr


def test_shows_the_version_and_how_to_use_it():
    assert run(app, ["--version"]).stdout == f"besvm {__version__}\n"
    assert "Usage" in run(app, []).output
    assert run(app, ["nonsense"]).exit_code == 2


COMMANDS = [
    "similarities",
    "--help",
    *(
        pytest.param(text, marks=pytest.mark.slow)
        for text in (
            *("reproduce toy --plan --quick --data digits", "similarities series --json"),
            *("--version", "demo --json"),
        )
    ),
]
ASCII = {"LC_ALL": "C", "PYTHONUTF8": "0", "PYTHONCOERCECLOCALE": "0"}


def command(arguments, **options):
    full = [sys.executable, "-m", "besvm.cli", *arguments.split()]
    return subprocess.Popen(full, stderr=subprocess.PIPE, text=True, **options)


@pytest.mark.parametrize("arguments", COMMANDS)
def test_a_full_device_gets_a_sentence(arguments):
    with open("/dev/full", "w") as full, command(arguments, stdout=full) as process:
        said = process.communicate()[1]
    assert process.returncode in (1, 2)
    assert said.startswith("besvm: ")
    assert "No space left on device" in said
    assert said.count("\n") == 1


@pytest.mark.parametrize("arguments", COMMANDS)
def test_nobody_reading_ends_it_quietly(arguments):
    reading, writing = os.pipe()
    os.close(reading)
    with command(arguments, stdout=writing) as process:
        os.close(writing)
        assert process.communicate()[1] == ""


@pytest.mark.parametrize("arguments", COMMANDS)
@pytest.mark.slow
def test_a_terminal_that_knows_only_ascii_is_shown_what_it_can(arguments):
    with command(arguments, stdout=subprocess.PIPE, env=os.environ | ASCII) as process:
        shown, said = process.communicate()
    assert (process.returncode, said) == (0, "")
    assert shown.isascii()
    assert len(shown) > 10


@pytest.mark.slow
def test_without_any_output_it_runs_all_the_same():
    with command("similarities", preexec_fn=lambda: os.close(1)) as process:
        assert process.communicate()[1] == ""
    assert process.returncode == 0


class Terminal:
    """A standard error that says it is a terminal."""

    def __init__(self, stream):
        self.stream = stream

    def __getattr__(self, name):
        return getattr(self.stream, name)

    def isatty(self):
        return True


def test_a_bar_on_a_terminal_lines_in_pipes_and_silence_otherwise(capsys, monkeypatch):
    from besvm._support import progress as bars

    monkeypatch.setattr(bars, "BAR_AFTER", 0.0)
    monkeypatch.setattr(bars, "LINE_EVERY", 0.0)
    for verbose in (0, 1):
        with progress("counting", 4, verbose) as shown:
            for _ in range(4):
                shown.advance(1)
        said = capsys.readouterr().err
        assert said == "" if verbose == 0 else "besvm: counting: 2 of 4, about 0 s left" in said
    with progress("counting", 4000, 1, "rows") as shown:
        shown.advance(1000)
    assert re.search(r"counting: 1,000 of 4,000 rows, [\d,]+ a second, about 0 s left", capsys.readouterr().err)
    monkeypatch.setattr(sys, "stderr", Terminal(sys.stderr))
    monkeypatch.setenv("TERM", "xterm")
    with progress("counting", 4, 0, "rows") as shown:
        shown.advance(2)
        shown.note("nearly there")
    said = capsys.readouterr().err
    assert "nearly there" in said
    assert "2 of 4 rows," in " ".join(said.split())


def test_the_bar_goes_away_after_an_error(monkeypatch):
    from besvm._support import progress as bars

    closed = []
    monkeypatch.setattr(bars.Progress, "close", lambda self: closed.append(self.what))

    def divide():
        with progress("dividing", 1, 0):
            return 1 / 0

    with pytest.raises(ZeroDivisionError):
        divide()
    assert closed == ["dividing"]
