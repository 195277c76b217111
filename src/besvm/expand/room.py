"""How many bytes samples take on their way to features, so that blocks of them can be cut to measure."""

import threading
import tracemalloc
from collections.abc import Callable
from typing import Any

import numpy as np
from scipy.sparse import issparse, vstack
from sklearn import config_context
from sklearn.utils.validation import has_fit_parameter

from besvm._support.row_source import RowSource
from besvm._support.rows import check_one_shape, evenly_spaced, n_rows, span, take
from besvm._support.sizes import bytes_of, large_one
from besvm._support.threads import slices, workers
from besvm._support.validation import described
from besvm.blocks.plan import Limit, check_fits
from besvm.blocks.state import Values
from besvm.blocks.stores import WORK_BYTES, ComputedBlocks
from besvm.features.columns import Column
from besvm.features.descriptors import GridDescriptor
from besvm.features.reduction import CellPCA
from besvm.normalize import MeanNormScaler

OURS = (Column, GridDescriptor, MeanNormScaler, CellPCA)  # what takes no more than a few copies of what it gives
COPIES = 3  # of what a step of features gives, or takes, that are there at once
WORTH_MEASURING = 64  # rows
LEAST = 4096  # bytes a row: where fewer are measured, most of them may be Python's own
TRIES = 4  # measurements of what a row takes, two of which should agree

_measuring = threading.Lock()


def steps_of(transformer: Any) -> list[Any]:
    """Return the transformers that a pipeline is made of; of anything else, itself."""
    steps = getattr(transformer, "steps", None)
    return [step for _, step in steps if step not in (None, "passthrough")] if steps else [transformer]


def describing_bytes(transformer: Any, one: Any) -> int:
    """Return the bytes that describing a sample takes: what every step of the transformer takes and gives."""
    total = bytes_of(one)
    for step in steps_of(transformer):
        one = step.transform(one)
        total += bytes_of(one)
    return COPIES * total


