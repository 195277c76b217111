"""Arrays that are made once and kept for the next time, as far as there is room."""

import threading
from collections.abc import Callable, Hashable

import numpy as np

from besvm._support.forks import renew_after_fork


class Kept:
    """Arrays by what they were made of: those that were used last, up to a number of bytes.

    Parameters
    ----------
    room : int
        The bytes that they may take together.

    Examples
    --------
    >>> import numpy as np
    >>> from besvm._support.kept import Kept
    >>> kept = Kept(16)
    >>> [kept.get(n, lambda n=n: (np.full(1, n),))[0].item() for n in (1, 2, 3, 1)], kept.nbytes
    ([1, 2, 3, 1], 16)
    """

    def __init__(self, room: int) -> None:
        self.room = room
        self.after_fork()
        renew_after_fork(self)

    def after_fork(self) -> None:
        """Start anew."""
        self.nbytes = 0
        self._lock = threading.Lock()
        self._arrays: dict[Hashable, tuple[np.ndarray, ...]] = {}

    def get(self, key: Hashable, make: Callable[[], tuple[np.ndarray, ...]]) -> tuple[np.ndarray, ...]:
        """Return the arrays of a key, made now if they are not there."""
        with self._lock:
            found = self._arrays.pop(key, None)
            if found is not None:
                self._arrays[key] = found  # now the last one
                return found
        made = make()
        with self._lock:
            if key not in self._arrays:  # or another thread made them meanwhile
                self._arrays[key] = made
                self.nbytes += _bytes_of(made)
            while self.nbytes > self.room:
                self.nbytes -= _bytes_of(self._arrays.pop(next(iter(self._arrays))))
        return made


def _bytes_of(arrays: tuple[np.ndarray, ...]) -> int:
    return sum(array.nbytes for array in arrays)
