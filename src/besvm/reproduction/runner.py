"""Plan the experiments, run what is not finished, keep every finished cell on disk, and show how it goes."""

from __future__ import annotations

import json
import warnings
from collections import Counter
from collections.abc import Callable
from dataclasses import dataclass, field
from functools import cache, reduce
from pathlib import Path
from time import monotonic
from typing import Any, NamedTuple

import numpy as np
from rich.console import Console
from rich.progress import BarColumn, Progress, TextColumn, TimeElapsedColumn
from rich.table import Table as RichTable
from sklearn.base import BaseEstimator
from sklearn.exceptions import ConvergenceWarning

from besvm._support.files import read_sealed, write_sealed
from besvm._support.memory import peak_memory
from besvm._support.source_code import short_hash
from besvm._support.units import show_bytes, show_seconds
from besvm.reproduction.cells import Cell, Costs, Experiment
from besvm.reproduction.config import Config
from besvm.reproduction.lab import Lab, Row, Table, digest
from besvm.reproduction.sources import SOURCES

TRUSTED = 60.0  # seconds that count as if they had kept to the plan, so that the first small cells do not decide

Reason = tuple[Cell, str]  # why a cell was not run, or failed

code_of = cache(SOURCES.hash_of)


def key_of(cell: Cell) -> str:
    """Return a text that is the same as long as the cell gives the same numbers: its key, its code and its arguments.

    A function of a cell sees nothing but its arguments (a lab has no configuration), so they are all that it depends
    on beside its code: a lab counts by its data, an array by its contents, an estimator by its parameters.
    """
    compute = cell.compute
    depends_on = [code_of(compute.func), compute.func.__qualname__, compute.args, compute.keywords]
    return json.dumps([cell.key, depends_on], sort_keys=True, default=_plain)


def _plain(value: Any) -> Any:
    if isinstance(value, Lab):
        return value.fingerprint
    if isinstance(value, np.ndarray):
        return digest(value)
    if isinstance(value, BaseEstimator):
        return [type(value).__name__, value.get_params()]
    raise TypeError(f"an argument of a cell must be plain data, an array, an estimator or the lab, got {value!r}")


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
    """The finished cells of one reproduction, each in a file of its own with what it took, so that none is ever lost.

    ``key_of`` gives what a cell depends on, as a text. A cell is found again only under the same one.
    """

    def __init__(self, folder: Path, key_of: Callable[[Cell], str] = key_of) -> None:
        self.folder, self.key_of = folder, key_of

    def _path(self, experiment: str, cell: Cell) -> Path:
        return self.folder / "cells" / experiment / f"{short_hash(self.key_of(cell))}.json"

    def get(self, experiment: str, cell: Cell) -> tuple[Row, Spent] | None:
        """Return a finished cell as a row of its table, and what it took; None if it is not finished."""
        kept = read_sealed(self._path(experiment, cell))
        return None if kept is None else (kept["row"], Spent(*kept["took"]))

    def keep(self, experiment: str, cell: Cell, row: Row, spent: Spent) -> None:
        """Keep a finished cell."""
        write_sealed(self._path(experiment, cell), {"row": row, "took": spent})


@dataclass
class Planned:
    """An experiment with its cells: those to run, those already finished, and those that failed."""

    experiment: Experiment
    cells: list[Cell] = field(default_factory=list)
    rows: dict[int, Row] = field(default_factory=dict)  # finished, by the number of the cell
    skipped: list[Reason] = field(default_factory=list)  # with the reason
    failed: list[Reason] = field(default_factory=list)
    spent: Spent = field(default_factory=Spent)  # by the finished cells

    def finish(self, k: int, row: Row, spent: Spent) -> None:
        """Record a finished cell."""
        self.rows[k] = row
        self.spent = self.spent.plus(spent)

    @property
    def waiting(self) -> list[tuple[int, Cell]]:
        """The cells that have still to be run."""
        tried = [cell.key for cell, _ in self.failed]
        return [(k, cell) for k, cell in enumerate(self.cells) if k not in self.rows and cell.key not in tried]

    @property
    def seconds(self) -> float:
        """About how long they will take, at the pace of those that are finished."""
        return self.spent.pace * sum(cell.seconds for _, cell in self.waiting)

    @property
    def table(self) -> Table:
        """The finished rows, in order."""
        return [self.rows[k] for k in sorted(self.rows)]


def make_plan(experiments: list[Experiment], config: Config, lab: Lab, costs: Costs, results: Results) -> list[Planned]:
    """Return what there is to do, leaving out what would not fit in memory and what is only for --thorough.

    A finished cell is never left out.
    """
    plan = []
    for experiment in experiments:
        planned = Planned(experiment)
        for cell in experiment.cells(config, lab, costs):
            found = results.get(experiment.name, cell)
            reason = None if found is not None else _why_not(cell, config, lab)
            if reason is not None:
                planned.skipped.append((cell, reason))
                continue
            if found is not None:
                planned.finish(len(planned.cells), *found)
            planned.cells.append(cell)
        plan.append(planned)
    return plan


