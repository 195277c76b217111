"""The one memory plan: where the features live, what the solver may take, and what is refused."""

import os
import shutil
import tempfile
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from besvm._support.memory import available_memory, is_memory
from besvm._support.parameters import check_choice
from besvm._support.threads import n_workers
from besvm._support.units import parse_bytes, show_bytes
from besvm.blocks.estimates import (
    HESSIAN_BYTES,
    SPARING,
    computing_bytes,
    converting_bytes,
    first_rank,
    l1_bytes,
    last_rank,
    newton_bytes,
    pair_bytes,
    pairs_bytes,
    row_bytes,
)

STORAGES = ("auto", "memory", "disk", "recompute")
AUTO_SHARE = 0.7  # of the memory that is free now: others live on this machine too
DISK_SHARE = 0.9  # of a disk that is free now
OTHER_DISKS = ("/var/tmp",)  # where else temporary files may go, if the usual place is none

Limit = int | float | str | None  # bytes, or text like "4 GB"; None: a share of what is free


def limit_bytes(memory_limit: Limit) -> int:
    """Return the limit in bytes: by default a share of what is free."""
    return int(AUTO_SHARE * available_memory()) if memory_limit is None else parse_bytes(memory_limit)


def check_fits(what: str, need: int, memory_limit: Limit, instead: str = "fewer rows") -> None:
    """Refuse what would take more memory than the limit."""
    limit = limit_bytes(memory_limit)
    if need > limit:
        raise MemoryError(
            f"{what} would need {show_bytes(need)}, but the memory limit is {show_bytes(limit)}; "
            f"raise memory_limit or use {instead}"
        )


@dataclass(frozen=True)
class Plan:
    """Where the features go, what training may take, and why."""

    storage: str  # "memory", "disk", "recompute" or "cluster"
    solver_options: dict[str, Any]  # what the solver must be told to keep to the plan
    n_jobs: int | None  # threads, where the blocks of all of them would break the limit; None: all
    folder: Path | None  # where files go, if the features live on disk
    features: int  # bytes
    work: int  # bytes that training takes beside the features
    limit: int  # bytes that may be taken in all
    note: str = ""  # what the user should know about the temporary folder
    rows_folder: Path | None = None  # where what the solver keeps of the rows goes, if memory has no room for it

    def __str__(self) -> str:
        need = f"the features take {show_bytes(self.features)} and training {show_bytes(self.work)} more"
        where = {"memory": "in memory", "disk": "on disk", "recompute": "computed anew on every pass"}.get(
            self.storage, "on the workers of the cluster"
        )
        fewer = "" if self.n_jobs is None else f", by only {self.n_jobs} threads"
        rows = "" if self.rows_folder is None else ", what the solver keeps of the rows on disk too"
        return f"features {where}: {need}{fewer}{rows}; the limit is {show_bytes(self.limit)}{self.note}"


