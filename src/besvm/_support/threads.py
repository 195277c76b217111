"""How many workers there are, and work handed to threads with BLAS held to one thread each."""

import threading
from collections.abc import Callable, Iterable, Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from contextvars import ContextVar, copy_context
from functools import cache
from itertools import chain, islice
from typing import Any, TypeVar

from joblib import effective_n_jobs

from besvm._support.validation import check_n_jobs

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
    """Let everything inside the ``with`` run on one thread if it is little work: starting threads would cost more."""
    if operations >= WORTH_THREADS:
        yield
        return
    with workers(1), _blas.single():
        yield


class _BlasGate:
    """Holds BLAS to one thread while any caller is inside, and gives the threads back after the last one.

    The number of BLAS threads belongs to the whole process, so two fits in two threads must not each restore
    what they found.
    """

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._inside = 0
        self._limit: Any = None
        self._threads = 1

    def threads(self) -> int:
        with self._lock:
            return self._threads if self._inside else _blas_threads()

    @contextmanager
    def single(self) -> Iterator[None]:
        with self._lock:
            if self._inside == 0:
                self._threads = _blas_threads()
                self._limit = _controller().limit(limits=1, user_api="blas")
            self._inside += 1
        try:
            yield
        finally:
            with self._lock:
                self._inside -= 1
                if self._inside == 0:
                    self._limit.restore_original_limits()


_blas = _BlasGate()


@cache
def _controller() -> Any:
    import scipy.linalg.cython_blas  # noqa: F401  (numba's np.dot calls SciPy's own BLAS: it must be known here)
    from threadpoolctl import ThreadpoolController

    return ThreadpoolController()


def _blas_threads() -> int:
    return max((lib["num_threads"] for lib in _controller().info() if lib["user_api"] == "blas"), default=1)


def n_waiting(n: int) -> int:
    """Return how many items of :func:`thread_map` are begun, or finished and not yet asked for, with ``n`` workers."""
    return 2 * n


def thread_map(fn: Callable[[T], S], items: Iterable[T]) -> Iterator[S]:
    """Yield ``fn(item)`` in the order of ``items``, computed by :func:`n_workers` threads.

    Only :func:`n_waiting` results are ever waiting, so the items may be many and the results large. The threads see the
    caller's context, and with it the number of workers.
    """
    n = n_workers()
    source = iter(items)
    first = list(islice(source, n_waiting(n)))
    if len(first) == 1:  # nothing to share: let BLAS have the threads
        yield fn(first[0])
        return
    with _blas.single():
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


def slices(n_rows: int, rows_each: int) -> list[slice]:
    """Cut ``range(n_rows)`` into consecutive slices of at most ``rows_each`` rows."""
    return [slice(start, min(start + rows_each, n_rows)) for start in range(0, n_rows, rows_each)]
