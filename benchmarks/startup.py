"""How long the first steps in a new process take: imports, and first calls with and without compiling."""

from __future__ import annotations

import os
import subprocess
import sys
import tempfile
from typing import Any

CODE = "import time; start = time.perf_counter(); {}; print(time.perf_counter() - start)"


def benchmark(quick: bool = False) -> list[dict[str, Any]]:
    """Return the best of five."""
    rows = []
    for statement in ("import besvm", "from besvm import BESVMClassifier", "import sklearn.svm"):
        command = [sys.executable, "-c", CODE.format(statement)]
        runs = [subprocess.run(command, capture_output=True, text=True, check=True) for _ in range(2 if quick else 5)]
        rows.append({"what": statement, "seconds": min(float(run.stdout) for run in runs)})
    return rows + [row for name, call in FIRST_CALLS.items() for row in _first_calls(name, call)]


FIRST_CALLS = {
    "Deformable": "from besvm.similarities import Deformable; Deformable(1, 1)(X, X)",
    "RBF": "from besvm.similarities import RBF; RBF(1.0)(X, X)",
    "FHOG": "from besvm import FHOG; FHOG().fit_transform(X[..., :1])",
}


def _first_calls(name: str, call: str) -> list[dict[str, Any]]:
    """Time the first call (imports included) where nothing is compiled yet, and in the process after that."""
    code = "import numpy as np; X = np.ones((8, 32, 32, 3), np.float32); " + CODE.format(call)
    with tempfile.TemporaryDirectory() as cache:
        environment = os.environ | {"NUMBA_CACHE_DIR": cache}
        seconds = [
            float(subprocess.run([sys.executable, "-c", code], env=environment, capture_output=True, check=True).stdout)
            for _ in range(2)
        ]
    return [
        {"what": f"{name}, first call ever: compiles", "seconds": seconds[0]},
        {"what": f"{name}, first call of a later process", "seconds": seconds[1]},
    ]
