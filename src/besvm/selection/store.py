"""What a greedy selection keeps: the candidates' features, and the score of every set that was tried."""

import json
import re
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np

from besvm._support.files import sweep, whole_file, write_text
from besvm._support.threads import slices
from besvm.blocks.npy import NpyMatrix
from besvm.blocks.stores import Part

ADVICE = "choose a folder on a larger disk, or use a smaller basis"


def stored(
    path: Path | None, in_memory: bool, shape: tuple[int, int], dtype: np.dtype[Any], fill: Callable[[Part], None]
) -> Part:
    """Return the matrix in this file: what was kept, or a new one that ``fill`` fills; without a file, in memory.

    A file gets its name only when it is whole. One that is damaged, of the wrong shape or not finite is made anew.
    """
    if path is None:
        matrix = np.empty(shape, dtype)
        fill(matrix)
        return matrix
    if not _is_sound(path, shape, dtype):
        with whole_file(path) as unfinished:
            fill(NpyMatrix.create(unfinished, shape, dtype, ADVICE))
    kept = NpyMatrix(path)
    return np.array(kept[slice(0, shape[0])]) if in_memory else kept


def _is_sound(path: Path, shape: tuple[int, int], dtype: np.dtype[Any]) -> bool:
    try:
        kept = NpyMatrix(path)
    except (OSError, ValueError):
        return False
    if kept.shape != shape or kept.dtype != dtype:
        return False
    return all(np.isfinite(kept[rows]).all() for rows in slices(shape[0], 4096))


class ScoreBook:
    """The accuracy of every set of measures that was tried, and the seconds it took; written down as it grows."""

    def __init__(self, path: Path | None) -> None:
        self.path = path
        known = [] if path is None else _read_entries(path)
        self._entries: dict[tuple[str, ...], dict[str, Any]] = {tuple(entry["keys"]): entry for entry in known}

    def find(self, keys: tuple[str, ...]) -> tuple[float, float] | None:
        """Return (accuracy, seconds) of an ordered set, if it was tried."""
        entry = self._entries.get(keys)
        return None if entry is None else (entry["accuracy"], entry["seconds"])

    def enter(self, keys: tuple[str, ...], labels: list[str], accuracy: float, seconds: float) -> None:
        """Remember a score, on disk at once where there is a folder."""
        self._entries[keys] = {"measures": labels, "accuracy": accuracy, "seconds": seconds, "keys": list(keys)}
        if self.path is not None:
            write_text(self.path, json.dumps({"tried": list(self._entries.values())}, indent=1) + "\n")


def _read_entries(path: Path) -> list[dict[str, Any]]:
    """Return the sound entries of a trace; none of a file that is damaged or not there."""
    try:
        tried = json.loads(path.read_text())["tried"]
    except (OSError, ValueError, KeyError, TypeError):
        return []
    return [entry for entry in tried if _is_entry(entry)] if isinstance(tried, list) else []


def _is_entry(entry: Any) -> bool:
    if not isinstance(entry, dict) or set(entry) != {"measures", "accuracy", "seconds", "keys"}:
        return False
    numbers = [entry["accuracy"], entry["seconds"]]
    if not all(isinstance(number, (int, float)) and np.isfinite(number) and number >= 0 for number in numbers):
        return False
    return isinstance(entry["keys"], list) and all(isinstance(key, str) for key in entry["keys"])


def make_folder(folder: Path) -> None:
    """Make the user's folder, if it is not there; if it is, remove what a killed run has left unfinished."""
    try:
        folder.mkdir(parents=True, exist_ok=True)
        sweep(folder)
    except (FileExistsError, NotADirectoryError):
        raise ValueError(
            f"folder must be a folder, there already or to be made, got {str(folder)!r}, where a file is"
        ) from None


def file_name(label: str, key: str) -> str:
    """Return a name for people and machines: the label in plain characters, then the key."""
    return f"{re.sub(r'[^A-Za-z0-9]+', '-', label).strip('-')[:40]}-{key[:20]}"
