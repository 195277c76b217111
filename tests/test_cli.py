import json

import numpy as np
import pytest
from typer.testing import CliRunner

from besvm import __version__
from besvm._support.progress import progress
from besvm.cli import app
from besvm.similarities import Similarity, contract, registered

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


def test_lists_similarities_with_their_flags(monkeypatch):
    monkeypatch.setitem(contract._registry, "lopsided", Lopsided)
    _, *lines = run(app, ["similarities"], env={"COLUMNS": "160"}).stdout.splitlines()
    table = {line.split()[0]: line.split()[-2:] for line in lines}
    assert set(table) == set(registered())
    assert table["lopsided"] == ["no", "no"]
    assert table["rigid"] == ["yes", "no"]
    assert table["deformable"] == ["no", "no"]
    assert table["rbf"] == ["yes", "yes"]


def test_shows_the_version_and_how_to_use_it():
    assert run(app, ["--version"]).stdout == f"besvm {__version__}\n"
    assert "Usage" in run(app, []).output
    assert run(app, ["nonsense"]).exit_code == 2


class Terminal:
    """A standard error that says it is a terminal."""

    def __init__(self, stream):
        self.stream = stream

    def __getattr__(self, name):
        return getattr(self.stream, name)

    def isatty(self):
        return True


def test_a_bar_on_a_terminal_lines_in_pipes_and_silence_otherwise(capsys, monkeypatch):
    import sys

    from besvm._support import progress as bars

    monkeypatch.setattr(bars, "BAR_AFTER", 0.0)
    monkeypatch.setattr(bars, "LINE_EVERY", 0.0)
    for verbose in (0, 1):
        with progress("counting", 4, verbose) as shown:
            for _ in range(4):
                shown.advance(1)
        said = capsys.readouterr().err
        assert said == "" if verbose == 0 else "besvm: counting: 2 of 4, about 0 s left" in said
    monkeypatch.setattr(sys, "stderr", Terminal(sys.stderr))
    monkeypatch.setenv("TERM", "xterm")
    with progress("counting", 4, 0) as shown:
        shown.advance(2)
        shown.note("nearly there")
    assert "nearly there" in capsys.readouterr().err


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
