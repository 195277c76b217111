"""What the page's program reads: named pieces, each compressed and written as text that no HTML can hide in."""

import base64
import json
import zlib
from typing import Any

import numpy as np

TYPES = {"i1": "Int8Array", "u1": "Uint8Array", "i2": "Int16Array", "u2": "Uint16Array", "i4": "Int32Array"}
TYPES |= {"u4": "Uint32Array", "f4": "Float32Array"}


class Payload:
    """Pieces of data by name, as base64: numbers and JSON compressed, pictures as they are.

    Examples
    --------
    >>> payload = Payload()
    >>> payload.add_array("sizes", np.array([1, 2], np.int32))
    >>> payload.pieces[0].name, payload.pieces[0].form
    ('sizes', 'Int32Array')
    """

    def __init__(self) -> None:
        self.pieces: list[Piece] = []

    def add_json(self, name: str, value: Any) -> None:
        """Add plain values."""
        self.pieces.append(Piece(name, "json", packed(value)))

    def add_array(self, name: str, values: np.ndarray) -> None:
        """Add an array of one of :data:`TYPES`; the page gets its numbers in one row."""
        form = TYPES[values.dtype.str[1:]]
        data = np.ascontiguousarray(values, values.dtype.newbyteorder("<")).tobytes()
        self.pieces.append(Piece(name, form, _compressed(data)))

    def add_picture(self, name: str, data: bytes, mime: str) -> None:
        """Add a picture file."""
        self.pieces.append(Piece(name, mime, base64.b64encode(data).decode()))


class Piece:
    """One piece: its name, what the program makes of it, and the text."""

    def __init__(self, name: str, form: str, text: str) -> None:
        self.name, self.form, self.text = name, form, text


def packed(value: Any) -> str:
    """Return plain values as they stand in the page."""
    text = json.dumps(value, ensure_ascii=False, separators=(",", ":"), allow_nan=False)
    return _compressed(text.encode("utf-8", "surrogatepass").decode("utf-8", "replace").encode())


def _compressed(data: bytes) -> str:
    return base64.b64encode(zlib.compress(data, 6)).decode()


def smallest_unsigned(values: np.ndarray) -> np.ndarray:
    """Return whole numbers of at least 0 in the smallest type of the page that holds them."""
    top = int(values.max(initial=0))
    return values.astype(np.uint8 if top < 1 << 8 else np.uint16 if top < 1 << 16 else np.uint32)
