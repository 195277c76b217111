"""The client of a Dask cluster: found, checked, and what goes wrong there said in one sentence."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

from besvm._support.dask_source import DaskSource, address_of
from besvm._support.extras import optional
from besvm._support.parameters import shown
from besvm._support.row_source import is_dask, unchecked

WAIT = 10  # seconds for a scheduler to answer


@contextmanager
def explained(client: Any) -> Iterator[None]:
    """Say in one sentence what went wrong on a cluster, where its own message does not."""
    from distributed import CancelledError
    from distributed.scheduler import KilledWorker

    try:
        yield
    except KilledWorker as error:
        raise MemoryError(
            "several workers died one after the other on the same block of rows, most likely because it does not fit "
            "their memory; use more and smaller blocks, or workers with more memory"
        ) from error
    except CancelledError as error:
        raise ConnectionError(
            f"the scheduler at {address_of(client)} is gone, and with it the work; start it again, and resume from a "
            "checkpoint if you have one"
        ) from error
    except ModuleNotFoundError as error:
        raise ModuleNotFoundError(
            f"the workers cannot import {error.name!r}; install besvm, and what your measures import, on each of them"
        ) from error


@contextmanager
def client_for(client: Any, X: Any) -> Iterator[Any]:
    """Give the client that a fit is to use: the one given, by object or address, or for Dask collections the current.

    None: this process does it all.
    """
    if client is None and not (is_dask(X) or isinstance(unchecked(X), DaskSource)):
        yield None
        return
    address = isinstance(client, str) and ":" in client
    if not (client is None or address or hasattr(client, "scheduler_info")):
        raise TypeError(
            f"client must be a distributed.Client, the address of a scheduler, or None, got {shown(client)}"
        )
    if getattr(client, "status", None) == "closed":
        raise ConnectionError("client must be open, but it was closed; make another, or use client=None")
    distributed = optional("distributed", "a cluster")
    if isinstance(client, str):
        try:
            own = distributed.Client(client, timeout=WAIT)
        except (OSError, TimeoutError, ValueError) as error:
            raise ConnectionError(
                f"no Dask scheduler answered at {client!r} within {WAIT} seconds; check the address, and that the "
                "scheduler is running"
            ) from error
        with own, data_in_tasks():
            check_versions(own)
            yield own
    elif client is None:
        try:
            current = distributed.default_client()
        except ValueError:
            current = None  # Dask computes the partitions in this process
        if current is not None:
            check_versions(current)
        with data_in_tasks():
            yield current
    else:
        check_versions(client)
        with data_in_tasks():
            yield client


def data_in_tasks() -> Any:
    """Keep Dask from warning of tasks that carry data.

    Classes, folds and samples in memory go out with tasks on purpose: what is scattered is lost with its worker.
    """
    return optional("dask.config", "a cluster").set({"distributed.admin.large-graph-warning-threshold": "1 TB"})


def check_versions(client: Any) -> None:
    """Refuse a cluster whose workers lack besvm, or whose versions differ from those of this process."""
    found = client.get_versions(packages=["besvm"])
    here = found["client"]["packages"]
    others = {f"the worker at {address}": about for address, about in found["workers"].items()}
    for who, about in {"the scheduler": found["scheduler"], **others}.items():
        for package in ("besvm", "distributed"):
            there = (about or {}).get("packages", {}).get(package, here[package])
            if there is None and who in others:
                raise ModuleNotFoundError(f"every worker needs {package}, but {who} does not have it; install it there")
            if there is not None and here[package] not in (None, there):
                raise ValueError(
                    f"a cluster must run the same version of {package} as this process, {here[package]}, but {who} "
                    f"has {there}; install the same version everywhere"
                )
