"""SIGKILL at random moments of a fit on disk and of `besvm reproduce`: the same call again gives the same results.

Nothing may be left in the temporary folder, and no unfinished file in the folder of the reproduction. The call is
killed five times in a row before it may finish: a reproduction goes on where it was, a fit begins again.
"""

from __future__ import annotations

import os
import subprocess
import sys
import time
from pathlib import Path
from tempfile import TemporaryDirectory

import numpy as np

from besvm._support.progress import progress
from torture.caches import rows_of
from torture.outcome import Outcome

FIT = """
import hashlib, sys
import numpy as np
from besvm import BESVMClassifier
rng = np.random.default_rng(0)
X = rng.normal(size=(3000, 10))
y = rng.integers(0, 2, 3000) + 2 * (X[:, 0] > 0)
print("ready", flush=True)
model = BESVMClassifier("rbf", basis=300, C=1.0, storage="disk", random_state=0, n_jobs=1).fit(X, y)
with open(sys.argv[1], "w") as file:
    file.write(hashlib.sha256(model.coef_.tobytes() + model.predict_proba(X).tobytes()).hexdigest())
"""
REPRODUCE = """
import sys
from besvm.cli import run
print("ready", flush=True)
sys.argv[1:] = ["reproduce", "toy", "--quick", "--data", "digits", "--out", sys.argv[1]]
run()
"""
IN_A_ROW = 5


class Target:
    """A call that is made in a process of its own, with a temporary folder of its own."""

    def __init__(self, folder: Path, code: str) -> None:
        self.folder, self.code = folder, code
        self.temporary = folder / "tmp"
        self.temporary.mkdir()

    def start(self, out: str) -> subprocess.Popen[str]:
        """Start the call, and wait until everything is imported."""
        env = {**os.environ, "TMPDIR": str(self.temporary), "OPENBLAS_NUM_THREADS": "1", "OMP_NUM_THREADS": "1"}
        process = subprocess.Popen(
            [sys.executable, "-c", self.code, str(self.folder / out)],
            env=env,
            stdout=subprocess.PIPE,
            stderr=subprocess.DEVNULL,
            text=True,
        )
        assert process.stdout is not None
        process.stdout.readline()
        return process

    def finish(self, out: str) -> tuple[str, float]:
        """Make the call to its end, and return its results and how many seconds it took."""
        process, path, began = self.start(out), self.folder / out, time.monotonic()
        process.communicate()
        seconds = time.monotonic() - began
        if process.returncode or not path.exists():
            return f"exit {process.returncode}", seconds
        return str(rows_of(path, "toy")) if path.is_dir() else path.read_text(), seconds

    def kill(self, out: str, after: float) -> bool:
        """Begin the call and kill it after so many seconds; return whether it was still at work."""
        process = self.start(out)
        try:
            process.communicate(timeout=after)
            return False
        except subprocess.TimeoutExpired:
            process.kill()
            process.communicate()
            return True

    def leftovers(self, out: str) -> list[str]:
        """Return the files that should not be there."""
        return [path.name for path in (*self.temporary.iterdir(), *(self.folder / out).rglob("*.part"))]


def torture(quick: bool = False) -> Outcome:
    """Kill a hundred times, half of them each; one fit if quick."""
    n, rng = 1 if quick else 50, np.random.default_rng(0)
    rows, failures = [], []
    for what, code in (("fit", FIT), ("reproduce", REPRODUCE))[: 1 if quick else 2]:
        lost = 0
        with TemporaryDirectory() as folder, progress(f"kills of {what}", n, verbose=1) as shown:
            target = Target(Path(folder), code)
            clean, takes = target.finish("clean")
            while shown.done < n:
                out, moments, window = f"out{shown.done}", [], takes
                while len(moments) < min(IN_A_ROW, n - shown.done + len(moments)):
                    after = float(rng.uniform(0, window))
                    if target.kill(out, after):
                        moments.append(after)
                        shown.advance(1)
                    else:  # the call was at its end, or little was left to do
                        window *= 0.8
                (result, _), left = target.finish(out), target.leftovers(out)
                if left or result != clean:
                    lost += len(moments)
                    when = ", ".join(f"{after:.2f}" for after in moments)
                    said = f"left {left}" if left else f"{result[:200]} for {clean[:200]}"
                    failures.append(f"kills, {what}, after {when} s: {said}")
        rows.append({"killed": what, "kills": shown.done, "survived": shown.done - lost})
    return Outcome(rows, failures)
