"""How many workers there are, and work handed to threads with BLAS held to one thread each."""

import os
import threading
from collections.abc import Callable, Iterable, Iterator, Sequence
from concurrent.futures import Future, ThreadPoolExecutor
from contextlib import contextmanager
from contextvars import ContextVar, copy_context
from functools import cache
from itertools import chain, islice
from typing import Any, TypeVar

from joblib import effective_n_jobs

from besvm._support.parameters import check_n_jobs

T = TypeVar("T")
S = TypeVar("S")

WORTH_THREADS = 1e9  # operations in one go, below which one thread is faster than several

_asked: ContextVar[int | None] = ContextVar("besvm_n_jobs", default=None)


@contextmanager
def workers(n_jobs: int | None) -> Iterator[None]:
    """Let everything inside the ``with`` use ``n_jobs`` workers (None leaves the number as it is)."""
    check_n_jobs("n_jobs", n_jobs)
    token = _asked.set(_asked.get() if n_jobs is None else effective_n_jobs(n_jobs))
    try:
        yield
    finally:
        _asked.reset(token)


def n_workers() -> int:
    """Return the number asked for, or else the threads BLAS may use here (environment, limits, joblib)."""
    return _asked.get() or _blas.threads()


@contextmanager
def threads_for(operations: float) -> Iterator[None]:
    """Let everything inside the ``with`` run on one thread if it is little work: starting threads would cost more.

    BLAS has one thread in any case: how it shares out a product changes the last digits, and how many threads it has
    changes with what else the process does. What is worth sharing goes through :func:`thread_map`.
    """
    with workers(1 if operations < WORTH_THREADS else None), one_blas_thread():
        yield


class _Taken:
    """What threads of this process have taken, each time under a key of its own.

    Nobody takes anything while the process forks; and the child of a fork keeps what its only thread had taken.
    """

    def __init__(self) -> None:
        self.lock = threading.RLock()  # a thread that has it may fork
        self._by_key: dict[object, tuple[int, int]] = {}  # which thread took how much

    def _add(self, n: int) -> object:
        key = object()
        self._by_key[key] = threading.get_ident(), n
        return key

    def keep_own(self) -> None:
        """Forget, in the child of a fork, the threads that it does not have."""
        self.lock = threading.RLock()  # threads of the parent may have waited for the old one
        own = threading.get_ident()
        self._by_key = {key: taken for key, taken in self._by_key.items() if taken[0] == own}


class _BlasGate(_Taken):
    """Holds BLAS to one thread while any caller is inside, and gives the threads back after the last one.

    The number of BLAS threads belongs to the whole process, so two fits in two threads must not each restore
    what they found.
    """

    _found: Sequence[tuple[Any, int]] = ()  # the libraries, and how many threads each had, while anyone is inside

    def threads(self) -> int:
        with self.lock:
            return max((n for _, n in self._found or _libraries()), default=1)

    @contextmanager
    def single(self) -> Iterator[None]:
        with self.lock:
            if not self._found:
                self._found = _libraries()
                _set_threads([(library, 1) for library, _ in self._found])
            key = self._add(1)
        try:
            yield
        finally:
            with self.lock:
                self._by_key.pop(key, None)
                self._open_if_empty()

    def _open_if_empty(self) -> None:
        if not self._by_key:
            _set_threads(self._found)
            self._found = ()

    def keep_own(self) -> None:
        super().keep_own()
        self._open_if_empty()


_blas = _BlasGate()
one_blas_thread = _blas.single  # for what must give the same numbers whatever else the process does


class _Seats(_Taken):
    """The threads at work in all pools of the process: those who come late find fewer free, and work alone if none."""

    @contextmanager
    def take(self, wanted: int) -> Iterator[int]:
        with self.lock:
            free = wanted - sum(n for _, n in self._by_key.values())
            n = free if free > 1 else 0
            key = self._add(n)
        try:
            yield max(1, n)
        finally:
            with self.lock:
                self._by_key.pop(key, None)


