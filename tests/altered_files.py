"""Model files that a stranger with a grudge has altered, and sealed again so that their checksum fits."""

import hashlib
import json
import struct
from pathlib import Path

import pytest

import besvm
from besvm.files import ModelFileError
from besvm.files.container import HEAD, LINE


def sealed(front: bytes, text: bytes, data: bytes) -> bytes:
    """Return a file with these parts whose checksum and sizes fit."""
    text = text.ljust(-(-len(text) // LINE) * LINE)
    magic, version, zero, *_ = HEAD.unpack(front)
    front = HEAD.pack(magic, version, zero, len(text), HEAD.size + len(text) + len(data), bytes(32))[:32]
    return front + hashlib.blake2b(front + text + data, digest_size=32).digest() + text + data


def parts(file: bytes) -> tuple[bytes, dict, bytes]:
    """Return the head, the description and the arrays of a file."""
    length = struct.unpack_from("<Q", file, 16)[0]
    return file[: HEAD.size], json.loads(file[HEAD.size : HEAD.size + length]), file[HEAD.size + length :]


def hostile(good: bytes, change) -> bytes:
    """Return the file with its description changed, and sealed again."""
    front, description, data = parts(good)
    new = change(description)
    return sealed(front, json.dumps(description if new is None else new).encode(), data)


def with_bytes(good: bytes, number: int, replacement: bytes) -> bytes:
    """Return the file with the first bytes of an array replaced, and sealed again."""
    front, description, data = parts(good)
    at = description["arrays"][number]["at"]
    data = data[:at] + replacement + data[at + len(replacement) :]
    return sealed(front, json.dumps(description).encode(), data)


def measure_of(description: dict) -> dict:
    """Return what a description has of the first measure."""
    return description["model"]["state"]["_map"]["state"]["expander"]["state"]["measures"][0]["state"]


def refuse(folder: Path, file: bytes, match: str) -> None:
    """Check that loading a file says in one short sentence what is wrong."""
    path = folder / "bad.besvm"
    path.write_bytes(file)
    with pytest.raises(ModelFileError, match=match) as caught:
        besvm.load(path)
    message = str(caught.value)
    assert str(path) in message
    assert "\n" not in message
    assert len(message) < 500
