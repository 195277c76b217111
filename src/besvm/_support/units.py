"""Byte counts, other counts and durations as people write and read them."""

import re

_UNITS = {"": 1, "k": 10**3, "m": 10**6, "g": 10**9, "t": 10**12, "ki": 2**10, "mi": 2**20, "gi": 2**30, "ti": 2**40}


def parse_bytes(size: int | float | str, name: str = "memory_limit") -> int:
    """Return a number of bytes from a number or from text such as ``"1.5 GB"`` or ``"64MiB"``."""
    found = re.fullmatch(r"\s*([0-9.]+(?:e[0-9]+)?)\s*([kmgt]?i?)b?\s*", str(size).lower())
    try:
        n_bytes = int(float(found[1]) * _UNITS[found[2]]) if found else 0
    except (KeyError, OverflowError, ValueError):
        n_bytes = 0
    if n_bytes <= 0:
        raise ValueError(f"{name} must be a positive number of bytes or text like '4 GB', got {str(size)[:60]!r}")
    return n_bytes


def show_bytes(n_bytes: float) -> str:
    """Return a byte count as people read it, such as "2.4 GB"."""
    for unit, size in (("GB", 1e9), ("MB", 1e6), ("kB", 1e3)):
        if n_bytes >= size:
            value = n_bytes / size
            return f"{value:.1f} {unit}" if value < 10 else f"{value:.0f} {unit}"
    return f"{n_bytes:.0f} bytes"


def show_seconds(seconds: float) -> str:
    """Return a duration as people read it, such as "42 s" or "2 h 05 min"."""
    if seconds < 120:
        return f"{seconds:.0f} s"
    minutes = round(seconds / 60)
    return f"{minutes} min" if minutes < 120 else f"{minutes // 60} h {minutes % 60:02d} min"


def show_count(n: float) -> str:
    """Return a count in at most four letters or so.

    Examples
    --------
    >>> [show_count(n) for n in (0.25, 7, 999, 12_288, 999_950, 4_000_000)]
    ['0.2', '7', '999', '12.3k', '1.0M', '4.0M']
    """
    for size, letter in ((1e9, "G"), (1e6, "M"), (1e3, "k")):
        if n >= 0.9995 * size:
            value = n / size
            return f"{value:.1f}{letter}" if value < 99.95 else f"{value:.0f}{letter}"
    return f"{n:.0f}" if n >= 9.95 or n == int(n) else f"{n:.1f}"
