"""What a greedy selection keeps: the candidates' features, and the score of every set that was tried."""

import re
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np

from besvm._support.files import as_folder, read_sealed, sweep, whole_file, write_sealed
from besvm.blocks.npy import NpyMatrix, check_seal
from besvm.blocks.stores import Part

ADVICE = "choose a folder on a larger disk, or use a smaller basis"


def stored(
    path: Path | None,
    scratch: Path | None,
    shape: tuple[int, int],
    dtype: np.dtype[Any],
    fill: Callable[[Part], None],
) -> Part:
    """Return the matrix in this file: what was kept, or a new one that ``fill`` fills; without a file, a passing one.

    ``scratch`` is the folder of passing ones; without it, what is returned is in memory. A file gets its name only when
    it is whole. One that is damaged or of the wrong shape is made anew.
    """
    if path is None:
        part = np.empty(shape, dtype) if scratch is None else NpyMatrix.temporary(scratch, shape, dtype, ADVICE)
        fill(part)
        return part
    kept = _find(path, shape, dtype)
    if kept is None:
        with whole_file(path) as unfinished:
            new = NpyMatrix.create(unfinished, shape, dtype, ADVICE)
            fill(new)
            new.seal()
        kept = NpyMatrix(path, sealed=True)
    return np.array(kept[slice(0, shape[0])]) if scratch is None else kept


def _find(path: Path, shape: tuple[int, int], dtype: np.dtype[Any]) -> NpyMatrix | None:
    try:
        check_seal(path)
        kept = NpyMatrix(path, sealed=True)
    except (OSError, ValueError):
        return None
    return kept if kept.shape == shape and kept.dtype == dtype else None


class ScoreBook:
    """The accuracy of every set of measures that was tried, and the seconds it took; written down as it grows."""

    def __init__(self, path: Path | None) -> None:
        self.path = path
        known = {} if path is None else read_sealed(path) or {}
        self._entries: dict[tuple[str, ...], dict[str, Any]] = {
            tuple(entry["keys"]): entry for entry in known.get("tried", [])
        }

    def find(self, keys: tuple[str, ...]) -> tuple[float, float] | None:
        """Return (accuracy, seconds) of an ordered set, if it was tried."""
        entry = self._entries.get(keys)
        return None if entry is None else (entry["accuracy"], entry["seconds"])

    def enter(self, keys: tuple[str, ...], labels: list[str], accuracy: float, seconds: float) -> None:
        """Remember a score, on disk at once where there is a folder."""
        self._entries[keys] = {"measures": labels, "accuracy": accuracy, "seconds": seconds, "keys": list(keys)}
        if self.path is not None:
            write_sealed(self.path, {"tried": list(self._entries.values())})


def make_folder(folder: Any) -> Path:
    """Return the user's folder, made if it was not there, and rid of what a killed run has left unfinished."""
    path = as_folder("folder", folder)
    path.mkdir(parents=True, exist_ok=True)
    sweep(path)
    return path


def file_name(label: str, key: str) -> str:
    """Return a name for people and machines: the label in plain characters, then the key."""
    return f"{re.sub(r'[^A-Za-z0-9]+', '-', label).strip('-')[:40]}-{key[:20]}"
