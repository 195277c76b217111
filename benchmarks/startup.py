"""How long `import besvm` takes, alone and up to a classifier, in a fresh process."""

from __future__ import annotations

import subprocess
import sys
from typing import Any

CODE = "import time; start = time.perf_counter(); {}; print(time.perf_counter() - start)"


def benchmark(quick: bool = False) -> list[dict[str, Any]]:
    """Return the best of five."""
    rows = []
    for statement in ("import besvm", "from besvm import BESVMClassifier", "import sklearn.svm"):
        command = [sys.executable, "-c", CODE.format(statement)]
        runs = [subprocess.run(command, capture_output=True, text=True, check=True) for _ in range(2 if quick else 5)]
        rows.append({"statement": statement, "seconds": min(float(run.stdout) for run in runs)})
    return rows
