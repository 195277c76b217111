"""Your own similarity, each way in about ten lines.

    python examples/anything.py

Made-up records of patients, a name, an age and a pulse of unequal length each, are told apart by: a plain function, a
function that numba compiles, a function of blocks, a registered class, similarities precomputed in a file, and one
measure for each column. Runs offline, in seconds (most of which numba takes to compile).
"""

from __future__ import annotations

import tempfile
from pathlib import Path

import numpy as np
import pandas as pd
from numba import njit

from besvm import BESVMClassifier, Measure
from besvm.similarities import BlockFunction, FromDistance, Similarity, register
from besvm.testing import check_similarity


def patients(n: int, seed: int) -> tuple[pd.DataFrame, np.ndarray]:
    """Two classes: names with other letters, a little older, with a faster pulse."""
    rng = np.random.default_rng(seed)
    y = rng.integers(0, 2, n)
    names = ["".join(rng.choice(list("abcdefghij" if label else "cdefghijkl"), 5)) for label in y]
    pulses = [np.sin(np.arange(rng.integers(40, 60)) * (0.5 + 0.1 * label + 0.05 * rng.normal())) for label in y]
    return pd.DataFrame({"name": names, "age": rng.normal(50 + 8 * y, 10), "pulse": pulses}), y


X, y = patients(400, 0)
X_test, y_test = patients(200, 1)


def report(what: str, clf: BESVMClassifier, train: object, test: object) -> None:
    print(f"{what:20} {clf.fit(train, y).score(test, y_test):.3f}")


# 1. A plain function of two items: f(exemplar, sample), spread over processes where that pays off.
def shared_letters(a: str, b: str) -> float:
    return len(set(a) & set(b)) / len(set(a) | set(b))


report("plain function", BESVMClassifier(shared_letters, basis=100), X["name"].tolist(), X_test["name"].tolist())


# 2. A function that numba compiles: threads, and no Python in the loop. Here a distance: FromDistance turns it round.
@njit
def apart(a: np.ndarray, b: np.ndarray) -> float:
    """Mean distance of every value from the nearest one within three time steps in the other series."""
    total = 0.0
    for i in range(len(a)):
        total += np.abs(b[max(0, min(i, len(b)) - 3) : i + 4] - a[i]).min()
    return total / len(a)


report("compiled function", BESVMClassifier(FromDistance(apart), basis=100), list(X["pulse"]), list(X_test["pulse"]))


# 3. A function of blocks: the whole matrix (samples, exemplars) at once.
def spectra_alike(A: list[np.ndarray], B: list[np.ndarray]) -> np.ndarray:
    of_a, of_b = (np.array([np.abs(np.fft.rfft(x, 64)) for x in some]) for some in (A, B))
    return of_a @ of_b.T


report(
    "function of blocks",
    BESVMClassifier(BlockFunction(spectra_alike), basis=100),
    list(X["pulse"]),
    list(X_test["pulse"]),
)


# 4. A class of your own: parameters that a search can tune, a name, and a check that it keeps the contract.
@register("prefix")
class Prefix(Similarity):
    """How many letters two texts begin with in common, to a power."""

    symmetric = True

    def __init__(self, power: float = 1.0) -> None:
        self.power = power

    def __call__(self, A: list[str], B: list[str]) -> np.ndarray:
        same = [[next((k for k, (s, t) in enumerate(zip(a, b, strict=False)) if s != t), 5) for b in B] for a in A]
        return np.array(same, dtype=float) ** self.power


check_similarity("prefix", X["name"].tolist()[:20])
report("registered class", BESVMClassifier("prefix", basis=200), X["name"].tolist(), X_test["name"].tolist())

# 5. Similarities from anywhere, in a file that is not read into memory whole: row i, column j is s(b_j, x_i).
with tempfile.TemporaryDirectory() as folder:
    for part, frame in (("train", X), ("test", X_test)):
        matrix = np.exp(-np.abs(np.subtract.outer(frame["age"].to_numpy(), X["age"].to_numpy()[:100])) / 10)
        np.save(Path(folder) / f"{part}.npy", matrix.astype(np.float32))
    S, S_test = (np.load(Path(folder) / f"{part}.npy", mmap_mode="r") for part in ("train", "test"))
    report("precomputed file", BESVMClassifier("precomputed"), S, S_test)

# 6. One measure for each column, side by side; what none of them tells alone, they tell together.
columns = [
    ("name", Measure(shared_letters, column="name")),
    ("pulse", Measure(FromDistance(apart), column="pulse")),
    ("age", Measure("rbf", column="age")),
]
report("one for each column", BESVMClassifier(columns, basis=100), X, X_test)
