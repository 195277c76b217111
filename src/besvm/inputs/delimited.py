"""CSV and TSV files, and plain lines of text."""

from __future__ import annotations

import csv
import re
from collections.abc import Generator, Iterator, Sequence
from contextlib import ExitStack, closing
from dataclasses import dataclass, replace
from functools import partial
from itertools import islice
from typing import Any

from besvm._support.settings import SharedSetting
from besvm.inputs.columns import number_of
from besvm.inputs.contract import LONGEST_FIELD, Asked, Block, Layout, Source, counted
from besvm.inputs.lines import Lines
from besvm.inputs.table import LABELS, MANY, TableSource

SHORT = 1 << 12  # characters of a row that nobody forbids
LOOKED_AT = 50  # lines that tell whether the first one names the columns
DELIMITERS = (",", "\t", ";")
DECIMAL_COMMA = re.compile(r"\s*[-+]?\d*,\d+(?:[eE][-+]?\d+)?\s*")  # as in "1,5", where no comma parts the values
THOUSANDS = re.compile(r"\s*[-+]?[1-9]\d{0,2},\d{3}\s*")  # which such a number may be as well
LARGE = re.compile(r"\s*[-+]?[1-9]\d{2,}(?:\.\d*)?\s*")
CAUSES = {  # of what the csv module complains about
    "end of data": "a quote that is not closed",
    "limit": f"a quote that is not closed, or a value of more than {LONGEST_FIELD:,} characters",
    "new-line": "a carriage return in the middle of it; lines must end in a line feed",
}

_long_fields = SharedSetting(lambda: partial(csv.field_size_limit, csv.field_size_limit(LONGEST_FIELD)))


@dataclass
class Commas:
    """What is known of a column with decimal commas."""

    known: bool = False  # whether some cannot stand for thousands
    doubtful: tuple[int, str] | None = None  # the first line and value that may be of thousands
    large: bool = False  # whether a number without a comma is as large as those have to be, before thousands begin

    def add(self, values: Sequence[str], lines: Sequence[int]) -> None:
        """Look at more values, and on which lines they are."""
        self.large = self.large or any(map(LARGE.fullmatch, values))
        if self.known or not any("," in value for value in values):
            return
        for line, value in zip(lines, values, strict=True):
            if "," in value and DECIMAL_COMMA.fullmatch(value):
                thousands = THOUSANDS.fullmatch(value) is not None
                self.known = self.known or not thousands
                self.doubtful = self.doubtful or (line, value.strip())


class Delimited(TableSource):
    """A table in a text file, with commas or tabs between its values, and maybe a first line that names the columns."""

    def __init__(self, lines: Lines, delimiter: str) -> None:
        super().__init__(lines.name, lines)
        self.lines, self.delimiter = lines, delimiter
        self._has_header = True
        self._width = 0
        self._commas: list[Commas] = []

    @property
    def bytes_read(self) -> int:
        return self.lines.done

    def first(self) -> None:
        self.lines.copy()

    def header(self, asked: Asked) -> list[str]:
        head = fields_of(self.lines, self.delimiter)
        if not head:
            raise ValueError(f"{self.name} must hold samples, but is empty")
        first = [field.strip() for field in head[0]]
        self._width = len(first)
        wanted, named = list(asked.columns or ()), _names_columns(head) or _names_classes(head, asked.label)
        numbered = [str(number + 1) for number in range(len(first))]
        by_number = set(wanted) <= set(numbered) and not named
        self._has_header = named if not wanted or by_number else set(wanted) <= set(first)
        if self._has_header or (named and not by_number):
            return first
        if by_number or len(wanted) != len(first):
            return numbered
        return wanted  # without names, but as many as the model compares: in its order

    def layout(self, asked: Asked) -> Layout:
        layout = super().layout(asked)
        self._refuse_thousands(layout)
        found = [name for name, _ in self._with_commas(layout)]
        listed = ", ".join(map(repr, found[:MANY])) + (", ..." if len(found) > MANY else "")
        said = f"; commas read as decimal points in {listed}" if found else ""
        return replace(layout, said=layout.said + said)

    def blocks(self, layout: Layout, rows: int) -> Generator[Block]:
        for block in super().blocks(layout, rows):
            self._refuse_thousands(layout)
            yield block

    def _transposed(self, rows: int) -> Iterator[tuple[list[int], list[Any]]]:
        if self.delimiter == ",":
            yield from super()._transposed(rows)
            return
        self._commas = [Commas() for _ in range(self._width)]
        for lines, columns in super()._transposed(rows):
            for commas, values in zip(self._commas, columns, strict=True):
                commas.add(values, lines)
            yield lines, [_with_points(values, self.delimiter) for values in columns]

    def _with_commas(self, layout: Layout) -> list[tuple[str, Commas]]:
        """Return the columns of numbers in which commas were found so far."""
        of_numbers = {name for name, kind in (layout.columns or {}).items() if kind == "number"}
        named = [(name, commas) for name, commas in zip(self._names, self._commas, strict=False) if name in of_numbers]
        return [(name, commas) for name, commas in named if commas.doubtful is not None]

    def _refuse_thousands(self, layout: Layout) -> None:
        """Refuse numbers whose commas may part thousands, by how large others are."""
        for name, commas in self._with_commas(layout):
            if commas.doubtful is not None and commas.large and not commas.known:
                line, value = commas.doubtful
                raise ValueError(
                    f"{self.where(line)} must have a number that can be read in one way only in column {name!r}, got "
                    f"{value!r}; write {value.replace(',', '')} or {value.replace(',', '.').rstrip('0').rstrip('.')}"
                )

    def records(self) -> Iterator[tuple[int, Sequence[str]]]:
        lines, widened, size = iter(self.lines), ExitStack(), 0

        def measured() -> Iterator[str]:  # the limit is that of the process: it is wide only while a long row is read
            nonlocal size
            for line in lines:
                if size <= SHORT < size + len(line):
                    widened.enter_context(_long_fields)
                size += len(line)
                yield line

        reader = csv.reader(measured(), delimiter=self.delimiter, strict=True)
        started, header = 0, self._has_header
        try:
            for fields in reader:
                if size > SHORT:
                    widened.close()
                size = 0
                line, started = started + 1, reader.line_num
                if not fields:  # an empty line
                    continue
                if header:
                    header = False
                    continue
                if len(fields) != self._width:
                    raise ValueError(
                        f"{self.where(line)} must have {counted(self._width, 'values')}, as the first line does, "
                        f"got {len(fields)}; correct or remove it"
                    )
                yield line, fields
        except csv.Error as error:
            said = next((words for part, words in CAUSES.items() if part in str(error)), str(error))
            raise ValueError(f"{self.where(started + 1)} cannot be read: {said}; correct or remove it") from None
        finally:
            widened.close()
            lines.close()


