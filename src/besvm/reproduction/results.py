"""Finished cells on disk: one small file each, so that nothing finished is ever lost."""

from __future__ import annotations

import csv
import hashlib
import io
import json
from pathlib import Path
from typing import Any, NamedTuple

from besvm._support.files import write_text
from besvm.reproduction.base import Cell, Row, Table


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
