"""Parquet files, a batch of rows at a time; needs the extra ``tables``."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from decimal import Decimal
from pathlib import Path
from typing import Any

from besvm._support.extras import optional
from besvm.inputs.contract import Asked, Counter
from besvm.inputs.table import TableSource

BATCH = 4096  # rows


class ParquetTable(TableSource):
    """A table in a Parquet file; columns of lists and other nested ones are left out."""

    what = "a table in a Parquet file"

    def __init__(self, path: Path) -> None:
        super().__init__(path.name, Counter())
        self.path = path
        self._file = self._opened()
        self.meter.total = self._file.metadata.num_rows

    @property
    def declared(self) -> dict[str, str]:
        types = optional("pyarrow.types", "reading Parquet files")
        fields = [field for field in self._file.schema_arrow if field.name in self._columns]
        return {
            field.name: "category"
            for field in fields
            if types.is_boolean(field.type) or types.is_dictionary(field.type)
        }

    def where(self, line: int) -> str:
        return f"row {line} of {self.name}"

    def header(self, asked: Asked) -> list[str]:
        types = optional("pyarrow.types", "reading Parquet files")
        self._columns = [field.name for field in self._file.schema_arrow if not types.is_nested(field.type)]
        if not self._columns:
            raise ValueError(f"{self.name} must have columns of numbers or texts, got only nested ones")
        return self._columns

    def records(self) -> Iterator[tuple[int, Sequence[Any]]]:
        arrow = optional("pyarrow", "reading Parquet files")
        line = 0
        try:
            for batch in self._file.iter_batches(BATCH, columns=self._columns):
                columns = [_plain(column) for column in batch.columns]
                for values in zip(*columns, strict=True):
                    line += 1
                    yield line, values
                self.meter.done = line
        except (arrow.ArrowException, OSError) as error:
            raise ValueError(f"{self.name} cannot be read after row {line}: {error}") from None

    def _opened(self) -> Any:
        module = optional("pyarrow.parquet", "reading Parquet files")
        arrow = optional("pyarrow", "reading Parquet files")
        try:
            return module.ParquetFile(self.path)
        except (arrow.ArrowException, OSError) as error:
            raise ValueError(f"{self.name} must be a Parquet file, but cannot be read: {error}") from None


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
