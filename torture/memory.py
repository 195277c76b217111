"""The peak memory of fits, each in a process of its own, against memory_limit: data x measure x store x limit.

A peak is what a fit adds to what its process holds, after small fits in float64 and in float32 have loaded all that is
loaded lazily: libraries and compiled loops are no work of training. A fit that refuses its limit with a sentence has
kept it, if it took no more until then.
"""

from __future__ import annotations

import json
import subprocess
import sys
from itertools import starmap
from typing import Any

from besvm._support.progress import progress
from besvm._support.units import parse_bytes
from torture.outcome import Outcome

DATA = {
    "12,000 x 20": "X = rng.normal(size=(12_000, 20)).astype(np.float32)",
    "6,000 x 2,000": "X = rng.normal(size=(6_000, 2_000)).astype(np.float32)",
    "20,000 x 20,000 CSR": "X = scipy.sparse.random(20_000, 20_000, 0.002, 'csr', np.float32, rng)",
    "400 images of 128 x 128": "X = rng.integers(0, 256, (400, 128, 128, 3), dtype=np.uint8)",
}
RUN = """
import ctypes, json, re, sys, warnings
import numpy as np, scipy.sparse
from besvm import BESVMClassifier
warnings.simplefilter("ignore")
rng = np.random.default_rng(0)
MAKE
case = json.loads(sys.argv[1])
options = {"C": 1.0, "tol": 0.1, "max_iter": 30, "n_jobs": 2, "random_state": 0, **case["options"]}
y = rng.integers(0, options.pop("classes", 4), X.shape[0])
def memory(what):  # getrusage would count what the parent process had when it forked
    return int(re.search(what + r":\\s+(\\d+)", open("/proc/self/status").read())[1]) * 1024
def model(basis, limit):
    return BESVMClassifier(case["measure"], basis=basis, storage=case["storage"], memory_limit=limit, **options)
model(10, None).fit(X[:60], y[:60])
if X.ndim == 2:  # so many features are float32
    model(400, None).fit(X[:800, :50], y[:800])
ctypes.CDLL(None).malloc_trim(0)
open("/proc/self/clear_refs", "w").write("5")  # the peak begins anew
before, said = memory("VmRSS"), ""
try:
    model(case["basis"], case["limit"]).fit(X, y)
except MemoryError as error:
    said = str(error) or "nothing"
print(json.dumps({"peak": memory("VmHWM") - before, "refused": said}))
"""
CASES: list[tuple[Any, ...]] = [
    *(
        ("12,000 x 20", m, 2000, s, limit)
        for m in ("rbf", "laplacian")
        for s, limit in (("memory", "300 MB"), ("disk", "200 MB"))
    ),
    ("12,000 x 20", "rbf", 2000, "recompute", "150 MB"),
    ("12,000 x 20", "rbf", 2000, "auto", "100 MB"),
    *(("6,000 x 2,000", m, 1000, s, "300 MB") for m in ("rbf", "linear") for s in ("memory", "disk", "recompute")),
    ("6,000 x 2,000", "rbf", 1000, "auto", "100 MB"),
    *(("20,000 x 20,000 CSR", m, 200, "auto", limit) for m in ("rbf", "cosine") for limit in ("500 MB", "150 MB")),
    ("400 images of 128 x 128", "H8R", 40, "auto", "300 MB"),
    ("400 images of 128 x 128", "H4R", 40, "disk", "300 MB"),
    *(
        ("12,000 x 20", "rbf", 2000, "auto", limit, options)
        for limit, options in (
            ("200 MB", {"C": "auto"}),
            ("200 MB", {"classes": 2, "C": "auto"}),
            ("400 MB", {"classes": 50, "C": "auto"}),
            ("200 MB", {"probability": False}),
            ("350 MB", {"penalty": "l1"}),
            ("500 MB", {"penalty": "l1", "C": "auto"}),
        )
    ),
]


def measure(
    data: str, name: str, basis: int, storage: str, limit: str, options: dict[str, Any] | None = None
) -> tuple[dict[str, object], str]:
    """Return a row of the table, and what was broken; ``options`` are those of the classifier, and how many classes."""
    row: dict[str, object] = {"data": data, "measure": name, "basis": basis, "storage": storage, "limit": limit}
    case = f"torture.memory.measure{(data, name, basis, storage, limit, options)}"
    done = subprocess.run(
        [sys.executable, "-c", RUN.replace("MAKE", DATA[data]), json.dumps({**row, "options": options or {}})],
        capture_output=True,
        text=True,
        check=False,
    )
    row["options"] = ", ".join(f"{key}={value}" for key, value in (options or {}).items())
    if done.returncode:
        return {**row, "outcome": "error"}, f"{case}: {done.stderr.strip().rsplit(chr(10), 1)[-1]}"
    result = json.loads(done.stdout)
    held = result["peak"] <= parse_bytes(limit)
    row |= {"peak": f"{result['peak'] / 1e6:.0f} MB", "share of the limit": result["peak"] / parse_bytes(limit)}
    row["outcome"] = "broken" if not held else "refused" if result["refused"] else "held"
    return row, "" if held else f"{case}: took {row['peak']}"


def torture(quick: bool = False) -> Outcome:
    """Measure all cases, the first if quick."""
    cases = CASES[:1] if quick else CASES
    with progress("memory", len(cases), verbose=1) as shown:
        results = []
        for result in starmap(measure, cases):
            results.append(result)
            shown.advance(1)
    return Outcome([row for row, _ in results], [broken for _, broken in results if broken])
