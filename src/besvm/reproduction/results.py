"""Finished cells on disk: one small file each, so that nothing finished is ever lost."""

from __future__ import annotations

import csv
import hashlib
import io
import json
from collections.abc import Callable
from pathlib import Path
from typing import Any, NamedTuple

from besvm._support.files import write_text
from besvm.reproduction.cells import Cell
from besvm.reproduction.keys import key_of
from besvm.reproduction.tables import Row, Table, columns_of

TRUSTED = 60.0  # seconds that count as if they had kept to the plan, so that the first small cells do not decide


class Spent(NamedTuple):
    """What cells took."""

    planned: float = 0.0  # seconds
    taken: float = 0.0
    peak: int = 0  # the most bytes that the process had taken by then

    def plus(self, other: Spent) -> Spent:
        """Return what both took."""
        return Spent(self.planned + other.planned, self.taken + other.taken, max(self.peak, other.peak))

    @property
    def pace(self) -> float:
        """How many times longer than planned the cells took; near 1 as long as little has been run."""
        return (self.taken + TRUSTED) / (self.planned + TRUSTED)


class Results:
    """The finished cells of one reproduction, each in a file of its own with what it took.

    Parameters
    ----------
    folder : Path
    key_of : callable
        What a cell depends on, as a text. A cell is found again only under the same one.
    """

    def __init__(self, folder: Path, key_of: Callable[[Cell], str] = key_of) -> None:
        self.folder = folder
        self.key_of = key_of

    def _path(self, experiment: str, cell: Cell) -> Path:
        name = hashlib.sha256(self.key_of(cell).encode()).hexdigest()[:24]
        return self.folder / "cells" / experiment / f"{name}.json"

    def get(self, experiment: str, cell: Cell) -> tuple[Row, Spent] | None:
        """Return a finished cell as a row of its table, and what it took; None if it is not finished."""
        path = self._path(experiment, cell)
        try:
            kept = json.loads(path.read_text())
            row, (planned, taken, peak) = kept["row"], kept["took"]
            spent = Spent(float(planned), float(taken), int(peak))
        except (OSError, ValueError, TypeError, KeyError):
            return None
        return (row, spent) if isinstance(row, dict) and cell.key.items() <= row.items() else None

    def keep(self, experiment: str, cell: Cell, row: Row, spent: Spent) -> None:
        """Keep a finished cell."""
        write_text(self._path(experiment, cell), json.dumps({"row": row, "took": spent}) + "\n")


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
    writer = csv.DictWriter(out, columns_of(table), extrasaction="ignore", lineterminator="\n")
    writer.writeheader()
    writer.writerows(table)
    return out.getvalue()
