"""What a pass over a Dask cluster costs besides its arithmetic: time and bytes, by the number of blocks.

Two workers on one machine hold blocks of one row each, so that nothing but messages takes time. A pass sends the
weights of ten classes out and adds up as many sums, as the solver's do. `formula_mb`: 8 bytes for every weight, out to
each worker but the first that has it, back for each block whose sums are added on another worker than their own (at
most one less than there are blocks), and once to the client. `sent_mb` is what workers have sent, by their own count.
`ms_a_block` is by how much a pass takes longer for each block more, since the row above.
"""

from __future__ import annotations

from statistics import median
from time import perf_counter
from typing import Any

import numpy as np

from benchmarks.cluster import cluster_of
from benchmarks.rows import CLASSES

BLOCKS = (2, 8, 32, 128)
WIDTHS = (1000, 10_000)
PASSES, WORKERS = 15, 2


def benchmark(quick: bool = False) -> list[dict[str, Any]]:
    """Return a row for every number of features and of blocks."""
    rows: list[dict[str, Any]] = []
    with cluster_of(WORKERS) as client:
        for width in (50,) if quick else WIDTHS:
            last: dict[str, Any] | None = None
            for n_blocks in (2, 4) if quick else BLOCKS:
                row = _measured(client, n_blocks, width)
                if last is not None:
                    row["ms_a_block"] = (row["ms_a_pass"] - last["ms_a_pass"]) / (n_blocks - last["blocks"])
                rows.append(row)
                last = row
    return rows


def _measured(client: Any, n_blocks: int, width: int) -> dict[str, Any]:
    from besvm.blocks.cluster import DaskBlocks

    spans = [slice(k, k + 1) for k in range(n_blocks)]
    made = [client.submit(np.zeros, (1, 1), pure=False) for _ in spans]
    state = DaskBlocks(client, made, spans, 1, np.float64).state()
    weights = np.ones((width + 1, CLASSES))

    def one_pass() -> float:
        start = perf_counter()
        state.sum(lambda rows: (weights * rows.features.sum(),))
        return perf_counter() - start

    one_pass()
    before = _sent(client)
    seconds = [one_pass() for _ in range(PASSES)]
    array_mb = 8 * weights.size / 1e6
    return {
        "features": width,
        "blocks": n_blocks,
        "workers": WORKERS,
        "ms_a_pass": 1000 * median(seconds),
        "ms_a_block": None,
        "sent_mb": (_sent(client) - before) / PASSES / 1e6,
        "formula_mb": array_mb * (WORKERS - 1 + n_blocks - 1 + 1),
    }


def _sent(client: Any) -> int:
    return sum(client.run(lambda dask_worker: dask_worker.transfer_outgoing_bytes_total).values())
