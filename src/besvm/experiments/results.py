"""Finished cells on disk: one small file each, so that nothing finished is ever lost."""

from __future__ import annotations

import csv
import hashlib
import io
import json
import os
from pathlib import Path
from typing import Any, NamedTuple

from besvm.experiments.base import Cell, Row, Table


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


class Spent(NamedTuple):
    """What the finished cells of an experiment took."""

    planned: float = 0.0  # seconds
    taken: float = 0.0
    peak: int = 0  # bytes that the process has taken at most, by then


class Results:
    """The finished cells of one reproduction.

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

    def get(self, experiment: str, cell: Cell) -> Row | None:
        """Return a finished cell as a row of its table; None if it is not finished."""
        try:
            kept = json.loads(self._path(experiment, cell.key).read_text())
        except (OSError, ValueError):
            return None
        return kept if isinstance(kept, dict) and cell.key.items() <= kept.items() else None

    def keep(self, experiment: str, cell: Cell, row: Row) -> None:
        """Keep a finished cell."""
        write_text(self._path(experiment, cell.key), json.dumps(row) + "\n")

    # --- what cells took, against what was planned ---------------------------------------------------------------

    @property
    def _spent_path(self) -> Path:
        return self.folder / "cells" / f"spent-{self.context}.json"

    def spent(self) -> dict[str, Spent]:
        """Return what the finished cells of every experiment took."""
        try:
            kept = json.loads(self._spent_path.read_text())
            return {name: Spent(float(entry[0]), float(entry[1]), int(entry[2])) for name, entry in kept.items()}
        except (OSError, ValueError, TypeError, AttributeError, IndexError):
            return {}

    def pace(self, experiment: str) -> float:
        """Return how many times longer than planned the cells of an experiment took so far."""
        spent = self.spent().get(experiment, Spent())
        return spent.taken / spent.planned if spent.planned > 0 and spent.taken > 0 else 1.0

    def took(self, experiment: str, planned: float, taken: float, peak: int = 0) -> None:
        """Remember how long a cell took, and the memory."""
        spent = self.spent()
        before = spent.get(experiment, Spent())
        spent[experiment] = Spent(before.planned + planned, before.taken + taken, max(before.peak, peak))
        write_text(self._spent_path, json.dumps(spent) + "\n")


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
