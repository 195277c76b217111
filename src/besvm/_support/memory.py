"""How much memory the machine, and this process's own container or job, can still give."""

import os
import re
import sys
from collections.abc import Iterator
from pathlib import Path, PurePosixPath

ROOT = Path("/")
UNLIMITED = 2**60  # bytes: the first version of control groups writes "no limit" as a number beyond it
IN_MEMORY = ("tmpfs", "ramfs", "devtmpfs")  # file systems whose files take memory


# Control groups, version by version: where they are, their limits, what is used and, in memory.stat, what is cached.
FIRST_VERSION = "sys/fs/cgroup/memory", ["memory.limit_in_bytes"], "memory.usage_in_bytes", "total_inactive_file"
SECOND_VERSION = "sys/fs/cgroup", ["memory.max", "memory.high"], "memory.current", "inactive_file"


def available_memory(root: Path = ROOT) -> int:
    """Return the bytes that can still be taken without swapping, within this process's own container or job."""
    return min([_machine_memory(root), *_group_memory(root)])


def _machine_memory(root: Path) -> int:
    found = re.search(r"MemAvailable:\s+(\d+) kB", _read(root / "proc/meminfo"))
    if found:
        return int(found[1]) * 1024
    try:
        return os.sysconf("SC_PHYS_PAGES") * os.sysconf("SC_PAGE_SIZE") // 2
    except (AttributeError, OSError, ValueError):
        return 4 * 2**30  # nothing tells: be modest


def _group_memory(root: Path) -> Iterator[int]:
    """Yield what is left of every limit on this process's control group and on those it is part of.

    A limit may stand at any height: on the job of a cluster, on a service, or on the container. What is cached of files
    and not in use counts as free: the system takes it back before it refuses anything.
    """
    for line in _read(root / "proc/self/cgroup").splitlines():
        _, controllers, place = line.split(":", 2)
        if controllers and "memory" not in controllers.split(","):
            continue
        top, limits, used, cached = FIRST_VERSION if controllers else SECOND_VERSION
        inside = PurePosixPath(place.lstrip("/"))
        for group in (inside, *inside.parents):  # in a container, some of them are not to be seen
            folder = root / top / group
            limit = min((found for name in limits if (found := _number(folder / name))), default=UNLIMITED)
            if limit < UNLIMITED:  # else what is taken need not be known: the system adds it up when it is asked
                free = re.search(rf"^{cached} (\d+)", _read(folder / "memory.stat"), re.MULTILINE)
                yield max(0, limit - _number(folder / used) + (int(free[1]) if free else 0))


def _read(path: Path) -> str:
    """Return what a file says, as Python decodes names of files: those of mount points may be in any encoding."""
    try:
        return os.fsdecode(path.read_bytes())
    except OSError:
        return ""


def _number(path: Path) -> int:
    """Return the number in a file; 0 for no such file, or for "max"."""
    text = _read(path).strip()
    return int(text) if text.isdigit() else 0


def is_memory(folder: Path, root: Path = ROOT) -> bool:
    """Say whether the files in a folder take memory and not disk, as those of /tmp do on some systems."""
    mounts: dict[Path, str] = {}
    for line in _read(root / "proc/self/mounts").splitlines():
        _, where, kind, *_ = line.split(" ")
        mounts[Path(re.sub(r"\\([0-7]{3})", lambda octal: chr(int(octal[1], 8)), where))] = kind  # the last one counts
    folder = folder.resolve()
    return next((mounts[place] in IN_MEMORY for place in (folder, *folder.parents) if place in mounts), False)


def peak_memory() -> int:
    """Return the most bytes of memory that this process has taken so far; 0 where the system does not tell."""
    try:
        import resource
    except ImportError:  # Windows
        return 0
    peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    return peak if sys.platform == "darwin" else 1024 * peak
