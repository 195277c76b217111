"""What the machine has free, and byte counts and durations as people write and read them."""

from __future__ import annotations

import os
import re
import sys
from pathlib import Path

_UNITS = {
    "": 1,
    "k": 10**3,
    "m": 10**6,
    "g": 10**9,
    "t": 10**12,
    "ki": 2**10,
    "mi": 2**20,
    "gi": 2**30,
    "ti": 2**40,
}


def parse_bytes(size: int | float | str, name: str = "memory_limit") -> int:
    """Return a number of bytes from a number or from text such as ``"4 GB"``.

    Examples
    --------
    >>> parse_bytes("1.5 GB"), parse_bytes("64MiB"), parse_bytes(1000)
    (1500000000, 67108864, 1000)
    """
    found = re.fullmatch(r"\s*([0-9.]+(?:e[0-9]+)?)\s*([kmgt]?i?)b?\s*", str(size).lower())
    try:
        n_bytes = int(float(found[1]) * _UNITS[found[2]]) if found else 0
    except (KeyError, ValueError):
        n_bytes = 0
    if n_bytes <= 0:
        raise ValueError(f"{name} must be a positive number of bytes or text like '4 GB', got {size!r}")
    return n_bytes


def show_bytes(n_bytes: float) -> str:
    """Return a byte count as people read it.

    Examples
    --------
    >>> show_bytes(160e6), show_bytes(2.35e9)
    ('160 MB', '2.4 GB')
    """
    for unit, size in (("GB", 1e9), ("MB", 1e6), ("kB", 1e3)):
        if n_bytes >= size:
            value = n_bytes / size
            return f"{value:.1f} {unit}" if value < 10 else f"{value:.0f} {unit}"
    return f"{n_bytes:.0f} bytes"


def show_seconds(seconds: float) -> str:
    """Return a duration for people.

    Examples
    --------
    >>> show_seconds(42), show_seconds(300), show_seconds(7500)
    ('42 s', '5 min', '2 h 05 min')
    """
    if seconds < 120:
        return f"{seconds:.0f} s"
    minutes = round(seconds / 60)
    return f"{minutes} min" if minutes < 120 else f"{minutes // 60} h {minutes % 60:02d} min"


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
