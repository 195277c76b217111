"""A folder that keeps what is finished of a long fit, so that the same fit, killed at any moment, goes on from it."""

from __future__ import annotations

import os
import shutil
from collections.abc import Callable, Mapping
from errno import ENOSPC
from pathlib import Path
from typing import Any, NamedTuple
from zipfile import BadZipFile

import numpy as np

from besvm._support.files import as_folder, claim, read_sealed, sweep, whole_file, write_sealed
from besvm._support.units import show_bytes
from besvm.blocks.npy import FULL, check_seal, write_seal

MARK = ".besvm-checkpoint"
MANIFEST = "manifest.json"
BLOCK_ROWS = "block-rows"
ENTRY = "__entry__"  # what the file was called when it was written


class Part(NamedTuple):
    """One of the things that a fit depends on: a hash of it, and what a message shows of it."""

    key: str
    shown: str


class Checkpoint:
    """Named arrays in files, each whole, with a checksum, and known by what they depend on.

    Parameters
    ----------
    folder : Path
    key : str
        A hash of all that the arrays depend on: only files that were written with the same one are read.

    Examples
    --------
    >>> import numpy as np, tempfile
    >>> from pathlib import Path
    >>> from besvm.blocks.checkpoint import Checkpoint
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     kept = Checkpoint(Path(folder), "key")
    ...     kept.write("solution", coef=np.ones(2), step=np.array(3))
    ...     kept.read("solution")["coef"], kept.read("another")
    (array([1., 1.]), None)
    """

    def __init__(self, folder: Path, key: str) -> None:
        self.folder, self.key = folder, key

    def path(self, name: str) -> Path:
        """Return where an entry is kept."""
        return self.folder / f"{name}-{self.key[:20]}.npz"

    def is_here(self) -> bool:
        """Return whether this process, which may be on another machine, sees the folder."""
        return (self.folder / MARK).exists()

    def read(self, name: str) -> dict[str, np.ndarray] | None:
        """Return what was last written by this name; None if there is nothing, or not all of it as it was written."""
        path = self.path(name)
        try:
            check_seal(path)
            with np.load(path, allow_pickle=False) as arrays:
                found = dict(arrays)
                return found if str(found.pop(ENTRY)) == path.name else None  # or it was put in the place of another
        except (OSError, ValueError, KeyError, BadZipFile):
            return None

    def write(self, name: str, **arrays: Any) -> None:
        """Keep arrays by this name, on the disk when this returns, in place of what was there before."""
        try:
            with whole_file(self.path(name)) as unfinished, open(unfinished, "w+b") as file:
                np.savez(file, **{**arrays, ENTRY: np.array(self.path(name).name)})
                write_seal(file)
                file.flush()
                os.fsync(file.fileno())
        except OSError as error:
            if error.errno not in FULL:
                raise
            raise self._full(error.errno) from error

    def blocks(self, compute: Callable[[slice], np.ndarray]) -> Callable[[slice], np.ndarray]:
        """Return a function that computes a block of rows only if it is not kept already."""

        def kept(rows: slice) -> np.ndarray:
            name = f"rows-{rows.start:012d}"
            found = self.read(name)
            if found is not None and len(found["block"]) == rows.stop - rows.start:
                return found["block"]
            block = compute(rows)
            self.write(name, block=block)
            return block

        return kept

    def rows_each(self, rows: int) -> int:
        """Return how many rows a block has: so many, or as many as when it was first asked."""
        found = self.read(BLOCK_ROWS)
        if found is None:
            self.write(BLOCK_ROWS, rows=np.array(rows))
            return rows
        return int(found["rows"])

    def check_room(self, n_bytes: int) -> None:
        """Refuse to begin where blocks of so many bytes in all, some of them kept already, will not find room."""
        there = sum(path.stat().st_size for path in self.folder.glob(f"rows-*-{self.key[:20]}.npz"))
        if n_bytes - there > shutil.disk_usage(self.folder).free:
            raise self._full(ENOSPC, f"{show_bytes(n_bytes - there)} more are needed, and ")

    def _full(self, errno: int | None, needed: str = "") -> OSError:
        free = show_bytes(shutil.disk_usage(self.folder).free)
        return OSError(
            errno,
            f"the checkpoint {str(self.folder)!r} has no more room: {needed}{free} are free; all that is finished is "
            "kept, so make room and fit again",
        )


def open_checkpoint(
    folder: str | os.PathLike[str], parts: Mapping[str, Part], seed: int
) -> tuple[dict[str, Any], Path]:
    """Return the manifest of a folder, and its path; refuse a folder that was made with other ``parts``.

    A new folder is made, and remembers the parts and the seed; one that is there has a seed already.
    """
    path = as_folder("checkpoint", folder).absolute()  # workers of a cluster may be elsewhere
    claim("checkpoint", path, MARK)
    sweep(path)
    found = read_sealed(path / MANIFEST)
    if found is None:
        found = {"parts": {name: list(part) for name, part in parts.items()}, "seed": seed}
        write_sealed(path / MANIFEST, found)
    _refuse_others(path, {name: Part(*part) for name, part in found["parts"].items()}, parts)
    return found, path


def _refuse_others(path: Path, there: Mapping[str, Part], here: Mapping[str, Part]) -> None:
    differences = [_difference(name, there.get(name), here.get(name)) for name in {**here, **there}]
    if any(differences):
        raise ValueError(
            f"checkpoint must be a folder of the same data and parameters, got {str(path)!r}, where these differ: "
            f"{', '.join(filter(None, differences))}; choose another folder, or remove this one"
        )


def _difference(name: str, old: Part | None, new: Part | None) -> str:
    """Return what a message says of a part that has changed; nothing if it has not."""
    if old is None or new is None:
        return name
    if old.key == new.key:
        return ""
    return name if old.shown == new.shown else f"{name} ({old.shown} there, {new.shown} here)"
