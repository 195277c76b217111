"""Matrices kept on disk between experiments, by what they were computed from, within a limit of bytes."""

import json
import os
import re
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import numpy as np

from besvm._support.files import whole_file
from besvm._support.progress import say
from besvm._support.source_code import short_hash
from besvm.blocks.npy import NpyMatrix, check_seal

# As this cache names matrices, and a selection that keeps its features here.
OURS = re.compile(r"([0-9a-f]{32}|.*-[0-9a-f]{20})\.npy")


class MatrixCache:
    """A folder of float32 matrices, each named by a hash of what it was computed from.

    Where the limit of bytes is reached, the least recently used are removed; a matrix that is larger by itself is not
    kept. One that is damaged, or has another shape, is computed again.
    """

    def __init__(self, folder: Path, limit: int, verbose: int = 0) -> None:
        self.folder, self.limit, self.verbose = folder, limit, verbose
        self._verified: dict[Path, tuple[int, ...]] = {}  # what files were when their checksums were last looked at

    def path(self, recipe: dict[str, Any]) -> Path:
        """Return where the matrix of this recipe is, or would be."""
        return self.folder / f"{short_hash(json.dumps(recipe, sort_keys=True))}.npy"

    def get(self, recipe: dict[str, Any], shape: tuple[int, int], compute: Callable[[], np.ndarray]) -> np.ndarray:
        """Return the matrix of this recipe, read (memory-mapped) or computed and kept."""
        path = self.path(recipe)
        try:
            if self._verified.get(path) != _state(path):
                check_seal(path)
            kept = NpyMatrix(path, sealed=True)
            if kept.shape == shape and kept.dtype == np.float32:
                os.utime(path)  # used just now
                self._verified[path] = _state(path)
                return kept[slice(0, shape[0])]
            say(self.verbose, f"{path.name} in the cache has the shape {kept.shape}, not {shape}: computing it again")
        except FileNotFoundError:
            pass
        except (OSError, ValueError):
            say(self.verbose, f"{path.name} in the cache is damaged: computing it again")
        matrix = np.ascontiguousarray(compute(), dtype=np.float32)
        if matrix.shape != shape:
            raise ValueError(f"the matrix must have the shape {shape}, got {matrix.shape}")
        self._keep(path, matrix)
        return matrix

    def _keep(self, path: Path, matrix: np.ndarray) -> None:
        if matrix.nbytes > self.limit:
            return
        self._make_room(matrix.nbytes)
        try:
            with whole_file(path) as unfinished:
                new = NpyMatrix.create(unfinished, matrix.shape, matrix.dtype)
                new[slice(0, len(matrix))] = matrix
                new.seal()
        except OSError as error:
            say(self.verbose, f"similarities are not kept in {self.folder}: {error.strerror}")

    def _make_room(self, n_bytes: int) -> None:
        by_age = sorted(self._entries())
        total = sum(size for _, size, _ in by_age)
        for _, size, entry in by_age:
            if total + n_bytes <= self.limit:
                return
            entry.unlink(missing_ok=True)
            total -= size

    def _entries(self) -> Iterator[tuple[int, int, Path]]:
        """Yield the age, size and path of every matrix of ours, those in folders below too.

        Another process may remove some at any time.
        """
        for entry in self.folder.rglob("*.npy"):
            if not OURS.fullmatch(entry.name):
                continue
            try:
                found = entry.stat()
            except FileNotFoundError:
                continue
            yield found.st_mtime_ns, found.st_size, entry

    @property
    def n_bytes(self) -> int:
        """What the folder holds now."""
        return sum(size for _, size, _ in self._entries())


def _state(path: Path) -> tuple[int, ...]:
    """Return what changes whenever a file does."""
    found = path.stat()
    return found.st_ino, found.st_size, found.st_mtime_ns
