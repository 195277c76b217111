"""The model file: a head of 64 bytes, a description in JSON, and arrays; see docs/model-files.md.

Nothing in a file is executed, and every size is checked against the file's own before anything of that size is made.
"""

from __future__ import annotations

import hashlib
import json
import os
import re
import struct
from collections.abc import Iterator
from dataclasses import dataclass
from math import prod
from pathlib import Path
from typing import Any, Literal

import numpy as np

from besvm._support.files import whole_file
from besvm._support.memory import available_memory
from besvm._support.units import show_bytes

MAGIC = b"\x89BESVM\r\n"
FORMAT = 1
HEAD = struct.Struct("<8sIIQQ32s")  # magic, format, nothing, bytes of the description, bytes of all, checksum
LINE = 64  # the description and every array begin at a multiple of so many bytes
PLAIN_DTYPE = re.compile(r"[<|][biufc]\d{1,2}|[<|][SU]\d{1,7}|<[mM]8(\[\d{0,4}[a-zA-Z]{1,2}\])?")
MOST_AXES = 32
MOST_GAPS = 16  # times its own size: the memory that an array with gaps may span, and all of a file together
LAST_CHARACTER = 0x10FFFF


class ModelFileError(ValueError):
    """A file that is no model, or no longer the one that was written.

    Examples
    --------
    >>> import besvm, pathlib, tempfile
    >>> from besvm.files import ModelFileError
    >>> path = pathlib.Path(tempfile.mkdtemp()) / "m.besvm"
    >>> _ = path.write_text("something else")
    >>> try:
    ...     besvm.load(path)
    ... except ModelFileError as error:
    ...     print(str(error).partition(": ")[2])
    it does not begin like one; pass a file that besvm.save wrote
    """


@dataclass(frozen=True)
class Contents:
    """What a file holds: its description, and the arrays that this names by number."""

    description: dict[str, Any]
    arrays: list[np.ndarray]


def write(path: Path, description: dict[str, Any], arrays: list[np.ndarray]) -> None:
    """Write a file whole or not at all; ``description`` is plain data, and gets a list of the arrays."""
    entries, at = [], 0
    for array in arrays:
        entry = {"dtype": _little(array.dtype).str, "shape": array.shape, "order": _order(array), "at": at}
        entries.append(entry | ({"strides": array.strides} if _has_gaps(array) else {}))
        at += _padded(array.nbytes)
    text = json.dumps({**description, "arrays": entries}, allow_nan=False, separators=(",", ":")).encode()
    text = text.ljust(_padded(len(text)))
    front = HEAD.pack(MAGIC, FORMAT, 0, len(text), HEAD.size + len(text) + at, bytes(32))[:32]
    checksum = hashlib.blake2b(front, digest_size=32)
    try:
        with whole_file(path) as unfinished, open(unfinished, "r+b") as file:
            file.write(front + bytes(32))
            for chunk in (text, *_chunks(arrays)):
                checksum.update(chunk)
                file.write(chunk)
            file.seek(len(front))
            file.write(checksum.digest())
    except OSError as error:  # a full disk does not say where
        raise OSError(error.errno, f"{path} cannot be written: {error.strerror or error}") from error


def read(path: Path) -> Contents:
    """Return what a file holds, if it is whole and as it was written: all of it in memory, as files may be replaced."""
    with open(path, "rb") as file:
        size = os.fstat(file.fileno()).st_size
        length = _check_head(path, file.read(HEAD.size), size)
        buffer = _in_memory(path, file, size)
    head = bytes(buffer[: HEAD.size])
    checksum = hashlib.blake2b(head[:32], digest_size=32)
    checksum.update(buffer[HEAD.size :].data)
    if checksum.digest() != head[32:]:
        raise ModelFileError(
            f"{path} was changed or damaged after it was written: its checksum does not match; get a new copy"
        )
    start = HEAD.size + length
    description = _parsed(path, bytes(buffer[HEAD.size : start]))
    entries = description.pop("arrays", None)
    if not isinstance(entries, list):
        raise ModelFileError(f"{path} has no list of arrays; get a new copy of the file")
    arrays = [_array(path, entry, buffer[start:]) for entry in entries]
    return Contents(description, _as_they_lay(path, entries, arrays, MOST_GAPS * size))


def read_description(path: Path) -> dict[str, Any]:
    """Return the description alone, of a file that may be altered: only its head and sizes are checked."""
    with open(path, "rb") as file:
        length = _check_head(path, file.read(HEAD.size), os.fstat(file.fileno()).st_size)
        return _parsed(path, file.read(length))


def _check_head(path: Path, head: bytes, size: int) -> int:
    """Return the length of the description."""
    if head[: len(MAGIC)] != MAGIC[: len(head)] or not head:
        raise ModelFileError(
            f"{path} is not a besvm model: it does not begin like one; pass a file that besvm.save wrote"
        )
    if len(head) < HEAD.size:
        raise ModelFileError(
            f"{path} is incomplete: it has {size} bytes, less than the header of a model; get a new copy"
        )
    _, version, _, length, total, _ = HEAD.unpack(head)
    if version > FORMAT:
        raise ModelFileError(
            f"{path} was written by a newer besvm, in format {version}, but this version reads formats up to {FORMAT}; "
            "update besvm"
        )
    if version < 1:
        raise ModelFileError(f"{path} has the format {version}, which does not exist; get a new copy")
    if size < total:
        raise ModelFileError(f"{path} is incomplete: it has {show_bytes(size)} of {show_bytes(total)}; get a new copy")
    if size > total or length > total - HEAD.size or length % LINE:
        raise ModelFileError(f"{path} was changed or damaged: its sizes contradict one another; get a new copy")
    return int(length)


