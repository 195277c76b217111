"""The cluster that a command works on: one that runs already, or one of this machine's own processes."""

from __future__ import annotations

import signal
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from tempfile import TemporaryDirectory
from typing import Any

from besvm._support.extras import optional
from besvm.blocks.client import client_for


def check_cluster_option(cluster: str | None) -> None:
    """Refuse what names no cluster, before the data are read."""
    if cluster is None:
        return
    kind, _, number = cluster.partition(":")
    if kind == "local":
        if not (number.isascii() and number.isdigit() and int(number) > 0):
            raise ValueError(f"--cluster local: must end in a number of processes, such as local:4, got {cluster!r}")
    elif "://" not in cluster:
        raise ValueError(
            f"--cluster must be an address such as tcp://host:8786, or local:4 for four processes, got {cluster!r}"
        )


@contextmanager
def opened(cluster: str | None) -> Iterator[Any]:
    """Give the client of the cluster that ``--cluster`` names, for as long as it is needed; None without one."""
    if cluster is None:
        yield None
        return
    kind, _, number = cluster.partition(":")
    if kind != "local":
        with client_for(cluster, None) as client:
            yield client
        return
    distributed = optional("distributed", "--cluster")
    with TemporaryDirectory(prefix="besvm-workers-", ignore_cleanup_errors=True) as folder:
        options = {"threads_per_worker": 1, "dashboard_address": ":0", "silence_logs": 50, "local_directory": folder}
        with _deaf_to_interrupts():
            processes = distributed.LocalCluster(n_workers=int(number), **options)
        with processes, distributed.Client(processes) as client:
            yield client


@contextmanager
def _deaf_to_interrupts() -> Iterator[None]:
    """Let processes that are started here take no notice of Ctrl-C, which a terminal sends to all of them."""
    if threading.current_thread() is not threading.main_thread():
        yield
        return
    before = signal.signal(signal.SIGINT, signal.SIG_IGN)
    try:
        yield
    finally:
        signal.signal(signal.SIGINT, before)
