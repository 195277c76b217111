"""What the columns of a table hold: found out from their values, and made of them."""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence
from datetime import UTC, date, datetime
from typing import Any

import numpy as np

from besvm._support.parameters import shown

MISSING = frozenset(("", "?", "NA", "N/A", "NaN", "nan", "null", "NULL"))  # where a number should be
MOSTLY = 0.9  # a column with so large a share of numbers is one of numbers, and the rest mistakes
LONG = 40  # characters on average: what is longer is no category
COUNTED = 100_000  # different values that are told apart
DAY = re.compile(r"\d{4}-\d\d-\d\d(?:[T ]\d\d:\d\d(?::\d\d(?:\.\d+)?)?)?(?:Z|[+-]\d\d:?\d\d)?")
SYMBOLS = frozenset("ABCDEFGHIKLMNPQRSTVWXYZ*-")  # of proteins and DNA
RNA = frozenset("ACGUN*-")
SHORTEST_SEQUENCE = 8  # on average

Where = Callable[[int], str]  # what a message calls a line


class Distinct:
    """How many different values there are, up to a bound: eight bytes of each are kept."""

    def __init__(self) -> None:
        self.many = False  # whether there are more than are told apart
        self._known = np.empty(0, dtype=np.int64)
        self._new: list[np.ndarray] = []

    def add(self, values: Sequence[Any]) -> None:
        """Look at more values."""
        if self.many:
            return
        self._new.append(np.unique(_hashes(values)))
        if 2 * sum(map(len, self._new)) > len(self._known):
            self.many = self.n >= COUNTED
        if self.many:
            self._known = np.empty(0, dtype=np.int64)

    @property
    def n(self) -> int:
        """How many there are, where these are not too many."""
        if self._new:
            self._known, self._new = np.unique(np.concatenate([self._known, *self._new])), []
        return len(self._known)

    @property
    def n_there(self) -> int:
        """How many there are besides those that stand for missing ones."""
        return self.n - int(np.isin(_hashes(list(MISSING)), self._known).sum())


class Profile:
    """What is known of a column after some of its values."""

    def __init__(self) -> None:
        self.n = self.missing = self.numbers = self.dates = self.length = 0
        self.distinct = Distinct()
        self.odd: tuple[int, Any] | None = None  # the first line whose value is no number, and that value
        self.symbols: set[str] = set()

    def add(self, values: Sequence[Any], lines: Sequence[int]) -> None:
        """Look at more values, and on which lines they are."""
        self.n += len(values)
        self.distinct.add(values)
        numbers = _quick_numbers(values)
        if numbers is not None:
            gone = int(np.isnan(numbers).sum())
            self.missing += gone
            self.numbers += len(values) - gone
            return
        for value, line in zip(values, lines, strict=True):
            number = number_of(value)
            if number is None:
                self.odd = self.odd or (line, value)
                text = str(value)
                self.dates += _is_date(value)
                self.length += len(text)
                if len(self.symbols) <= len(SYMBOLS):
                    self.symbols.update(text)
            elif number != number:
                self.missing += 1
            else:
                self.numbers += 1

    @property
    def there(self) -> int:
        """How many values are not missing."""
        return self.n - self.missing

    @property
    def type(self) -> str | None:
        """What the column holds; None where every value is missing."""
        if self.there == 0:
            return None
        if self.numbers == self.there:
            return "number"
        if self.dates == self.there:
            return "date"
        many = self.distinct.many or self.distinct.n_there > self.there / 2
        return "text" if many or self.length > LONG * self.there else "category"

    @property
    def names_rows(self) -> bool:
        """Whether no value occurs twice, so that it may be a name for its row."""
        return self.missing == 0 and (self.distinct.many or self.distinct.n == self.n)

    @property
    def of_sequences(self) -> bool:
        """Whether the texts are sequences of the letters of proteins, DNA or RNA."""
        letters = self.symbols <= SYMBOLS or self.symbols <= RNA
        return letters and self.length >= SHORTEST_SEQUENCE * self.there > 0 == self.numbers

    def refuse_mixed(self, name: str, where: Where) -> None:
        """Refuse a column of numbers in which some are none."""
        if self.odd is not None and MOSTLY * self.there <= self.numbers < self.there:
            line, value = self.odd
            raise ValueError(
                f"{where(line)} must have a number in column {name!r}, as {self.numbers:,} of {self.there:,} rows do, "
                f"got {shown(value)}; correct it, or pass the column as {name + ':category'!r} if it does not hold "
                "numbers"
            )


