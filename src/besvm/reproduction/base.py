"""What an experiment is made of: cells that make up a tidy table, and what is drawn and concluded from it."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from matplotlib.figure import Figure

    from besvm.reproduction.config import Config
    from besvm.reproduction.lab import Lab

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


HOLDS, FAILS, UNMEASURED, UNDEFINED = "holds", "does not hold", "not measured", "undefined"
VERDICTS = (HOLDS, FAILS, UNMEASURED, UNDEFINED)
PAPER, OURS = "paper", "ours"


@dataclass(frozen=True)
class Claim:
    """A sentence that can be checked, when it is said to hold, what was measured, and the verdict."""

    sentence: str
    criterion: str  # goes on from "holds if"
    measured: str
    verdict: str
    origin: str = PAPER  # or OURS: an aim or a conclusion that the paper does not state

    @property
    def holds(self) -> bool | None:
        """True or False; None where that cannot be said."""
        return {HOLDS: True, FAILS: False}.get(self.verdict)


@dataclass(frozen=True)
class Undefined:
    """In the place of a value that does not exist although everything was measured."""

    reason: str


@dataclass(frozen=True)
class Experiment:
    """A table or a figure of the paper.

    ``figures`` and ``claims`` are called with the configuration, the experiment's own table and those of the
    experiments that it ``uses``; ``summary`` with its own table alone. A table may be partial: a claim is made only
    from all of the rows that it speaks of.
    """

    name: str
    title: str
    paper: str  # what the paper says, in our words
    cells: Callable[[Lab], list[Cell]]
    figures: Callable[..., dict[str, Figure]] = lambda config, *tables: {}
    claims: Callable[..., list[Claim]] = lambda config, *tables: []
    summary: Callable[[Table], Table] | None = None  # what the page shows, where the table is too long
    uses: tuple[str, ...] = ()
    note: Callable[[Config], str] = lambda config: ""  # what was done differently from the paper, and why
    captions: dict[str, str] = field(default_factory=dict)  # of the figures, by name


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


def check(
    sentence: str,
    criterion: str,
    measured: str,
    holds: Callable[..., bool],
    *values: float | Undefined | None,
    origin: str = PAPER,
) -> Claim:
    """Return the claim with the values written into ``measured``; not measured, if one of them is missing.

    Examples
    --------
    >>> words = "Rigid helps more than local.", "rigid > local", "{:.1%} and {:.1%}"
    >>> check(*words, lambda rigid, local: rigid > local, 0.62, 0.6).measured
    '62.0% and 60.0%'
    >>> check(*words, lambda rigid, local: rigid > local, 0.62, None).verdict
    'not measured'
    """
    if any(one is None for one in values):
        return Claim(sentence, criterion, "not measured in this run", UNMEASURED, origin)
    for one in values:
        if isinstance(one, Undefined):
            return Claim(sentence, criterion, one.reason, UNDEFINED, origin)
    return Claim(sentence, criterion, measured.format(*values), HOLDS if holds(*values) else FAILS, origin)


def known(values: Iterable[float | None]) -> list[float] | None:
    """Return the values; None if one is missing, or there are none.

    Examples
    --------
    >>> known([0.5, 0.7]), known([0.5, None]), known([])
    ([0.5, 0.7], None, None)
    """
    several = list(values)
    found = [one for one in several if one is not None]
    return found if found and len(found) == len(several) else None


def of_all(reduce: Callable[[list[float]], float], values: Iterable[float | None]) -> float | None:
    """Return the least, greatest, mean ... of the values; None if one is missing.

    Examples
    --------
    >>> of_all(max, [0.5, 0.7]), of_all(max, [0.5, None])
    (0.7, None)
    """
    found = known(values)
    return None if found is None else float(reduce(found))


def minus(a: float | None, b: float | None) -> float | None:
    """Return a - b; None if one is missing."""
    return None if a is None or b is None else a - b
