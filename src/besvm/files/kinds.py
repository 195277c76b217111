"""What a file can hold besides plain data: how each kind of value is written as JSON, and read back.

Plain data (None, bool, int, finite float, str, lists, dicts with texts as keys) stands for itself; anything else is a
dict with the key "$", which names its kind. What a kind makes of a file is made of plain parts, by constructors that
are named here, after its sizes and types were checked.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np

Pack = Callable[[Any, str], Any]  # a value, and what to call it in messages -> plain data
Unpack = Callable[[Any], Any]  # plain data -> the value


class UnsavableError(TypeError):
    """A value that a file cannot hold, with a sentence that says which, and what to do."""


class UnsoundError(ValueError):
    """Plain data of a file that means nothing."""


@dataclass(frozen=True)
class Kind:
    """One kind of value: what it is called, which values are of it, and how they are written and read."""

    tag: str
    matches: Callable[[Any], bool]
    pack: Callable[[Any, str, Pack, Callable[[np.ndarray], int]], dict[str, Any]]
    unpack: Callable[[dict[str, Any], Unpack, Callable[[int], np.ndarray]], Any]


def items_of(node: dict[str, Any], key: str = "items", length: int | None = None) -> list[Any]:
    items = node.get(key)
    if not isinstance(items, list) or (length is not None and len(items) != length):
        raise UnsoundError(f"{key} must be a list" + ("" if length is None else f" of {length}"))
    return items


def packed_all(values: Any, where: str, pack: Pack) -> list[Any]:
    return [pack(value, f"{where}[{place}]") for place, value in enumerate(values)]


def text_of(node: dict[str, Any], key: str) -> str:
    text = node.get(key)
    if not isinstance(text, str):
        raise UnsoundError(f"{key} must be a string")
    return text