def _why_not(cell: Cell, config: Config, lab: Lab) -> str | None:
    """Return why a cell is not run, if it is not."""
    if cell.thorough and not config.thorough:
        return "only with --thorough"
    need = cell.memory + lab.base_memory
    if lab.memory_limit is not None and need > lab.memory_limit:
        return f"needs {show_bytes(need)}, the limit is {show_bytes(lab.memory_limit)}"
    return None


def show_plan(console: Console, plan: list[Planned], lab: Lab, costs: Costs) -> None:
    """Print the plan."""
    table = RichTable("experiment", "what", box=None, pad_edge=False)
    for heading in ("cells", "finished", "about", "memory"):
        table.add_column(heading, justify="right")
    for planned in plan:
        peak = max((cell.memory for _, cell in planned.waiting), default=0)
        table.add_row(
            planned.experiment.name,
            planned.experiment.title,
            str(len(planned.cells)),
            str(len(planned.rows)),
            show_seconds(planned.seconds) if planned.waiting else "done",
            show_bytes(peak + lab.base_memory) if peak else "",
        )
    console.print(table)
    console.print(f"\n{len(lab.images):,} images; about {show_seconds(seconds_left(plan))} on two cores")
    memory = "" if lab.memory_limit is None else f"memory: at most {show_bytes(lab.memory_limit)}; "
    planned_bytes = costs.planned_bytes if any(planned.waiting for planned in plan) else 0
    now, more, most = map(show_bytes, (lab.cache.n_bytes, planned_bytes, lab.cache.limit))
    console.print(f"{memory}disk: {now} of similarities now, about {more} more, at most {most}")
    for planned in plan:
        for text in counted(planned.skipped):
            console.print(f"left out of {planned.experiment.name}: {text}")


def counted(left_out: list[Reason]) -> list[str]:
    """Return how many cells were left out for each reason."""
    counts = Counter(reason for _, reason in left_out)
    return [f"{count} {'cell' if count == 1 else 'cells'}, {reason}" for reason, count in counts.items()]


def run(plan: list[Planned], results: Results, console: Console) -> None:
    """Run the waiting cells one after the other; each is kept as soon as it is finished.

    A cell that cannot be computed is reported and left out, and the others go on. A terminal shows a bar as well.
    """
    columns = TextColumn("{task.description}"), BarColumn(), TimeElapsedColumn(), TextColumn("{task.fields[left]}")
    started, plain = monotonic(), not console.is_terminal
    with Progress(*columns, console=console, transient=True, disable=plain) as bar:
        task = bar.add_task("", total=None, left="")
        for planned in plan:
            name = planned.experiment.name
            for k, cell in planned.waiting:
                what, start = f"{name}: {describe(cell.key)}", monotonic()
                elapsed, left = start - started, seconds_left(plan)
                bar.update(task, description=what, completed=elapsed, total=elapsed + left, left=_left(left))
                found = results.get(name, cell)  # another process may have finished it in the meantime
                if found is None:
                    try:
                        with warnings.catch_warnings():
                            warnings.simplefilter("ignore", ConvergenceWarning)  # the tables say what converged
                            row = cell.key | cell.compute()
                    except (MemoryError, ValueError, ArithmeticError) as error:
                        reason = f"failed: {str(error) or type(error).__name__}"
                        planned.failed.append((cell, reason))
                        console.print(f"{what}  {reason}", highlight=False, soft_wrap=True)
                        continue
                    found = row, Spent(cell.seconds, monotonic() - start, peak_memory())
                    results.keep(name, cell, *found)
                planned.finish(k, *found)
                accuracy = found[0].get("accuracy")
                scored = f"  accuracy {accuracy:.4f}" if isinstance(accuracy, float) else ""
                taken = f"  {monotonic() - start:.1f} s" + (f"  {_left(seconds_left(plan))}" if plain else "")
                console.print(what + scored + taken, highlight=False, soft_wrap=True)


def describe(key: Row) -> str:
    """Return what is varied in a cell, in a line."""
    return ", ".join(f"{name} {value}" for name, value in key.items())


def _left(seconds: float) -> str:
    return f"about {show_seconds(seconds)} left"


def seconds_left(plan: list[Planned]) -> float:
    """Return about how long the waiting cells will take: every experiment at its own pace, as far as it is known.

    Experiments of which nothing is finished are expected to keep the pace of all the others together.
    """
    known = reduce(Spent.plus, (planned.spent for planned in plan), Spent())
    return sum(planned.seconds * (1.0 if planned.rows else known.pace) for planned in plan)
