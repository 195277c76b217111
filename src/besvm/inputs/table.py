"""Tables: rows of values in named columns, one of which may hold the classes."""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Generator, Iterator, Sequence
from difflib import get_close_matches
from typing import Any, TypeVar

import numpy as np

from besvm._support.parameters import shown
from besvm.inputs import columns as made
from besvm.inputs.columns import Profile
from besvm.inputs.contract import PLURAL, Asked, Block, Layout, Source, as_label, counted

LABELS = ("label", "class", "target", "y")
NAMES = ("id", "index", "", "unnamed: 0")  # what pandas calls its index, among others
PROFILED = 4000  # rows at a time
MEASURED = ("number", "date")
OF_NUMBERS = ("vectors", "series", "precomputed")
OF_TEXTS = ("text", "sequences")
MANY = 6  # columns that are named one by one
TOGETHER = 1 << 25  # bytes of rows that are looked at together, unless a single row has more

T = TypeVar("T")


class TableSource(Source):
    """Abstract: a table, of which a subclass says what the columns are called and what the rows hold."""

    kinds = ("vectors", "records", "text", "sequences", "series", "precomputed")
    what = "a table"

    @property
    def declared(self) -> dict[str, str]:
        """What the file itself says that columns hold."""
        return {}

    @abstractmethod
    def header(self, asked: Asked) -> list[str]:
        """Return what the columns are called."""

    @abstractmethod
    def records(self) -> Iterator[tuple[int, Sequence[Any]]]:
        """Yield the rows: the line of each, and a value for every column."""

    @property
    @abstractmethod
    def bytes_read(self) -> int:
        """How many bytes the rows have, as far as they were read."""

    def where(self, line: int) -> str:
        """Return what a message calls a line."""
        return f"line {line} of {self.name}"

    def likely_kind(self, columns: dict[str, str]) -> str | None:
        """Return the kind of data that this is, if the file itself tells; None if the columns must."""
        return None

    def first(self) -> None:
        """Get ready to be read twice: once to find out what the columns hold, once to read them."""

    def layout(self, asked: Asked) -> Layout:
        self.refuse_kind(asked.kind)
        if asked.typed is None:
            self.first()
        names = self.header(asked)
        twice = next((name for name in names if names.count(name) > 1), None)
        if twice is not None:
            raise ValueError(f"{self.name} must have columns with different names, got {twice!r} twice; rename one")
        self._names = names
        wanted = list(asked.columns or ())
        for name in wanted:
            if name not in names:
                raise self._unknown(name, "column", names, asked.typed is not None)
        label, guessed = self._label(names, asked)
        if asked.typed is not None:
            kind = asked.kind or _kind_of(asked.typed, False, False)
            naming = next((n for n in names if n.lower() in NAMES and n not in wanted and n != label), None)
            return Layout(kind, asked.typed, label, naming, said=f"{self.name}: {kind}, {_columns_said(asked.typed)}")
        profiles = {name: Profile() for name in names}
        for lines, block in self._transposed(PROFILED):
            for profile, values in zip(profiles.values(), block, strict=True):
                profile.add(values, lines)
            if self.watcher is not None:
                self.watcher()
        n = next(iter(profiles.values())).n
        if n == 0:
            raise ValueError(f"{self.name} must have one row per sample, but has none below the column names")
        return self._described(asked, profiles, label, guessed, n)

    def blocks(self, layout: Layout, rows: int) -> Generator[Block]:
        names = self._names
        columns = layout.columns or {}
        places = {name: names.index(name) for name in columns}
        label = None if layout.label is None else names.index(layout.label)
        naming = None if layout.naming is None else names.index(layout.naming)
        number = 0
        for lines, values in self._transposed(rows):
            own = {name: values[place] for name, place in places.items()}
            called = [str(n) for n in range(number + 1, number + 1 + len(lines))]
            if naming is not None:
                called = [str(value) for value in values[naming]]
            labels = None if label is None else [as_label(value) for value in values[label]]
            yield Block(self._samples(layout.kind, columns, own, lines), labels, called)
            number += len(lines)

    def _transposed(self, rows: int) -> Iterator[tuple[list[int], list[Any]]]:
        """Yield the rows by blocks, of long texts smaller ones: their lines, and the values of every column."""
        block: list[tuple[int, Sequence[Any]]] = []
        before = 0
        for record in self.records():
            block.append(record)
            if len(block) == rows or self.bytes_read - before > TOGETHER:
                yield _columns_of(block)
                block, before = [], self.bytes_read
        if block:
            yield _columns_of(block)

    def _samples(self, kind: str, types: dict[str, str], values: dict[str, Any], lines: Sequence[int]) -> Any:
        if kind in OF_TEXTS:
            ((name, items),) = values.items()
            found = made.texts(items)
            if "" in found:
                line = lines[found.index("")]
                raise ValueError(
                    f"{self.where(line)} must have a text in column {name!r}, but it is empty; fill it in, or remove "
                    "the row"
                )
            return found
        parsed = {name: self._column(name, types[name], items, lines) for name, items in values.items()}
        if kind in OF_NUMBERS:
            X = np.column_stack(list(parsed.values()))
            gaps = np.isnan(X)
            if gaps.any():
                row, place = map(int, np.argwhere(gaps)[0])
                other = ", or train with --kind records, which may have gaps" if kind == "vectors" else ""
                raise ValueError(
                    f"{self.where(lines[row])} must have a number in column {list(values)[place]!r}, but it is empty; "
                    f"fill it in or remove the row{other}"
                )
            return X
        plain = {name: _plain(column) for name, column in parsed.items()}
        return [dict(zip(plain, row, strict=True)) for row in zip(*plain.values(), strict=True)]

    def _column(self, name: str, kind: str, values: Sequence[Any], lines: Sequence[int]) -> Any:
        if kind == "number":
            return made.numbers(name, values, lines, self.where)
        if kind == "date":
            return made.dates(name, values, lines, self.where)
        return made.texts(values) if kind == "text" else made.categories(values)

    def _label(self, names: list[str], asked: Asked) -> tuple[str | None, str]:
        """Return the column of the classes, and how it was found, if it was guessed."""
        taken = asked.columns or {}
        if asked.label is not None:
            if asked.label not in names and asked.typed is None:
                raise self._unknown(asked.label, "label column", names, False)
            return asked.label if asked.label in names else None, ""
        free = [name for name in names if name not in taken]
        for usual in LABELS:
            found = next((name for name in free if name.lower() == usual), None)
            if found is not None:
                return found, ""
        if asked.typed is not None or not free or len(names) == 1:
            return None, ""
        return free[-1], ", the last column, as none is called label, class, target or y"

    def _described(self, asked: Asked, profiles: dict[str, Profile], label: str | None, guessed: str, n: int) -> Layout:
        """Return the layout of a table whose columns were looked at."""
        naming, left_out = None, []
        types: dict[str, str] = {}
        for name in asked.columns or profiles:
            profile, given = profiles[name], (asked.columns or {}).get(name)
            if name == label:
                continue
            if given is None and asked.columns is None and name.lower() in NAMES and profile.names_rows:
                naming = naming or name
                left_out.append(f"{name!r} (names of rows)")
                continue
            found = given or (self.declared.get(name) if profile.there else None) or profile.type
            if found is None:
                left_out.append(f"{name!r} (empty)")
                continue
            if given is None and name not in self.declared and asked.kind not in OF_TEXTS:
                profile.refuse_mixed(name, self.where)
            types[name] = found
        if not types:
            raise ValueError(f"{self.name} must have a column to compare besides {label!r}, but has no other")
        kind = asked.kind or self.likely_kind(types)
        gaps = any(profiles[name].missing for name, found in types.items() if found in MEASURED)
        if kind is None:
            kind = _kind_of(types, gaps, all(profiles[name].of_sequences for name in types))
        types, more = self._fitting(kind, types, profiles)
        left_out += more
        if kind in OF_TEXTS:
            types = dict.fromkeys(types, "text")
        each = sum(8 if found in MEASURED else 60 for found in types.values())
        text = sum(profiles[name].length for name, found in types.items() if found not in MEASURED)
        each += 300 if kind == "records" else 0
        said = f"{self.name}: {counted(n, 'rows')} of {kind}, {_columns_said(types)}"
        said += "" if label is None else f"; classes in {label!r}{guessed}"
        said += f"; left out: {', '.join(left_out)}" if left_out else ""
        return Layout(kind, types, label, naming, rows=n, nbytes=n * each + 2 * text, said=said)

    def _fitting(
        self, kind: str, types: dict[str, str], profiles: dict[str, Profile]
    ) -> tuple[dict[str, str], list[str]]:
        """Return the columns that samples of a kind are made of, and which are not; refuse what does not fit."""
        if kind in OF_NUMBERS:
            wrong = next((name for name, found in types.items() if found not in MEASURED), None)
            if wrong is not None:
                line, value = profiles[wrong].odd or (1, "")
                raise ValueError(
                    f"{self.where(line)} must have a number in column {wrong!r} to be read as {kind}, got "
                    f"{shown(value)}; leave out the column, or read the table as records"
                )
        if kind in OF_TEXTS and len(types) > 1:
            words = [name for name, found in types.items() if found not in MEASURED]
            words = [name for name in words if types[name] == "text"] or words
            if len(words) != 1:
                raise ValueError(
                    f"{self.name} must have one column of texts to be read as {kind}, got {len(words)} "
                    f"({', '.join(map(repr, words)) or 'all are numbers'}); name the column to compare"
                )
            return {words[0]: types[words[0]]}, [repr(name) for name in types if name != words[0]]
        return types, []

    def _unknown(self, name: str, what: str, names: list[str], trained: bool) -> ValueError:
        near = get_close_matches(name, names, n=1, cutoff=0.5)
        listed = ", ".join(map(repr, names[:MANY])) + (", ..." if len(names) > MANY else "")
        hint = f"did you mean {near[0]!r}?" if near and not trained else f"its columns are {listed}"
        which = ", which the model needs" if trained else ""
        return ValueError(f"{self.name} has no {what} {name!r}{which}; {hint}")


def _kind_of(types: dict[str, str], gaps: bool, sequences: bool) -> str:
    if all(found in MEASURED for found in types.values()):
        return "records" if gaps else "vectors"
    if len(types) == 1:
        return "sequences" if sequences else "text"
    return "records"


def _columns_said(types: dict[str, str]) -> str:
    """Return how many columns hold what, with names where they are few."""
    parts = []
    for kind in dict.fromkeys(types.values()):
        names = [name for name, found in types.items() if found == kind]
        shown_names = f" ({', '.join(names)})" if len(names) <= MANY else ""
        parts.append(f"{len(names)} {PLURAL[kind] if len(names) != 1 else kind}{shown_names}")
    return ", ".join(parts)


def _plain(column: Any) -> list[Any]:
    """Return a column as Python's own values, None where they are missing."""
    if not isinstance(column, np.ndarray):
        return list(column)
    return [None if value != value else value for value in column.tolist()]


def _columns_of(block: list[tuple[int, Sequence[Any]]]) -> tuple[list[int], list[Any]]:
    return [line for line, _ in block], list(zip(*(values for _, values in block), strict=True))
