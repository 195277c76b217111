"""Files that are written whole or not at all, and what killed processes have left of others."""

import errno
import hashlib
import json
import os
import re
import stat
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from contextvars import ContextVar
from pathlib import Path
from typing import Any, BinaryIO
from uuid import uuid4

fcntl: Any = None  # on Windows no open file can be removed: that is lock enough
with suppress(ImportError):
    import fcntl

SEAL = "checksum"
PRIVATE = 0o600  # read and written by its owner alone
Place = Callable[[Path, Path], None]  # gives the first of two files the name of the second
_placing: ContextVar[tuple[Path | None, Place]] = ContextVar("besvm_placing", default=(None, os.replace))
_UNFINISHED = re.compile(r".+\.besvm-[0-9a-f]{32}\.part")


@contextmanager
def whole_file(path: Path) -> Iterator[Path]:
    """Yield the name of an empty file to be filled, which becomes ``path`` if the ``with`` ends well.

    No other process or thread has a file of that name, and it is locked: :func:`sweep` leaves it alone. A file that was
    there before hands on its permissions, and a link stays one.
    """
    asked, place = _placing.get()
    place = place if path == asked else os.replace
    path = Path(os.path.realpath(path)) if path.is_symlink() else path
    mode = _mode(path)
    path.parent.mkdir(parents=True, exist_ok=True)
    unfinished = path.with_name(f"{path.name}.besvm-{uuid4().hex}.part")
    try:  # an interrupt may come as soon as the file is there
        with _locked(unfinished) as held:
            _set_mode(unfinished, None if mode is None else PRIVATE)
            yield unfinished
            _set_mode(unfinished, mode)
            if fcntl is None:  # Windows does not rename an open file
                held.close()
            place(unfinished, path)
    finally:
        unfinished.unlink(missing_ok=True)


@contextmanager
def placing(path: Path, place: Place) -> Iterator[None]:
    """Have ``place`` give the file at ``path`` its name when it is whole, inside the ``with``, and not os.replace."""
    token = _placing.set((path, place))
    try:
        yield
    finally:
        _placing.reset(token)


def link(unfinished: Path, path: Path) -> None:
    """Give a finished file its name; raise FileExistsError if another has it."""
    try:
        os.link(unfinished, path)
    except FileExistsError:
        raise
    except OSError:  # a file system without links
        if os.path.lexists(path):
            raise FileExistsError(errno.EEXIST, os.strerror(errno.EEXIST), str(path)) from None
        os.replace(unfinished, path)


def _mode(path: Path) -> int | None:
    """Return the permissions of a file; None if there is none."""
    with suppress(OSError):
        return stat.S_IMODE(path.stat().st_mode)
    return None


def _set_mode(path: Path, mode: int | None) -> None:
    if mode is not None:
        with suppress(OSError):  # a file system without permissions
            path.chmod(mode)


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


def as_folder(name: str, folder: str | os.PathLike[str]) -> Path:
    """Return the path of a folder that is there or can be made; ``name`` is the parameter that gives it."""
    if not isinstance(folder, (str, os.PathLike)):
        raise TypeError(f"{name} must be a folder, as a path or a string, got a {type(folder).__name__}")
    if os.fspath(folder) == "":
        raise ValueError(f"{name} must be a folder, got an empty string; '.' is the current folder")
    path = Path(folder).expanduser()
    nearest = next((parent for parent in (path, *path.parents) if parent.exists()), path)
    if nearest.exists() and not nearest.is_dir():
        raise ValueError(f"{name} must be a folder, new or existing, got {str(path)!r}, which is a file")
    return path


def claim(name: str, folder: Path, mark: str) -> None:
    """Make a folder and mark it as ours; refuse one that is not empty and was not marked so before.

    Hidden files do not count: none of ours is named like them, but for the mark.
    """
    if not (folder / mark).exists():
        other = next((path for path in folder.glob("[!.]*")), None)
        if other is not None:
            raise ValueError(
                f"{name} must be a new or empty folder, or one that an earlier run has made, got {str(folder)!r}, "
                f"which holds {other.name!r}; choose another folder, so that none of your files are touched"
            )
        write_text(folder / mark, "The files in this folder were made by besvm, which may replace and remove them.\n")


def sweep(*folders: Path) -> None:
    """Remove the unfinished files of processes that were killed from these folders, but not from those in them.

    Files that are being written, and all that are not named as ours, are left alone.
    """
    for leftover in (path for folder in folders for path in folder.glob("*.part")):
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
    """Write a file whole or not at all; a question mark stands for what is no character, as in names of some files."""
    write_bytes(path, text.encode(errors="replace"))


def write_sealed(path: Path, data: dict[str, Any]) -> None:
    """Write plain data as JSON with a checksum."""
    write_text(path, json.dumps({**data, SEAL: _checksum(data)}) + "\n")


def read_sealed(path: Path) -> dict[str, Any] | None:
    """Return what :func:`write_sealed` has written; None if it is not there, or not as it was written."""
    try:
        data = json.loads(path.read_bytes())
        return data if data.pop(SEAL) == _checksum(data) else None
    except (OSError, ValueError, KeyError, TypeError, AttributeError, RecursionError):
        return None


def _checksum(data: dict[str, Any]) -> str:
    return hashlib.blake2b(json.dumps(data).encode(), digest_size=16).hexdigest()
