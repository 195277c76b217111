"""The similarities of X to the basis, computed by the workers of a Dask cluster, and kept there."""

from __future__ import annotations

import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from itertools import pairwise
from time import monotonic
from typing import Any
from uuid import uuid4

import numpy as np

from besvm._support.dask_source import DaskSource, as_samples, check_workers
from besvm._support.progress import progress, say
from besvm._support.row_source import RowSource, SomeRows, unchecked
from besvm._support.rows import n_rows, span
from besvm._support.threads import slices, workers
from besvm.blocks.checkpoint import Checkpoint
from besvm.blocks.client import explained
from besvm.blocks.cluster import DaskBlocks, kept
from besvm.blocks.cluster_tasks import as_done, named, sent
from besvm.blocks.fill import Source

TOLD_EVERY = 0.5  # seconds between what a worker says of its progress


def filled_on(
    client: Any,
    source: Source,
    X: Any,
    verbose: int = 0,
    storage_dtype: str | None = None,
    checkpoint: Checkpoint | None = None,
) -> DaskBlocks:
    """Return the DaskBlocks of ``source`` over the rows of X: about one block for each thread of the workers.

    The rows of a Dask collection are compared where they are; those of another source are read by the workers, from
    the files that it names; those of an array in memory are sent with the tasks. Where the workers see the folder of
    ``checkpoint``, what they have finished is kept there, some rows at a time.
    """
    n, n_threads = n_rows(X), check_workers(client)
    each, rows_each = -(-n // n_threads), source.rows_each(X)
    if checkpoint is not None and _seen_by_all(client, checkpoint, verbose):
        checkpoint.check_room(n * source.width * source.dtype.itemsize)
        rows_each = checkpoint.rows_each(min(rows_each, each))  # blocks are made of such pieces, whoever computes them
        each = -(-each // rows_each) * rows_each
    else:
        checkpoint = None
    half = storage_dtype is not None
    with explained(client), _progress(client, n, verbose) as (bar, topic):
        task = sent(client, Piecewise(source, rows_each, checkpoint, topic))
        rows, blocks = [], []
        for span_of, samples in _samples(client, X, each):
            rows.append(span_of)
            key = named("similarities of rows", span_of)
            blocks.append(client.submit(_similarities, task, samples, span_of, half, key=key))
        done = DaskBlocks(client, blocks, rows, source.width, source.dtype, half)
        spans = {block.key: span_of for block, span_of in zip(blocks, rows, strict=True)}
        for block in as_done(client, blocks):
            if block.status == "error":
                block.result()
            bar.block_done(spans[block.key])
    return done


def _seen_by_all(client: Any, checkpoint: Checkpoint, verbose: int) -> bool:
    """Return whether every worker sees the folder; say so if not."""
    seen = client.run(checkpoint.is_here)
    if not all(seen.values()):
        say(
            verbose,
            f"not all workers see the checkpoint {str(checkpoint.folder)!r}: it keeps the steps of the solver, but not "
            "the similarities",
        )
    return all(seen.values())


class _Told:
    """A bar that workers advance: by pieces of a block as they finish them, and by whole blocks."""

    def __init__(self, bar: Any) -> None:
        self._bar = bar
        self._pieces: dict[int, int] = {}  # where they begin, and how many rows they have
        self._shown = 0
        self._lock = threading.Lock()  # a thread of the client brings the events

    def piece_done(self, event: Any) -> None:
        """Hear of a worker's piece; one that is computed again, as its worker was lost, counts once."""
        first, n = event[1]
        with self._lock:
            self._pieces[first] = n
            self._show()

    def block_done(self, rows: slice) -> None:
        """Count a block, whatever was heard of its pieces."""
        with self._lock:
            inside = [first for first in self._pieces if rows.start <= first < rows.stop]
            for first in inside:
                del self._pieces[first]
            self._pieces[rows.start] = rows.stop - rows.start
            self._show()

    def _show(self) -> None:
        done = sum(self._pieces.values())
        self._bar.advance(done - self._shown)
        self._shown = done


@contextmanager
def _progress(client: Any, n: int, verbose: int) -> Iterator[tuple[_Told, str]]:
    """Show how far the workers are; give the bar, and the topic by which they speak of it."""
    topic = f"besvm-{uuid4().hex}"
    with progress("similarities to the basis", n, verbose, "rows") as bar:
        told = _Told(bar)
        client.subscribe_topic(topic, told.piece_done)
        try:
            yield told, topic
        finally:
            client.unsubscribe_topic(topic)


def _samples(client: Any, X: Any, each: int) -> Iterator[tuple[slice, list[Any]]]:
    """Yield rows, and the samples that they are together: futures, or samples that go with the task."""
    inner = unchecked(X)
    if isinstance(inner, DaskSource):
        computed = zip(client.compute(inner.partitions), pairwise(inner.ends), strict=True)
        parts = [client.submit(as_samples, part, key=named("rows", slice(*ends))) for part, ends in computed]
        first = 0
        for k, end in enumerate(inner.ends[1:], 1):
            if end - inner.ends[first] >= each or k == len(parts):
                yield slice(inner.ends[first], end), parts[first:k]
                first = k
        return
    source = _sent_source(client, X) if isinstance(X, RowSource) else None
    for rows in slices(n_rows(X), each):
        part = span(X, rows) if source is None else client.submit(_rows_of, source, rows, key=named("rows", rows))
        yield rows, [part]


def _sent_source(client: Any, source: RowSource) -> Any:
    try:
        return sent(client, source)
    except (TypeError, ValueError) as error:
        raise TypeError(
            f"on a cluster, X must be something that workers can open, but it cannot be sent to them: {error}; use a "
            "Dask array, an .npy file that is mapped, zarr, Parquet, or an array in memory"
        ) from error


def _rows_of(source: RowSource, rows: slice) -> RowSource:
    return SomeRows(source, np.arange(rows.start, rows.stop))


class Piecewise:
    """The similarities of samples, some rows at a time: kept in a checkpoint, if there is one, and told the client."""

    def __init__(self, source: Source, rows_each: int, checkpoint: Checkpoint | None, topic: str) -> None:
        self.source, self.rows_each, self.checkpoint, self.topic = source, rows_each, checkpoint, topic

    def __call__(self, samples: Any, first_row: int, out: np.ndarray) -> None:
        """Fill ``out`` with the similarities of samples, the rows of X from ``first_row`` on."""

        def compute(rows: slice) -> np.ndarray:
            return self.source(span(samples, slice(rows.start - first_row, rows.stop - first_row)), rows.start)

        block_of: Callable[[slice], np.ndarray] = compute
        if self.checkpoint is not None and self.checkpoint.is_here():  # a worker may have joined that does not see it
            block_of = self.checkpoint.blocks(compute)
        told, told_at = 0, monotonic()
        for some in slices(len(out), self.rows_each):
            out[some] = block_of(slice(first_row + some.start, first_row + some.stop))
            if monotonic() - told_at > TOLD_EVERY:
                self._tell(first_row + told, some.stop - told)
                told, told_at = some.stop, monotonic()

    def _tell(self, first: int, n: int) -> None:
        from distributed import get_worker

        get_worker().log_event(self.topic, (first, n))


def _similarities(compute: Piecewise, parts: list[Any], rows: slice, half: bool) -> Any:
    """Return the raw similarities of the samples in ``parts``, which are these rows."""
    out = np.empty((rows.stop - rows.start, compute.source.width), compute.source.dtype)
    done = 0
    with workers(1):
        for part in parts:
            compute(part, rows.start + done, out[done : done + n_rows(part)])
            done += n_rows(part)
        return kept(out, half)
