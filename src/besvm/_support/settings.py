"""Settings of the whole process that some work needs changed for a while."""

import threading
from collections.abc import Callable
from typing import Any

from besvm._support.forks import renew_after_fork


class SharedSetting:
    """Changes a setting of the process while any caller is inside, and sets it back after the last one.

    Two callers in two threads must not each restore what they found. Nobody stays inside while a generator waits.

    Parameters
    ----------
    change : callable
        Changes the setting, and returns what sets it back.

    Examples
    --------
    >>> from besvm._support.settings import SharedSetting
    >>> volume = [3]
    >>> def quiet():
    ...     before, volume[0] = volume[0], 0
    ...     return lambda: volume.__setitem__(0, before)
    >>> silence = SharedSetting(quiet)
    >>> with silence, silence:
    ...     volume
    [0]
    >>> volume
    [3]
    """

    def __init__(self, change: Callable[[], Callable[[], Any]]) -> None:
        self._change = change
        self._inside = 0
        self.after_fork()
        renew_after_fork(self)

    def after_fork(self) -> None:
        """Wait for no thread that is not there."""
        self._lock = threading.Lock()

    def __enter__(self) -> None:
        with self._lock:
            if self._inside == 0:
                self._restore = self._change()
            self._inside += 1

    def __exit__(self, *_: Any) -> None:
        with self._lock:
            self._inside -= 1
            if self._inside == 0:
                self._restore()