def _parsed(path: Path, text: bytes) -> dict[str, Any]:
    try:
        description = json.loads(text, parse_constant=_refuse_constant)
    except (ValueError, RecursionError):
        description = None
    if not isinstance(description, dict):
        raise ModelFileError(f"{path} has a description that cannot be read; get a new copy of the file")
    return description


def _refuse_constant(name: str) -> None:
    raise ValueError(f"{name} is not valid JSON")


def _in_memory(path: Path, file: Any, size: int) -> np.ndarray:
    free = available_memory()
    if size > free:
        raise ModelFileError(
            f"{path} takes {show_bytes(size)} of memory, but only {show_bytes(free)} are free; use a machine with more"
        )
    room = np.empty(size + LINE, dtype=np.uint8)
    start = -room.ctypes.data % LINE
    buffer = room[start : start + size]
    file.seek(0)
    if file.readinto(buffer) != size:
        raise ModelFileError(f"{path} changed while it was being read; try again")
    return buffer


def _array(path: Path, entry: Any, data: np.ndarray) -> np.ndarray:
    """Return the array that an entry describes, as a view of the file's data."""
    try:
        dtype, shape, order, at = entry["dtype"], entry["shape"], entry["order"], entry["at"]
        sound = (
            isinstance(dtype, str)
            and PLAIN_DTYPE.fullmatch(dtype) is not None
            and isinstance(shape, list)
            and len(shape) <= MOST_AXES
            and all(type(side) is int and 0 <= side <= len(data) + LINE for side in (*shape, at))  # empty ones too
            and order in ("C", "F")
        )
        kind = np.dtype(dtype) if sound else None
        if kind is None or at % LINE or at + prod(shape) * kind.itemsize > len(data):
            raise ValueError
        if prod(shape) * kind.itemsize == 0:
            return np.empty(shape, dtype=kind, order=order)
        check_items(data[at : at + prod(shape) * kind.itemsize], kind)
        return np.ndarray(shape, dtype=kind, buffer=data, offset=at, order=order)
    except (KeyError, TypeError, ValueError, MemoryError):
        raise ModelFileError(
            f"{path} describes an array that it does not contain; get a new copy of the file"
        ) from None


def _as_they_lay(path: Path, entries: list[Any], arrays: list[np.ndarray], room: int) -> list[np.ndarray]:
    """Return arrays with the gaps that they had in memory, which may take so much room: products may differ without."""
    for place, (entry, array) in enumerate(zip(entries, arrays, strict=True)):
        if "strides" not in entry or not array.size:
            continue
        try:
            strides, span = entry["strides"], _span(array.shape, entry["strides"], array.itemsize)
            room -= span
            if room < 0 or any(step % array.itemsize for step in strides):
                raise ValueError
            start = sum((side - 1) * -step for side, step in zip(array.shape, strides, strict=True) if step < 0)
            arrays[place] = np.ndarray(array.shape, array.dtype, np.zeros(span, np.uint8), start, strides)
        except (OverflowError, TypeError, ValueError, MemoryError):
            raise ModelFileError(f"{path} has an array with gaps that do not fit it; get a new copy") from None
        arrays[place][...] = array
    return arrays


def _span(shape: Any, strides: Any, itemsize: int) -> int:
    """Return the bytes from the first of an array's items to the last."""
    return sum((side - 1) * abs(step) for side, step in zip(shape, strides, strict=True)) + itemsize


def _has_gaps(array: np.ndarray) -> bool:
    """Say whether to write the steps of an array in memory: it is in neither order, as a part of another may be."""
    if array.flags.c_contiguous or array.flags.f_contiguous or not array.size:
        return False
    whole = not any(step % array.itemsize for step in array.strides)
    return whole and _span(array.shape, array.strides, array.itemsize) <= MOST_GAPS * array.nbytes


def check_items(data: np.ndarray, dtype: np.dtype[Any]) -> None:
    """Refuse bytes that are no truth values, or no characters: NumPy counts on either, and would write elsewhere."""
    if (dtype.kind == "b" and data.max() > 1) or (dtype.kind == "U" and data.view("<u4").max() > LAST_CHARACTER):
        raise ValueError("truth values must be 0 or 1, and characters must exist")


def _chunks(arrays: list[np.ndarray]) -> Iterator[Any]:
    """Yield the bytes of every array, in its own order, and what fills its last line."""
    for array in arrays:
        order = _order(array)
        flat = np.asarray(array, dtype=_little(array.dtype), order=order).reshape(-1, order=order)
        yield flat.view(np.uint8).data if flat.nbytes else b""
        yield bytes(_padded(flat.nbytes) - flat.nbytes)


def _order(array: np.ndarray) -> Literal["C", "F"]:
    """Return how an array lies in memory: products may round differently if it is another way round."""
    steps = [abs(step) for step in array.strides]
    rising = array.flags.f_contiguous or (array.ndim > 1 and steps == sorted(steps))
    return "F" if rising and not array.flags.c_contiguous else "C"


def _little(dtype: np.dtype[Any]) -> np.dtype[Any]:
    return dtype.newbyteorder("<")


def _padded(size: int) -> int:
    return -(-size // LINE) * LINE