_seats = _Seats()


@cache
def _controller() -> Any:
    import scipy.linalg.cython_blas  # noqa: F401  (numba's np.dot calls SciPy's own BLAS: it must be known here)
    from threadpoolctl import ThreadpoolController

    return ThreadpoolController()


def _libraries() -> list[tuple[Any, int]]:
    return [(library, library.num_threads) for library in _controller().lib_controllers if library.user_api == "blas"]


def _set_threads(wanted: Sequence[tuple[Any, int]]) -> None:
    """Set the number of threads of each library.

    Some builds of OpenBLAS obey only the thread that came first, for as long as it lives, and say nothing to others:
    so it is always the same thread that asks, and this one too if that was not heard. Nobody asks for what is so.
    """
    if all(library.num_threads == n for library, n in wanted):
        return

    def ask() -> None:
        for library, n in wanted:
            library.set_num_threads(n)

    _asking_thread().submit(ask).result()
    if any(library.num_threads != n for library, n in wanted):
        ask()


@cache
def _asking_thread() -> ThreadPoolExecutor:
    return ThreadPoolExecutor(1, thread_name_prefix="besvm-blas")


def _before_fork() -> None:
    for taken in (_blas, _seats):
        taken.lock.acquire()


def _after_in_parent() -> None:
    for taken in (_blas, _seats):
        taken.lock.release()


def _after_in_child() -> None:
    _asking_thread.cache_clear()  # a child has none of its parent's threads
    for taken in (_blas, _seats):
        taken.keep_own()


if hasattr(os, "register_at_fork"):
    os.register_at_fork(before=_before_fork, after_in_parent=_after_in_parent, after_in_child=_after_in_child)


def n_waiting(n: int) -> int:
    """Return how many items of :func:`thread_map` are begun, or finished and not yet asked for, with ``n`` workers."""
    return 2 * n


def thread_map(fn: Callable[[T], S], items: Iterable[T]) -> Iterator[S]:
    """Yield ``fn(item)`` in the order of ``items``, computed by :func:`n_workers` threads.

    Only :func:`n_waiting` results are ever waiting, so the items may be many and the results large. The threads see the
    caller's context, and with it the number of workers. Threads that others of this process have at work, in another
    fit or around this one, are not started again.
    """
    n = n_workers()
    source = iter(items)
    first = list(islice(source, n_waiting(n)))
    with one_blas_thread(), _seats.take(min(n, len(first))) as n:
        if n == 1:
            yield from map(fn, chain(first, source))
            return
        pool = ThreadPoolExecutor(n, thread_name_prefix="besvm")
        try:
            waiting = [pool.submit(copy_context().run, fn, item) for item in first]
            while waiting:
                result = waiting.pop(0).result()
                waiting += [pool.submit(copy_context().run, fn, item) for item in islice(source, 1)]
                yield result
        finally:  # an error or Ctrl-C must not wait for what is still queued
            pool.shutdown(wait=True, cancel_futures=True)


@contextmanager
def begun_ahead(fn: Callable[[T], S], items: Iterable[T], n: int) -> Iterator[Iterator[Future[S]]]:
    """Give the futures of ``fn(item)`` in order, one more of them begun than was asked for, on ``n`` threads.

    For work that waits for something else than a processor, beside the threads of :func:`thread_map`.
    """
    pool = ThreadPoolExecutor(n, thread_name_prefix="besvm-ahead")

    def futures() -> Iterator[Future[S]]:
        begun: list[Future[S]] = []
        for item in items:
            begun.append(pool.submit(fn, item))
            if len(begun) > 1:
                yield begun.pop(0)
        yield from begun

    try:
        yield futures()
    finally:
        pool.shutdown(wait=True, cancel_futures=True)


def slices(n_rows: int, rows_each: int) -> list[slice]:
    """Cut ``range(n_rows)`` into consecutive slices of at most ``rows_each`` rows."""
    return [slice(start, min(start + rows_each, n_rows)) for start in range(0, n_rows, rows_each)]
