"""Finished cells on disk: one small file each, so that nothing finished is ever lost."""

from __future__ import annotations

import csv
import hashlib
import io
import json
import os
from pathlib import Path
from typing import Any, NamedTuple

from besvm.reproduction.base import Cell, Row, Table


def write_text(path: Path, text: str) -> None:
    """Write a file whole or not at all.

    Examples
    --------
    >>> import tempfile
    >>> path = Path(tempfile.mkdtemp()) / "a.txt"
    >>> write_text(path, "whole")
    >>> path.read_text()
    'whole'
    """
    write_bytes(path, text.encode())


def write_bytes(path: Path, data: bytes) -> None:
    """Write a file whole or not at all."""
    path.parent.mkdir(parents=True, exist_ok=True)
    part = path.with_name(f".{path.name}.{os.getpid()}.part")
    try:
        part.write_bytes(data)
        os.replace(part, path)
    except OSError as error:  # a full disk does not say where
        raise OSError(f"{path} cannot be written: {error.strerror or error}") from error
    finally:
        part.unlink(missing_ok=True)


def sweep(folder: Path) -> None:
    """Remove the half-written files of processes that were killed; those of running ones are left alone."""
    for leftover in folder.rglob("*.part"):
        if not _is_running(leftover.name.split(".")[-2]):
            leftover.unlink(missing_ok=True)


def _is_running(pid: str) -> bool:
    try:
        os.kill(int(pid), 0)
    except (ValueError, OverflowError, ProcessLookupError):
        return False
    except PermissionError:
        return True
    return True


DOUBT = 60.0  # seconds that are taken to keep to the plan, so that the first small cells do not decide


class Spent(NamedTuple):
    """What cells took."""

    planned: float = 0.0  # seconds
    taken: float = 0.0
    peak: int = 0  # bytes that the process had taken at most, by then

    def plus(self, other: Spent) -> Spent:
        """Return what both took."""
        return Spent(self.planned + other.planned, self.taken + other.taken, max(self.peak, other.peak))

    @property
    def pace(self) -> float:
        """How many times longer than planned the cells took; near 1 as long as they are small ones."""
        return (self.taken + DOUBT) / (self.planned + DOUBT)


class Results:
    """The finished cells of one reproduction, each in a file of its own with what it took.

    Parameters
    ----------
    folder : Path
    context : str
        What all cells depend on: the data and the sizes. Cells of another context are not found.
    """

    def __init__(self, folder: Path, context: str) -> None:
        self.folder = folder
        self.context = context

    def _path(self, experiment: str, key: Row) -> Path:
        text = json.dumps([self.context, experiment, key], sort_keys=True)
        return self.folder / "cells" / experiment / f"{hashlib.sha256(text.encode()).hexdigest()[:24]}.json"

    def get(self, experiment: str, cell: Cell) -> tuple[Row, Spent] | None:
        """Return a finished cell as a row of its table, and what it took; None if it is not finished."""
        try:
            kept = json.loads(self._path(experiment, cell.key).read_text())
            row, (planned, taken, peak) = kept["row"], kept["took"]
            spent = Spent(float(planned), float(taken), int(peak))
        except (OSError, ValueError, TypeError, KeyError):
            return None
        return (row, spent) if isinstance(row, dict) and cell.key.items() <= row.items() else None

    def keep(self, experiment: str, cell: Cell, row: Row, spent: Spent) -> None:
        """Keep a finished cell."""
        write_text(self._path(experiment, cell.key), json.dumps({"row": row, "took": spent}) + "\n")


def write_table(folder: Path, experiment: str, table: Table, about: dict[str, Any]) -> None:
    """Write a table as CSV and as JSON."""
    write_text(folder / "tables" / f"{experiment}.csv", as_csv(table))
    write_text(folder / "tables" / f"{experiment}.json", json.dumps({**about, "rows": table}) + "\n")


def as_csv(table: Table) -> str:
    """Return a table as comma-separated values, without what is itself a list.

    Examples
    --------
    >>> print(as_csv([{"a": 1, "b": 2}, {"a": 3}]), end="")
    a,b
    1,2
    3,
    """
    out = io.StringIO()
    columns = list(dict.fromkeys(name for row in table for name, entry in row.items() if not isinstance(entry, list)))
    writer = csv.DictWriter(out, columns, extrasaction="ignore", lineterminator="\n")
    writer.writeheader()
    writer.writerows(table)
    return out.getvalue()
