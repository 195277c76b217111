"""Tasks of a Dask cluster: what they are called, how functions reach them, and how their sums are added."""

from __future__ import annotations

import warnings
from collections.abc import Iterator
from functools import partial
from typing import Any
from uuid import uuid4

from besvm._support.dask_source import address_of
from besvm._support.extras import optional
from besvm.blocks.client import explained
from besvm.blocks.state import Add, Sums, added

ADDED = 8  # sums that one task adds: more would wait for each other, fewer would be more tasks
AT_ONCE = 64  # small sums that are gathered at once
PATIENCE = 2.0  # seconds of waiting, after which we look whether there are workers at all


def named(what: str, rows: slice) -> str:
    """Return a key that people understand on the dashboard, and that no task has, of whatever client."""
    return f"{what}-{rows.start:,}-to-{rows.stop:,}-{uuid4().hex}"


def sent(client: Any, fn: Any) -> Any:
    """Return the future of what tasks call: it goes out once, as a task of its own, however many wait for it."""
    cloudpickle = optional("cloudpickle", "a cluster")
    return client.submit(partial(cloudpickle.loads, cloudpickle.dumps(fn)), key=f"function-{uuid4().hex}")


def summed(client: Any, parts: list[Any], small: bool = False, add: Add = added) -> Sums:
    """Return the sums of these futures, added on the workers, neighbours first: by a tree, whoever is ready when.

    What is small is added here instead, as far as it is not too many: every level of the tree takes its time.
    """
    while len(parts) > (AT_ONCE if small else 1):
        groups = [parts[k : k + ADDED] for k in range(0, len(parts), ADDED)]
        parts = [client.submit(_added, add, *some, key=f"add-{uuid4().hex}") for some in groups]
    return add(gathered(client, parts))


def gathered(client: Any, futures: list[Any]) -> list[Any]:
    """Return what these futures hold, once all are done."""
    with explained(client):
        if futures:
            _waited(client, futures, "ALL_COMPLETED")
        return list(client.gather(futures))


def as_done(client: Any, futures: list[Any]) -> Iterator[Any]:
    """Yield futures as they are done."""
    left = set(futures)
    while left:
        done, left = _waited(client, list(left), "FIRST_COMPLETED")
        yield from done


def _waited(client: Any, futures: list[Any], until: str) -> tuple[Any, Any]:
    """Wait for futures; where nobody is left to compute them, say so, and wait for a worker to join."""
    from distributed import TimeoutError as NotYetError
    from distributed import wait

    told = False
    while True:
        try:
            found: tuple[Any, Any] = wait(futures, timeout=PATIENCE, return_when=until)
            return found
        except NotYetError:
            if not told and client.status == "running" and not client.nthreads():
                warnings.warn(
                    f"the cluster at {address_of(client)} has no workers left; the fit goes on as soon as one joins, "
                    "and what was lost is computed again",
                    UserWarning,
                    stacklevel=2,
                )
                told = True


def _added(add: Add, *parts: Sums) -> Sums:
    return add(parts)
