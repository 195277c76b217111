"""On paper: the time of a billion rows with 10,000 exemplars on many machines, from what was measured on one.

The rates are those of `rows` (a million rows in memory) and of `messages` (10,000 features) on two cores; machines are
taken to have 16 cores of that speed each and a network of 1.25 GB/s. Ten classes, 20 dimensions, as many passes as
the million rows took. `arithmetic` is a pass over a machine's share of the features, `messages` are the tasks of a pass
by the measured time for each block, and `network` is what a pass sends: the weights to a machine, and sums through
the levels of the tree. `blocks` is one for each core, as now, or one for each machine. `hours` are for similarities and
passes together. `limit` is what takes longest. `client_gb` is what the client holds at most: the sample of rows that
the preconditioner is made from with what becomes of it, and what it knows of the rows that are held out.
"""

from __future__ import annotations

import json
from math import ceil, log
from pathlib import Path
from typing import Any

from besvm.blocks.cluster_tasks import ADDED
from besvm.blocks.estimates import last_rank, newton_bytes, sample_rows
from besvm.solver.calibration import MOST_HELD_OUT, N_FOLDS

FOLDER = Path(__file__).parent.parent / "docs" / "benchmarks"
ROWS, EXEMPLARS, CLASSES = 10**9, 10**4, 10
MACHINES, CORES, NETWORK = (10, 100, 1000), 16, 1.25e9
MEASURED_ON = 2  # cores
HELD_OUT_BYTES = 100  # a row that is dealt out into folds, while that is done


def benchmark(quick: bool = False) -> list[dict[str, Any]]:
    """Return a row for every number of machines and of blocks."""
    one, message = _million(), _message()
    similarities = one["rows"] * one["exemplars"] / one["fill_seconds"] / MEASURED_ON  # a second and core
    features = one["rows"] * one["exemplars"] / one["seconds_a_pass"] / MEASURED_ON
    array = 8 * (EXEMPLARS + 1) * CLASSES
    rank = last_rank(EXEMPLARS + 1)
    client = newton_bytes(sample_rows(ROWS, rank), EXEMPLARS, CLASSES, 4, "memory", CORES, rank)
    client += HELD_OUT_BYTES * N_FOLDS * MOST_HELD_OUT
    rows = []
    for machines in MACHINES:
        share = ROWS * EXEMPLARS / (machines * CORES)  # of a core
        for blocks in (machines * CORES, machines):
            parts = {
                "arithmetic": share / features,
                "messages": message["ms_a_block"] * blocks / 1000,
                "network": (1 + (ADDED - 1) * ceil(log(blocks, ADDED))) * array / NETWORK,
            }
            filling = share / similarities
            seconds = filling + one["passes"] * sum(parts.values())
            rows.append(
                {
                    "machines": machines,
                    "blocks": blocks,
                    "memory_gb_a_machine": 4 * ROWS * EXEMPLARS / machines / 1e9,
                    "similarities_minutes": filling / 60,
                    **{f"{name}_seconds_a_pass": took for name, took in parts.items()},
                    "hours": seconds / 3600,
                    "limit": max(parts, key=lambda name: parts[name]),
                    "client_gb": client / 1e9,
                }
            )
    return rows


def _million() -> dict[str, Any]:
    rows = json.loads((FOLDER / "rows.json").read_text())["rows"]
    return max((row for row in rows if row["storage"] == "memory"), key=lambda row: row["rows"])


def _message() -> dict[str, Any]:
    rows = json.loads((FOLDER / "messages.json").read_text())["rows"]
    return max(rows, key=lambda row: (row["features"], row["blocks"]))
