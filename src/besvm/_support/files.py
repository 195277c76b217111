"""Files that are written whole or not at all, and what killed processes have left of others."""

import os
import re
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import Any, BinaryIO
from uuid import uuid4

fcntl: Any = None  # on Windows no open file can be removed: that is lock enough
with suppress(ImportError):
    import fcntl

_UNFINISHED = re.compile(r".+\.besvm-[0-9a-f]{32}\.part")


@contextmanager
def whole_file(path: Path) -> Iterator[Path]:
    """Yield the name of an empty file to be filled, which becomes ``path`` if the ``with`` ends well.

    No other process or thread has a file of that name, and it is locked: :func:`sweep` leaves it alone.
    """
    path.parent.mkdir(parents=True, exist_ok=True)
    unfinished = path.with_name(f"{path.name}.besvm-{uuid4().hex}.part")
    try:  # an interrupt may come as soon as the file is there
        with _locked(unfinished) as held:
            yield unfinished
            if fcntl is None:  # Windows does not rename an open file
                held.close()
            os.replace(unfinished, path)
    finally:
        unfinished.unlink(missing_ok=True)


@contextmanager
def _locked(path: Path) -> Iterator[BinaryIO]:
    """Make an empty file, and yield it open and locked."""
    while True:
        with open(path, "xb") as held:
            if fcntl is not None:
                with suppress(OSError):  # a file system without locks
                    fcntl.flock(held, fcntl.LOCK_EX)
            if path.exists():
                yield held
                return
        # someone swept before it was locked


def sweep(folder: Path) -> None:
    """Remove the unfinished files of processes that were killed; those at work, and all other files, are left alone."""
    for leftover in folder.rglob("*.part"):
        if _UNFINISHED.fullmatch(leftover.name):
            with suppress(OSError):  # locked by its writer, or not ours
                if fcntl is None:
                    leftover.unlink()
                else:
                    with open(leftover, "r+b") as file:
                        fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
                        leftover.unlink()


def write_bytes(path: Path, data: bytes) -> None:
    """Write a file whole or not at all."""
    try:
        with whole_file(path) as unfinished:
            unfinished.write_bytes(data)
    except OSError as error:  # a full disk does not say where
        raise OSError(error.errno, f"{path} cannot be written: {error.strerror or error}") from error


def write_text(path: Path, text: str) -> None:
    """Write a file whole or not at all."""
    write_bytes(path, text.encode())
