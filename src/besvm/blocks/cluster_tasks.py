"""Tasks of a Dask cluster: what they are called, how functions reach them, and how their sums are added."""

from __future__ import annotations

from functools import partial
from typing import Any
from uuid import uuid4

from besvm._support.extras import optional
from besvm.blocks.client import explained
from besvm.blocks.state import Add, Sums, added

ADDED = 8  # sums that one task adds: more would wait for each other, fewer would be more tasks
AT_ONCE = 64  # small sums that are gathered at once


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
    with explained(client):
        return add(client.gather(parts))


def _added(add: Add, *parts: Sums) -> Sums:
    return add(parts)
