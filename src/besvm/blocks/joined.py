"""Tall matrices side by side, each in memory or in an .npy file, seen as one by blocks of rows."""

from __future__ import annotations

import os
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any, Protocol, TypeVar

import numpy as np

from besvm._support.threads import slices, thread_map
from besvm._support.units import show_bytes
from besvm.blocks.contract import CACHE_BYTES, COARSE_BYTES, RowBlocks

T = TypeVar("T")


class Part(Protocol):
    """What can stand beside others: an array, or rows of a file."""

    @property
    def shape(self) -> Any: ...
    @property
    def dtype(self) -> Any: ...
    def __getitem__(self, rows: slice) -> np.ndarray: ...
    def __setitem__(self, rows: slice, block: np.ndarray) -> None: ...


class SideBySide(RowBlocks):
    """Some rows of several parts, as one matrix; the blocks of one part are views, those of several are joined.

    Examples
    --------
    >>> both = SideBySide([np.zeros((4, 1)), np.ones((4, 2))], slice(1, 4))
    >>> both.shape, both.sum(lambda rows, block: (block.sum(axis=0),))
    ((3, 3), (array([0., 3., 3.]),))
    """

    def __init__(self, parts: list[Part], rows: slice) -> None:
        self.parts = parts
        self.first = rows.start
        self.shape = (rows.stop - rows.start, sum(part.shape[1] for part in parts))
        self.dtype = np.result_type(*[part.dtype for part in parts])

    def _there(self, rows: slice) -> slice:
        return slice(self.first + rows.start, self.first + rows.stop)

    def _read(self, rows: slice) -> np.ndarray:
        there = self._there(rows)
        return self.parts[0][there] if len(self.parts) == 1 else np.hstack([part[there] for part in self.parts])

    def map(self, fn: Callable[[slice, Any], T], coarse: bool = False) -> Iterator[T]:
        """Yield ``fn(rows, block)``, computed on all threads."""
        a_row = max(1, self.shape[1] * self.dtype.itemsize)
        rows_each = max(16, (COARSE_BYTES if coarse else CACHE_BYTES) // a_row)
        return thread_map(lambda rows: fn(rows, self._read(rows)), slices(self.shape[0], rows_each))

    def update(self, fn: Callable[[slice, Any], np.ndarray]) -> None:
        """Replace every block, in each of the parts."""
        ends = np.cumsum([part.shape[1] for part in self.parts])[:-1]
        for rows, block in self.map(lambda rows, block: (rows, fn(rows, block.copy()))):
            for part, columns in zip(self.parts, np.split(block, ends, axis=1), strict=True):
                part[self._there(rows)] = columns


class NpyRows:
    """A matrix in an .npy file, of which only the rows asked for are ever mapped into memory.

    Opening checks that the file is whole: a matrix of floating-point numbers, and exactly as long as it says.
    """

    def __init__(self, path: Path) -> None:
        self.path = path
        with open(path, "rb") as file:
            if np.lib.format.read_magic(file) != (1, 0):
                raise ValueError(f"{path} must be an .npy file of version 1.0")
            self.shape, by_columns, self.dtype = np.lib.format.read_array_header_1_0(file)
            self._offset = file.tell()
        if by_columns or len(self.shape) != 2 or self.dtype.kind != "f":
            raise ValueError(f"{path} must hold a matrix of floating-point numbers, row by row")
        whole = self._offset + self.shape[0] * self.shape[1] * self.dtype.itemsize
        if os.path.getsize(path) != whole:
            raise ValueError(f"{path} must be {whole} bytes long, got {os.path.getsize(path)}")

    @classmethod
    def create(cls, path: Path, shape: tuple[int, int], dtype: np.dtype[Any]) -> NpyRows:
        """Make the file and take all of its space now: a mapped file on a full disk would kill the process."""
        size = shape[0] * shape[1] * dtype.itemsize
        header = {"descr": np.lib.format.dtype_to_descr(dtype), "fortran_order": False, "shape": shape}
        with open(path, "wb") as file:
            np.lib.format.write_array_header_1_0(file, header)
            size += file.tell()
            try:
                if hasattr(os, "posix_fallocate"):
                    os.posix_fallocate(file.fileno(), 0, size)
                file.truncate(size)
            except OSError as error:
                raise OSError(
                    error.errno,
                    f"the similarities need {show_bytes(size)} of disk and {path.parent} would not take them; "
                    "choose a folder on a larger disk, or use a smaller basis",
                ) from error
        return cls(path)

    def _map(self, rows: slice, mode: Any) -> np.memmap[Any, Any]:
        offset = self._offset + rows.start * self.shape[1] * self.dtype.itemsize
        return np.memmap(self.path, self.dtype, mode, offset, (rows.stop - rows.start, self.shape[1]))

    def __getitem__(self, rows: slice) -> np.ndarray:
        return np.asarray(self._map(rows, "r"))

    def __setitem__(self, rows: slice, block: np.ndarray) -> None:
        self._map(rows, "r+")[:] = block
