"""What an experiment is made of: cells that make up a tidy table, and what is drawn and concluded from it."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from matplotlib.figure import Figure

    from besvm.experiments.lab import Lab

Row = dict[str, Any]
Table = list[Row]


@dataclass(frozen=True)
class Cell:
    """One entry of a table: what is varied, how to compute the rest, and about what that takes.

    Examples
    --------
    >>> cell = Cell({"measure": "H8R", "B": 100}, lambda: {"accuracy": 0.61}, seconds=2)
    >>> cell.key | cell.compute()
    {'measure': 'H8R', 'B': 100, 'accuracy': 0.61}
    """

    key: Row
    compute: Callable[[], Row] = field(repr=False)
    seconds: float = 1.0  # on two cores, with the similarities still to be computed
    memory: int = 0  # bytes at the peak, beyond the images and their features
    thorough: bool = False  # only with --thorough: slow for its own sake


@dataclass(frozen=True)
class Claim:
    """A sentence of the paper that can be checked, what was measured, and whether it holds."""

    sentence: str
    measured: str
    holds: bool | None  # None: not measured in this run


@dataclass(frozen=True)
class Experiment:
    """A table or a figure of the paper.

    ``figures``, ``claims`` and ``summary`` are called with the experiment's own table and those of the experiments that
    it ``uses``.
    """

    name: str
    title: str
    paper: str  # what the paper says, in our words
    cells: Callable[[Lab], list[Cell]]
    figures: Callable[..., dict[str, Figure]] = lambda *tables: {}
    claims: Callable[..., list[Claim]] = lambda *tables: []
    summary: Callable[..., Table] | None = None  # what the page shows, where the whole table is too long
    uses: tuple[str, ...] = ()
    note: str = ""  # what was done differently from the paper, and why


def where(table: Iterable[Row], **values: Any) -> Table:
    """Return the rows that have these values.

    Examples
    --------
    >>> where([{"a": 1, "b": 2}, {"a": 2, "b": 3}], a=2)
    [{'a': 2, 'b': 3}]
    """
    return [row for row in table if all(row.get(name) == value for name, value in values.items())]


def value(table: Iterable[Row], column: str, **values: Any) -> float | None:
    """Return the mean of a column over the rows that have these values; None if there are none.

    Examples
    --------
    >>> value([{"a": 1, "b": 2.0}, {"a": 1, "b": 3.0}], "b", a=1)
    2.5
    """
    found = [row[column] for row in where(table, **values) if row.get(column) is not None]
    return sum(found) / len(found) if found else None


def distinct(table: Iterable[Row], column: str) -> list[Any]:
    """Return the different values of a column, in order of appearance.

    Examples
    --------
    >>> distinct([{"a": 2}, {"a": 1}, {"a": 2}], "a")
    [2, 1]
    """
    return list(dict.fromkeys(row[column] for row in table if column in row))


def check(sentence: str, measured: str, holds: Callable[..., bool], *values: float | None) -> Claim:
    """Return the claim with the values written into ``measured``; not measured, if one of them is missing.

    Examples
    --------
    >>> check("Rigid helps more than local.", "{:.1%} and {:.1%}", lambda rigid, local: rigid > local, 0.62, 0.6)
    Claim(sentence='Rigid helps more than local.', measured='62.0% and 60.0%', holds=True)
    >>> check("Rigid helps more than local.", "{:.1%} and {:.1%}", lambda rigid, local: rigid > local, 0.62, None).holds
    """
    if any(one is None for one in values):
        return Claim(sentence, "not measured in this run", None)
    return Claim(sentence, measured.format(*values), bool(holds(*values)))


def best(values: Iterable[float | None]) -> float | None:
    """Return the largest value; None if one is missing.

    Examples
    --------
    >>> best([0.5, 0.7]), best([0.5, None])
    (0.7, None)
    """
    known = list(values)
    return None if None in known or not known else max(one for one in known if one is not None)
