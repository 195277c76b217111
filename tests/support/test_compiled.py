"""What is compiled the first time is announced on a terminal, once, and nowhere else."""

import os
import pty
import subprocess
import sys

import pytest

PROGRAM = """
import numpy as np
from besvm.similarities import DTW, Rigid
X = np.random.default_rng(0).normal(size=(4, 9))
DTW().fit(X)(X, X)
Rigid(1)(X.reshape(4, 3, 3, 1), X.reshape(4, 3, 3, 1))
from besvm._support.progress import compilation
print(compilation.seconds > 0)
"""
SAID = "besvm: compiling for this machine; the first time, this takes some seconds"


@pytest.mark.slow
def test_the_first_compilation_is_announced_on_a_terminal(tmp_path):
    environment = {**os.environ, "NUMBA_CACHE_DIR": str(tmp_path)}
    ours, theirs = pty.openpty()
    for times, compiles in ((1, True), (0, False)):
        done = subprocess.run(
            [sys.executable, "-c", PROGRAM], env=environment, stdout=subprocess.PIPE, stderr=theirs, check=True
        )
        assert done.stdout == f"{compiles}\n".encode()
        os.write(theirs, b"end")
        shown = b""
        while not shown.endswith(b"end"):
            shown += os.read(ours, 4096)
        assert shown.decode().count(SAID) == times
    environment["NUMBA_CACHE_DIR"] = str(tmp_path / "other")
    piped = subprocess.run([sys.executable, "-c", PROGRAM], env=environment, capture_output=True, check=True)
    assert piped.stderr == b""
