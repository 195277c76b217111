"""What the process that calls `fit` takes while two workers of a Dask cluster train: its peak, for ever more rows.

Rows are vectors of three numbers that Dask makes on the workers, with classes and weights beside them; "rbf" with 50
random exemplars, C = 1, probabilities. The scheduler and the workers are processes of their own. `peak_mb` is the
largest resident size of the process that trains, `before_mb` its size once all is imported and the cluster connected,
`bytes_a_row` what the peak adds for every row since the line above.
"""

from __future__ import annotations

import json
import subprocess
import sys
from typing import Any

ROWS = (250_000, 1_000_000, 4_000_000, 16_000_000)
FIT = """
import json, resource, sys
from time import perf_counter
import dask.array as da
import numpy as np
from distributed import Client
from besvm import BESVMClassifier
import besvm.expand.cluster_targets

def size():
    return next(int(line.split()[1]) for line in open("/proc/self/status") if line.startswith("VmRSS")) / 1024

address, n = sys.argv[1], int(sys.argv[2])
model = BESVMClassifier("rbf", basis=50, C=1.0, random_state=0)
with Client(address) as client:
    for rows in (20_000, n):  # the first fit loads what is loaded late
        X = da.random.default_rng(0).normal(size=(rows, 3), chunks=(max(1000, rows // 8), 3)).astype(np.float32)
        y, weights = (np.abs(X[:, 0]) + X[:, 1] > 0).astype(np.int64), X[:, 2] ** 2
        before, start = size(), perf_counter()
        model.fit(X, y, weights)
    peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024
    print(json.dumps({"rows": n, "seconds": perf_counter() - start, "before_mb": before, "peak_mb": peak}))
"""


def benchmark(quick: bool = False) -> list[dict[str, Any]]:
    """Return a row for every number of rows."""
    from distributed import LocalCluster

    found: list[dict[str, Any]] = []
    options = {"threads_per_worker": 1, "dashboard_address": ":0", "silence_logs": 50}
    for n in (3000, 6000) if quick else ROWS:
        with LocalCluster(n_workers=2, **options) as cluster:
            command = [sys.executable, "-c", FIT, cluster.scheduler_address, str(n)]
            done = subprocess.run(command, check=True, capture_output=True, text=True)
        row = json.loads(done.stdout.splitlines()[-1])
        last = found[-1] if found else row
        more = row["rows"] - last["rows"]
        found.append(row | {"bytes_a_row": (row["peak_mb"] - last["peak_mb"]) * 2**20 / more if more else None})
    return found
