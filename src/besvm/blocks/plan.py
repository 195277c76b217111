"""Where the features live while a classifier is trained: planned from their size."""

from __future__ import annotations

import shutil
import tempfile
from dataclasses import dataclass

from besvm._support.memory import available_memory
from besvm._support.units import parse_bytes, show_bytes

STORAGES = ("auto", "memory", "disk", "recompute")
AUTO_SHARE = 0.7  # of the memory that is free now: others live on this machine too


@dataclass(frozen=True)
class Plan:
    """Where the features go, and why."""

    storage: str
    features: int  # bytes
    work: int  # bytes that training takes beside the features
    limit: int

    def __str__(self) -> str:
        need = f"the features take {show_bytes(self.features)} and training {show_bytes(self.work)} more"
        where = {"memory": "in memory", "disk": "on disk", "recompute": "computed anew on every pass"}[self.storage]
        return f"features {where}: {need}; the limit is {show_bytes(self.limit)}"


def plan(n: int, width: int, work: int, storage: str, memory_limit: int | float | str | None) -> Plan:
    """Choose a store that keeps the peak under the limit; say what is missing where none does.

    Examples
    --------
    >>> print(plan(10_000, 4_000, 20_000_000, "auto", "1 GB"))
    features in memory: the features take 160 MB and training 20 MB more; the limit is 1.0 GB
    """
    if storage not in STORAGES:
        raise ValueError(f"storage must be one of {', '.join(map(repr, STORAGES))}, got {storage!r}")
    features = 4 * n * width
    limit = int(AUTO_SHARE * available_memory()) if memory_limit is None else parse_bytes(memory_limit)
    if storage == "auto":
        if features + work <= limit:
            storage = "memory"
        else:
            storage = "disk" if features < 0.9 * shutil.disk_usage(tempfile.gettempdir()).free else "recompute"
    need = work + (features if storage == "memory" else 0)
    if need > limit and not (memory_limit is None and storage != "memory"):
        raise MemoryError(
            f"training must stay within {show_bytes(limit)}, but with storage={storage!r} it needs "
            f"{show_bytes(need)}; "
            + ("use storage='auto', " if storage == "memory" else "")
            + "raise memory_limit, or use a smaller basis"
        )
    return Plan(storage, features, work, limit)
