"""Weka's .arff files: declared attributes, then a row of values on every line; a strict reader, without sparse rows."""

from __future__ import annotations

import re
from collections.abc import Generator, Iterator, Sequence
from itertools import pairwise
from typing import Any, NamedTuple

import numpy as np

from besvm._support.parameters import shown
from besvm.inputs.contract import Asked, as_label, counted
from besvm.inputs.lines import Lines
from besvm.inputs.series import One, SeriesSource
from besvm.inputs.table import TableSource

NUMERIC = ("numeric", "real", "integer")
MOMENTS = 20  # numbers with numbered names: so many of them are a series, and fewer a row of a table
ATTRIBUTE = re.compile(r"@attribute\s+('(?:[^'\\]|\\.)*'|\"(?:[^\"\\]|\\.)*\"|\S+)\s+(.+)", re.IGNORECASE)
NUMBERED = re.compile(r"[A-Za-z_]*(\d+)")
ESCAPED = re.compile(r"\\(.)")
ESCAPES = {"n": "\n", "t": "\t", "r": "\r"}


class Attribute(NamedTuple):
    """A column: its name, "number", "category", "text" or "series", and the categories there may be."""

    name: str
    kind: str
    values: tuple[str, ...] = ()


class Head(NamedTuple):
    """What stands before the rows: the attributes, and the line @data."""

    attributes: list[Attribute]
    line: int


class ArffTable(TableSource):
    """An .arff file whose rows hold numbers, categories and texts."""

    what = "a table in an .arff file"

    def __init__(self, lines: Lines, head: Head) -> None:
        super().__init__(lines.name, lines)
        self.lines, self.head = lines, head

    @property
    def declared(self) -> dict[str, str]:
        return {attribute.name: attribute.kind for attribute in self.head.attributes if attribute.kind != "text"}

    @property
    def bytes_read(self) -> int:
        return self.lines.done

    def header(self, asked: Asked) -> list[str]:
        return [attribute.name for attribute in self.head.attributes]

    def likely_kind(self, columns: dict[str, str]) -> str | None:
        numbered = [NUMBERED.fullmatch(name) for name, kind in columns.items() if kind == "number"]
        in_order = [int(found[1]) for found in numbered if found]
        steps = {b - a for a, b in pairwise(in_order)}
        return "series" if MOMENTS <= len(columns) == len(in_order) and steps == {1} else None

    def records(self) -> Iterator[tuple[int, Sequence[Any]]]:
        return rows_of(self.lines, self.head)


class ArffSeries(SeriesSource):
    """An .arff file whose rows hold a series of several channels each, as those of the UEA archive."""

    what = "time series in an .arff file"

    def __init__(self, lines: Lines, head: Head) -> None:
        super().__init__(lines)
        self.head = head
        kinds = [attribute.kind for attribute in head.attributes]
        self.place = kinds.index("series")
        others = [place for place in range(len(kinds)) if place != self.place]
        if len(others) > 1 or kinds.count("series") > 1:
            raise ValueError(
                f"{self.name} must have one relational attribute and one class attribute, got "
                f"{counted(len(kinds), 'attributes')}"
            )
        self.label = others[0] if others else None

    def series(self) -> Generator[One]:
        for line, values in rows_of(self.lines, self.head):
            channels = [self.parsed(row.split(","), line) for row in str(values[self.place]).split("\n")]
            if len({len(channel) for channel in channels}) > 1:
                raise ValueError(f"{self.where(line)} must have channels of the same length, got different lengths")
            label = None if self.label is None else as_label(values[self.label])
            yield One(channels[0] if len(channels) == 1 else np.stack(channels), label, line)


def open_arff(lines: Lines) -> ArffTable | ArffSeries:
    """Return what reads an .arff file."""
    head = _read_head(lines)
    of_series = any(attribute.kind == "series" for attribute in head.attributes)
    return ArffSeries(lines, head) if of_series else ArffTable(lines, head)