def plan_training(
    n: int,
    width: int,
    itemsize: int,
    n_columns: int,
    *,
    penalty: str = "l2",
    beside: int = 0,
    row: int = 0,
    features: int | None = None,
    storage: str = "auto",
    folder: Path | None = None,
    memory_limit: Limit = None,
    stored: int | None = None,
    row_files: bool = False,
) -> Plan:
    """Choose a store that keeps the peak under the limit; say what is missing where none does.

    ``n`` rows of ``width`` features, of ``itemsize`` bytes each, are trained in ``n_columns`` columns at once.
    ``beside`` are bytes that something else takes meanwhile, ``row`` those that computing the features of one row
    takes, ``features`` those of all features, where they are more than are trained on at a time; ``folder`` is where
    the user wants files to go; ``stored`` the bytes of a number as it is stored, if they are fewer; ``row_files``
    whether what the solver keeps of the rows may go into files.
    With a limit, the solver is told to save memory, at the cost of passes.
    """
    check_choice("storage", storage, STORAGES)
    features = (stored or itemsize) * n * width if features is None else features
    limit = limit_bytes(memory_limit)
    sparing = memory_limit is not None
    estimate = l1_bytes if penalty == "l1" else newton_bytes
    if penalty == "l1":
        options: dict[str, Any] = {"hessian_bytes": HESSIAN_BYTES // (SPARING if sparing else 1)}
    else:
        options = {"max_rank": first_rank(n, width + 1, n_columns) if sparing else last_rank(width + 1)}

    def work(storage: str, n_jobs: int, **rows: Any) -> int:
        training = estimate(n, width, n_columns, itemsize, storage, n_jobs, **options, **rows)
        converted = converting_bytes(n, width, itemsize, stored, n_jobs) if stored else 0
        return beside + computing_bytes(n, width, itemsize, row) + training + converted

    n_jobs, note = n_workers(), ""
    if storage == "auto" and features + work("memory", n_jobs) <= limit:
        storage = "memory"
    if storage in ("auto", "disk"):
        if folder is None:
            folder, note = _disk_with_room(features)
        storage = "recompute" if storage == "auto" and folder is None else "disk"
    held = features if storage == "memory" or (storage == "disk" and is_memory(folder or _usual_folder())) else 0
    rows_folder: Path | None = None
    rows: dict[str, Any] = {}
    if row_files and penalty == "l2" and storage in ("disk", "recompute") and held + work(storage, 1) > limit:
        on_disk = features if storage == "disk" else 0
        rows_folder, _ = _disk_with_room(on_disk + n * row_bytes(n_columns, itemsize))
        rows = {} if rows_folder is None else {"rows_in_files": True}
    while n_jobs > 1 and held + work(storage, n_jobs, **rows) > limit:
        n_jobs = (n_jobs + 1) // 2
    need = held + work(storage, n_jobs, **rows)
    if need > limit and (held or memory_limit is not None):
        raise MemoryError(
            f"training must stay within {show_bytes(limit)}, but with storage={storage!r} it needs "
            f"{show_bytes(need)}; "
            + ("use storage='auto', " if storage == "memory" else "")
            + f"raise memory_limit, or use a smaller basis{note}"
        )
    fewer = n_jobs if n_jobs < n_workers() else None
    return Plan(storage, options, fewer, folder, features, need - held, limit, note, rows_folder)


def _usual_folder() -> Path:
    return Path(tempfile.gettempdir())


def _disk_with_room(n_bytes: int) -> tuple[Path | None, str]:
    """Return a temporary folder on a disk with so many bytes free (None: there is none), and what to say about it.

    A folder in memory is no disk: what is written there would break the limit that it is to keep.
    """
    usual = _usual_folder()
    for folder in (usual, *map(Path, OTHER_DISKS)):
        usable = os.access(folder, os.W_OK) and not is_memory(folder)
        if usable and n_bytes < DISK_SHARE * shutil.disk_usage(folder).free:
            return folder, f"; {usual} is memory, so files go to {folder}" if is_memory(usual) else ""
    return None, f"; {usual} is memory and no disk: set TMPDIR to a folder on a disk" if is_memory(usual) else ""


@dataclass(frozen=True)
class PairPlan:
    """How many pairs are trained at once, and whether the blocks within the classes are kept for the next pair."""

    jobs: int
    keep: bool
    rows: int  # of the largest pair
    need: int  # bytes
    limit: int

    def __str__(self) -> str:
        return (
            f"the largest pair's matrix takes {show_bytes(8 * self.rows**2)} ({self.rows:,} rows), training "
            f"{show_bytes(self.need)} in all, {self.jobs} at a time; the limit is {show_bytes(self.limit)}"
        )


def plan_pairs(
    sizes: Sequence[int], itemsize: int, spectrum: str | None, trusted: bool, limit: int, held: int = 0
) -> PairPlan:
    """Choose the quickest way to train all pairs of classes of these sizes within the limit, or refuse.

    ``held`` bytes are taken already, or will be whatever the plan.
    """
    rows = sum(sorted(sizes)[-2:])
    solve = pair_bytes(rows, spectrum, trusted)
    most = min(n_workers(), len(sizes) * (len(sizes) - 1) // 2)
    ways = [*((jobs, True) for jobs in range(most, 0, -1)), (1, False)]
    needs = [held + pairs_bytes(sizes, itemsize, solve, *way) for way in ways]
    for (jobs, keep), need in zip(ways, needs, strict=True):
        if need <= limit:
            return PairPlan(jobs, keep, rows, need, limit)
    raise MemoryError(
        f"training must stay within {show_bytes(limit)}, but the largest pair of classes, {rows:,} rows, needs "
        f"{show_bytes(min(needs))} (its matrix alone {show_bytes(8 * rows**2)}); "
        "raise memory_limit, use fewer rows, or BESVMClassifier, which needs no such matrix"
    )
