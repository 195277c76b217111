"""A matrix in an .npy file, read and written some rows at a time: what every store on disk is made of."""

from __future__ import annotations

import errno
import os
import shutil
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import numpy as np

from besvm._support.units import show_bytes

FULL = (errno.ENOSPC, errno.EFBIG, getattr(errno, "EDQUOT", errno.ENOSPC))
ZEROS = bytes(1 << 20)
ADVICE = "choose a folder on a larger disk"


class NpyMatrix:
    """A matrix in an .npy file, of which only the rows asked for are ever in memory.

    Opening checks that the file is whole: a matrix of floating-point numbers, and exactly as long as it says.
    ``advice`` says what to do about a full disk.
    """

    def __init__(self, path: Path, advice: str = ADVICE) -> None:
        self.path, self.advice = path, advice
        with open(path, "rb") as file:
            if np.lib.format.read_magic(file) != (1, 0):
                raise ValueError(f"{path} must be an .npy file of version 1.0")
            self.shape, by_columns, self.dtype = np.lib.format.read_array_header_1_0(file)
            self._offset = file.tell()
        if by_columns or len(self.shape) != 2 or self.dtype.kind != "f":
            raise ValueError(f"{path} must hold a matrix of floating-point numbers, row by row")
        whole = self._place(self.shape[0])
        if os.path.getsize(path) != whole:
            raise ValueError(f"{path} must be {whole} bytes long, got {os.path.getsize(path)}")

    @classmethod
    def create(cls, path: Path, shape: tuple[int, int], dtype: Any, advice: str = ADVICE) -> NpyMatrix:
        """Make the file, of zeros, and take all of its space now: writing rows must not fail after hours of work."""
        dtype = np.dtype(dtype)
        n_bytes = shape[0] * shape[1] * dtype.itemsize
        header = {"descr": np.lib.format.dtype_to_descr(dtype), "fortran_order": False, "shape": shape}
        with open(path, "wb", buffering=0) as file, _explained(path.parent, n_bytes, advice):
            np.lib.format.write_array_header_1_0(file, header)
            if n_bytes and hasattr(os, "posix_fallocate"):
                os.posix_fallocate(file.fileno(), file.tell(), n_bytes)
            else:
                for start in range(0, n_bytes, len(ZEROS)):
                    file.write(ZEROS[: n_bytes - start])
        return cls(path, advice)

    def _place(self, row: int) -> int:
        """Return where in the file a row begins."""
        return self._offset + row * self.shape[1] * self.dtype.itemsize

    def __getitem__(self, rows: slice) -> np.ndarray:
        shape = (rows.stop - rows.start, self.shape[1])
        return np.asarray(np.memmap(self.path, self.dtype, "r", self._place(rows.start), shape))

    def __setitem__(self, rows: slice, block: Any) -> None:
        data = np.ascontiguousarray(block, dtype=self.dtype)
        if data.shape != (rows.stop - rows.start, self.shape[1]):
            raise ValueError(f"{rows} of a matrix of {self.shape[1]} columns cannot hold a block of {data.shape}")
        n_bytes = self.shape[0] * self.shape[1] * self.dtype.itemsize
        with open(self.path, "r+b") as file, _explained(self.path.parent, n_bytes, self.advice):
            file.seek(self._place(rows.start))
            file.write(data.data)


@contextmanager
def _explained(folder: Path, n_bytes: int, advice: str) -> Iterator[None]:
    """Turn the system's "no space" into a sentence that says how much was wanted and what to do."""
    try:
        yield
    except OSError as error:
        if error.errno not in FULL:
            raise
        raise OSError(
            error.errno,
            f"the features need {show_bytes(n_bytes)} of disk and {folder} would not take them "
            f"({show_bytes(shutil.disk_usage(folder).free)} free); {advice}",
        ) from error
