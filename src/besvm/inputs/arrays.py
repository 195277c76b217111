"""NumPy's .npy and .npz files: headers are checked first, rows read a few at a time, and nothing is unpickled."""

from __future__ import annotations

import zipfile
import zlib
from collections.abc import Generator, Iterator
from contextlib import contextmanager, nullcontext
from errno import EINVAL
from io import BytesIO
from itertools import repeat
from math import prod
from pathlib import Path
from typing import IO, Any, NamedTuple

import numpy as np
from numpy.lib import format as npy

from besvm._support.parameters import shown
from besvm.blocks.plan import check_fits
from besvm.inputs.contract import BLOCK_BYTES, Asked, Block, Counter, Layout, Source, as_label, counted
from besvm.inputs.images import resized, usual_size

SAMPLES, CLASSES = ("X", "x", "data", "arr_0"), ("y", "Y", "labels", "label", "target", "arr_1")
HEADERS = {(1, 0): npy.read_array_header_1_0, (2, 0): npy.read_array_header_2_0}
COPIES = 3  # of a row in memory: as it was read, as what it is made, and as what is computed of it
LABEL_BYTES = 1 << 20  # that the name of a class may take


class Header(NamedTuple):
    """What an array file says of itself."""

    shape: tuple[int, ...]
    fortran: bool
    dtype: np.dtype[Any]

    @property
    def nbytes(self) -> int:
        """The bytes of the whole array."""
        return prod(self.shape) * self.dtype.itemsize

    @property
    def row_bytes(self) -> int:
        """The bytes of a row."""
        return prod(self.shape[1:]) * self.dtype.itemsize


