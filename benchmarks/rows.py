"""BESVMClassifier on more and more rows, up to ten million on disk: seconds, passes, and passes against bare reading.

Ten classes, each a mixture of eight Gaussians in 20 dimensions, compared by "rbf" with random exemplars; C = 1, no
probabilities. `fill_seconds` are those of the similarities and their normalization, `train_seconds` those of the
solver; `exponent` is by what power of the rows these have grown since the row above. `seconds_a_pass` is the median
over all passes of the solver, and `read_seconds` what it takes to read the same features in the same run: in memory by
summing them on all threads, on disk by a plain sequential read of the same file. On disk, the system is told before
every pass and every read to forget what it holds of the file. `of_peak` is the share of the processors' peak, that of a
large matrix product in the same run, that the two products of a pass reach. Every size ran in a process of its own;
`peak_gb` counts what is mapped of files.
"""

from __future__ import annotations

import os
import tempfile
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from math import log
from pathlib import Path
from statistics import median
from time import perf_counter
from typing import Any

import numpy as np

from benchmarks.timing import alone, peak_gb
from besvm import BESVMClassifier

IN_MEMORY, ON_DISK = ((10_000, 1000), (100_000, 1000), (1_000_000, 1000)), (10_000_000, 250)  # rows, exemplars
LIMIT = "4 GB"  # of the memory for training on disk
CLASSES, GAUSSIANS, DIMENSIONS = 10, 8, 20
READ_BYTES = 1 << 23  # at a time, as dd would with bs=8M


def benchmark(quick: bool = False) -> list[dict[str, Any]]:
    """Return a row for every number of rows."""
    sizes: list[tuple[int, int, str]] = [(n, width, "memory") for n, width in IN_MEMORY] + [(*ON_DISK, "disk")]
    if quick:
        sizes = [(500, 40, "memory"), (2000, 40, "memory"), (2000, 40, "disk")]
    rows: list[dict[str, Any]] = []
    for n, width, storage in sizes:
        row = alone(_measured, n, width, storage)
        last = rows[-1] if rows else None
        if last is not None and (last["exemplars"], last["storage"]) == (width, storage):
            row["exponent"] = log(row["train_seconds"] / last["train_seconds"]) / log(n / last["rows"])
        rows.append(row)
    return rows


def _measured(n: int, width: int, storage: str) -> dict[str, Any]:
    with tempfile.TemporaryDirectory() as folder:
        X, y = made(n, Path(folder) / "X.npy")
        limit = LIMIT if storage == "disk" else None
        BESVMClassifier("rbf", basis=10, storage=storage).fit(X[:200], y[:200])  # compiled, loaded
        options = {"storage": storage, "memory_limit": limit, "C": 1.0, "probability": False, "random_state": 0}
        model = Watched("rbf", basis=width, **options)
        model.fit(X, y)
    a_pass, reading = median(model.pass_seconds_), median(model.read_seconds_)
    return {
        "rows": n,
        "exemplars": width,
        "storage": model.storage_,
        "fill_seconds": model.fill_seconds_,
        "train_seconds": model.train_seconds_,
        "exponent": None,
        "passes": model.n_passes_,
        "seconds_a_pass": a_pass,
        "read_seconds": reading,
        "read_gb_a_second": 4 * n * width / reading / 1e9,
        "pass_against_read": reading / a_pass,
        "of_peak": 4 * n * width * CLASSES / a_pass / peak_operations(),
        "peak_gb": peak_gb(),
        "train_accuracy": float((model.predict(X[:10_000]) == y[:10_000]).mean()),
    }


def peak_operations() -> float:
    """Return how many floating-point operations a second a large product of matrices takes, on all threads."""
    matrix = np.random.default_rng(0).standard_normal((2048, 2048), dtype=np.float32)
    seconds = []
    for _ in range(5):
        start = perf_counter()
        matrix @ matrix
        seconds.append(perf_counter() - start)
    return 2 * len(matrix) ** 3 / min(seconds)


def made(n: int, file: Path) -> tuple[np.ndarray, np.ndarray]:
    """Return n vectors, which stay in the file, and their classes, in random order."""
    rng = np.random.default_rng(0)
    centers = rng.normal(size=(CLASSES, GAUSSIANS, DIMENSIONS)).astype(np.float32)
    X = np.lib.format.open_memmap(file, "w+", np.float32, (n, DIMENSIONS))
    y = rng.integers(CLASSES, size=n)
    for start in range(0, n, 1 << 18):
        some = y[start : start + (1 << 18)]
        X[start : start + len(some)] = centers[some, rng.integers(GAUSSIANS, size=len(some))]
        X[start : start + len(some)] += rng.standard_normal((len(some), DIMENSIONS), dtype=np.float32)
    X.flush()
    return np.load(file, mmap_mode="r"), y


class Watched(BESVMClassifier):
    """A BESVMClassifier that times the parts of its training."""

    @contextmanager
    def _expanded(self, *args: Any, **options: Any) -> Iterator[Any]:
        start = perf_counter()
        with super()._expanded(*args, **options) as made:
            self.fill_seconds_ = perf_counter() - start
            yield made

    def _train(self, blocks: Any, *args: Any, **options: Any) -> Any:
        forget = _forgetting(blocks)
        self.pass_seconds_: list[float] = []
        state_of = blocks.state

        def watched(dtype: Any = None) -> Any:
            state = state_of(dtype)
            total = state.sum

            def timed(fn: Any, features: bool = True, **options: Any) -> Any:
                if not features:
                    return total(fn, features, **options)
                forget()
                start = perf_counter()
                sums = total(fn, features, **options)
                self.pass_seconds_.append(perf_counter() - start)
                return sums

            state.sum = timed
            return state

        blocks.state = watched
        start = perf_counter()
        model = super()._train(blocks, *args, **options)
        self.train_seconds_ = perf_counter() - start
        self.read_seconds_ = [_read(blocks, forget) for _ in range(3)]
        return model


def _forgetting(blocks: Any) -> Callable[[], None]:
    """Return what makes the system forget the pages of a file that it could read again; of memory, nothing."""
    if isinstance(blocks.matrix, np.ndarray):
        return lambda: None

    def forget() -> None:
        with blocks.matrix._opened("rb") as file:
            os.fsync(file.fileno())
            os.posix_fadvise(file.fileno(), 0, 0, os.POSIX_FADV_DONTNEED)

    return forget


def _read(blocks: Any, forget: Callable[[], None]) -> float:
    """Return the seconds of reading all features once, and doing nothing with them."""
    forget()
    start = perf_counter()
    if isinstance(blocks.matrix, np.ndarray):
        for _ in blocks.map(lambda rows, block: block.sum()):
            pass
    else:
        buffer = bytearray(READ_BYTES)
        with blocks.matrix._opened("rb") as file:
            place = 0
            while got := os.preadv(file.fileno(), [buffer], place):
                place += got
    return perf_counter() - start
