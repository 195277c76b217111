"""Time series in text files: UCR's .ts and .tsv."""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Generator, Sequence
from contextlib import closing
from itertools import islice
from typing import NamedTuple

import numpy as np

from besvm._support.parameters import shown
from besvm.inputs.columns import number_of
from besvm.inputs.contract import Asked, Block, Layout, Source, as_label, counted
from besvm.inputs.lines import Lines

FLAGS = {"true": True, "false": False}
NUMBERS_A_BYTE = 0.5  # that a text file can hold at most: a digit and a comma


class One(NamedTuple):
    """A series, (moments,) or (channels, moments), its class if it has one, and its line."""

    values: np.ndarray
    label: str | None
    line: int


class SeriesSource(Source):
    """Abstract: a text file with a series on every line, of which a subclass says what a line means."""

    kinds = ("series",)
    what = "a file of time series"

    def __init__(self, lines: Lines) -> None:
        super().__init__(lines.name, lines)
        self.lines = lines

    @abstractmethod
    def series(self) -> Generator[One]:
        """Yield the series one by one."""

    def layout(self, asked: Asked) -> Layout:
        self.refuse_kind(asked.kind)
        if next(self.series(), None) is None:
            raise ValueError(f"{self.name} must have one series per line, but has none")
        nbytes = int(8 * NUMBERS_A_BYTE * self.meter.total)
        return Layout("series", nbytes=nbytes, said=f"{self.name}: time series")

    def blocks(self, layout: Layout, rows: int) -> Generator[Block]:
        first, number = None, 0
        with closing(self.series()) as source:
            while block := list(islice(source, rows)):
                first = first or block[0]
                for one in block:
                    self._refuse_unlike(one, first)
                labels = None if first.label is None else [one.label or "" for one in block]
                X = _stacked([one.values for one in block])
                yield Block(X, labels, [str(n) for n in range(number + 1, number + 1 + len(block))])
                number += len(block)

    def where(self, line: int) -> str:
        """Return what a message calls a line."""
        return self.lines.where(line)

    def _refuse_unlike(self, one: One, first: One) -> None:
        if one.values.shape[:-1] != first.values.shape[:-1]:
            raise ValueError(
                f"{self.where(one.line)} must have {counted(_channels(first), 'channels')}, as line {first.line} does, "
                f"got {_channels(one)}"
            )

    def parsed(self, fields: Sequence[str], line: int, trim: bool = False) -> np.ndarray:
        """Return the numbers of a series; missing ones are refused, but where they only fill up the end."""
        found = [number_of(field) for field in fields]
        if None in found:
            raise ValueError(f"{self.where(line)} must hold numbers, got {shown(fields[found.index(None)].strip())}")
        values = np.array(found, dtype=np.float64)
        gone = np.isnan(values)
        if trim and gone.any() and not gone.all():
            values = values[: len(values) - int(gone[::-1].argmin())]
            gone = np.isnan(values)
        wrong = gone | np.isinf(values)
        if wrong.any() or not len(values):
            place = int(wrong.argmax())
            what = "no values" if not len(values) else f"{shown(fields[place].strip())} at time point {place + 1}"
            raise ValueError(f"{self.where(line)} must have no missing values, got {what}; fill it in")
        return values


class UcrTsv(SeriesSource):
    """UCR's .tsv: on every line the class, then the time points; shorter series are filled up with NaN at the end."""

    what = "a file of time series, the class first"

    def series(self) -> Generator[One]:
        for number, line in enumerate(self.lines, start=1):
            if not line.strip():
                continue
            label, *fields = line.strip("\r\n").split("\t")
            yield One(self.parsed(fields, number, trim=True), as_label(label), number)


class Ts(SeriesSource):
    """The .ts files of the UCR and UEA archives: lines that begin with @, then a series on every line.

    Channels are separated by colons, time points by commas; the class stands behind the last colon.
    """

    def series(self) -> Generator[One]:
        header: dict[str, str] = {}
        flags: dict[str, bool] | None = None  # once the data begin
        for number, line in enumerate(self.lines, start=1):
            text = line.strip()
            if not text or text.startswith(("#", "%")):
                continue
            if flags is not None:
                yield self._one(text, number, flags["classlabel"])
            elif text.lower() == "@data":
                flags = self._checked(header)
            elif text.startswith("@"):
                key, _, value = text[1:].partition(" ")
                header[key.lower()] = value.strip()
            else:
                raise ValueError(
                    f"{self.where(number)} must begin with @, like all lines before @data, got {shown(text)}"
                )
        if flags is None:
            raise ValueError(f"{self.name} must have a line @data before the series, but has none; is it a .ts file?")

    def _checked(self, header: dict[str, str]) -> dict[str, bool]:
        out = {}
        for key in ("timestamps", "missing", "classlabel", "targetlabel"):
            word = header.get(key, "false").split(" ")[0].lower()
            if word not in FLAGS:
                raise ValueError(f"{self.name} must have true or false after @{key}, got {shown(header[key])}")
            out[key] = FLAGS[word]
        if out["timestamps"]:
            raise ValueError(f"{self.name} must have evenly spaced series, but has @timeStamps true; resample them")
        if out["targetlabel"]:
            raise ValueError(f"{self.name} must have classes, but has @targetLabel, which means numbers to predict")
        return out

    def _one(self, text: str, line: int, labelled: bool) -> One:
        *channels, last = text.split(":")
        if not labelled:
            channels, last = [*channels, last], ""
        if not channels:
            raise ValueError(f"{self.where(line)} must have a class after the last colon, got no colon")
        parsed = [self.parsed(channel.split(","), line) for channel in channels]
        if len({len(channel) for channel in parsed}) > 1:
            lengths = " and ".join(dict.fromkeys(str(len(channel)) for channel in parsed))
            raise ValueError(f"{self.where(line)} must have channels of the same length, got {lengths} time points")
        values = parsed[0] if len(parsed) == 1 else np.stack(parsed)
        return One(values, as_label(last) if labelled else None, line)


def _stacked(series: list[np.ndarray]) -> np.ndarray | list[np.ndarray]:
    """Return series as one array where all are equally long, and else as they are."""
    return np.stack(series) if len({one.shape for one in series}) == 1 else series


def _channels(one: One) -> int:
    return 1 if one.values.ndim == 1 else len(one.values)
