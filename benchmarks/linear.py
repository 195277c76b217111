"""LinearSVMClassifier against LinearSVC: the same objective (C = 1, squared hinge, penalized intercept), ten classes.

Every contestant runs in a process of its own, on the same features read from a file, so that its peak memory is its
own: ``extra_memory`` is what fit adds to the peak, as a multiple of the size of the features.
"""

from __future__ import annotations

import json
import subprocess
import sys
import tempfile
from pathlib import Path
from typing import Any

import numpy as np

from benchmarks.data import besvm_features, source

SHAPES = [(10_000, 1000, 4), (50_000, 1000, 2), (5_000, 2500, 4)]  # rows, bases, measures
OURS = "LinearSVMClassifier"
CONTESTANTS = {
    OURS: "LinearSVMClassifier(penalize_intercept=True, probability=False)",
    f"{OURS}, with probabilities": "LinearSVMClassifier(penalize_intercept=True)",
    "LinearSVC(dual=True, tol=0.1)": "LinearSVC(dual=True, tol=0.1, random_state=0, max_iter=10_000)",
    "LinearSVC(dual=False, tol=1e-3)": "LinearSVC(dual=False, tol=1e-3, random_state=0, max_iter=10_000)",
}
RUN = """
import json, re, sys, time, warnings
import numpy as np
from sklearn.svm import LinearSVC
from besvm import LinearSVMClassifier
warnings.simplefilter("ignore")
folder = sys.argv[1]
X, y, X_test, y_test = (np.load(f"{folder}/{name}.npy") for name in ("X", "y", "X_test", "y_test"))
make = lambda: MAKE
make().fit(X[:200, :50], y[:200])  # load what is loaded lazily
def peak():  # getrusage would count what the parent process had when it forked
    return int(re.search(r"VmHWM:\\s+(\\d+)", open("/proc/self/status").read())[1]) * 1024
before = peak()
start = time.perf_counter()
model = make().fit(X, y)
seconds = time.perf_counter() - start
extra = (peak() - before) / X.nbytes
W, b = model.coef_.astype(float), model.intercept_
objective = 0.0
for k, (w, bias) in enumerate(zip(W, b)):
    sign = np.where(y == model.classes_[k], 1, -1)
    slack = np.maximum(0, 1 - sign * (X @ w.astype(np.float32) + bias))
    objective += 0.5 * (w @ w + bias * bias) + float((slack.astype(float) ** 2).sum())
print(json.dumps({"seconds": seconds, "extra_memory": extra, "objective": objective,
                  "test_accuracy": float(model.score(X_test, y_test)), "passes": getattr(model, "n_passes_", None)}))
"""


def benchmark(quick: bool = False) -> list[dict[str, Any]]:
    """Return one row for every shape and contestant."""
    shapes = [(1000, 50, 2)] if quick else SHAPES
    rows = []
    for n, n_basis, n_measures in shapes:
        with tempfile.TemporaryDirectory() as folder:
            arrays = besvm_features(n, n_basis, n_measures, n_test=2000)
            for name, array in zip(("X", "y", "X_test", "y_test"), arrays, strict=True):
                np.save(Path(folder) / f"{name}.npy", array)
            shape = f"{n:,} x {arrays[0].shape[1]:,}"
            del arrays
            rows += _race(shape, folder)
    return rows


def _race(shape: str, folder: str) -> list[dict[str, Any]]:
    results = {}
    for name, make in CONTESTANTS.items():
        done = subprocess.run(
            [sys.executable, "-c", RUN.replace("MAKE", make), folder], capture_output=True, text=True, check=True
        )
        results[name] = json.loads(done.stdout)
    best = min(result["objective"] for result in results.values())
    ours = results[OURS]["seconds"]
    return [
        {
            "shape": shape,
            "data": source(),
            "classifier": name,
            "seconds": result["seconds"],
            "times slower than ours": result["seconds"] / ours,
            "objective above the best": result["objective"] / best - 1,
            "extra_memory": result["extra_memory"],
            "test_accuracy": result["test_accuracy"],
            "passes": result["passes"],
        }
        for name, result in results.items()
    ]
