"""numba's njit, for everything that besvm compiles; on a terminal, the first time is announced, as it takes seconds."""

from time import monotonic
from typing import Any

from numba import njit
from numba.core import event

from besvm._support.progress import compilation, on_terminal, say

__all__ = ["njit"]


class _Watcher(event.Listener):
    """Says once that something of besvm is compiled, and counts the seconds; what is in numba's cache is not compiled.

    numba compiles one function at a time, but one may need another.
    """

    said, depth, start = False, 0, 0.0

    def on_start(self, event: Any) -> None:
        if not self.depth:
            self.start = monotonic()
        self.depth += 1
        function = getattr((event.data or {}).get("dispatcher"), "py_func", None)
        own = str(getattr(function, "__module__", "")).partition(".")[0] == "besvm"
        if own and not self.said and on_terminal():
            self.said = True
            say(1, "compiling for this machine; the first time, this takes some seconds")

    def on_end(self, event: Any) -> None:
        self.depth -= 1
        if not self.depth:
            compilation.seconds += monotonic() - self.start


event.register("numba:compile", _Watcher())  # type: ignore[no-untyped-call]
