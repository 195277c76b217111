"""Progress of long work: a bar on a terminal, plain lines where they are asked for, silence otherwise."""

import sys
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from contextvars import ContextVar
from time import monotonic
from typing import Any

from besvm._support.units import show_count

BAR_AFTER = 1.0  # seconds: shorter work should not flicker
LINE_EVERY = 5.0  # seconds between plain lines


class Compilation:
    """How long numba has compiled in this process: time that does not come again."""

    seconds = 0.0


compilation = Compilation()
_inside: ContextVar[bool] = ContextVar("besvm_progress", default=False)  # of other work that shows its own bar


def on_terminal() -> bool:
    """Say whether standard error is a terminal; a program without a console may have none at all."""
    return sys.stderr is not None and sys.stderr.isatty()


def say(verbose: int, text: str) -> None:
    """Print a message for people, on standard error, at verbosity 1 and above."""
    if verbose >= 1 and sys.stderr is not None:
        print(f"besvm: {printable(text)}", file=sys.stderr, flush=True)


def printable(text: str) -> str:
    """Return text without what would command a terminal: names come from strangers' files."""
    return "".join(char if char.isprintable() or char in "\n\t" else "\ufffd" for char in text)


class Progress:
    """Counts finished items of one piece of work; ``note`` replaces the description."""

    def __init__(self, what: str, total: int, verbose: int, unit: str = "") -> None:
        self.what, self.total, self.verbose, self.unit = what, total, verbose, unit
        self.done = 0
        self._start = self._last_line = monotonic()
        self._on_terminal = on_terminal() and not _inside.get()
        self._bar: Any = None
        self._task: Any = None
        self._closed = False
        self._lock = threading.Lock()
        self._timer = threading.Timer(BAR_AFTER, self._open_bar)  # the first step may be long: compiling, say
        self._timer.daemon = True
        if self._on_terminal:
            self._timer.start()

    def advance(self, n: int) -> None:
        """Count ``n`` more items as finished."""
        self.done += n
        self._show()

    def note(self, what: str) -> None:
        """Say what is being done now."""
        self.what = what
        self._show()

    def _show(self) -> None:
        now = monotonic()
        if self._on_terminal:
            if now - self._start >= BAR_AFTER:
                self._open_bar()
            if self._task is not None:
                self._bar.update(self._task, completed=self.done, description=self.what, counted=self._counted(now))
        elif self.verbose >= 1 and now - self._last_line >= LINE_EVERY:
            self._last_line = now
            position = ""
            if self.total and self.done:
                left = (now - self._start) * (self.total - self.done) / self.done
                rate = f" {self.unit}, {self._rate(now):,.0f} a second" if self.unit else ""
                position = f": {self.done:,} of {self.total:,}{rate}, about {left:.0f} s left"
            say(self.verbose, self.what + position)

    def _rate(self, now: float) -> float:
        return self.done / max(now - self._start, 1e-3)

    def _counted(self, now: float) -> str:
        """Return how much is done, and how fast, in few letters: a bar is to have room beside it."""
        done, total, rate = (show_count(count) for count in (self.done, self.total, self._rate(now)))
        return f"{done} of {total} {self.unit}, {rate}/s"

    def _open_bar(self) -> None:
        with self._lock:
            if self._bar is not None or self._closed:
                return
            from rich.console import Console
            from rich.progress import BarColumn, TextColumn, TimeElapsedColumn, TimeRemainingColumn
            from rich.progress import Progress as RichProgress

            columns: list[Any] = [TextColumn("{task.description}"), BarColumn()]
            columns.append(TextColumn("{task.fields[counted]}") if self.unit else TimeElapsedColumn())
            if self.total:
                columns += [TextColumn("left"), TimeRemainingColumn()]
            self._bar = RichProgress(*columns, console=Console(stderr=True), transient=True)
            self._bar.start()
            counted = self._counted(monotonic())
            self._task = self._bar.add_task(self.what, completed=self.done, total=self.total or None, counted=counted)

    def close(self) -> None:
        """Take the bar away."""
        self._timer.cancel()
        with self._lock:
            self._closed = True
            if self._bar is not None:
                self._bar.stop()


@contextmanager
def progress(what: str, total: int = 0, verbose: int = 0, unit: str = "") -> Iterator[Progress]:
    """Show the progress of the work inside the ``with``; ``total`` 0 means that nobody knows how much there is.

    With a ``unit``, how many of them are done and how many a second is said as well. There is one bar at a time: parts
    of the work that count their own progress stay silent.
    """
    shown = Progress(what, total, verbose, unit)
    token = _inside.set(True)
    try:
        yield shown
    finally:
        _inside.reset(token)
        shown.close()
