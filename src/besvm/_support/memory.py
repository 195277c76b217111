"""How much memory the machine, and this process's own container, can still give."""

from __future__ import annotations

import os
import re
import sys
from pathlib import Path


def available_memory() -> int:
    """Return the bytes that can still be taken without swapping, within this process's own container."""
    return min(_machine_memory(), _container_memory())


def _machine_memory() -> int:
    try:
        found = re.search(r"MemAvailable:\s+(\d+) kB", Path("/proc/meminfo").read_text())
        if found:
            return int(found[1]) * 1024
    except OSError:
        pass
    try:
        return os.sysconf("SC_PHYS_PAGES") * os.sysconf("SC_PAGE_SIZE") // 2
    except (AttributeError, OSError, ValueError):
        return 4 * 2**30  # nothing tells: be modest


def _container_memory() -> int:
    for limit, used in (
        ("/sys/fs/cgroup/memory.max", "/sys/fs/cgroup/memory.current"),
        ("/sys/fs/cgroup/memory/memory.limit_in_bytes", "/sys/fs/cgroup/memory/memory.usage_in_bytes"),
    ):
        try:
            return max(0, int(Path(limit).read_text()) - int(Path(used).read_text()))
        except (OSError, ValueError):  # no such file, or "max"
            continue
    return 2**62


def peak_memory() -> int:
    """Return the most bytes of memory that this process has taken so far; 0 where the system does not tell.

    Examples
    --------
    >>> peak_memory() >= 0
    True
    """
    try:
        import resource
    except ImportError:  # Windows
        return 0
    peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    return peak if sys.platform == "darwin" else 1024 * peak
