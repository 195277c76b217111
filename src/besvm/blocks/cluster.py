"""A tall matrix whose blocks are on the workers of a Dask cluster, with what a solver keeps of their rows.

A block is a future that the scheduler can make again from its source, never data sent out once; so is what is kept of
its rows, which begins anew at every Newton step, so that little has to be made again where a worker is lost. Functions
go out as tasks, sums come back added in a fixed order: the result does not depend on who was ready when.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from typing import Any, TypeVar

import numpy as np

from besvm._support.threads import workers
from besvm._support.units import show_bytes
from besvm.blocks.cluster_tasks import gathered, named, sent, summed
from besvm.blocks.cluster_values import ClusterValues, spread_on
from besvm.blocks.estimates import last_rank, row_bytes
from besvm.blocks.half import HalfBlocks
from besvm.blocks.plan import Plan
from besvm.blocks.state import Add, LocalState, Rows, RowState, Sums, Values, View, added
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
    half : bool
        Whether the workers keep them in half precision.
    """

    def __init__(
        self, client: Any, blocks: Sequence[Any], rows: Sequence[slice], width: int, dtype: Any, half: bool = False
    ) -> None:
        self.client, self.futures, self.rows, self.half = client, list(blocks), list(rows), half
        self.shape = (rows[-1].stop, width)
        self.dtype = np.dtype(dtype)

    def map(self, fn: Callable[[slice, Any], T], coarse: bool = False) -> Iterator[T]:
        found = self._each("look at", fn)
        while found:
            yield gathered(self.client, [found.pop(0)])[0]

    def sum(self, fn: Callable[[slice, Any], tuple[Any, ...]], coarse: bool = False) -> tuple[Any, ...]:
        def total(rows: slice, block: np.ndarray) -> Sums:
            return MemoryBlocks(block).sum(_from(rows.start, fn), coarse)

        return summed(self.client, self._each("sum over", total))

    def update(self, fn: Callable[[slice, Any], np.ndarray]) -> None:
        half = self.half

        def updated(rows: slice, block: np.ndarray) -> Any:
            own = block.copy()  # as the task may be run again
            MemoryBlocks(own).update(_from(rows.start, fn))
            return kept(own, half)

        self.futures = self._each("normalize", updated)

    def state(self, dtype: Any = None) -> RowState:
        return DaskState(self, dtype)

    def spread(self, at: np.ndarray, values: np.ndarray, rest: Any) -> Values:
        return spread_on(self.client, self.rows, at, values, rest)

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

    def __init__(self, blocks: DaskBlocks, dtype: Any = None) -> None:
        self.blocks, self.shape = blocks, blocks.shape
        self.dtype = np.dtype(blocks.dtype if dtype is None else dtype)
        self._given: list[dict[str, Any]] = [{} for _ in blocks.rows]  # futures, by name: what was put here
        self._done: list[Any] = [None] * len(blocks.rows)  # futures of what the last task kept of them, and its sums
        self._next: list[Callable[[Rows], None]] = []  # what goes along with the next task

    def put(self, name: str, values: Values, dtype: Any = None) -> None:
        client, rows = self.blocks.client, self.blocks.rows
        if isinstance(values, ClusterValues):
            parts = values.cut(rows)
            if dtype is not None and values.dtype != dtype:
                keys = [named(f"{name} of rows", some) for some in rows]
                parts = [client.submit(np.asarray, part, dtype, key=key) for part, key in zip(parts, keys, strict=True)]
        else:
            parts = [_sent_part(client, name, np.asarray(values), some, dtype) for some in rows]
        for given, part in zip(self._given, parts, strict=True):
            given[name] = part

    def rewind(self) -> None:
        self._done, self._next = [None] * len(self._done), []

    def sum(self, fn: Callable[[Rows], Sums], features: bool = True, coarse: bool = False, add: Add = added) -> Sums:
        client, task = self.blocks.client, _after(self._next, fn)
        if features:  # and else it is so small that it goes out with every task
            task = sent(client, task)
        self._next = []
        parts = []
        for i, (rows, block) in enumerate(zip(self.blocks.rows, self.blocks.futures, strict=True)):
            state = self._given[i], self._done[i], self.dtype
            key = named("pass over rows" if features else "work on rows", rows)
            self._done[i] = client.submit(_work, task, block if features else None, rows, *state, coarse, add, key=key)
            parts.append(client.submit(_sums, self._done[i], key=named("sums of rows", rows)))
        return summed(client, parts, small=not features, add=add)

    def each(self, fn: Callable[[Rows], None]) -> None:
        self._next = [*self._next, fn]

    def select(self, names: Iterable[str], columns: np.ndarray) -> None:
        chosen = tuple(names)

        def part(rows: Rows) -> None:
            for name in chosen:
                rows[name] = rows[name][:, columns]

        self.each(part)

    def take(self, rows: np.ndarray, fn: Callable[[Rows], np.ndarray], features: bool = False) -> np.ndarray:
        client, task = self.blocks.client, sent(self.blocks.client, _after(self._next, fn))
        found = []
        for i, (at, block) in enumerate(zip(self.blocks.rows, self.blocks.futures, strict=True)):
            here = rows[slice(*np.searchsorted(rows, [at.start, at.stop]))] - at.start
            if len(here):
                of = (at, self._given[i], self._done[i], self.dtype, here)
                found.append(client.submit(_taken, task, block if features else None, *of, key=named("take rows", at)))
        return np.concatenate(gathered(client, found))


