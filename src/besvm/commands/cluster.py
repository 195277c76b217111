"""The cluster that a command works on: one that runs already, or one of this machine's own processes."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

from besvm._support.extras import optional
from besvm.blocks.cluster import client_for


@contextmanager
def opened(cluster: str | None) -> Iterator[Any]:
    """Give the client of the cluster that ``--cluster`` names, for as long as it is needed; None without one."""
    if cluster is None:
        yield None
        return
    kind, _, number = cluster.partition(":")
    if kind != "local":
        if "://" not in cluster:
            raise ValueError(f"--cluster must be an address like tcp://host:8786, or local:4, got {cluster!r}")
        with client_for(cluster, None) as client:
            yield client
        return
    if not (number.isascii() and number.isdigit() and int(number) > 0):
        raise ValueError(f"--cluster local: must be followed by a number of processes, as in local:4, got {cluster!r}")
    distributed = optional("distributed", "--cluster")
    options = {"threads_per_worker": 1, "dashboard_address": ":0", "silence_logs": 50}
    with (
        distributed.LocalCluster(n_workers=int(number), **options) as processes,
        distributed.Client(processes) as client,
    ):
        yield client
