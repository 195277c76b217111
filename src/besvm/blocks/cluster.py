"""A tall matrix whose blocks are on the workers of a Dask cluster, with what a solver keeps of their rows.

A block is a future that the scheduler can make again from its source, never data sent out once; so is what is kept of
its rows, which begins anew at every Newton step, so that little has to be made again where a worker is lost. Functions
go out as tasks, sums come back added pairwise in a fixed order: the result does not depend on who was when ready.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import contextmanager
from functools import partial
from typing import Any, TypeVar

import numpy as np

from besvm._support.dask_source import DaskSource, as_samples
from besvm._support.extras import optional
from besvm._support.progress import progress
from besvm._support.row_source import RowSource, SomeRows
from besvm._support.rows import n_rows, span
from besvm._support.threads import slices, workers
from besvm._support.units import show_bytes
from besvm._support.validation import shown
from besvm.blocks.estimates import ROW_ARRAYS, last_rank
from besvm.blocks.fill import Source
from besvm.blocks.plan import Plan
from besvm.blocks.state import LocalState, Rows, RowState, Sums, added
from besvm.blocks.stores import MemoryBlocks, RowBlocks

T = TypeVar("T")


class DaskBlocks(RowBlocks):
    """A matrix whose blocks of rows are futures of a Dask client.

    Parameters
    ----------
    client : distributed.Client
    blocks : list of Future
        Of arrays (rows, D), in row order.
    rows : list of slice
        Where each of them is in the matrix.
    width : int
    dtype : data-type
    """

    def __init__(self, client: Any, blocks: Sequence[Any], rows: Sequence[slice], width: int, dtype: Any) -> None:
        self.client, self.futures, self.rows = client, list(blocks), list(rows)
        self.shape = (rows[-1].stop, width)
        self.dtype = np.dtype(dtype)

    def map(self, fn: Callable[[slice, Any], T], coarse: bool = False) -> Iterator[T]:
        found = self._each("look at", fn)
        while found:
            with explained(self.client):
                one = found.pop(0).result()
            yield one

    def sum(self, fn: Callable[[slice, Any], tuple[Any, ...]], coarse: bool = False) -> tuple[Any, ...]:
        return summed(self.client, self._each("sum over", fn))

    def update(self, fn: Callable[[slice, Any], np.ndarray]) -> None:
        self.futures = self._each("normalize", lambda rows, block: fn(rows, block.copy()))  # the task may be run again

    def state(self, dtype: Any = None) -> RowState:
        return DaskState(self, dtype)

    def close(self) -> None:
        self.futures = []

    def _each(self, what: str, fn: Callable[[slice, Any], Any]) -> list[Any]:
        task = sent(self.client, fn)
        return [
            self.client.submit(_on_block, task, rows, block, key=named(f"{what} rows", rows))
            for rows, block in zip(self.rows, self.futures, strict=True)
        ]


class DaskState(RowState):
    """What a solver keeps of the rows of :class:`DaskBlocks`: a dict of arrays beside every block."""

    lasting = False

    def __init__(self, blocks: DaskBlocks, dtype: Any = None) -> None:
        self.blocks, self.shape = blocks, blocks.shape
        self.dtype = np.dtype(blocks.dtype if dtype is None else dtype)
        self._given: list[dict[str, Any]] = [{} for _ in blocks.rows]  # futures, by name: what was put here
        self._kept: list[Any] = [None] * len(blocks.rows)  # futures of dicts: what was made of it

    def put(self, name: str, array: np.ndarray) -> None:
        for rows, given in zip(self.blocks.rows, self._given, strict=True):
            part = np.ascontiguousarray(array[rows])
            given[name] = self.blocks.client.submit(_same, part, key=named(f"{name} of rows", rows))

    def rewind(self) -> None:
        self._kept = [None] * len(self._kept)

    def sum(self, fn: Callable[[Rows], Sums], features: bool = True, coarse: bool = False) -> Sums:
        client, task = self.blocks.client, sent(self.blocks.client, fn)
        parts = []
        for i, (rows, block) in enumerate(zip(self.blocks.rows, self.blocks.futures, strict=True)):
            state = self._given[i], self._kept[i], self.dtype
            key = named("pass over rows" if features else "work on rows", rows)
            done = client.submit(_work, task, block if features else None, rows, *state, coarse, key=key)
            self._kept[i] = client.submit(_item, done, 0, key=named("keep state of rows", rows))
            parts.append(client.submit(_item, done, 1, key=named("sums of rows", rows)))
        return summed(client, parts)

    def select(self, names: Iterable[str], columns: np.ndarray) -> None:
        chosen = tuple(names)

        def part(rows: Rows) -> Sums:
            for name in chosen:
                rows[name] = rows[name][:, columns]
            return ()

        self.sum(part, features=False)

    def take(self, rows: np.ndarray, fn: Callable[[Rows], np.ndarray], features: bool = False) -> np.ndarray:
        client, task = self.blocks.client, sent(self.blocks.client, fn)
        found = []
        for i, (at, block) in enumerate(zip(self.blocks.rows, self.blocks.futures, strict=True)):
            here = rows[slice(*np.searchsorted(rows, [at.start, at.stop]))] - at.start
            if len(here):
                found.append(
                    client.submit(
                        *(
                            _taken,
                            task,
                            block if features else None,
                            at,
                            self._given[i],
                            self._kept[i],
                            self.dtype,
                            here,
                        ),
                        key=named("take rows", at),
                    )
                )
        with explained(client):
            return np.concatenate(client.gather(found))

    def whole(self, name: str) -> Any:
        raise NotImplementedError("rows on a cluster are taken, not had whole")


def check_cluster(penalty: str, multi_class: str) -> None:
    """Refuse what needs all rows in one place."""
    if penalty != "l2":
        raise ValueError(f"on a cluster penalty must be 'l2', got {penalty!r}; take client=None for another")
    if multi_class != "ovr":
        raise ValueError(f"on a cluster multi_class must be 'ovr', got {multi_class!r}; take client=None for another")


def plan_on(client: Any, n: int, width: int, itemsize: int, n_columns: int) -> Plan:
    """Return the plan of training on the workers; what cannot fit their memory together is refused."""
    limits = [worker["memory_limit"] for worker in client.scheduler_info(n_workers=-1)["workers"].values()]
    features = itemsize * n * width
    work = n * (itemsize * ROW_ARRAYS + 2) * n_columns
    if limits and all(limits) and features + work > sum(limits):
        raise MemoryError(
            f"training must stay within the {show_bytes(sum(limits))} of {len(limits)} workers together, but needs "
            f"{show_bytes(features + work)}; add workers, or use a smaller basis"
        )
    options = {"max_rank": last_rank(width + 1)}
    return Plan("cluster", options, None, None, features, work, sum(limits))


def filled_on(client: Any, source: Source, X: Any, verbose: int = 0) -> DaskBlocks:
    """Return the DaskBlocks of ``source`` over the rows of X: about one block for each thread of the workers.

    The rows of a Dask collection are compared where they are; those of another source are read by the workers, from
    the files that it names; those of an array in memory are sent with the tasks.
    """
    n_threads = sum(client.nthreads().values())
    if not n_threads:
        raise ConnectionError(f"the cluster at {address_of(client)} has no workers; start some, then fit again")
    task = sent(client, source)
    rows, blocks = [], []
    for span_of, samples in _samples(client, X, n_threads):
        rows.append(span_of)
        key = named("similarities of rows", span_of)
        blocks.append(client.submit(_similarities, task, samples, span_of, key=key))
    done = DaskBlocks(client, blocks, rows, source.width, source.dtype)
    with explained(client), progress("similarities to the basis", n_rows(X), verbose) as bar:
        from distributed import as_completed

        lengths = {block.key: span_of.stop - span_of.start for block, span_of in zip(blocks, rows, strict=True)}
        for block in as_completed(blocks):
            if block.status == "error":
                block.result()
            bar.advance(lengths[block.key])
    return done


def _samples(client: Any, X: Any, n_threads: int) -> Iterator[tuple[slice, list[Any]]]:
    """Yield rows, and the samples that they are together: futures, or samples that go with the task."""
    n = n_rows(X)
    each = -(-n // n_threads)
    inner = getattr(X, "source", X)  # of vectors that are checked as they are read
    if isinstance(inner, DaskSource):
        parts = [client.submit(as_samples, part, key=f"rows-{part.key}") for part in client.compute(inner.partitions)]
        first = 0
        for k, end in enumerate(inner.ends[1:], 1):
            if end - inner.ends[first] >= each or k == len(parts):
                yield slice(inner.ends[first], end), parts[first:k]
                first = k
        return
    source = sent(client, X) if isinstance(X, RowSource) else None
    for rows in slices(n, each):
        part = span(X, rows) if source is None else client.submit(_rows_of, source, rows, key=named("rows", rows))
        yield rows, [part]


def _rows_of(source: RowSource, rows: slice) -> RowSource:
    return SomeRows(source, np.arange(rows.start, rows.stop))


def _similarities(source: Source, parts: list[Any], rows: slice) -> np.ndarray:
    """Return the raw similarities of the samples in ``parts``, which are these rows."""
    out = np.empty((rows.stop - rows.start, source.width), source.dtype)
    done = 0
    with workers(1):
        for part in parts:
            for some in slices(n_rows(part), source.rows_each(part)):
                out[done + some.start : done + some.stop] = source(span(part, some), rows.start + done + some.start)
            done += n_rows(part)
    return out


class _Fresh(LocalState):
    """The state of one block while a task works on it: what is written goes to new arrays.

    A task may be run again, so that what it was given must stay as it is.
    """

    def __init__(self, blocks: Any, dtype: Any, given: dict[str, Any], kept: dict[str, np.ndarray] | None) -> None:
        super().__init__(blocks, dtype)
        self.arrays = {**given, **(kept or {})}
        self.kept: dict[str, np.ndarray] = dict(kept or {})
        self.fresh: dict[str, np.ndarray] = {}

    def read(self, name: str, at: Any, own: set[str]) -> np.ndarray:
        return (self.fresh if name in own else self.arrays)[name][at]

    def like(self, name: str, value: np.ndarray) -> np.ndarray:
        with self._lock:
            if name not in self.fresh:
                self.fresh[name] = np.empty((self.shape[0], *value.shape[1:]), value.dtype, order="F")
        return self.fresh[name]


class _Nothing(RowBlocks):
    """Stands for a block whose features are not looked at."""

    def __init__(self, n: int) -> None:
        self.shape, self.dtype = (n, 0), np.dtype(np.float32)

    def map(self, fn: Callable[[slice, Any], T], coarse: bool = False) -> Iterator[T]:
        raise AssertionError("the features were not asked for")

    def update(self, fn: Callable[[slice, Any], np.ndarray]) -> None:
        raise AssertionError("the features were not asked for")


def _local(block: Any, rows: slice, given: dict[str, Any], kept: Any, dtype: Any) -> _Fresh:
    blocks: RowBlocks = _Nothing(rows.stop - rows.start) if block is None else MemoryBlocks(block)
    return _Fresh(blocks, dtype, given, kept)


def _work(
    fn: Callable[[Rows], Sums], block: Any, rows: slice, given: dict[str, Any], kept: Any, dtype: Any, coarse: bool
) -> tuple[dict[str, np.ndarray], Sums]:
    """Return what is kept of the rows of a block after ``fn``, and the sums that it gives."""
    with workers(1):
        state = _local(block, rows, given, kept, dtype)
        sums = state.sum(fn, block is not None, coarse)
    return state.kept | state.fresh, sums


def _taken(
    fn: Callable[[Rows], np.ndarray], block: Any, rows: slice, given: dict[str, Any], kept: Any, dtype: Any, here: Any
) -> np.ndarray:
    with workers(1):
        return _local(block, rows, given, kept, dtype).take(here, fn, block is not None)


def _on_block(fn: Callable[[slice, Any], T], rows: slice, block: Any) -> T:
    with workers(1):
        return fn(rows, block)


def _same(value: T) -> T:
    return value


def _item(pair: Sequence[Any], place: int) -> Any:
    return pair[place]


def _added(*parts: Sums) -> Sums:
    return added(parts)


_numbers = iter(range(1 << 62))


def named(what: str, rows: slice) -> str:
    """Return a key that people understand on the dashboard, and that no other task has."""
    return f"{what}-{rows.start:,}-to-{rows.stop:,}-{next(_numbers)}"


def sent(client: Any, fn: Any) -> Any:
    """Return the future of what tasks call: it goes out once, as a task of its own, however many wait for it."""
    cloudpickle = optional("cloudpickle", "a cluster")
    return client.submit(partial(cloudpickle.loads, cloudpickle.dumps(fn)), key=f"function-{next(_numbers)}")


def summed(client: Any, parts: list[Any]) -> Sums:
    """Return the sums of these futures, added on the workers, neighbours first."""
    while len(parts) > 1:
        pairs = [parts[k : k + 2] for k in range(0, len(parts), 2)]
        parts = [
            client.submit(_added, *pair, key=f"add-{next(_numbers)}") if len(pair) > 1 else pair[0] for pair in pairs
        ]
    with explained(client):
        return added([parts[0].result()])


@contextmanager
def explained(client: Any) -> Iterator[None]:
    """Say in one sentence what went wrong on a cluster, where its own message does not."""
    from distributed import CancelledError
    from distributed.scheduler import KilledWorker

    try:
        yield
    except KilledWorker as error:
        raise MemoryError(
            "a block of rows has ended several workers, which as a rule means that it does not fit their memory; "
            "use more and smaller blocks, or workers with more memory"
        ) from error
    except CancelledError as error:
        raise ConnectionError(
            f"the scheduler at {address_of(client)} is gone, and with it the work; start it again, and go on from a "
            "checkpoint if there is one"
        ) from error
    except ModuleNotFoundError as error:
        raise ModuleNotFoundError(
            f"the workers cannot import {error.name!r}; install besvm, and what it needs, on every one of them"
        ) from error


def address_of(client: Any) -> str:
    """Return the address of the scheduler, as far as it is known."""
    scheduler = getattr(client, "scheduler", None)
    return str(getattr(scheduler, "address", "an unknown address"))


WAIT = 10  # seconds for a scheduler to answer


@contextmanager
def client_for(client: Any, X: Any) -> Iterator[Any]:
    """Give the client that a fit is to use: the one given, by object or address, or for Dask collections the current.

    None: this process does it all.
    """
    if client is None and not isinstance(getattr(X, "source", X), DaskSource):
        yield None
        return
    address = isinstance(client, str) and ":" in client
    if not (client is None or address or hasattr(client, "scheduler_info")):
        raise TypeError(
            f"client must be a distributed.Client, the address of a scheduler, or None, got {shown(client)}"
        )
    distributed = optional("distributed", "a cluster")
    if isinstance(client, str):
        try:
            own = distributed.Client(client, timeout=WAIT)
        except (OSError, TimeoutError, ValueError) as error:
            raise ConnectionError(
                f"no Dask scheduler answered at {client!r} within {WAIT} seconds; check the address, and that it runs"
            ) from error
        with own:
            yield own
    elif client is None:
        try:
            current = distributed.default_client()
        except ValueError:
            current = None  # Dask computes the partitions in this process
        yield current
    else:
        yield client
