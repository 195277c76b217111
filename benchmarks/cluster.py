"""Training on a Dask cluster of this machine's processes: strong and weak scaling, messages, and a worker killed.

Every worker has one thread; the processes share the cores of one machine, so that more workers than cores bring
nothing. "alone" is the same fit in one process with as many threads as cores. Ten classes in 20 dimensions compared by
"rbf" with random exemplars, C = 1, no probabilities. `overhead_ms` is the median time of a pass over blocks of no
rows to speak of; `sent_mb` is what a pass sends out and gets back by the formula, 8 bytes for each weight out and back
for each block. "killed" is a fit in which one worker is killed once the solver has begun.
"""

from __future__ import annotations

import os
import signal
import tempfile
import threading
from pathlib import Path
from time import perf_counter, sleep
from typing import Any

import numpy as np

from benchmarks.rows import CLASSES, made
from besvm import BESVMClassifier

WORKERS = (1, 2, 4)
ROWS, WIDTH = 200_000, 500
PASSES = 20


def benchmark(quick: bool = False) -> list[dict[str, Any]]:
    """Return a row for every fit."""
    n, width, workers = (3000, 40, (1, 2)) if quick else (ROWS, WIDTH, WORKERS)
    rows = [_fitted("alone", n, width, None)]
    alone = rows[0]["seconds"]
    for k in workers:
        rows.append(_on_cluster("strong", k, n, width))
    for k in workers:
        rows.append(_on_cluster("weak", k, n // max(workers) * k, width))
    rows.append(_on_cluster("killed", 2, n, width))
    for row in rows:
        row["of_alone"] = row["seconds"] / alone
    return rows


def _on_cluster(what: str, n_workers: int, n: int, width: int) -> dict[str, Any]:
    from distributed import Client, LocalCluster

    options = {"threads_per_worker": 1, "dashboard_address": ":0", "silence_logs": 50}
    with LocalCluster(n_workers=n_workers, **options) as cluster, Client(cluster) as client:
        if what == "killed":
            threading.Thread(target=_kill_one, args=(client,), daemon=True).start()
        row = _fitted(what, n, width, client)
        overhead = _overhead(client)
    sent = 2 * n_workers * 8 * (width + 1) * CLASSES / 1e6
    return {**row, "workers": n_workers, "overhead_ms": 1000 * overhead, "sent_mb": sent}


def _fitted(what: str, n: int, width: int, client: Any) -> dict[str, Any]:
    model = BESVMClassifier("rbf", basis=width, C=1.0, probability=False, random_state=0, client=client)
    with tempfile.TemporaryDirectory() as folder:
        X, y = made(n, Path(folder) / "X.npy")
        start = perf_counter()
        model.fit(X, y)
        seconds = perf_counter() - start
    return {
        "fit": what,
        "workers": 0,
        "rows": n,
        "seconds": seconds,
        "passes": model.n_passes_,
        "objective": float(model.objective_.sum()),
    }


def _overhead(client: Any) -> float:
    """Return the seconds of a pass that has nothing to do."""
    from besvm.blocks.cluster import DaskBlocks

    n = sum(client.nthreads().values())
    spans = [slice(k, k + 1) for k in range(n)]
    blocks = DaskBlocks(client, [client.submit(np.zeros, (1, 1), pure=False) for _ in spans], spans, 1, np.float64)
    state = blocks.state()
    seconds = []
    for _ in range(PASSES):
        start = perf_counter()
        state.sum(lambda rows: (rows.features.sum(axis=0),))
        seconds.append(perf_counter() - start)
    return float(np.median(seconds))


def _kill_one(client: Any) -> None:
    while not client.run_on_scheduler(lambda dask_scheduler: "pass over rows" in dask_scheduler.task_prefixes):
        sleep(0.05)
    os.kill(next(iter(client.run(os.getpid).values())), signal.SIGKILL)