class ArrayFile(Source):
    """An .npz file with the arrays X and y, or an .npy file with X alone."""

    kinds = ("vectors", "series", "images", "precomputed", "text", "sequences")
    what = "an array"

    def __init__(self, path: Path) -> None:
        super().__init__(path.name, Counter())
        self.path = path

    def layout(self, asked: Asked) -> Layout:
        samples, classes = self._members()
        with self._open(samples) as (_, header):
            self.meter.total = header.shape[0]
        self.what = f"an array of shape {header.shape} and type {header.dtype}"
        kind = self._kind(header, asked.kind)
        if asked.typed is not None and kind == "vectors" and header.shape[1] != len(asked.typed):
            raise ValueError(
                f"{self.name} must have {counted(len(asked.typed), 'columns')}, as the training data did, got "
                f"{header.shape[1]:,}"
            )
        size = None
        if kind == "images":
            size = asked.size or usual_size([header.shape[1:3]])
        said = f"{self.name}: {counted(self.meter.total, 'rows')} of {kind}, {self.what}"
        said += "" if size is None or size == header.shape[1:3] else f", made {size[0]} x {size[1]} pixels"
        label = None if classes is None else "y"
        nbytes = _bytes_made(header, kind, size)
        return Layout(kind, label=label, size=size, rows=self.meter.total, nbytes=nbytes, said=said)

    def blocks(self, layout: Layout, rows: int) -> Generator[Block]:
        self.meter.done = 0
        samples, classes = self._members()
        with self._open(samples) as (file, header), self._opened_classes(classes) as found:
            each = max(header.row_bytes, _bytes_made(header, layout.kind, layout.size) // header.shape[0])
            check_fits(f"reading a row of {self.name}, {self.what},", COPIES * each, None, "smaller samples")
            rows = max(1, min(rows, BLOCK_BYTES // each))
            labels = repeat(None) if found is None else self._labels(*found, rows)
            for X, own in zip(self._rows(file, header, rows), labels, strict=False):  # there may be no end of None
                place = slice(self.meter.done, self.meter.done + len(X))
                self._refuse_gaps(X, place.start)
                names = [str(number + 1) for number in range(place.start, place.stop)]
                yield Block(_as_kind(X, layout), own, names)
                self.meter.done = place.stop

    def _kind(self, header: Header, asked: str | None) -> str:
        axes, of = len(header.shape), header.dtype.kind
        fits: tuple[str, ...]
        if of == "U" and axes == 1:
            fits = ("text", "sequences")
        elif of in "biuf" and axes == 2:
            fits = ("vectors", "series", "precomputed")
        elif of in "biuf" and axes == 3:
            fits = ("images", "series") if header.dtype == np.uint8 else ("series", "images", "precomputed")
        elif of in "biuf" and axes == 4 and header.shape[3] in (1, 3):
            fits = ("images",)
        else:
            raise ValueError(
                f"{self.name} must hold numbers (one row per sample), series (n, channels, time points), images "
                f"(n, height, width, 3) or texts, got {self.what}"
            )
        if 0 in header.shape:
            raise ValueError(f"{self.name} must hold samples, but is empty ({self.what})")
        if asked is not None and asked not in fits:
            raise ValueError(
                f"{self.name} must hold {asked}, but is {self.what}, which can only be {' or '.join(fits)}"
            )
        return asked or fits[0]

    def _members(self) -> tuple[str | None, str | None]:
        """Return what the arrays of the samples and of the classes are called in the file; None: there is none."""
        if self.path.suffix.lower() == ".npy":
            return None, None
        with self._zip() as archive:
            names = [name.removesuffix(".npy") for name in archive.namelist() if name.endswith(".npy")]
        y = next((name for name in CLASSES if name in names), None)
        X = next((name for name in SAMPLES if name in names), None)
        others = [name for name in names if name != y]
        if X is None and len(others) == 1:
            X = others[0]
        if X is None:
            raise ValueError(
                f"{self.name} must have an array named X, and one named y with the classes, got {shown(names)}"
            )
        return X, y

    @contextmanager
    def _zip(self) -> Iterator[zipfile.ZipFile]:
        try:
            with zipfile.ZipFile(self.path) as archive:
                yield archive
        except (zipfile.BadZipFile, zlib.error, NotImplementedError, RuntimeError, EOFError, OSError) as error:
            if isinstance(error, OSError) and error.errno != EINVAL:  # of a place that is none, as a damaged file says
                raise
            raise ValueError(f"{self.name} must be an .npz file, but is damaged or of another type: {error}") from None

    @contextmanager
    def _open(self, member: str | None) -> Iterator[tuple[IO[bytes], Header]]:
        """Open an array behind its header, which must agree with the size of the file."""
        if member is None:
            with open(self.path, "rb") as file:
                header = self._header(file)
                self._check_size(header, self.path.stat().st_size - file.tell())
                yield file, header
            return
        with self._zip() as archive, archive.open(f"{member}.npy") as packed:
            header = self._header(packed)
            self._check_size(header, archive.getinfo(f"{member}.npy").file_size - packed.tell())
            yield packed, header

    def _header(self, file: IO[bytes]) -> Header:
        try:
            version = npy.read_magic(file)
            header = Header(*HEADERS[version](file))
        except Exception:  # NumPy raises whatever a broken header leads it to
            raise ValueError(f"{self.name} must be a NumPy array file, but its header is damaged or unknown") from None
        if header.dtype.hasobject:
            raise ValueError(f"{self.name} must hold numbers or texts, got Python objects, which besvm never loads")
        if not header.shape or any(length < 0 for length in header.shape):
            raise ValueError(f"{self.name} must hold an array with one row per sample, got shape {header.shape}")
        return header

    def _check_size(self, header: Header, there: int) -> None:
        if header.nbytes != there:
            raise ValueError(
                f"{self.name} must have {header.nbytes:,} bytes according to its header, got {there:,}; it is damaged"
            )

    def _rows(self, file: IO[bytes], header: Header, rows: int) -> Iterator[np.ndarray]:
        if header.fortran:
            yield from self._rows_by_columns(file, header, rows)
            return
        for start in range(0, header.shape[0], rows):
            n = min(rows, header.shape[0] - start)
            content = _exactly(file, n * header.row_bytes, self.name)
            yield np.frombuffer(content, header.dtype).reshape(n, *header.shape[1:])

    def _rows_by_columns(self, file: IO[bytes], header: Header, rows: int) -> Iterator[np.ndarray]:
        """Yield the rows of an array in Fortran order; one that is packed is taken into memory, if it fits."""
        if isinstance(file, zipfile.ZipExtFile):
            what = f"reading {self.name}, whose array is in Fortran order,"
            check_fits(what, header.nbytes, None, "numpy.ascontiguousarray before saving it")
            file = BytesIO(_exactly(file, header.nbytes, self.name))
        first, total, itemsize = file.tell(), header.shape[0], header.dtype.itemsize
        for start in range(0, total, rows):
            n = min(rows, total - start)
            columns = []
            for column in range(prod(header.shape[1:])):
                file.seek(first + (column * total + start) * itemsize)
                columns.append(_exactly(file, n * itemsize, self.name))
            yield np.frombuffer(b"".join(columns), header.dtype).reshape(*header.shape[:0:-1], n).T

    def _refuse_gaps(self, X: np.ndarray, start: int) -> None:
        if X.dtype.kind == "f" and not (finite := np.isfinite(X)).all():
            first = np.argwhere(~finite)[0]
            raise ValueError(
                f"row {start + first[0] + 1} of {self.name} must hold finite numbers, got {X[tuple(first)]}; fill it "
                "in, or remove the row"
            )

    @contextmanager
    def _opened_classes(self, member: str | None) -> Iterator[tuple[IO[bytes], Header] | None]:
        """Open the array of the classes, which must have one for every row; None: there is none."""
        with nullcontext() if member is None else self._open(member) as found:
            if found is not None:
                self._check_classes(member, found[1])
            yield found

    def _check_classes(self, member: str | None, header: Header) -> None:
        if len(header.shape) > 2 or prod(header.shape) != header.shape[0]:
            raise ValueError(f"{self.name} must have one class for every row in {member}, got shape {header.shape}")
        if header.shape[0] != self.meter.total:
            raise ValueError(
                f"{self.name} must have a class for each of its {self.meter.total} rows, got {header.shape[0]}"
            )
        if header.dtype.kind not in "biufU":
            raise ValueError(f"{self.name} must have numbers or texts as classes, got {header.dtype}")
        if header.row_bytes > LABEL_BYTES:
            raise ValueError(
                f"{self.name} must have names of classes of at most {LABEL_BYTES:,} bytes, got {header.row_bytes:,}"
            )

    def _labels(self, file: IO[bytes], header: Header, rows: int) -> Iterator[list[str]]:
        """Yield the classes of so many rows at a time."""
        for values in self._rows(file, header, rows):
            yield [as_label(value) for value in values.ravel().tolist()]


def _bytes_made(header: Header, kind: str, size: tuple[int, int] | None) -> int:
    """Return the bytes of the samples that are made of an array."""
    if size is not None:
        return header.shape[0] * size[0] * size[1] * 3 * header.dtype.itemsize
    return prod(header.shape) * 8 if kind in ("vectors", "precomputed") else header.nbytes


def _as_kind(X: np.ndarray, layout: Layout) -> Any:
    if layout.kind in ("vectors", "precomputed"):
        return X.astype(np.float64)
    if layout.kind in ("text", "sequences"):
        return X.tolist()
    X = X.astype(X.dtype.newbyteorder("="))  # a copy that can be written
    if layout.kind == "images":
        X = X[..., None] if X.ndim == 3 else X
        X = np.repeat(X, 3, axis=3) if X.shape[3] == 1 else X
        return X if layout.size == X.shape[1:3] else resized(X, layout.size)
    return X


def _exactly(file: IO[bytes], n: int, name: str) -> bytes:
    found = file.read(n)
    if len(found) != n:
        raise ValueError(f"{name} ends in the middle of its numbers; it is incomplete or damaged")
    return found
