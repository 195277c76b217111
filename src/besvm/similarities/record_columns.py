"""What a column of records holds, numbers, dates or categories, as arrays that can be compared."""

from dataclasses import dataclass
from datetime import UTC, date, datetime, timedelta
from typing import Any

import numpy as np

from besvm._support.parameters import shown
from besvm._support.records import as_float, is_missing, is_number, row_name

MEASURED = ("number", "date", "duration")  # families that have a range
MISSING, UNSEEN = -1, -2  # codes: of a value that is not there, and of one that no exemplar has


@dataclass
class Values:
    """The values of a column: what they all are, as numbers or as categories."""

    family: str | None  # "number", "date", "duration", "truth value", "text", ...; None if all are missing
    items: Any  # numbers: an array of float64, NaN where missing; categories: a list, None where missing

    @property
    def categories(self) -> bool:
        """Whether only being equal counts."""
        return isinstance(self.items, list)


def read(X: Any, column: Any, values: Any, categories: bool | None = None) -> Values:
    """Return the values of a column of X, as that holds it, as categories or not; None: as its type says.

    A column with values of several families is refused.
    """
    kind = getattr(getattr(values, "dtype", None), "kind", "O")
    if kind in "Mm":
        return _times(kind, values, bool(categories))
    if kind in "iuf" and not categories:
        frame = hasattr(values, "iloc")
        numbers = values.to_numpy(dtype=np.float64, na_value=np.nan) if frame else np.asarray(values, np.float64)
        return Values(None if np.isnan(numbers).all() else "number", _finite(X, column, numbers, numbers))
    items = values.tolist() if hasattr(values, "tolist") else list(values)
    missing = values.isna().tolist() if hasattr(values, "isna") else [is_missing(item) for item in items]
    items = [None if gone else item for item, gone in zip(items, missing, strict=True)]
    family = _family(X, column, items)
    if categories is None:
        categories = hasattr(values, "cat") or family not in MEASURED
    if categories:
        return Values(family, items)
    if family in ("date", "duration"):
        kind, plain = ("M", _plain_date) if family == "date" else ("m", np.timedelta64)
        return _times(kind, np.array([None if item is None else plain(item) for item in items], dtype=f"{kind}8[us]"))
    if family in ("number", "truth value", None):
        numbers = np.array([np.nan if item is None else as_float(item) for item in items], dtype=np.float64)
        return Values(family, _finite(X, column, numbers, items))
    return Values(family, items)  # of another family than it should be


def _times(kind: str, values: Any, categories: bool = False) -> Values:
    """Return dates and durations as seconds; dates with a time zone are those of UTC."""
    unit = f"{kind}8[us]"
    array = values.to_numpy(dtype=unit) if hasattr(values, "iloc") else np.asarray(values).astype(unit)
    gone = np.isnat(array)
    seconds = np.where(gone, np.nan, array.astype(np.int64) / 1e6)
    family = None if gone.all() else "date" if kind == "M" else "duration"
    items = [None if number != number else number for number in seconds.tolist()] if categories else seconds
    return Values(family, items)


def _plain_date(item: Any) -> Any:
    """Return a date as NumPy takes it: without a time zone."""
    if getattr(item, "tzinfo", None) is not None:
        item = item.astimezone(UTC).replace(tzinfo=None)
    return np.datetime64(item, "us")


def _finite(X: Any, column: Any, numbers: np.ndarray, given: Any) -> np.ndarray:
    """Return a column as numbers, refused where one of what was given is no finite one."""
    wrong = np.flatnonzero(np.isinf(numbers))
    if len(wrong):
        raise ValueError(
            f"column {column!r} must hold finite numbers (of at most 1.8e308), or missing ones, got "
            f"{shown(np.asarray(given[wrong[0]]).item())} in row {row_name(X, int(wrong[0]))}"
        )
    return numbers


def _family(X: Any, column: Any, items: list[Any]) -> str | None:
    """Return what all items are that are there; None if there are none."""
    first: dict[str, int] = {}  # families, each with the first row of it
    seen: dict[type, str] = {}
    for row, item in enumerate(items):
        if item is None:
            continue
        kind = type(item)
        if kind not in seen:
            seen[kind] = _family_of(X, column, item, row)
        first.setdefault(seen[kind], row)
    if len(first) > 1:
        (_, one), (_, other), *_ = first.items()
        raise TypeError(
            f"column {column!r} must hold values of one kind, got {shown(items[one])} in row {row_name(X, one)} and "
            f"{shown(items[other])} in row {row_name(X, other)}"
        )
    return next(iter(first), None)


def _family_of(X: Any, column: Any, item: Any, row: int) -> str:
    if isinstance(item, (bool, np.bool_)):
        return "truth value"
    if is_number(item) or type(item).__name__ == "Decimal":
        return "number"
    if isinstance(item, str):
        return "text"
    if isinstance(item, (date, datetime, np.datetime64)):
        return "date"
    if isinstance(item, (timedelta, np.timedelta64)):
        return "duration"
    try:
        hash(item)
    except TypeError:
        raise TypeError(
            f"column {column!r} must hold numbers, dates or categories, got a {type(item).__name__} in row "
            f"{row_name(X, row)}; use a separate measure for it, as in Measure(..., column={column!r})"
        ) from None
    return type(item).__name__


def codes_of(items: list[Any], known: dict[Any, int]) -> np.ndarray:
    """Return the number of every category."""
    return np.array([MISSING if item is None else known.get(item, UNSEEN) for item in items], dtype=np.int32)
