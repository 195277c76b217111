"""Ctrl-C at every moment of a command: exit code 130 and one sentence, or the end that it would have come to."""

import signal
import subprocess
import sys
import time

import pytest

import besvm
from besvm.commands.interrupts import NOTHING_DONE
from variants import first_fast

# Ctrl-C comes when a module is first looked for, or at some point of Python's own end
PRESSED = """
import atexit, os, signal, sys

moment = sys.argv.pop(1)
def press(*_):
    os.kill(os.getpid(), signal.SIGINT)

class Finder:
    def find_spec(self, name, path=None, target=None):
        if name == moment:
            for _ in range(presses):
                press()

class Last:
    __del__ = press

presses = 2 if moment == "sklearn" else 1
sys.meta_path.insert(0, Finder())
if moment == "atexit":
    atexit.register(press)
if moment == "teardown":
    import threading
    threading.last = Last()
from besvm.cli import run
run()
"""


def start(code, *arguments):
    return subprocess.Popen(
        [sys.executable, "-c", code, *map(str, arguments)],
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
        preexec_fn=lambda: signal.signal(signal.SIGINT, signal.default_int_handler),  # a background shell ignores it
    )


def pressed(moment, *arguments):
    """Return the exit code of a command, what it printed and what it said."""
    process = start(PRESSED, moment, *arguments)
    shown, said = process.communicate(timeout=60)
    return process.returncode, shown, said


@pytest.fixture
def table(tmp_path):
    (tmp_path / "t.csv").write_text("a,label\n" + "1,x\n2,y\n" * 9)
    yield tmp_path / "t.csv"
    assert [path.name for path in tmp_path.iterdir()] == ["t.csv"]


@pytest.mark.parametrize("moment", first_fast(["sklearn", "typer", "besvm.cli.options", "besvm.commands.train"]))
def test_while_all_is_imported(moment, table):
    done = pressed(moment, "train", table, "-o", table.with_name("m.besvm"))
    assert done == (130, "", f"besvm: {NOTHING_DONE}\n")


@pytest.mark.parametrize("moment", ["atexit", "teardown"])
def test_when_the_work_is_done(moment):
    assert pressed(moment, "--version") == (0, f"besvm {besvm.__version__}\n", "")


@pytest.mark.slow
@pytest.mark.parametrize("moment", ["atexit", "teardown"])
def test_when_an_error_was_said(moment):
    code, _, said = pressed(moment, "inspect", "none.besvm")
    assert (code, said.count("\n")) == (2, 1)


ODD = """
import sys, time
from besvm.cli import run
import besvm.commands.inspect as it

def fails(path):
    print("at work", flush=True)
    try:
        time.sleep(60)
    except KeyboardInterrupt:
        raise SystemError("compiled code returned a result with an exception set") from None

it.inspect = fails
run()
"""


def test_an_error_that_compiled_code_makes_of_it():
    process = start(ODD, "inspect", "m.besvm")
    assert process.stdout.readline() == "at work\n"
    process.send_signal(signal.SIGINT)
    assert process.communicate(timeout=30)[1] == f"besvm: {NOTHING_DONE}\n"
    assert process.returncode == 130


SLOW = """
import sys, time
import besvm.commands.training as training
from besvm.cli import run
from besvm.commands import interrupts

def slow(self, X, y):
    print("fitting", file=sys.stderr, flush=True)
    try:
        time.sleep(60)
    except KeyboardInterrupt:  # as compiled code does now and then
        time.sleep(60)

interrupts.AGAIN = 0.2

training.BESVMClassifier.fit = slow
run()
"""


def test_in_the_middle_of_the_work(table):
    process = start(SLOW, "train", table, "-o", table.with_name("m.besvm"))
    while process.stderr.readline() != "fitting\n":
        pass
    time.sleep(0.1)
    process.send_signal(signal.SIGINT)
    assert process.communicate(timeout=30)[1] == f"besvm: {NOTHING_DONE}\n"
    assert process.returncode == 130


SWALLOWED = """
import os, signal, sys, time
import besvm.commands.training as training
from besvm.cli import run

class Pressed:
    def __del__(self):
        os.kill(os.getpid(), signal.SIGINT)
        time.sleep(0)

fit = training.BESVMClassifier.fit
def swallowing(self, X, y):
    if how == "finalizer":
        Pressed()
        time.sleep(60)
    try:
        os.kill(os.getpid(), signal.SIGINT)
        time.sleep(1)
    except KeyboardInterrupt:
        pass
    return fit(self, X, y)

how = sys.argv.pop(1)
training.BESVMClassifier.fit = swallowing
run()
"""


@pytest.mark.parametrize("how", first_fast(["finalizer", "except"], 2))
def test_one_that_was_swallowed_is_heard_in_the_end(how, table):
    """Whether Python says so, which would show a traceback, or nobody does and all is done before it comes again."""
    process = start(SWALLOWED, how, "train", table, "-o", table.with_name("m.besvm"), "--no-check", "-m", "rbf")
    shown, said = process.communicate(timeout=30)
    assert (process.returncode, shown) == (130, "")
    assert [line for line in said.splitlines() if "t.csv" not in line and "rbf" not in line] == [
        f"besvm: {NOTHING_DONE}"
    ]
