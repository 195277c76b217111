"""Compute something for all rows of X, a block of rows at a time."""

from collections.abc import Callable
from typing import Any, Protocol, TypeVar

import numpy as np

from besvm._support.progress import progress
from besvm._support.rows import n_rows, span
from besvm._support.threads import slices
from besvm.blocks.checkpoint import Checkpoint
from besvm.blocks.half import HALF, SETTLED_ON, HalfBlocks, Scale
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
    return _filled_rows(out, n_rows(X), rows_each, _of_rows(compute, X), what, verbose)


def _filled_rows(
    out: Out, n: int, rows_each: int, compute: Callable[[slice], np.ndarray], what: str, verbose: int
) -> Out:
    with progress(what, n, verbose, "rows") as shown:
        for rows in slices(n, rows_each):
            out[rows] = compute(rows)
            shown.advance(rows.stop - rows.start)
    return out


def filled(
    source: Source,
    X: Any,
    storage: str = "memory",
    verbose: int = 0,
    folder: Any = None,
    checkpoint: Checkpoint | None = None,
    storage_dtype: str | None = None,
) -> Any:
    """Return the RowBlocks of ``source`` over the rows of X, computed once (or, for "recompute", on every pass).

    ``folder`` is where those on disk go; by default where Python's ``tempfile`` puts files. Blocks that ``checkpoint``
    keeps are not computed again, unless all are on every pass. With "float16" for ``storage_dtype``, what is stored is.
    """
    shape, rows_each = (n_rows(X), source.width), source.rows_each(X)
    compute = computed = _of_rows(source, X)
    if storage == "recompute":
        return ComputedBlocks(shape, compute, source.dtype, rows_each)
    if checkpoint is not None:
        checkpoint.check_room(shape[0] * shape[1] * source.dtype.itemsize)
        rows_each, compute = checkpoint.rows_each(rows_each), checkpoint.blocks(compute)
    if storage_dtype is None:
        blocks = _empty(shape, source.dtype, storage, folder)
    else:
        some = np.concatenate([computed(rows) for rows in slices(min(shape[0], SETTLED_ON), rows_each)])
        blocks = HalfBlocks(_empty(shape, HALF, storage, folder), Scale.of(some), source.dtype)
    try:
        _filled_rows(blocks.matrix, shape[0], rows_each, compute, "similarities to the basis", verbose)
    except BaseException:
        blocks.close()
        raise
    return blocks


def _empty(shape: tuple[int, int], dtype: Any, storage: str, folder: Any) -> Any:
    """Return a store to be filled, on disk or in memory."""
    return DiskBlocks(shape, dtype, folder) if storage == "disk" else MemoryBlocks(np.empty(shape, dtype))


def _of_rows(compute: Callable[[Any, int], np.ndarray], X: Any) -> Callable[[slice], np.ndarray]:
    return lambda rows: compute(span(X, rows), rows.start)


def columns_of(blocks: RowBlocks, columns: np.ndarray, storage: str = "memory", folder: Any = None) -> RowBlocks:
    """Return these columns of a matrix as a store of their own, which may be changed without changing the other."""
    shape = (blocks.shape[0], len(columns))
    own = _empty(shape, blocks.dtype, storage, folder)

    def copy(rows: slice, block: np.ndarray) -> None:
        own.matrix[rows] = block[:, columns]

    try:
        for _ in blocks.map(copy):
            pass
    except BaseException:
        own.close()
        raise
    return own
