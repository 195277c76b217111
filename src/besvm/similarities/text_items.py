"""Items that are texts, or sequences of tokens: taken out of whatever holds them, and refused by number."""

from collections.abc import Callable, Hashable, Sequence
from typing import Any

import numpy as np

from besvm._support.parameters import shown
from besvm._support.rows import n_rows

OTHER = 1  # the code of every token that no exemplar has; 0 would do as well, but ends a text elsewhere

Coder = Callable[[Any], list[str]]


def texts(X: Any, what: str = "text") -> list[str]:
    """Return items as a list of texts; ``what`` is what a message calls one."""
    values = _values(X, what)
    if _all_texts(values):
        return values
    number = next(number for number, value in enumerate(values) if not isinstance(value, str))
    raise TypeError(f"{what}s must be strings, but {what} {number} is {_described(values[number])}")


def coded_like(basis: Any) -> tuple[list[str], Coder]:
    """Return exemplars as texts, and the function that makes texts of samples, to be compared with these.

    Texts are taken as they are. Of sequences of tokens, every token that an exemplar has becomes a character; all
    others become one more, since they are equal to nothing that they are compared with.
    """
    values = _values(basis, "text")
    if not values:
        return [], lambda X: [""] * n_rows(X)
    if not any(isinstance(value, (list, tuple, np.ndarray)) for value in values):
        return texts(values), texts
    codes: dict[Hashable, str] = {}
    for number, item in enumerate(values):
        for token in _tokens(item, number):
            codes.setdefault(token, chr(OTHER + 1 + len(codes)))

    def code(X: Any) -> list[str]:
        other = chr(OTHER)
        return [
            "".join([codes.get(token, other) for token in _tokens(item, number)])
            for number, item in enumerate(_values(X, "text"))
        ]

    return code(values), code


def _values(X: Any, what: str) -> list[Any]:
    n_rows(X)  # refuses what has none
    shape: tuple[int, ...] = getattr(X, "shape", ())
    if len(shape) == 2 and (hasattr(X, "iloc") or X.dtype.kind in "OUT"):
        if shape[1] != 1:
            raise ValueError(f"a table must have a single column of {what}s, got {shape[1]} columns; choose one")
        X = X.iloc[:, 0] if hasattr(X, "iloc") else X[:, 0]
    return X.tolist() if isinstance(X, np.ndarray) else list(X)


def _all_texts(values: list[Any]) -> bool:
    return all(issubclass(kind, str) for kind in set(map(type, values)))


def _tokens(item: Any, number: int) -> Sequence[Hashable]:
    if isinstance(item, np.ndarray) and item.ndim == 1:
        item = item.tolist()
    if not isinstance(item, (list, tuple)):
        raise TypeError(
            f"items must be strings, or all of them lists of tokens, but item {number} is {_described(item)}"
        )
    for token in item:
        if token is None or isinstance(token, (float, list, dict, set, bytes)) or not isinstance(token, Hashable):
            raise TypeError(f"tokens must be strings or whole numbers, but item {number} has {_described(token)}")
    return item


def _described(value: Any) -> str:
    """Say what a value is, and what to do about it."""
    if value is None or type(value).__name__ in ("NAType", "NaTType") or (isinstance(value, float) and value != value):
        return f"{shown(value)}; leave it out, or put a text in its place"
    if isinstance(value, bytes):
        return f"bytes, {shown(value)}; decode it"
    return f"{shown(value)} of type {type(value).__name__}"
