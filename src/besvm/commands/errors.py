"""What went wrong, as one sentence and an exit code."""

from __future__ import annotations

import errno
import os
import warnings
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

from besvm._support.progress import printable, say

WRONG, FAILED = 2, 1  # what was given is wrong; something failed on the way
FULL = (errno.ENOSPC, errno.EDQUOT, errno.EFBIG, errno.EIO)
EXPECTED = (ValueError, TypeError, OSError, MemoryError, ImportError, RuntimeError)  # all else is a fault of ours
UNWRITTEN = "cannot be written"


def sentence(error: BaseException) -> str:
    """Return what a user is told of an error: one line."""
    if isinstance(error, MemoryError) and not str(error):
        return "not enough memory; lower --memory-limit or use fewer samples"
    if isinstance(error, OSError) and error.strerror is not None:
        text = error.strerror if error.filename is None else f"{error.filename}: {error.strerror}"
    else:
        text = str(error) or type(error).__name__
    return printable(" ".join(text.split()))


def exit_code(error: BaseException) -> int:
    """Return 2 where the user has to mend something, 1 where something failed on the way."""
    full = isinstance(error, OSError) and error.errno in FULL
    return FAILED if full or isinstance(error, RuntimeError) or UNWRITTEN in str(error) else WRONG


def is_of_output(error: BaseException) -> bool:
    """Say whether it is standard output that cannot be written, which whoever runs the command says once.

    Whoever writes elsewhere says where; standard output has no more to say than the system has.
    """
    if not isinstance(error, OSError):
        return False
    bare = error.filename is None and error.errno in FULL and error.strerror == os.strerror(error.errno)
    return isinstance(error, BrokenPipeError) or bare


@contextmanager
def warnings_as_lines() -> Iterator[None]:
    """Show warnings as lines for people, each once."""
    told: set[str] = set()

    def show(message: Any, *_: Any) -> None:
        text = " ".join(str(message).split())
        if text not in told:
            told.add(text)
            say(1, f"note: {text}")

    with warnings.catch_warnings():
        warnings.showwarning = show  # type: ignore[assignment]
        yield
