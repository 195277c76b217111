"""LinearSVMClassifier against LinearSVC on sparse rows like those of texts: Zipf's law, rows of length one.

Both at their own defaults but for LinearSVC's intercept, which ours penalizes here too; ours without probabilities. The
memory is what fit adds to the peak of a process of its own, as a multiple of X.
"""

from __future__ import annotations

import json
import subprocess
import sys
import tempfile
from pathlib import Path
from typing import Any

import numpy as np
from scipy import sparse

SHAPES = [
    (20_000, 10_000, 50, 2),
    (50_000, 200_000, 100, 2),
    (50_000, 200_000, 100, 20),
]  # rows, words, a row, classes
MAKES = {
    "LinearSVMClassifier": "LinearSVMClassifier(penalize_intercept=True, probability=False)",
    "LinearSVC": "LinearSVC(random_state=0)",
}
RUN = """
import json, re, sys, time, warnings
import numpy as np
from scipy import sparse
from sklearn.svm import LinearSVC
from besvm import LinearSVMClassifier
warnings.simplefilter("ignore")
X, y = sparse.load_npz(sys.argv[1] + "/X.npz"), np.load(sys.argv[1] + "/y.npy")
make = lambda: MAKE
make().fit(X[:200], y[:200] % 2)  # load what is loaded lazily
def peak():
    return int(re.search(r"VmHWM:\\s+(\\d+)", open("/proc/self/status").read())[1]) * 1024
before = peak()
start = time.perf_counter()
model = make().fit(X, y)
seconds = time.perf_counter() - start
extra = (peak() - before) / (X.data.nbytes + X.indices.nbytes)
objective = 0.0
for k, (w, b) in enumerate(zip(model.coef_.astype(float), model.intercept_)):
    sign = np.where(y == model.classes_[1 if len(model.coef_) == 1 else k], 1, -1)
    slack = np.maximum(0, 1 - sign * (X @ w + b))
    objective += 0.5 * (w @ w + b * b) + float(slack @ slack)
print(json.dumps({"seconds": seconds, "extra_memory": extra, "objective": objective}))
"""


def texts(n: int, n_words: int, length: int, n_classes: int) -> tuple[sparse.csr_matrix, np.ndarray]:
    """Return rows of words drawn by Zipf's law, and classes that a linear rule tells apart with noise."""
    rng = np.random.default_rng(0)
    chance = np.cumsum(1 / np.arange(1, n_words + 1))
    words = np.searchsorted(chance / chance[-1], rng.random(n * length)).clip(0, n_words - 1)
    X = sparse.csr_matrix((rng.random(n * length), (np.repeat(np.arange(n), length), words)), shape=(n, n_words))
    X = (sparse.diags(1 / np.sqrt(np.asarray(X.multiply(X).sum(axis=1)).ravel())) @ X).tocsr()
    scores = X @ rng.normal(size=(n_words, n_classes))
    return X, (scores / scores.std() + 0.5 * rng.normal(size=scores.shape)).argmax(axis=1)


def benchmark(quick: bool = False) -> list[dict[str, Any]]:
    """Return one row for every shape and contestant."""
    rows = []
    for n, n_words, length, n_classes in [(2000, 5000, 20, 2)] if quick else SHAPES:
        with tempfile.TemporaryDirectory() as folder:
            X, y = texts(n, n_words, length, n_classes)
            sparse.save_npz(Path(folder) / "X.npz", X)
            np.save(Path(folder) / "y.npy", y)
            found = {}
            for name, make in MAKES.items():
                command = [sys.executable, "-c", RUN.replace("MAKE", make), folder]
                found[name] = json.loads(subprocess.run(command, capture_output=True, text=True, check=True).stdout)
        best = min(one["objective"] for one in found.values())
        rows += [
            {
                "shape": f"{n:,} x {n_words:,}",
                "classes": n_classes,
                "classifier": name,
                "seconds": one["seconds"],
                "times ours": one["seconds"] / found["LinearSVMClassifier"]["seconds"],
                "objective above the best": one["objective"] / best - 1,
                "extra_memory": one["extra_memory"],
            }
            for name, one in found.items()
        ]
    return rows
