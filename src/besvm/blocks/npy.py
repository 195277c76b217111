"""A matrix in an .npy file, read and written some rows at a time: what every store on disk is made of."""

from __future__ import annotations

import errno
import hashlib
import os
import shutil
import threading
import weakref
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from tempfile import TemporaryFile, gettempdir
from typing import Any

import numpy as np

from besvm._support.units import show_bytes

FULL = (errno.ENOSPC, errno.EFBIG, getattr(errno, "EDQUOT", errno.ENOSPC))
ZEROS = bytes(1 << 20)
ADVICE = "choose a folder on a larger disk"
SEAL_BYTES = 32  # a checksum of all that stands before it


class NpyMatrix:
    """A matrix in an .npy file, of which only the rows asked for are ever in memory.

    Opening checks that the file is whole: a matrix of floating-point numbers, and exactly as long as it says, with a
    checksum behind it where it must be ``sealed``. ``advice`` says what to do about a full disk.
    """

    _file: Any = None  # where the file has no name, it is held open
    _lock = threading.Lock()  # of those who move to a place in a file held open

    def __init__(self, path: Path, advice: str = ADVICE, sealed: bool = False) -> None:
        self.path, self.advice = path, advice
        with open(path, "rb") as file:
            self._read_header(file)
            size, whole = os.fstat(file.fileno()).st_size, self._place(self.shape[0]) + sealed * SEAL_BYTES
            if size != whole:
                raise ValueError(f"{path} must be {whole} bytes long, got {size}")

    def _read_header(self, file: Any) -> None:
        if np.lib.format.read_magic(file) != (1, 0):
            raise ValueError(f"{self.path} must be an .npy file of version 1.0")
        self.shape, by_columns, self.dtype = np.lib.format.read_array_header_1_0(file)
        self._offset = file.tell()
        if by_columns or len(self.shape) != 2 or self.dtype.kind != "f":
            raise ValueError(f"{self.path} must hold a matrix of floating-point numbers, row by row")

    @classmethod
    def create(cls, path: Path, shape: tuple[int, int], dtype: Any, advice: str = ADVICE) -> NpyMatrix:
        """Make the file, of zeros, and take all of its space now: writing rows must not fail after hours of work."""
        with open(path, "wb", buffering=0) as file:
            _write_zeros(file, path.parent, shape, dtype, advice)
        return cls(path, advice)

    @classmethod
    def temporary(cls, folder: Any, shape: tuple[int, int], dtype: Any, advice: str = ADVICE) -> NpyMatrix:
        """Make a file without a name: the system takes its space back when this process ends, however it ends.

        By default it is where Python's ``tempfile`` makes such files.
        """
        new = cls.__new__(cls)
        new.path, new.advice = Path(folder or gettempdir()) / "features.npy", advice  # for messages only
        new._file, new._lock = TemporaryFile(dir=folder), threading.Lock()  # noqa: SIM115  (closed with the matrix)
        weakref.finalize(new, new._file.close)
        try:
            _write_zeros(new._file, new.path.parent, shape, dtype, advice)
        except BaseException:
            new.close()
            raise
        new._file.seek(0)
        new._read_header(new._file)
        return new

    def close(self) -> None:
        """Give back a file without a name; one that has a name is never held open."""
        if self._file is not None:
            self._file.close()

    @contextmanager
    def _opened(self, mode: str) -> Iterator[Any]:
        if self._file is None:
            with open(self.path, mode) as file:
                yield file
        else:
            with self._lock:
                yield self._file
                self._file.flush()

    def seal(self) -> None:
        """Write a checksum behind the matrix, which now is finished."""
        with disk_full_explained(self.path.parent, SEAL_BYTES, self.advice), self._opened("r+b") as file:
            write_seal(file)

    def _place(self, row: int) -> int:
        """Return where in the file a row begins."""
        return self._offset + row * self.shape[1] * self.dtype.itemsize

    def __getitem__(self, rows: slice) -> np.ndarray:
        shape = (rows.stop - rows.start, self.shape[1])
        with self._opened("rb") as file:
            return np.asarray(np.memmap(file, self.dtype, "r", self._place(rows.start), shape))

    def read_into(self, rows: slice, out: np.ndarray) -> None:
        """Fill an array with rows; other threads work on while they are read."""
        if self._file is None or not hasattr(os, "preadv"):
            out[:] = self[rows]
            return
        left, place = out.data.cast("B") if out.size else memoryview(b""), self._place(rows.start)
        while left:
            got = os.preadv(self._file.fileno(), [left], place)
            if not got:
                raise EOFError(f"{self.path} must hold {self.shape[0]} rows, but ends before row {rows.stop - 1}")
            left, place = left[got:], place + got

    def __setitem__(self, rows: slice, block: Any) -> None:
        data = np.ascontiguousarray(block, dtype=self.dtype)
        if data.shape != (rows.stop - rows.start, self.shape[1]):
            raise ValueError(f"{rows} of a matrix of {self.shape[1]} columns cannot hold a block of {data.shape}")
        n_bytes = self.shape[0] * self.shape[1] * self.dtype.itemsize
        with disk_full_explained(self.path.parent, n_bytes, self.advice), self._opened("r+b") as file:
            file.seek(self._place(rows.start))
            file.write(data.data)


def write_seal(file: Any) -> None:
    """Write a checksum behind all that is in a file."""
    file.flush()
    file.write(_checksum(file, os.fstat(file.fileno()).st_size))


def check_seal(path: Path) -> None:
    """Refuse a file in which anything has changed since it was sealed; nothing in it is trusted before."""
    with open(path, "rb") as file:
        if _checksum(file, os.fstat(file.fileno()).st_size - SEAL_BYTES) != file.read():
            raise ValueError(f"{path} has changed since it was written: its checksum does not match")


def _checksum(file: Any, n_bytes: int) -> bytes:
    """Return the checksum of the first bytes of a file, and leave it where they end."""
    file.seek(0)
    found = hashlib.blake2b(digest_size=SEAL_BYTES)
    for start in range(0, n_bytes, len(ZEROS)):
        found.update(file.read(min(len(ZEROS), n_bytes - start)))
    return found.digest()


def _write_zeros(file: Any, folder: Path, shape: tuple[int, int], dtype: Any, advice: str) -> None:
    dtype = np.dtype(dtype)
    n_bytes = shape[0] * shape[1] * dtype.itemsize
    header = {"descr": np.lib.format.dtype_to_descr(dtype), "fortran_order": False, "shape": shape}
    with disk_full_explained(folder, n_bytes, advice):
        np.lib.format.write_array_header_1_0(file, header)
        file.flush()
        if n_bytes and hasattr(os, "posix_fallocate"):
            os.posix_fallocate(file.fileno(), file.tell(), n_bytes)
        else:
            for start in range(0, n_bytes, len(ZEROS)):
                file.write(ZEROS[: n_bytes - start])
            file.flush()


@contextmanager
def disk_full_explained(folder: Path, n_bytes: int, advice: str, what: str = "the features") -> Iterator[None]:
    """Turn the system's "no space" into a sentence that says how much was wanted, for what, and what to do."""
    try:
        yield
    except OSError as error:
        if error.errno not in FULL:
            raise
        raise OSError(
            error.errno,
            f"{what} need {show_bytes(n_bytes)} of disk space, which {folder} does not have "
            f"({show_bytes(shutil.disk_usage(folder).free)} free); {advice}",
        ) from error
