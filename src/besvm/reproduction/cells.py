"""What an experiment is made of: cells that make up a tidy table, and what is drawn and concluded from it."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field
from functools import partial
from typing import TYPE_CHECKING

from besvm.reproduction.claims import Claim
from besvm.reproduction.config import Config
from besvm.reproduction.costs import Costs
from besvm.reproduction.lab import Lab
from besvm.reproduction.tables import Row, Table

if TYPE_CHECKING:  # matplotlib is optional
    from matplotlib.figure import Figure


@dataclass(frozen=True)
class Cell:
    """One row of a table: what is varied, how to compute the rest, and roughly what that costs.

    Examples
    --------
    >>> cell = Cell({"measure": "H8R", "B": 100}, partial(dict, accuracy=0.61), seconds=2)
    >>> cell.key | cell.compute()
    {'measure': 'H8R', 'B': 100, 'accuracy': 0.61}
    """

    key: Row
    compute: partial[Row] = field(repr=False)  # a function with all that it depends on: see keys.py
    seconds: float = 1.0  # on two cores, with the similarities still to be computed
    memory: int = 0  # bytes at the peak, beyond the images and their features
    thorough: bool = False  # only with --thorough: slow, and of little interest


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
    cells: Callable[[Config, Lab, Costs], list[Cell]]
    figures: Callable[..., dict[str, Figure]] = lambda config, *tables: {}
    claims: Callable[..., list[Claim]] = lambda config, *tables: []
    summary: Callable[[Table], Table] | None = None  # what the page shows, where the table is too long
    uses: tuple[str, ...] = ()
    note: Callable[[Config], str] = lambda config: ""  # what was done differently from the paper, and why
    captions: dict[str, str] = field(default_factory=dict)  # of the figures, by name
