"""Tidy tables, a dictionary for every row, and what is read from them."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from typing import Any

Row = dict[str, Any]
Table = list[Row]


def where(table: Iterable[Row], **values: Any) -> Table:
    """Return the rows that have these values.

    Examples
    --------
    >>> where([{"a": 1, "b": 2}, {"a": 2, "b": 3}], a=2)
    [{'a': 2, 'b': 3}]
    """
    return [row for row in table if all(row.get(name) == value for name, value in values.items())]


def value(table: Iterable[Row], column: str, **values: Any) -> float | None:
    """Return the mean of a column over the rows that have these values; None if there are none.

    Examples
    --------
    >>> value([{"a": 1, "b": 2.0}, {"a": 1, "b": 3.0}], "b", a=1)
    2.5
    """
    found = [row[column] for row in where(table, **values) if row.get(column) is not None]
    return sum(found) / len(found) if found else None


def distinct(table: Iterable[Row], column: str) -> list[Any]:
    """Return the different values of a column, in order of appearance.

    Examples
    --------
    >>> distinct([{"a": 2}, {"a": 1}, {"a": 2}], "a")
    [2, 1]
    """
    return list(dict.fromkeys(row[column] for row in table if column in row))


def columns_of(table: Iterable[Row]) -> list[str]:
    """Return the columns that can be shown: those without lists in them.

    Examples
    --------
    >>> columns_of([{"a": 1, "long": [1, 2]}, {"a": 2, "b": 3}])
    ['a', 'b']
    """
    return list(dict.fromkeys(name for row in table for name, entry in row.items() if not isinstance(entry, list)))


def known(values: Iterable[float | None]) -> list[float] | None:
    """Return the values; None if one is missing, or there are none.

    Examples
    --------
    >>> known([0.5, 0.7]), known([0.5, None]), known([])
    ([0.5, 0.7], None, None)
    """
    several = list(values)
    found = [one for one in several if one is not None]
    return found if found and len(found) == len(several) else None


def of_all(reduce: Callable[[list[float]], float], values: Iterable[float | None]) -> float | None:
    """Return the least, greatest, mean ... of the values; None if one is missing.

    Examples
    --------
    >>> of_all(max, [0.5, 0.7]), of_all(max, [0.5, None])
    (0.7, None)
    """
    found = known(values)
    return None if found is None else float(reduce(found))


def minus(a: float | None, b: float | None) -> float | None:
    """Return a - b; None if one is missing."""
    return None if a is None or b is None else a - b
