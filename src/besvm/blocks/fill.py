"""Compute something for all rows of X, a block of rows at a time."""

from collections.abc import Callable
from typing import Any, Protocol, TypeVar

import numpy as np

from besvm._support.progress import progress
from besvm._support.rows import n_rows, span
from besvm._support.threads import slices
from besvm.blocks.stores import ComputedBlocks, DiskBlocks, MemoryBlocks, RowBlocks

Out = TypeVar("Out", bound=Any)


class Source(Protocol):
    """What fills the features: raw similarities of some rows."""

    dtype: np.dtype[Any]

    @property
    def width(self) -> int: ...
    def rows_each(self, X: Any) -> int: ...
    def __call__(self, X: Any, first_row: int) -> np.ndarray: ...


def by_blocks(
    X: Any, compute: Callable[[Any, int], np.ndarray], out: Out, rows_each: int, what: str, verbose: int = 0
) -> Out:
    """Fill ``out`` with ``compute(samples, first_row)``, ``rows_each`` rows of X at a time, and return it.

    ``out`` is an array, or whatever takes ``out[rows] = block``; ``what`` is being done, says the bar.
    """
    n = n_rows(X)
    with progress(what, n, verbose) as shown:
        for rows in slices(n, rows_each):
            out[rows] = compute(span(X, rows), rows.start)
            shown.advance(rows.stop - rows.start)
    return out


def filled(source: Source, X: Any, storage: str = "memory", verbose: int = 0, folder: Any = None) -> Any:
    """Return the RowBlocks of ``source`` over the rows of X, computed once (or, for "recompute", on every pass).

    ``folder`` is where those on disk go; by default where Python's ``tempfile`` puts files.
    """
    shape, rows_each = (n_rows(X), source.width), source.rows_each(X)
    if storage == "recompute":
        return ComputedBlocks(shape, lambda rows: source(span(X, rows), rows.start), source.dtype, rows_each)
    disk = storage == "disk"
    blocks = DiskBlocks(shape, source.dtype, folder) if disk else MemoryBlocks(np.empty(shape, dtype=source.dtype))
    try:
        by_blocks(X, source, blocks.matrix, rows_each, "similarities to the basis", verbose)
    except BaseException:
        blocks.close()
        raise
    return blocks


def columns_of(blocks: RowBlocks, columns: np.ndarray, storage: str = "memory", folder: Any = None) -> RowBlocks:
    """Return these columns of a matrix as a store of their own, which may be changed without changing the other."""
    shape = (blocks.shape[0], len(columns))
    own = DiskBlocks(shape, blocks.dtype, folder) if storage == "disk" else MemoryBlocks(np.empty(shape, blocks.dtype))

    def copy(rows: slice, block: np.ndarray) -> None:
        own.matrix[rows] = block[:, columns]

    try:
        for _ in blocks.map(copy):
            pass
    except BaseException:
        own.close()
        raise
    return own
