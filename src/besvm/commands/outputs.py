"""Where results go: files that are written whole or not at all, devices, and standard output."""

from __future__ import annotations

import os
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import TextIO

from besvm._support.files import link, placing, whole_file
from besvm.commands.errors import FULL, UNWRITTEN
from besvm.commands.interrupts import check, heard


def check_new(path: str, force: bool, *, device: bool = False) -> Path:
    """Return the path of a file to be written; refuse, before any work, what is there already or cannot be made."""
    if not path:
        raise ValueError("-o must be the name of a file, got an empty string")
    target = Path(path).expanduser()
    if target.is_dir():
        raise ValueError(f"-o must be the name of a file, got the folder {path!r}; add a file name to it")
    if target.exists() and not target.is_file():
        if device:
            return target
        raise ValueError(f"-o must be the name of a file, got {path!r}, which is a device or a pipe")
    if target.exists() and not force:
        raise ValueError(f"{path!r} already exists; choose another name, or add --force to overwrite it")
    nearest = next(parent for parent in target.absolute().parents if parent.exists())
    if not (nearest.is_dir() and os.access(nearest, os.W_OK)):
        raise ValueError(
            f"{path!r} {UNWRITTEN}, because {str(nearest)!r} is not a folder you may write to; choose another"
        )
    return target


@contextmanager
def made(target: Path, force: bool) -> Iterator[None]:
    """Have a file made in the ``with``, unless it was interrupted, or without ``force`` someone has made another."""

    def place(unfinished: Path, path: Path) -> None:
        check()
        (os.replace if force else link)(unfinished, path)

    try:
        with placing(target, place):
            yield
    except FileExistsError:
        raise ValueError(
            f"{str(target)!r} was made by someone else in the meantime, so nothing was written; choose another name, "
            "or add --force to overwrite it"
        ) from None
    heard()


@contextmanager
def output(target: Path | None, force: bool) -> Iterator[TextIO]:
    """Yield what to write lines to: standard output, a device or pipe, or a file that is there once it is whole."""
    if target is None:
        yield sys.stdout
        return
    try:
        if target.exists() and not target.is_file():
            with _opened(target) as stream:
                yield stream
            return
        with made(target, force), whole_file(target) as unfinished, _opened(unfinished) as stream:
            yield stream
    except OSError as error:
        if error.errno not in FULL:
            raise
        raise OSError(error.errno, f"{target} {UNWRITTEN}: {error.strerror}") from error


def _opened(path: Path) -> TextIO:
    """Open a file for lines; what cannot be written, of names that are not in UTF-8, is replaced as on the screen."""
    return open(path, "w", encoding="utf-8", errors="replace", newline="")
