"""Plan the experiments, run what is not finished, and write what was found."""

from __future__ import annotations

import hashlib
import sys
import warnings
from collections import Counter
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import asdict, dataclass, field
from pathlib import Path
from time import monotonic, perf_counter
from typing import Any

from rich.console import Console
from rich.progress import BarColumn, Progress, TextColumn, TimeElapsedColumn
from rich.table import Table as RichTable
from sklearn.exceptions import ConvergenceWarning

from besvm._support.memory import peak_memory
from besvm._support.units import show_bytes, show_seconds
from besvm.reproduction.base import Cell, Experiment, Row, Table
from besvm.reproduction.config import MEASURES
from besvm.reproduction.lab import Lab, described, maker
from besvm.reproduction.results import Results, Spent


@dataclass
class Step:
    """An experiment with its cells: those to run, those already finished, and those that failed."""

    experiment: Experiment
    cells: list[Cell] = field(default_factory=list)
    rows: dict[int, Row] = field(default_factory=dict)  # finished, by the number of the cell
    skipped: list[tuple[Cell, str]] = field(default_factory=list)  # with the reason
    failed: list[tuple[Cell, str]] = field(default_factory=list)
    spent: Spent = field(default_factory=Spent)  # by the finished cells

    def finish(self, k: int, row: Row, spent: Spent) -> None:
        """Take note of a finished cell."""
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


def context_of(lab: Lab) -> str:
    """Return a hash of what all cells depend on."""
    config = asdict(lab.config)
    config.pop("thorough")  # adds cells, and changes none
    depends_on = (maker(), [described(label) for label in MEASURES], lab.fingerprint, sorted(config.items()))
    return hashlib.sha256(repr(depends_on).encode()).hexdigest()[:16]


def make_plan(experiments: list[Experiment], lab: Lab, results: Results) -> list[Step]:
    """Return what there is to do, leaving out what would not fit in memory and what is for --thorough alone.

    A finished cell is never left out.
    """
    steps = []
    for experiment in experiments:
        step = Step(experiment)
        for cell in experiment.cells(lab):
            found = results.get(experiment.name, cell)
            reason = None if found is not None else _too_much(cell, lab)
            if reason is not None:
                step.skipped.append((cell, reason))
                continue
            if found is not None:
                step.finish(len(step.cells), *found)
            step.cells.append(cell)
        steps.append(step)
    return steps


def _too_much(cell: Cell, lab: Lab) -> str | None:
    """Return why a cell is not run, if it is not."""
    if cell.thorough and not lab.config.thorough:
        return "only with --thorough"
    need = cell.memory + lab.costs.base_memory
    if lab.memory_limit is not None and need > lab.memory_limit:
        return f"needs {show_bytes(need)}, the limit is {show_bytes(lab.memory_limit)}"
    return None


def show_plan(console: Console, steps: list[Step], lab: Lab) -> None:
    """Print the plan."""
    table = RichTable("experiment", "what", box=None, pad_edge=False)
    for heading in ("cells", "finished", "about", "memory"):
        table.add_column(heading, justify="right")
    for step in steps:
        peak = max((cell.memory for _, cell in step.waiting), default=0)
        table.add_row(
            step.experiment.name,
            step.experiment.title,
            str(len(step.cells)),
            str(len(step.rows)),
            show_seconds(step.seconds) if step.waiting else "done",
            show_bytes(peak + lab.costs.base_memory) if peak else "",
        )
    console.print(table)
    console.print(f"\n{len(lab.images):,} images; about {show_seconds(seconds_left(steps))} on two cores")
    memory = "" if lab.memory_limit is None else f"memory: at most {show_bytes(lab.memory_limit)}; "
    planned = lab.costs.planned_bytes if any(step.waiting for step in steps) else 0
    now, more, most = map(show_bytes, (lab.cache.n_bytes, planned, lab.cache.limit))
    console.print(f"{memory}disk: {now} of similarities now, about {more} more, at most {most}")
    for step in steps:
        for text in counted(step.skipped):
            console.print(f"left out of {step.experiment.name}: {text}")


