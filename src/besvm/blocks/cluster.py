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

import cloudpickle
import numpy as np

from besvm._support.threads import workers
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
        self.futures = self._each("normalize", fn)

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
            what = f"{'pass over' if features else 'work on'} rows"
            done = client.submit(
                *(_work, task, block if features else None, rows, self._given[i], self._kept[i], self.dtype, coarse),
                key=named(what, rows),
            )
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
                        *(_taken, task, block if features else None, at, self._given[i], self._kept[i], self.dtype, here),
                        key=named("take rows", at),
                    )
                )
        with explained(client):
            return np.concatenate(client.gather(found))

    def whole(self, name: str) -> Any:
        raise NotImplementedError("rows on a cluster are taken, not had whole")


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


def sent(client: Any, fn: Callable[..., Any]) -> Any:
    """Return the future of a function: it goes out once, as a task of its own, however many blocks wait for it."""
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
            f"the scheduler at {client.scheduler.address if client.scheduler else 'its address'} is gone, and with it "
            "the work; start it again, and go on from a checkpoint if there is one"
        ) from error
    except ModuleNotFoundError as error:
        raise ModuleNotFoundError(
            f"the workers cannot import {error.name!r}; install besvm, and what it needs, on every one of them"
        ) from error