def rows_of(lines: Lines, head: Head) -> Iterator[tuple[int, list[Any]]]:
    """Yield the rows below @data: their lines and values, None where one is missing."""
    for number, line in enumerate(lines, start=1):
        text = line.strip()
        if number <= head.line or not text or text.startswith("%"):
            continue
        if text.startswith("{"):
            raise ValueError(
                f"{lines.where(number)} must have a value for every attribute, got a sparse row; write it out in full"
            )
        found = _values(text, lines, number)
        if len(found) != len(head.attributes):
            raise ValueError(
                f"{lines.where(number)} must have {counted(len(head.attributes), 'values')}, one for every attribute, "
                f"got {len(found)}; correct or remove it"
            )
        for attribute, value in zip(head.attributes, found, strict=True):
            if attribute.values and value is not None and value not in attribute.values:
                raise ValueError(
                    f"{lines.where(number)} must have one of the categories declared for {attribute.name!r}, "
                    f"got {shown(value)}"
                )
        yield number, found


def _read_head(lines: Lines) -> Head:
    attributes: list[Attribute] = []
    inside = False  # a relational attribute, whose own attributes only say how long a series is
    for number, line in enumerate(lines, start=1):
        text = line.strip()
        word = text.split(" ")[0].split("\t")[0].lower()
        if not text or text.startswith("%") or word == "@relation":
            continue
        if word == "@data":
            if not attributes:
                raise ValueError(f"{lines.name} must declare its columns with @attribute before @data, but does not")
            return Head(attributes, number)
        if word == "@end":
            inside = False
        elif word == "@attribute":
            if not inside:
                attributes.append(_attribute(text, lines, number))
                inside = attributes[-1].kind == "series"
        else:
            raise ValueError(f"{lines.where(number)} must be @relation, @attribute or @data, got {shown(text)}")
    raise ValueError(f"{lines.name} must have a line @data before the rows, but has none; is it an .arff file?")


def _attribute(text: str, lines: Lines, number: int) -> Attribute:
    found = ATTRIBUTE.fullmatch(text)
    if found is None:
        raise ValueError(f"{lines.where(number)} must be @attribute, a name and a type, got {shown(text)}")
    name, declared = _unquoted(found[1]), found[2].strip()
    if declared.startswith("{") and declared.endswith("}"):
        values = _values(declared[1:-1], lines, number)
        return Attribute(name, "category", tuple("" if value is None else value for value in values))
    kind = declared.split(" ")[0].lower()
    if kind in NUMERIC:
        return Attribute(name, "number")
    kinds = {"string": "text", "date": "text", "relational": "series"}
    if kind not in kinds:
        raise ValueError(
            f"{lines.where(number)} must declare numeric, {{categories}}, string, date or relational, "
            f"got {shown(declared)}"
        )
    return Attribute(name, kinds[kind])


def _values(text: str, lines: Lines, number: int) -> list[str | None]:
    """Return the values between commas; quotes, single or double, may hold commas and escaped characters."""
    out: list[str | None] = []
    place, end = 0, len(text)
    while place <= end:
        while place < end and text[place] in " \t":
            place += 1
        if place < end and text[place] in "'\"":
            close = _closing(text, place)
            if close < 0:
                raise ValueError(f"{lines.where(number)} cannot be read, because a quote is not closed; correct it")
            out.append(_unquoted(text[place : close + 1]))
            place = close + 1
            while place < end and text[place] in " \t":
                place += 1
            if place < end and text[place] != ",":
                raise ValueError(
                    f"{lines.where(number)} cannot be read, because there is no comma after a quote; correct it"
                )
        else:
            comma = text.find(",", place)
            comma = end if comma < 0 else comma
            plain = text[place:comma].strip()
            out.append(None if plain == "?" else plain)
            place = comma
        place += 1
    return out


def _closing(text: str, start: int) -> int:
    """Return where the quote that opens at ``start`` is closed; -1 if it is not."""
    place = start + 1
    while place < len(text):
        if text[place] == "\\":
            place += 1
        elif text[place] == text[start]:
            return place
        place += 1
    return -1


def _unquoted(text: str) -> str:
    if len(text) > 1 and text[0] == text[-1] and text[0] in "'\"":
        return ESCAPED.sub(lambda found: ESCAPES.get(found[1], found[1]), text[1:-1])
    return text
