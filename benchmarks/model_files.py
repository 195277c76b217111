"""Model files next to pickle and joblib: size on disk, seconds to load and to predict the first 100 images.

5,000 exemplars of CIFAR-10 (H8R and H4R). Every file is loaded in a process of its own, after besvm and scikit-learn
are imported; what compiled code takes to load is part of it.
"""

from __future__ import annotations

import pickle
import time
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

import joblib
import numpy as np

import besvm
from benchmarks.timing import alone
from besvm import BESVMClassifier
from besvm.datasets import load_cifar10

BASIS, ROWS = 5_000, 6_000


def benchmark(quick: bool = False) -> list[dict[str, Any]]:
    """Save one model in three ways, and load it."""
    images, labels, _ = load_cifar10()
    rows, basis = (300, 200) if quick else (ROWS, BASIS)
    model = BESVMClassifier(["H8R", "H4R"], basis=basis, C=1.0, probability=False, random_state=0)
    model.fit(images[:rows], labels[:rows])
    decisions = model.decision_function(images[-100:])
    found = []
    with TemporaryDirectory() as folder:
        for way in ("besvm.save", "pickle", "joblib"):
            path = Path(folder) / way
            start = time.perf_counter()
            _save(model, way, path)
            saved = time.perf_counter() - start
            row, again = alone(_loaded, way, str(path), images[-100:])
            row = {"way": way, "megabytes": path.stat().st_size / 1e6, "save_seconds": saved, **row}
            found.append(row | {"bit_equal": bool(np.array_equal(again, decisions))})
    return found


def _save(model: Any, way: str, path: Path) -> None:
    if way == "besvm.save":
        besvm.save(model, path)
    elif way == "pickle":
        path.write_bytes(pickle.dumps(model))
    else:
        joblib.dump(model, path)


def _loaded(way: str, path: str, images: np.ndarray) -> tuple[dict[str, float], np.ndarray]:
    start = time.perf_counter()
    if way == "besvm.save":
        model = besvm.load(path)
    elif way == "pickle":
        model = pickle.loads(Path(path).read_bytes())
    else:
        model = joblib.load(path)
    loaded = time.perf_counter()
    decisions = model.decision_function(images)
    return {"load_seconds": loaded - start, "first_100_seconds": time.perf_counter() - loaded}, decisions
