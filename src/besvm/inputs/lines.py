"""Lines of text from a file or from standard input: decoded, numbered, and never longer than a limit."""

from __future__ import annotations

import sys
from collections.abc import Generator, Iterator
from contextlib import AbstractContextManager, nullcontext
from itertools import islice
from pathlib import Path
from tempfile import TemporaryFile, gettempdir
from typing import IO, cast
from weakref import finalize

LONGEST = 1 << 26  # bytes of a line: a file without line ends is not to fill the memory
COPIED = 1 << 20  # bytes at a time


class Lines:
    """The lines of a file, or of standard input, which can be read only once unless it is copied first.

    Whoever keeps an iterator over them closes it: an error's traceback would otherwise hold the file open.

    Attributes
    ----------
    name : str
        What messages call it.
    total, done : int
        The bytes of the file (0: nobody knows), and how many of them were read.
    """

    def __init__(self, path: Path | None) -> None:
        self.path = path
        self.name = "standard input" if path is None else path.name
        self.total = 0 if path is None else path.stat().st_size
        self.done = 0
        self._copy: IO[bytes] | None = None
        self._ahead: list[str] = []
        self._once = self._read() if path is None else None

    def copy(self) -> None:
        """Copy standard input to a temporary file, so that it can be read more than once."""
        if self._once is None:
            return
        self._copy = TemporaryFile()  # noqa: SIM115  (without a name, and there for as long as this is)
        finalize(self, self._copy.close)
        self._copy.writelines(line.encode() for line in self._ahead)
        stream = _standard_input()
        try:
            while piece := stream.read(COPIED):
                self._copy.write(piece)
            self._copy.flush()
        except OSError as error:
            where = f"standard input cannot be copied to {gettempdir()}"
            raise OSError(error.errno, f"{where}: {error.strerror or error}") from error
        self.total, self._once, self._ahead = self._copy.tell(), None, []
        if self.total == 0:
            raise ValueError("standard input must hold samples, but is empty")

    def peek(self, n: int) -> list[str]:
        """Return the first lines, up to n of them; they are read again by whoever comes next."""
        if self._once is None:
            return list(islice(self, n))
        self._ahead += islice(self._once, max(0, n - len(self._ahead)))
        return self._ahead[:n]

    def __iter__(self) -> Generator[str]:
        if self._once is None:
            return self._read()
        ahead, self._ahead = self._ahead, []
        return _chained(ahead, self._once)

    def where(self, number: int) -> str:
        """Return what a message calls a line."""
        return f"line {number} of {self.name}"

    def _read(self) -> Generator[str]:
        self.done = number = 0
        with self._open() as file:
            while line := file.readline(LONGEST + 1):
                number += 1
                self.done += len(line)
                if len(line) > LONGEST:
                    raise ValueError(f"{self.where(number)} must have at most {LONGEST:,} bytes, got more; is it text?")
                yield self._decoded(line, number)

    def _open(self) -> AbstractContextManager[IO[bytes]]:
        if self.path is not None:
            return open(self.path, "rb")
        if self._copy is None:
            return nullcontext(_standard_input())
        self._copy.seek(0)
        return nullcontext(self._copy)

    def _decoded(self, line: bytes, number: int) -> str:
        try:
            text = line.decode("utf-8-sig" if number == 1 else "utf-8")
        except UnicodeDecodeError as error:
            got = f"{line[error.start]:#04x}"
            raise ValueError(f"{self.where(number)} must be UTF-8, got the byte {got}; convert the file") from None
        if "\0" in text:
            raise ValueError(f"{self.where(number)} must be text, got a zero byte; is it another type of file?")
        return text


def _standard_input() -> IO[bytes]:
    if sys.stdin is None:  # which is what Python makes of one that is closed
        raise ValueError("standard input must hold samples, but is closed")
    return cast(IO[bytes], sys.stdin.buffer)


def _chained(ahead: list[str], rest: Iterator[str]) -> Generator[str]:
    yield from ahead
    yield from rest
