"""KernelSVMClassifier against SVC: the same kernel SVM (RBF, C = 2, gamma = 1) on HOG features of 10,000 images.

Every contestant runs in a process of its own, on the same features read from a file: those of the paper's H8R, of the
first fold of CIFAR-10. ``extra_memory`` is what fit adds to the peak of its process, in megabytes.
"""

from __future__ import annotations

import json
import subprocess
import sys
import tempfile
from pathlib import Path
from typing import Any

import numpy as np

from benchmarks.data import mixture, source
from besvm.datasets import load_cifar10
from besvm.measures import parse_shorthand

OURS = "KernelSVMClassifier"
CONTESTANTS = {
    OURS: "KernelSVMClassifier(RBF(gamma=1.0), C=2)",
    f"{OURS}, n_jobs=1": "KernelSVMClassifier(RBF(gamma=1.0), C=2, n_jobs=1)",
    "SVC": "SVC(kernel='rbf', C=2, gamma=1)",
    "SVC(cache_size=2000)": "SVC(kernel='rbf', C=2, gamma=1, cache_size=2000)",
}
RUN = """
import json, re, sys, time
import numpy as np
from sklearn.svm import SVC
from besvm.baselines import KernelSVMClassifier
from besvm.similarities import RBF
folder = sys.argv[1]
X, y, X_test, y_test = (np.load(f"{folder}/{name}.npy") for name in ("X", "y", "X_test", "y_test"))
make = lambda: MAKE
make().fit(X[:600], y[:600]).predict(X[:10])  # load what is loaded lazily
def peak():  # getrusage would count what the parent process had when it forked
    return int(re.search(r"VmHWM:\\s+(\\d+)", open("/proc/self/status").read())[1]) * 1024
def now():  # by the clock, and of all threads together
    return np.array([time.perf_counter(), time.process_time()])
before, start = peak(), now()
model = make().fit(X, y)
trained, extra = now(), (peak() - before) / 1e6
predicted = model.predict(X_test)
fit, predict = trained - start, now() - trained
print(json.dumps({"fit_seconds": fit[0], "predict_seconds": predict[0], "fit_cpu": fit[1], "predict_cpu": predict[1],
                  "extra_memory": extra, "accuracy": float((predicted == y_test).mean()),
                  "support_vectors": len(model.support_)}))
"""


def benchmark(quick: bool = False) -> list[dict[str, Any]]:
    """Return one row for every contestant."""
    n, n_test = (1500, 500) if quick else (10_000, 10_000)
    with tempfile.TemporaryDirectory() as folder:
        arrays = _features(n, n_test)
        for name, array in zip(("X", "y", "X_test", "y_test"), arrays, strict=True):
            np.save(Path(folder) / f"{name}.npy", array)
        shape = f"{n:,} x {arrays[0].shape[1]:,}"
        results = {name: _run(make, folder) for name, make in CONTESTANTS.items()}
    ours = results[OURS]
    return [
        {
            "shape": shape,
            "data": source(),
            "classifier": name,
            "fit_seconds": result["fit_seconds"],
            "predict_seconds": result["predict_seconds"],
            "fit, times ours": result["fit_seconds"] / ours["fit_seconds"],
            "predict, times ours": result["predict_seconds"] / ours["predict_seconds"],
            **{key: result[key] for key in ("fit_cpu", "predict_cpu", "extra_memory", "accuracy", "support_vectors")},
        }
        for name, result in results.items()
    ]


def _run(make: str, folder: str) -> dict[str, Any]:
    done = subprocess.run(
        [sys.executable, "-c", RUN.replace("MAKE", make), folder], capture_output=True, text=True, check=True
    )
    result: dict[str, Any] = json.loads(done.stdout)
    return result


def _features(n: int, n_test: int) -> tuple[np.ndarray, ...]:
    """Return (X, y, X_test, y_test): H8 features of CIFAR-10, or made-up ones where it is not at hand."""
    try:
        images, labels, fold = load_cifar10()
    except FileNotFoundError:
        X, y = mixture(n + n_test, n_features=496)
        X /= np.sqrt(2) * X.std() * np.sqrt(X.shape[1])  # distances of about 1, as the features of images have
        return X[:n], y[:n], X[n:], y[n:]
    features = parse_shorthand("H8R").features.fit(images[fold == 0])
    X, X_test = (features.transform(images[fold == which][:many]) for which, many in ((0, n), (5, n_test)))
    return X.reshape(n, -1), labels[fold == 0][:n], X_test.reshape(n_test, -1), labels[fold == 5][:n_test]