def check_cluster(penalty: str, multi_class: str) -> None:
    """Refuse what needs all rows in one place."""
    if penalty != "l2":
        raise ValueError(f"on a cluster penalty must be 'l2', got {penalty!r}; use client=None for other penalties")
    if multi_class != "ovr":
        raise ValueError(f"on a cluster multi_class must be 'ovr', got {multi_class!r}; use client=None for one-vs-one")


def plan_on(client: Any, n: int, width: int, itemsize: int, n_columns: int, stored: int | None = None) -> Plan:
    """Return the plan of training on the workers; what cannot fit their memory together is refused.

    ``stored`` are the bytes of a number as it is stored, if they are fewer.
    """
    limits = [worker["memory_limit"] for worker in client.scheduler_info(n_workers=-1)["workers"].values()]
    features = (stored or itemsize) * n * width
    work = n * row_bytes(n_columns, itemsize)
    if limits and all(limits) and features + work > sum(limits):
        raise MemoryError(
            f"training must stay within the {show_bytes(sum(limits))} of {len(limits)} workers together, but needs "
            f"{show_bytes(features + work)}; add workers, or use a smaller basis"
        )
    options = {"max_rank": last_rank(width + 1)}
    return Plan("cluster", options, None, None, features, work, sum(limits))


def kept(block: np.ndarray, half: bool) -> Any:
    """Return a block as the workers keep it."""
    return HalfBlocks.of(block) if half else block


class _FreshView(View):
    """Some rows of arrays that must stay as they are; what is written is remembered here, and kept once all is done."""

    def __init__(self, state: LocalState, at: slice | np.ndarray, features: Any = None) -> None:
        super().__init__(state, at, features)
        self._written: dict[str, np.ndarray] = {}

    def __getitem__(self, name: str) -> np.ndarray:
        return self._written[name] if name in self._written else super().__getitem__(name)

    def __setitem__(self, name: str, value: np.ndarray) -> None:
        self._written[name] = value

    def keep(self) -> None:
        for name, value in self._written.items():
            super().__setitem__(name, value)


class _Fresh(LocalState):
    """The state of one block while a task works on it: what is written goes to new arrays.

    A task may be run again, so that what it was given must stay as it is.
    """

    view = _FreshView

    def __init__(
        self, blocks: Any, first_row: int, dtype: Any, given: dict[str, Any], kept: dict[str, np.ndarray] | None
    ) -> None:
        super().__init__(blocks, dtype)
        self.first_row = first_row
        self.arrays = {**given, **(kept or {})}
        self.kept: dict[str, np.ndarray] = dict(kept or {})
        self.fresh: dict[str, np.ndarray] = {}

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


def _local(block: Any, rows: slice, given: dict[str, Any], done: Any, dtype: Any) -> _Fresh:
    if block is None:
        block = _Nothing(rows.stop - rows.start)
    blocks = block if isinstance(block, RowBlocks) else MemoryBlocks(block)
    return _Fresh(blocks, rows.start, dtype, given, None if done is None else done[0])


def _after(first: list[Callable[[Rows], None]], fn: Callable[[Rows], T]) -> Callable[[Rows], T]:
    """Return ``fn``, with what is to be done to the rows before."""

    def work(rows: Rows) -> T:
        for each in first:
            each(rows)
        return fn(rows)

    return work


def _work(
    fn: Callable[[Rows], Sums],
    block: Any,
    rows: slice,
    given: dict[str, Any],
    done: Any,
    dtype: Any,
    coarse: bool,
    add: Add,
) -> tuple[dict[str, np.ndarray], Sums]:
    """Return what is kept of the rows of a block after ``fn``, and the sums that it gives."""
    with workers(1):
        state = _local(block, rows, given, done, dtype)
        sums = state.sum(_keeping(fn), block is not None, coarse, add)
    return state.kept | state.fresh, sums


def _taken(
    fn: Callable[[Rows], np.ndarray], block: Any, rows: slice, given: dict[str, Any], done: Any, dtype: Any, here: Any
) -> np.ndarray:
    with workers(1):
        return _local(block, rows, given, done, dtype).take(here, fn, block is not None)


def _keeping(fn: Callable[[Rows], Sums]) -> Callable[[Any], Sums]:
    def work(rows: _FreshView) -> Sums:
        sums = fn(rows)
        rows.keep()
        return sums

    return work


def _from(first: int, fn: Callable[[slice, Any], T]) -> Callable[[slice, Any], T]:
    """Return ``fn`` for some rows of a block, told where they are in the matrix."""
    return lambda rows, part: fn(slice(first + rows.start, first + rows.stop), part)


def _on_block(fn: Callable[[slice, Any], T], rows: slice, block: Any) -> T:
    with workers(1):
        return fn(rows, block.whole() if isinstance(block, HalfBlocks) else block)


def _sums(done: tuple[dict[str, np.ndarray], Sums]) -> Sums:
    return done[1]


def _sent_part(client: Any, name: str, array: np.ndarray, rows: slice, dtype: Any) -> Any:
    """Return the future of some rows of an array in memory; where one number says it all, only that is sent."""
    same = array.strides == (0,) or (array == array[0]).all()
    part = np.asarray(array[:1] if same else array[rows], dtype)
    times = rows.stop - rows.start if same else 1
    return client.submit(np.repeat, part, times, 0, key=named(f"{name} of rows", rows))