def rows_of_work(row_bytes: int) -> int:
    """Return how many rows can be worked on at once, if one takes so many bytes."""
    return max(1, WORK_BYTES // max(1, row_bytes))


def in_parts(transformer: Any, X: Any) -> Any:
    """Return the features of X, computed some rows at a time so that little is needed beside them."""
    n = n_rows(X)
    rows_each = rows_of_work(describing_bytes(transformer, large_one(X))) if n > 1 else 1
    if n <= rows_each:
        return described(transformer, X)
    out: Any = None
    parts: list[Any] = []
    for rows in slices(n, rows_each):
        part = described(transformer, span(X, rows))
        if not isinstance(part, np.ndarray):
            parts.append(part)
            continue
        if out is None:
            out = np.empty((n, *part.shape[1:]), part.dtype)
        out[rows] = part
    if not parts:
        return out
    if isinstance(parts[0], list):
        return [item for part in parts for item in part]
    return vstack(parts, format="csr") if issparse(parts[0]) else transformer.transform(X)


def fit_features(transformer: Any, X: Any, y: Any, memory_limit: Limit, weights: Values | None = None) -> Any:
    """Fit a transformer: by blocks where its last step alone has much to learn, and can learn it so.

    Steps whose ``fit`` takes them get the weights of the rows. What would take more memory than the limit is refused.
    """
    *first, last = steps_of(transformer)
    if not all(_learns_nothing(step) or hasattr(step, "learns_from") for step in first):
        first = []
    one = large_one(X)
    some = evenly_spaced(X, max((getattr(step, "learns_from", 1) for step in first), default=1))
    for step in first:
        some = step.fit(some).transform(some)  # also if nothing is to be learned: later samples may be checked by it
        one = step.transform(one)
    need = 2 * n_rows(X) * bytes_of(one)  # what is learned from, and one copy of it
    alone = len(first) + 1 == len(steps_of(transformer))  # there is nothing else to learn
    by_blocks = alone and isinstance(last, MeanNormScaler) and (first or isinstance(X, RowSource))
    if by_blocks and need > WORK_BYTES:
        last.fit_blocks(_blocks(first, X, np.asarray(one)), np.shape(one)[1:], _uneven(weights, n_rows(X)))
        return transformer
    if memory_limit is not None and not (alone and isinstance(last, OURS)) and not _learns_nothing(last):
        check_fits(f"fitting the features {type(last).__name__} on {n_rows(X):,} rows", need, memory_limit)
    if isinstance(X, RowSource):
        return _fit_on_source(transformer, X, y, need, memory_limit, weights)
    return _fit_weighted(transformer, X, y[:] if isinstance(y, RowSource) else y, weights)


def _fit_weighted(transformer: Any, X: Any, y: Any, weights: Values | None) -> Any:
    """Fit a transformer, or each step of a pipeline, with the weights of the rows if its ``fit`` takes them."""
    named = getattr(transformer, "steps", None)
    steps = [(f"{name}__", step) for name, step in named] if named else [("", transformer)]
    takers = [name for name, step in steps if hasattr(step, "fit") and has_fit_parameter(step, "sample_weight")]
    own = _uneven(weights, n_rows(X)) if takers else None
    if own is None:
        return transformer.fit(X, y)
    with config_context(enable_metadata_routing=False):  # which knows no weights by the names of steps
        return transformer.fit(X, y, **{f"{name}sample_weight": own for name in takers})


def _uneven(weights: Values | None, n: int) -> np.ndarray | None:
    """Return the weights of n rows, spread over all; None if they do not differ."""
    own = None if weights is None else np.asarray(evenly_spaced(weights, n))
    return None if own is None or (own == own[0]).all() else own


def _fit_on_source(
    transformer: Any, X: RowSource, y: Any, need: int, memory_limit: Limit, weights: Values | None
) -> Any:
    """Fit a transformer on as many rows of a source as it learns from; all of them must fit the limit."""
    steps, rows = steps_of(transformer), len(X)
    if all(_learns_nothing(step) or hasattr(step, "learns_from") for step in steps):
        rows = max(getattr(step, "learns_from", 1) for step in steps)
    else:
        what = f"fitting the features {type(steps[-1]).__name__} on all {len(X):,} rows of the source"
        check_fits(what, need + len(X) * X.row_bytes, memory_limit)
    return _fit_weighted(transformer, evenly_spaced(X, rows), None if y is None else evenly_spaced(y, rows), weights)


def _learns_nothing(step: Any) -> bool:
    tags = getattr(step, "__sklearn_tags__", None)
    return tags is not None and not tags().requires_fit


def _blocks(steps: list[Any], X: Any, one: np.ndarray) -> ComputedBlocks:
    """Return what the steps make of X, as a matrix that is computed a block at a time."""

    def compute(rows: slice) -> np.ndarray:
        some = span(X, rows)
        for step in steps:
            some = step.transform(some)
        check_one_shape([one[0], *some], "samples")
        return np.asarray(some, dtype).reshape(n_rows(some), one.size)

    dtype = one.dtype if one.dtype in (np.float32, np.float64) else np.dtype(np.float64)
    return ComputedBlocks((n_rows(X), one.size), compute, dtype, rows_of_work(COPIES * one.nbytes))


def measured(compute: Callable[[Any], Any], one: Any) -> int:
    """Return by how many bytes the peak rises for every further row, as a power of 2; 0 where it cannot be told.

    The power, that it is never below LEAST, and that two measurements must agree, keep noise (another thread's work,
    what happens the first time only) out of where blocks begin, and out of model files.
    """
    with _measuring, workers(1):
        if tracemalloc.is_tracing():  # somebody else measures
            return 0
        try:
            compute(one)  # whatever happens the first time only
            return agreed(lambda: _slope(compute, one))
        except Exception:  # the same will be met again, on a sample that can be named
            return 0
        finally:
            tracemalloc.stop()


def agreed(measure: Callable[[], int]) -> int:
    """Return the first number that is measured twice; the least of those there are, if none is."""
    found: list[int] = []
    while len(found) < TRIES and len(set(found)) == len(found):
        found.append(measure())
    return found[-1] if found.count(found[-1]) > 1 else min(found)


def _slope(compute: Callable[[Any], Any], one: Any) -> int:
    """Return by how many bytes the peak rises from two rows to six, for each, as a power of 2."""
    peaks = []
    for n in (2, 6):
        rows = take(one, [0] * n)
        tracemalloc.start()
        compute(rows)
        peaks.append(tracemalloc.get_traced_memory()[1])
        tracemalloc.stop()
    slope = (peaks[1] - peaks[0]) // 4
    return max(LEAST, 1 << max(0, slope - 1).bit_length())
