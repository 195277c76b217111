"""What is read: samples with their classes and names, and what a source of them says before it is read."""

from __future__ import annotations

import re
from abc import ABC, abstractmethod
from collections.abc import Callable, Generator, Mapping
from dataclasses import dataclass, field, replace
from typing import Any, Protocol

import numpy as np

from besvm._support.parameters import shown
from besvm._support.rows import n_rows, take

KINDS = ("images", "series", "text", "sequences", "vectors", "records", "precomputed")
PLURAL = {"number": "numbers", "date": "dates", "category": "categories", "text": "texts"}  # that columns may hold
TYPES = tuple(PLURAL)
LONGEST_FIELD = 1 << 24  # characters: an unclosed quote is not to swallow the rest of a large file
BLOCK_BYTES = 1 << 27  # of a block, where the size of samples is known

_WHOLE = re.compile(r"([-+]?\d+)\.0*")


@dataclass
class Data:
    """Samples as they were read from somebody's files.

    Attributes
    ----------
    X : the samples
        "images": an array (n, height, width, 3) of uint8; "series": an array (n, moments) or (n, channels, moments), or
        a list of arrays where lengths differ; "text" and "sequences": a list of strings; "vectors" and "precomputed":
        an array (n, columns) of float64; "records": a list of dicts, a value for each column, None where it is missing.
    y : ndarray of str, or None
        The classes, as they are called in the file; None where it has none.
    kind : str
        One of the kinds above.
    names : list of str
        What every sample is called: its file, what the column "id" says, or the number of its row, from 1 on.
    columns : dict of str to str, or None
        Of a table, the columns that are compared, with what each holds: "number", "date", "category" or "text".
    label : str or None
        The column that holds the classes.
    size : (int, int) or None
        Height and width of the images.
    source : str
        The name of the file or folder, without the folders around it.
    said : str
        One line about what was found, and what of it was guessed.

    Examples
    --------
    >>> import numpy as np
    >>> from besvm.inputs import Data
    >>> data = Data(["ann", "bob"], np.array(["f", "m"]), kind="text", names=["1", "2"], source="names.csv")
    >>> len(data), data.take([1]).X
    (2, ['bob'])
    """

    X: Any
    y: np.ndarray | None
    kind: str
    names: list[str]
    columns: dict[str, str] | None = None
    label: str | None = None
    size: tuple[int, int] | None = None
    source: str = ""
    said: str = ""

    def __len__(self) -> int:
        return n_rows(self.X)

    def take(self, rows: Any) -> Data:
        """Return some of the samples, in that order."""
        y = None if self.y is None else self.y[rows]
        return replace(self, X=take(self.X, rows), y=y, names=[self.names[row] for row in rows])


@dataclass(frozen=True)
class Asked:
    """What a user, or a trained model, says of the samples; the rest is guessed."""

    kind: str | None = None
    label: str | None = None
    columns: dict[str, str | None] | None = None  # names with their types, None where these are to be found out
    size: tuple[int, int] | None = None
    skip_unreadable: bool = False

    @property
    def typed(self) -> dict[str, str] | None:
        """The columns, if the type of every one is known, as a trained model says them."""
        columns = self.columns or {}
        known = {name: kind for name, kind in columns.items() if kind is not None}
        return known if columns and len(known) == len(columns) else None


@dataclass(frozen=True)
class Layout:
    """What a source holds, known before its samples are read."""

    kind: str
    columns: dict[str, str] | None = None
    label: str | None = None
    naming: str | None = None  # the column of names
    size: tuple[int, int] | None = None
    rows: int | None = None  # None: nobody has counted
    nbytes: int = 0  # that the samples will take in memory
    said: str = ""


@dataclass
class Block:
    """Some samples in a row, as a source yields them."""

    X: Any
    labels: list[str] | None
    names: list[str] = field(default_factory=list)
    kept: list[bool] | None = None  # which of the source's samples these are, where some may have been left out


class Meter(Protocol):
    """How much there is to read, in bytes or samples (0: nobody knows), and how much was read so far."""

    total: int
    done: int


@dataclass
class Counter:
    """A meter of samples."""

    total: int = 0
    done: int = 0


class Source(ABC):
    """Abstract: a file or folder of samples, described first and then read block by block."""

    what: str = "a file"  # in words, for messages
    kinds: tuple[str, ...] = ()  # that it can be read as
    watcher: Callable[[], None] | None = None  # called now and then while it is looked at

    def __init__(self, name: str, meter: Meter) -> None:
        self.name = name  # without the folders around it
        self.meter = meter

    @abstractmethod
    def layout(self, asked: Asked) -> Layout:
        """Say what is in it; refuse what cannot be what was asked for."""

    @abstractmethod
    def blocks(self, layout: Layout, rows: int) -> Generator[Block]:
        """Yield the samples, at most so many at a time."""

    def refuse_kind(self, kind: str | None) -> None:
        """Refuse a kind of data that this cannot be read as."""
        if kind is not None and kind not in self.kinds:
            raise ValueError(f"{self.name} must hold {kind}, but is {self.what}")


def check_kind(kind: Any) -> None:
    """Refuse what is no kind of data."""
    if not (kind is None or kind in KINDS):
        raise ValueError(f"kind must be one of {', '.join(KINDS)}, got {shown(kind)}")


def as_columns(columns: Any) -> dict[str, str | None] | None:
    """Return the columns that a user means: by name, or "name:type", or as a trained model keeps them."""
    if columns is None:
        return None
    if isinstance(columns, Mapping):
        pairs = [(str(name), kind) for name, kind in columns.items()]
    else:
        pairs = [_named_type(str(column)) for column in columns]
    if not pairs:
        raise ValueError("columns must name at least one column, got none")
    for name, kind in pairs:
        if not (kind is None or kind in TYPES):
            raise ValueError(f"the type of column {name!r} must be one of {', '.join(TYPES)}, got {shown(kind)}")
    return dict(pairs)


def _named_type(text: str) -> tuple[str, str | None]:
    name, colon, kind = text.rpartition(":")
    return (name, kind) if colon and kind in TYPES else (text, None)


def as_label(value: Any) -> str:
    """Return a class as text, empty where there is none.

    Whatever file they come from, whole numbers are written without a point, and NaN, a missing number, is no class.
    """
    text = "" if value is None else str(value).strip()
    if text.lower() == "nan":
        return ""
    whole = _WHOLE.fullmatch(text)
    return whole[1] if whole else text


def counted(n: int, what: str) -> str:
    """Return a number of things in words, as in "1,200 rows" or "1 row"."""
    one = {"series": "series", "classes": "class", "categories": "category"}.get(what, what.removesuffix("s"))
    return f"{n:,} {what if n != 1 else one}"