def counted(left_out: list[tuple[Cell, str]]) -> list[str]:
    """Return how many cells were left out for each reason.

    Examples
    --------
    >>> counted([(Cell({"k": 1}, dict), "only with --thorough")])
    ['1 cell, only with --thorough']
    """
    return [
        f"{count} {'cell' if count == 1 else 'cells'}, {reason}"
        for reason, count in Counter(reason for _, reason in left_out).items()
    ]


def run(steps: list[Step], results: Results, console: Console) -> None:
    """Run the waiting cells one after the other; each is kept as soon as it is finished.

    A cell that cannot be computed is reported and left out, and the others go on.
    """
    with _shown(console, steps) as shown:
        for step in steps:
            for k, cell in step.waiting:
                name = step.experiment.name
                shown.begin(f"{name}: {describe(cell.key)}")
                start = perf_counter()
                found = results.get(name, cell)  # another process may have finished it in the meantime
                if found is None:
                    try:
                        with warnings.catch_warnings():
                            warnings.simplefilter("ignore", ConvergenceWarning)  # the tables say what converged
                            row = cell.key | cell.compute()
                    except (MemoryError, ValueError, ArithmeticError) as error:
                        reason = f"failed: {str(error) or type(error).__name__}"
                        step.failed.append((cell, reason))
                        shown.fail(reason)
                        continue
                    found = row, Spent(cell.seconds, perf_counter() - start, peak_memory())
                    results.keep(name, cell, *found)
                step.finish(k, *found)
                shown.end(perf_counter() - start, found[0])


def describe(key: Row) -> str:
    """Return what is varied in a cell, in a line.

    Examples
    --------
    >>> describe({"measure": "H8R", "folds": 3})
    'measure H8R, folds 3'
    """
    return ", ".join(f"{name} {value}" for name, value in key.items())


class _Shown:
    """A bar on a terminal; elsewhere a line for every finished cell."""

    def __init__(self, console: Console, steps: list[Step]) -> None:
        self.console, self.steps = console, steps
        self.start = monotonic()
        self.what = ""
        self.bar: Progress | None = None
        if console.is_terminal:
            columns: list[Any] = [
                TextColumn("{task.description}"),
                BarColumn(),
                TimeElapsedColumn(),
                TextColumn("{task.fields[left]}"),
            ]
            self.bar = Progress(*columns, console=console, transient=True)
            self.task = self.bar.add_task("", total=None, left="")
            self.bar.start()

    def begin(self, what: str) -> None:
        self.what = what
        if self.bar is not None:
            elapsed = monotonic() - self.start
            total = elapsed + seconds_left(self.steps)
            self.bar.update(self.task, description=what, completed=elapsed, total=max(total, 1e-9), left=self.left)

    def end(self, taken: float, row: Row) -> None:
        accuracy = f"  accuracy {row['accuracy']:.4f}" if isinstance(row.get("accuracy"), float) else ""
        left = f"  {self.left}" if self.bar is None else ""
        self.console.print(f"{self.what}{accuracy}  {taken:.1f} s{left}", highlight=False, soft_wrap=True)

    def fail(self, reason: str) -> None:
        self.console.print(f"{self.what}  {reason}", highlight=False, soft_wrap=True)

    @property
    def left(self) -> str:
        return f"about {show_seconds(seconds_left(self.steps))} left"


def seconds_left(steps: list[Step]) -> float:
    """Return about how long the waiting cells will take: every experiment at its own pace, as far as it is known.

    Experiments of which nothing is finished are expected to keep the pace of all the others together.
    """
    known = Spent()
    for step in steps:
        known = known.plus(step.spent)
    return sum(step.seconds * (1.0 if step.rows else known.pace) for step in steps)


@contextmanager
def _shown(console: Console, steps: list[Step]) -> Iterator[_Shown]:
    shown = _Shown(console, steps)
    try:
        yield shown
    finally:
        if shown.bar is not None:
            shown.bar.stop()


def output_folder(out: Path) -> Path:
    """Return the folder to write to, made if need be; a file in its place is refused."""
    if out.exists() and not out.is_dir():
        raise ValueError(f"--out must be a folder, got the file {out}; choose another name")
    out.mkdir(parents=True, exist_ok=True)
    return out


def console_for_people() -> Console:
    """Return where the plan and the progress go."""
    return Console(file=sys.stdout, width=None if sys.stdout.isatty() else 140)
