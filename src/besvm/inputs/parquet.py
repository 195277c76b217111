"""Parquet files, a batch of rows at a time; needs the extra ``tables``."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from decimal import Decimal
from pathlib import Path
from typing import Any

import numpy as np

from besvm._support.extras import optional
from besvm.inputs.contract import LONGEST_FIELD, Asked, Counter
from besvm.inputs.table import TableSource

BATCH, FEW = 4096, 64  # rows at a time; few where the file may make long texts of short ones
TEXT_BYTES = 1 << 24  # that Python's own texts may take at a time
MADE_LONG = "DELTA"  # how the names of encodings begin that build a text on those before it
WHAT = "reading Parquet files"


class ParquetTable(TableSource):
    """A table in a Parquet file; columns of lists and other nested ones are left out."""

    what = "a table in a Parquet file"

    def __init__(self, path: Path) -> None:
        super().__init__(path.name, Counter())
        self.path = path
        self._file = self._opened()
        self._schema = self._file.schema_arrow
        self.meter.total = self._file.metadata.num_rows

    @property
    def declared(self) -> dict[str, str]:
        types = optional("pyarrow.types", WHAT)
        fields = [field for field in self._schema if field.name in self._columns]
        return {
            field.name: "category"
            for field in fields
            if types.is_boolean(field.type) or types.is_dictionary(field.type)
        }

    @property
    def bytes_read(self) -> int:
        return self._bytes_read

    def where(self, line: int) -> str:
        return f"row {line} of {self.name}"

    def header(self, asked: Asked) -> list[str]:
        types = optional("pyarrow.types", WHAT)
        self._columns = [field.name for field in self._schema if not types.is_nested(field.type)]
        if not self._columns:
            raise ValueError(f"{self.name} must have columns of numbers or texts, got only nested ones")
        return self._columns

    def records(self) -> Iterator[tuple[int, Sequence[Any]]]:
        arrow = optional("pyarrow", WHAT)
        line = self._bytes_read = 0
        shared, rows = self._shared()
        try:
            for batch in self._opened(shared).iter_batches(rows, columns=self._columns):
                for part in self._parts(batch, line):
                    for values in zip(*self._values(part, line), strict=True):
                        line += 1
                        yield line, values
                    self.meter.done = line
        except (arrow.ArrowException, OSError) as error:
            raise ValueError(f"{self.name} cannot be read after row {line}: {error}") from None

    def _opened(self, shared: Sequence[str] = ()) -> Any:
        """Open the file; the texts of some columns are to be kept once each, however many rows have them."""
        module = optional("pyarrow.parquet", WHAT)
        arrow = optional("pyarrow", WHAT)
        try:
            return module.ParquetFile(self.path, read_dictionary=list(shared))
        except (arrow.ArrowException, OSError) as error:
            raise ValueError(f"{self.name} must be a Parquet file, but cannot be read: {error}") from None

    def _shared(self) -> tuple[list[str], int]:
        """Return the columns whose texts can be kept once each, and how many rows may be decoded at a time."""
        texts = {field.name for field in self._schema if field.name in self._columns and _of_texts(field.type)}
        metadata = self._file.metadata
        groups = [metadata.row_group(number) for number in range(metadata.num_row_groups)]
        places = [place for place in range(metadata.num_columns) if metadata.schema.column(place).path in texts]
        chunks = [group.column(place) for group in groups for place in places]
        long = {chunk.path_in_schema for chunk in chunks if any(name.startswith(MADE_LONG) for name in chunk.encodings)}
        width = sum(_width(field.type) for field in self._schema if field.name in self._columns)
        return sorted(texts - long), max(1, min(FEW if long else BATCH, TEXT_BYTES // max(1, width)))

    def _values(self, part: Any, line: int) -> Iterator[list[Any]]:
        """Yield the columns of some rows as Python's own values; refuse dates that Python does not know."""
        for name, column in zip(part.schema.names, map(_decoded, part.columns), strict=True):
            try:
                yield _plain(column)
            except OverflowError:
                row = next(row for row, value in enumerate(column) if _overflows(value))
                raise ValueError(
                    f"{self.where(line + row + 1)} must have a date from the year 1 to 9999 in column {name!r}, got "
                    f"{column[row].value} of type {column.type}; correct it or remove the row"
                ) from None

    def _parts(self, batch: Any, line: int) -> Iterator[Any]:
        """Yield the rows of a batch: of long texts, few at a time; refuse a text that is too long."""
        sizes = np.zeros(batch.num_rows, dtype=np.int64)
        for name, column in zip(batch.schema.names, batch.columns, strict=True):
            lengths = _lengths(column)
            if lengths.max(initial=0) > LONGEST_FIELD:
                row = int(lengths.argmax())
                raise ValueError(
                    f"{self.where(line + row + 1)} must have texts of at most {LONGEST_FIELD:,} bytes, got "
                    f"{lengths[row]:,} in column {name!r}; shorten it or remove the row"
                )
            sizes += lengths
        rows = max(1, TEXT_BYTES // max(1, int(sizes.max(initial=0))))
        for start in range(0, batch.num_rows, rows):
            self._bytes_read += int(sizes[start : start + rows].sum())
            yield batch.slice(start, rows)


def _of_texts(kind: Any) -> bool:
    types = optional("pyarrow.types", WHAT)
    kind = kind.value_type if types.is_dictionary(kind) else kind
    return any(
        getattr(types, f"is_{name}")(kind)
        for name in ("string", "large_string", "string_view", "binary", "large_binary", "binary_view")
    )


def _width(kind: Any) -> int:
    """Return the bytes of a value, where all have the same."""
    return int(kind.byte_width) if optional("pyarrow.types", WHAT).is_fixed_size_binary(kind) else 0


def _lengths(column: Any) -> np.ndarray:
    """Return the bytes of every text of a column; of other columns, zeros."""
    if not _of_texts(column.type):
        return np.zeros(len(column), dtype=np.int64)
    compute, types = optional("pyarrow.compute", WHAT), optional("pyarrow.types", WHAT)
    of_texts = column.dictionary if types.is_dictionary(column.type) else column
    found = (
        compute.binary_length(of_texts.cast("large_binary"))
        .fill_null(0)
        .to_numpy(zero_copy_only=False)
        .astype(np.int64)
    )
    if of_texts is column:
        return np.asarray(found)
    places = column.indices.fill_null(len(found)).to_numpy(zero_copy_only=False)
    return np.asarray(np.append(found, 0)[places])


def _decoded(column: Any) -> Any:
    """Return a column without a dictionary and in microseconds at most, as Python's own dates and times are."""
    arrow, types = optional("pyarrow", WHAT), optional("pyarrow.types", WHAT)
    column = column.dictionary_decode() if types.is_dictionary(column.type) else column
    if getattr(column.type, "unit", None) != "ns":
        return column
    if types.is_timestamp(column.type):
        return column.cast(arrow.timestamp("us", column.type.tz), safe=False)
    return column.cast(arrow.duration("us") if types.is_duration(column.type) else arrow.time64("us"), safe=False)


def _overflows(value: Any) -> bool:
    try:
        value.as_py()
    except OverflowError:
        return True
    return False


def _plain(column: Any) -> list[Any]:
    """Return a column as Python's own values; True and False are categories."""
    values = column.to_pylist()
    if any(isinstance(value, (Decimal, bytes, bool)) for value in values):
        return [_plain_value(value) for value in values]
    return values


def _plain_value(value: Any) -> Any:
    if isinstance(value, Decimal):
        return float(value)
    if isinstance(value, bytes):
        return value.decode("utf-8", "replace")
    return str(value) if isinstance(value, bool) else value