def _hashes(values: Sequence[Any]) -> np.ndarray:
    """Return what tells values from each other; not by their own hashes, which -1 and -2 have alike."""
    return np.array([hash(value if isinstance(value, str) else repr(value)) for value in values], dtype=np.int64)


def number_of(value: Any) -> float | None:
    """Return the number that a value is, NaN if it stands for a missing one, and None if it is something else."""
    if value is None:
        return np.nan
    if isinstance(value, str):
        if value.strip() in MISSING:
            return np.nan
        try:
            return None if "_" in value else float(value)
        except ValueError:
            return None
    return float(value) if isinstance(value, (int, float)) and not isinstance(value, bool) else None


def numbers(name: str, values: Sequence[Any], lines: Sequence[int], where: Where) -> np.ndarray:
    """Return a column as numbers, NaN where they are missing."""
    out = _quick_numbers(values)
    if out is None:
        found = [number_of(value) for value in values]
        if None in found:
            place = found.index(None)
            raise ValueError(
                f"{where(lines[place])} must have a number in column {name!r}, got {shown(values[place])}; correct it"
            )
        out = np.array(found, dtype=np.float64)
    infinite = np.isinf(out)
    if infinite.any():
        place = int(infinite.argmax())
        raise ValueError(f"{where(lines[place])} must have a finite number in column {name!r}, got {out[place]}")
    return out


def dates(name: str, values: Sequence[Any], lines: Sequence[int], where: Where) -> np.ndarray:
    """Return a column of dates as days since 1970, NaN where they are missing."""
    out = np.full(len(values), np.nan)
    for place, value in enumerate(values):
        if _is_date(value):
            out[place] = _days(value)
        elif value is not None and str(value).strip() not in MISSING:
            raise ValueError(
                f"{where(lines[place])} must have a date such as 2024-12-31 in column {name!r}, got {shown(value)}"
            )
    return out


def categories(values: Sequence[Any]) -> list[str | None]:
    """Return a column of categories, None where they are missing."""
    return [None if value is None or not (text := str(value).strip()) else text for value in values]


def texts(values: Sequence[Any]) -> list[str]:
    """Return a column of texts, empty where they are missing."""
    return ["" if value is None else str(value).strip() for value in values]


def _quick_numbers(values: Sequence[Any]) -> np.ndarray | None:
    """Return values as numbers if Python takes all of them for such at once; None if it does not."""
    try:
        out = np.array(list(map(float, values)), dtype=np.float64)
    except (TypeError, ValueError, OverflowError):
        return None
    odd = any(map(_oddly_written, values))
    return None if odd else out


def _oddly_written(value: Any) -> bool:
    return isinstance(value, bool) or (isinstance(value, str) and "_" in value)


def _is_date(value: Any) -> bool:
    if isinstance(value, date):
        return True
    if not (isinstance(value, str) and DAY.fullmatch(value.strip())):
        return False
    try:
        datetime.fromisoformat(value.strip())
    except ValueError:
        return False
    return True


def _days(value: Any) -> float:
    moment = datetime.fromisoformat(value.strip()) if isinstance(value, str) else value
    if not isinstance(moment, datetime):
        moment = datetime(moment.year, moment.month, moment.day)
    if moment.tzinfo is None:
        moment = moment.replace(tzinfo=UTC)
    return moment.timestamp() / 86400
