"""Parquet files, a batch of rows at a time; needs the extra ``tables``."""

from __future__ import annotations

import os
from bisect import bisect_right
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np

from besvm._support.extras import optional
from besvm._support.parameters import shown
from besvm.sources.streams import Stream

BATCH = 1 << 14  # rows that are read at a time
WHAT = "reading Parquet files"


class _Group(NamedTuple):
    """A row group: where a file can be started from."""

    first: int  # its first row, counted over all files
    path: str
    number: int  # in its file


class ParquetSource(Stream):
    """The rows of a Parquet file, or of all Parquet files in a folder, read when they are asked for.

    Columns of numbers become vectors; so does a single column of lists of a fixed size. A single column of texts
    becomes a list of texts. Missing numbers are NaN.

    Parameters
    ----------
    path : path
        A file, or a folder of files with the same columns, which are read in the order of their names.
    columns : str or list of str, optional
        What to read; by default all columns.

    Examples
    --------
    >>> from besvm import BESVMClassifier
    >>> from besvm.sources import ParquetSource
    >>> rows = ParquetSource("rides", columns=["km", "minutes"])  # doctest: +SKIP
    >>> BESVMClassifier("rbf").fit(rows, rows.column("paid_by"))  # doctest: +SKIP
    """

    def __init__(self, path: str | os.PathLike[str], columns: str | Sequence[str] | None = None) -> None:
        self.files = _files(Path(path))
        schema = self._opened(self.files[0]).schema_arrow
        self.columns = [columns] if isinstance(columns, str) else list(schema.names if columns is None else columns)
        unknown = [name for name in self.columns if name not in schema.names]
        if unknown or not self.columns:
            raise ValueError(f"columns must be among {shown(schema.names)}, got {shown(unknown or self.columns)}")
        twice = [name for name in self.columns if self.columns.count(name) > 1 or schema.names.count(name) > 1]
        if twice:
            raise ValueError(f"columns must have different names, got {shown(twice[0])} twice; name each once")
        self._groups, n = self._row_groups(schema)
        shape, dtype = _kind([schema.field(name) for name in self.columns])
        super().__init__((n, *shape), dtype)

    def column(self, name: str) -> np.ndarray:
        """Return a column, such as that of the classes, in memory."""
        names = self._opened(self.files[0]).schema_arrow.names
        if name not in names:
            raise ValueError(f"name must be that of a column, one of {shown(names)}, got {shown(name)}")
        parts = [self._opened(file).read([name]).column(name).to_numpy() for file in self.files]
        return np.concatenate(parts)

    def begin(self, row: int) -> int:
        return self._groups[self._group_of(row)].first

    def blocks(self, first: int) -> Iterator[Any]:
        arrow = optional("pyarrow", WHAT)
        for group in self._groups[self._group_of(first) :]:
            try:
                for batch in self._opened(group.path).iter_batches(BATCH, [group.number], self.columns):
                    yield self._block(batch)
            except (arrow.ArrowException, OSError) as error:
                raise ValueError(
                    f"{Path(group.path).name} must be a Parquet file, but cannot be read: {error}"
                ) from None

    def _group_of(self, row: int) -> int:
        return bisect_right([group.first for group in self._groups], row) - 1

    def _row_groups(self, schema: Any) -> tuple[list[_Group], int]:
        groups, n = [], 0
        for path in self.files:
            file = self._opened(path)
            other = [name for name in self.columns if name not in file.schema_arrow.names]
            if other or any(file.schema_arrow.field(name).type != schema.field(name).type for name in self.columns):
                raise ValueError(
                    f"all files of a Parquet data set must have the same columns, but {Path(path).name} has others; "
                    "move it elsewhere"
                )
            for number in range(file.metadata.num_row_groups):
                size = file.metadata.row_group(number).num_rows
                if size:
                    groups.append(_Group(n, path, number))
                    n += size
        return groups, n

    def _block(self, batch: Any) -> Any:
        if self.dtype == object:
            return batch.column(0).to_pylist()
        parts = [_numbers(column, self.dtype) for column in batch.columns]
        return np.ascontiguousarray(parts[0]) if len(parts) == 1 else np.hstack(parts)

    @staticmethod
    def _opened(path: str) -> Any:
        arrow = optional("pyarrow", WHAT)
        try:
            return optional("pyarrow.parquet", WHAT).ParquetFile(path)
        except (arrow.ArrowException, OSError) as error:
            raise _unreadable(path, error) from None


def _unreadable(path: str, error: Exception) -> ValueError:
    return ValueError(f"{Path(path).name} must be a Parquet file, but cannot be read: {error}")


def _files(path: Path) -> list[str]:
    found = sorted(path.rglob("*.parquet")) if path.is_dir() else [path] if path.is_file() else []
    if not found:
        raise FileNotFoundError(f"path must be a Parquet file, or a folder of .parquet files, got {str(path)!r}")
    return [str(file) for file in found]


def _kind(fields: list[Any]) -> tuple[tuple[int, ...], Any]:
    """Return the shape of a row and the type of its numbers; those of texts are () and object."""
    types = optional("pyarrow.types", WHAT)
    if len(fields) == 1 and (types.is_string(fields[0].type) or types.is_large_string(fields[0].type)):
        return (), object
    if len(fields) == 1 and types.is_fixed_size_list(fields[0].type):
        inner = fields[0].type
        return (inner.list_size,), _dtype(fields[0].name, inner.value_type)
    return (len(fields),), np.result_type(*[_dtype(field.name, field.type) for field in fields])


def _dtype(name: str, kind: Any) -> np.dtype[Any]:
    """Return a floating-point type that holds the numbers of a column, and NaN where one is missing."""
    types = optional("pyarrow.types", WHAT)
    if not (types.is_integer(kind) or types.is_floating(kind) or types.is_boolean(kind)):
        raise ValueError(
            f"columns must all be numbers, or one column of texts or of lists of a fixed size, got {kind} in {name!r}; "
            "name the columns to compare"
        )
    exact = np.can_cast(kind.to_pandas_dtype(), np.float32)
    return np.dtype(np.float32 if exact else np.float64)


def _numbers(column: Any, dtype: np.dtype[Any]) -> np.ndarray:
    n = len(column)
    if hasattr(column, "flatten") and hasattr(column.type, "list_size"):
        if column.null_count:
            raise ValueError("a column of lists must have a list in every row, got rows without one; remove those rows")
        column = column.flatten()
    kind = optional("pyarrow", WHAT).from_numpy_dtype(dtype)
    return column.cast(kind, safe=False).to_numpy(zero_copy_only=False).reshape(n, -1)
