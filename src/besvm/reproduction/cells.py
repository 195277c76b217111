"""What an experiment is made of: cells and what they cost, what is read from their tables, and claims about it."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass, field
from functools import partial
from math import isnan, nan
from pathlib import Path
from typing import Any

from besvm._support.figures import Figures
from besvm._support.threads import n_workers
from besvm.blocks.estimates import last_rank, newton_bytes, pair_bytes, pairs_bytes
from besvm.reproduction.config import Config
from besvm.reproduction.lab import TEST_FOLD, Basis, Lab, Row, Table

Cells = Iterator["Cell"]
Claims = Iterator["Claim"]


@dataclass(frozen=True)
class Cell:
    """One row of a table: what is varied, how to compute the rest, and roughly what that costs."""

    key: Row
    compute: partial[Row] = field(repr=False)  # a function with all that it depends on: see key_of
    seconds: float = 1.0  # on two cores, with the similarities still to be computed
    memory: int = 0  # bytes at the peak, beyond the images and their features
    thorough: bool = False  # only with --thorough: slow, and of little interest


@dataclass(frozen=True)
class Experiment:
    """A table or a figure of the paper: what its module in ``experiments`` says.

    ``figures`` and ``claims`` are called with the configuration, the experiment's own table and those of the
    experiments that it ``uses``; ``summary`` with its own table alone. A table may be partial: a claim is made only
    from all of the rows that it speaks of.
    """

    name: str
    title: str
    paper: str  # what the paper says, in our words
    cells: Callable[[Config, Lab, Costs], Iterable[Cell]] = lambda config, lab, costs: ()
    figures: Callable[..., Figures] = lambda config, *tables: iter(())
    claims: Callable[..., Iterable[Claim]] = lambda config, *tables: ()
    summary: Callable[[Table], Table] = lambda table: table  # what the page shows, where the table is too long
    uses: tuple[str, ...] = ()
    note: str = ""  # what was done differently from the paper, and why; {config.size} stands for that size
    captions: dict[str, str] = field(default_factory=dict)  # of the figures, by name

    def drawn(self, config: Config, table: Table, *used: Table) -> Figures:
        """Return the figures; none without rows of its own or, if it has no cells, of each experiment that it uses."""
        has_rows = all(used) if self.cells is Experiment.cells else table
        return self.figures(config, table, *used) if has_rows else iter(())


# --- what is read from a table ---------------------------------------------------------------------------------------


def where(table: Iterable[Row], **values: Any) -> Table:
    """Return the rows that have these values."""
    return [row for row in table if all(row.get(name) == value for name, value in values.items())]


def value(table: Iterable[Row], column: str, **values: Any) -> float:
    """Return the mean of a column over the rows that have these values; NaN if there are none.

    NaN stands for what was not measured, and so all that is computed from it is NaN too: see :func:`check`.
    """
    found = [row[column] for row in where(table, **values) if row.get(column) is not None]
    return float(sum(found) / len(found)) if found else nan


def distinct(table: Iterable[Row], column: str) -> list[Any]:
    """Return the different values of a column, in order of appearance."""
    return list(dict.fromkeys(row[column] for row in table if column in row))


def columns_of(table: Iterable[Row]) -> list[str]:
    """Return the columns that can be shown: those without lists in them."""
    return list(dict.fromkeys(name for row in table for name, entry in row.items() if not isinstance(entry, list)))


# --- claims ----------------------------------------------------------------------------------------------------------

HOLDS, FAILS, UNMEASURED, UNDEFINED = "holds", "does not hold", "not measured", "undefined"
PLURAL = {HOLDS: "hold", FAILS: "do not hold", UNMEASURED: UNMEASURED, UNDEFINED: UNDEFINED}
PAPER, OURS = "paper", "ours"


@dataclass(frozen=True)
class Claim:
    """A sentence that can be checked, when it is said to hold, what was measured, and the verdict."""

    sentence: str
    criterion: str  # goes on from "holds if"
    measured: str
    verdict: str
    origin: str = PAPER  # or OURS: an aim or a conclusion that the paper does not state


class Undefined(str):
    """Stands for a value that is undefined although everything was measured: the reason."""


def check(
    sentence: str,
    criterion: str,
    measured: str,
    holds: Callable[..., bool],
    values: Iterable[float | Undefined],
    origin: str = PAPER,
) -> Claim:
    """Return the claim with the values written into ``measured``; not measured, if one of them is NaN."""
    values = list(values)
    if any(isinstance(one, float) and isnan(one) for one in values):
        return Claim(sentence, criterion, "not measured in this run", UNMEASURED, origin)
    for one in values:
        if isinstance(one, Undefined):
            return Claim(sentence, criterion, one, UNDEFINED, origin)
    return Claim(sentence, criterion, measured.format(*values), HOLDS if holds(*values) else FAILS, origin)


def tally(claims: Iterable[Claim]) -> str:
    """Return how many claims got each verdict, in words."""
    verdicts = [claim.verdict for claim in claims]
    counts = {word: verdicts.count(word) for word in PLURAL if word in verdicts}
    parts = ", ".join(f"{n} {word if n == 1 else PLURAL[word]}" for word, n in counts.items())
    return f"{len(verdicts)} {'claim' if len(verdicts) == 1 else 'claims'}: {parts}."


# --- costs -----------------------------------------------------------------------------------------------------------

IMAGES = 60_000  # with which fixed costs were measured
TRAIN_SECONDS = 4e-8  # for every feature of every row
KERNEL_SECONDS = {8: 2.7e-8, 4: 6e-8}  # of a kernel SVM, for every pair of rows, by the size of the cells
# for every pair of images, on two cores
PAIR_SECONDS = {"H8L": 1e-8, "H8R": 2e-8, "H8(0,1)": 8e-8, "H8(1,0)": 8e-8, "H4L": 3e-8, "H4R": 4e-8}
PAIR_SECONDS |= {"H4(0,1)": 2.4e-7, "H4(1,0)": 1.6e-7, "H4(1,1)": 5.5e-7, "H4(2,0)": 2.4e-7, "H4(2,1)": 9e-7}


class Costs:
    """Estimates for the data of one reproduction, in seconds on two cores and in bytes; the plan adds them up."""

    def __init__(self, lab: Lab) -> None:
        self.lab = lab
        self._planned: set[Path] = set()
        self.planned_bytes = 0  # of similarities that have still to be computed

    def fixed(self, seconds: float) -> float:
        """Return the time of what takes ``seconds`` with all of CIFAR-10, for as many images as there are."""
        return seconds * len(self.lab.images) / IMAGES

    def fit(self, labels: Sequence[str], n_folds: int, basis: Basis) -> float:
        """Return the seconds of :meth:`Lab.fit`, with those of similarities that are neither kept nor planned yet."""
        width = sum(map(len, basis)) * len(labels)
        training = self.fixed(0.2) + self.train(len(self.lab.train_rows(n_folds)), width)
        return training + self.similarities(labels, n_folds, basis)

    def similarities(self, labels: Sequence[str], n_folds: int, basis: Basis, norm: str | None = "mean-norm") -> float:
        """Return the seconds of :meth:`Lab.expansion`; similarities that are kept or planned already cost nothing."""
        lab, total = self.lab, 0.0
        for label in labels:
            for fold in (*range(n_folds), TEST_FOLD):
                rows = lab.rows_of(fold)
                for exemplars in basis:
                    path = lab.cache.path(lab.recipe(label, rows, exemplars, norm))
                    if path not in self._planned and not path.exists():
                        self._planned.add(path)
                        self.planned_bytes += 4 * len(rows) * len(exemplars)
                        total += self.pairs(label, len(rows), len(exemplars))
        return total

    @staticmethod
    def pairs(label: str, rows: int, exemplars: int) -> float:
        """Return the seconds of a matrix of similarities."""
        return PAIR_SECONDS.get(label, 5e-7) * rows * exemplars

    def fit_memory(self, n_measures: int, n_folds: int, width: int, n_columns: int | None = None) -> int:
        """Return the bytes of :meth:`Lab.fit` at its peak."""
        n, D = len(self.lab.train_rows(n_folds)), width * n_measures
        columns = n_columns or self.lab.n_classes
        training = newton_bytes(n, D, columns, 4, "memory", n_workers(), last_rank(D + 1))
        return 4 * (n + len(self.lab.test_rows)) * D + training

    @staticmethod
    def train(rows: int, width: int) -> float:
        """Return the seconds of a linear SVM."""
        return TRAIN_SECONDS * rows * width

    @staticmethod
    def kernel(rows: int, cell: int = 8) -> float:
        """Return the seconds of a kernel SVM."""
        return KERNEL_SECONDS[cell] * rows**2

    def kernel_memory(self, rows: int) -> int:
        """Return the bytes of a kernel SVM: two pairs of classes at a time, and the blocks that pairs share."""
        sizes = [rows // self.lab.n_classes] * self.lab.n_classes
        return pairs_bytes(sizes, 4, pair_bytes(2 * sizes[0], None, trusted=True), jobs=2, keep=True)
