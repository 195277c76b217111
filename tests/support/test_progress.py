"""What is said of long work, and where there is nowhere to say it."""

import sys

from besvm import BESVMClassifier
from besvm._support.progress import on_terminal, progress, say
from besvm.commands.training import Stages


def test_a_program_without_a_console_works_and_says_nothing(problem_data, monkeypatch, capsys):
    """Of a Windows program without one, sys.stderr is None; print() would then write to standard output."""
    monkeypatch.setattr(sys, "stderr", None)
    assert not on_terminal()
    say(1, "something")
    Stages(10).begin("training", 5)
    with progress("working", 10, verbose=1) as shown:
        shown._last_line = -1e9
        shown.advance(5)
    X, y = problem_data
    BESVMClassifier(basis=5, C=1.0, verbose=1).fit(X, y)
    assert capsys.readouterr().out == ""