class TextLines(Source):
    """A text on every line, without classes."""

    kinds = ("text", "sequences")
    what = "lines of text"

    def __init__(self, lines: Lines) -> None:
        super().__init__(lines.name, lines)
        self.lines = lines

    def layout(self, asked: Asked) -> Layout:
        self.refuse_kind(asked.kind)
        said = f"{self.name}: a text on every line"
        return Layout(asked.kind or "text", nbytes=2 * self.meter.total, said=said)

    def blocks(self, layout: Layout, rows: int) -> Generator[Block]:
        with closing(iter(self.lines)) as lines:
            numbered = ((number, line.strip()) for number, line in enumerate(lines, start=1))
            there = ((number, line) for number, line in numbered if line)
            while block := list(islice(there, rows)):
                yield Block([line for _, line in block], None, [str(number) for number, _ in block])


def fields_of(lines: Lines, delimiter: str) -> list[list[str]]:
    """Return the values of the first lines."""
    head = lines.peek(LOOKED_AT)
    try:
        return [list(_with_points(fields, delimiter)) for fields in csv.reader(head, delimiter=delimiter) if fields]
    except csv.Error:  # whoever reads all lines will say which
        return [line.rstrip("\r\n").split(delimiter) for line in head[:1]]


def _with_points(fields: Sequence[str], delimiter: str) -> Sequence[str]:
    """Return numbers with a decimal comma as numbers with a point, where no comma parts the values."""
    if delimiter == ",":
        return fields
    return [field.replace(",", ".") if "," in field and DECIMAL_COMMA.fullmatch(field) else field for field in fields]


def delimiter_of(lines: Lines) -> str:
    """Return what stands between the values: commas or, where the first line has none but in numbers, another mark."""
    first = "".join(lines.peek(1))
    for mark in DELIMITERS[1:]:
        if mark in first and all("," not in field or DECIMAL_COMMA.fullmatch(field) for field in first.split(mark)):
            return mark
    return next((mark for mark in DELIMITERS if mark in first), DELIMITERS[0])


def all_numbers(fields: Sequence[str]) -> bool:
    """Say whether every value is a number, or a missing one."""
    return all(number_of(field) is not None for field in fields)


def _names_classes(head: list[list[str]], label: str | None) -> bool:
    """Say whether the first line names the column of classes, by a word that is none of the values below it."""
    return any(
        (field == label or field.lower() in LABELS)
        and number_of(field) is None
        and field not in (fields[place].strip() for fields in head[1:] if len(fields) > place)
        for place, field in enumerate(map(str.strip, head[0]))
    )


def _names_columns(head: list[list[str]]) -> bool:
    """Say whether the first line holds names of columns: none of them is a number, or numbers stand below one."""
    first, *rest = head
    found = [number_of(field) for field in first]
    if not any(number is not None and number == number for number in found):
        return True
    rest = [fields for fields in rest if len(fields) == len(first)]
    below = list(zip(*rest, strict=True)) if rest else []
    return any(number is None and all_numbers(values) for number, values in zip(found, below, strict=False))
