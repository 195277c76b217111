"""Training on a Dask cluster of this machine's processes: strong and weak scaling, and a worker killed in mid-fit.

Every worker has one thread; the processes share the cores of one machine, so that more workers than cores can bring
nothing. "alone" is the same fit in one process with as many threads as cores. Ten classes in 20 dimensions compared by
"rbf" with random exemplars, C = 1, no probabilities. "killed" is a fit with two workers of which one is killed once the
solver has begun and is started again; `recovery_seconds` is what that fit took longer than the one with two workers
that nobody killed. `of_alone` is the time against that of "alone", for the same rows. The seconds are the median of
three fits, or of three clusters with a worker killed.
"""

from __future__ import annotations

import os
import signal
import tempfile
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from time import perf_counter, sleep
from typing import Any

from benchmarks.rows import made
from besvm import BESVMClassifier

WORKERS = (1, 2, 4)
ROWS, WIDTH = 400_000, 500
REPEATS = 3


def benchmark(quick: bool = False) -> list[dict[str, Any]]:
    """Return a row for every fit."""
    n, width, workers = (3000, 40, (1, 2)) if quick else (ROWS, WIDTH, WORKERS)
    _fitted("first", n, width, None)  # the system has given the memory that all others use again
    alone = {k: _median([_fitted("alone", n // k, width, None) for _ in range(REPEATS)]) for k in workers}
    strong = [_on_cluster("strong", k, n, width) for k in workers]
    weak = [_on_cluster("weak", k, n // max(workers) * k, width) for k in workers]
    killed = _median([_on_cluster("killed", 2, n, width) for _ in range(REPEATS)])
    undisturbed = next(row["seconds"] for row in strong if row["workers"] == 2)
    killed["recovery_seconds"] = killed["seconds"] - undisturbed
    rows = [*alone.values(), *strong, *weak, killed]
    for row in rows:
        one = next((other["seconds"] for other in alone.values() if other["rows"] == row["rows"]), None)
        row["of_alone"] = None if one is None else row["seconds"] / one
    return rows


@contextmanager
def cluster_of(n_workers: int) -> Iterator[Any]:
    """Give a client of a cluster of processes with a thread each."""
    from distributed import Client, LocalCluster

    options = {"threads_per_worker": 1, "dashboard_address": ":0", "silence_logs": 50}
    with LocalCluster(n_workers=n_workers, **options) as cluster, Client(cluster) as client:
        yield client


def _on_cluster(what: str, n_workers: int, n: int, width: int) -> dict[str, Any]:
    with cluster_of(n_workers) as client:
        _fitted("first", 1000, 10, client)  # the workers have loaded what they need
        if what == "killed":
            threading.Thread(target=_kill_one, args=(client, passes(client)), daemon=True).start()
            return {**_fitted(what, n, width, client), "workers": n_workers}
        return {**_median([_fitted(what, n, width, client) for _ in range(REPEATS)]), "workers": n_workers}


def _median(fits: list[dict[str, Any]]) -> dict[str, Any]:
    return sorted(fits, key=lambda fit: fit["seconds"])[len(fits) // 2]


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
        "exemplars": width,
        "seconds": seconds,
        "passes": model.n_passes_,
        "objective": float(model.objective_.sum()),
    }


def passes(client: Any) -> int:
    """Return how many passes over blocks the scheduler knows of, since it was started."""

    def count(dask_scheduler: Any) -> int:
        prefix = dask_scheduler.task_prefixes.get("pass over rows")
        return 0 if prefix is None else int(sum(prefix.state_counts.values()))

    return int(client.run_on_scheduler(count))


def _kill_one(client: Any, before: int) -> None:
    while passes(client) <= before + 4:
        sleep(0.05)
    os.kill(next(iter(client.run(os.getpid).values())), signal.SIGKILL)
