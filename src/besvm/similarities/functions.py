"""Any Python function of two items as a similarity, spread over processes."""

from __future__ import annotations

import pickle
from collections.abc import Callable
from concurrent.futures.process import BrokenProcessPool
from time import perf_counter
from typing import Any, ClassVar
from uuid import uuid4
from weakref import finalize

import numpy as np

from besvm._support.rows import items, n_rows, span
from besvm._support.threads import n_workers, slices
from besvm.similarities.contract import Similarity, name_of
from besvm.similarities.pairs import about, shown_pair

WORTH_PROCESSES = 0.5  # seconds of work below which handing it to other processes costs more than it saves

Function = Callable[[Any, Any], float]


class PairFunction(Similarity):
    """A function ``f(exemplar, sample)`` of two items, called for every pair.

    The pairs are spread over processes when there is enough work to pay for it. The function, the exemplars and the
    samples must then be picklable (lambdas and closures are). A process keeps the function and the exemplars, so that
    only samples are sent from block to block.

    The rows of a DataFrame come as named tuples (``row.age``, ``row[0]``), those of one with one column of texts as
    these texts, and those of a sparse matrix as dense arrays.

    Parameters
    ----------
    function : callable
        Takes an exemplar and a sample, returns a number. It may be asymmetric.

    Examples
    --------
    >>> from besvm.similarities import PairFunction
    >>> def prefix(a, b):
    ...     return sum(x == y for x, y in zip(a, b))
    >>> PairFunction(prefix)(["abc", "abd"], ["ab", "xbd"])
    array([[2., 1.],
           [2., 2.]])
    """

    rows_per_block: ClassVar[int | None] = 64  # small, so that progress moves and an interrupt is quick

    def __init__(self, function: Function) -> None:
        self.function = function

    def __sklearn_clone__(self) -> PairFunction:
        return PairFunction(self.function)  # which clone would copy, whatever it holds

    @property
    def label(self) -> str:
        return name_of(self.function, "function")

    def bytes_a_row(self, sample: int, n_exemplars: int) -> int:
        return 3 * sample + 16 * n_exemplars

    def __call__(self, A: Any, B: Any) -> np.ndarray:
        return self.against(B)(A)

    def against(self, basis: Any) -> Callable[[Any], np.ndarray]:
        return _Comparison(self.function, basis)


class _Comparison:
    """Compares samples with the same exemplars, here or, where that pays off, on several processes."""

    def __init__(self, function: Function, basis: Any) -> None:
        self.function = function
        self.basis = basis
        self.exemplars = list(items(basis))
        self.key = uuid4().hex
        self.sendable = False  # not yet known
        self.seconds_a_row: float | None = None  # as the last block took
        _in_use.add(self.key)
        finalize(self, _in_use.discard, self.key)

    def __call__(self, A: Any, first: int = 0) -> np.ndarray:
        """Compare the samples A; an error counts them from ``first``."""
        rows, workers = n_rows(A), n_workers()
        if self.seconds_a_row is None and workers > 1 and rows > 1:  # the first row tells
            return np.concatenate([self(span(A, slice(0, 1))), self(span(A, slice(1, rows)), 1)])
        spread = workers > 1 and rows * (self.seconds_a_row or 0.0) >= WORTH_PROCESSES
        start = perf_counter()
        block = self._spread(A, workers, first) if spread else _compare(self.function, self.exemplars, A, first)
        if rows:
            self.seconds_a_row = (perf_counter() - start) * (workers if spread else 1) / rows
        return block

    def _spread(self, A: Any, workers: int, first: int) -> np.ndarray:
        from joblib import Parallel, delayed

        self._check_sendable(A)
        cuts = slices(n_rows(A), -(-n_rows(A) // (4 * workers)))
        parts = [(span(A, rows), rows.start + first) for rows in cuts]
        in_use = _in_use.copy()  # at once: other threads add to it
        try:
            with Parallel(n_jobs=workers, max_nbytes=None) as parallel:
                blocks = parallel(delayed(_compare_there)(self.key, None, in_use, *part) for part in parts)
                unknown = [place for place, block in enumerate(blocks) if block is None]
                sent = (self.function, self.basis)
                again = parallel(delayed(_compare_there)(self.key, sent, in_use, *parts[place]) for place in unknown)
        except pickle.PicklingError as error:
            raise _unpicklable(error) from error
        except BrokenProcessPool as error:
            raise RuntimeError(
                "a worker process died, because the similarity function crashed or memory ran out; "
                "set n_jobs=1 to run in this process"
            ) from error
        for place, block in zip(unknown, again, strict=True):
            blocks[place] = block
        return np.concatenate(blocks)

    def _check_sendable(self, A: Any) -> None:
        """Refuse a function or items that other processes cannot be sent, before any of them has to say so."""
        from joblib import wrap_non_picklable_objects

        if self.sendable:
            return
        try:
            sent = self.function, span(self.basis, slice(0, 1)), span(A, slice(0, 1))
            # there and back, as between processes; nothing is loaded but what was dumped here
            pickle.loads(pickle.dumps(wrap_non_picklable_objects(sent)))
        except Exception as error:  # whatever the object's own code raises
            raise _unpicklable(error) from error
        self.sendable = True


def _unpicklable(error: Exception) -> TypeError:
    return TypeError(
        f"the similarity function and the items it compares must be picklable to be spread over processes ({error}); "
        "set n_jobs=1, or register a Similarity of your own"
    )


_in_use: set[str] = set()  # the keys of the comparisons that are there
_known: dict[str, tuple[Function, list[Any]]] = {}  # what another process was sent, by the key of the comparison


def _compare_there(
    key: str, sent: tuple[Function, Any] | None, in_use: set[str], A: Any, first: int
) -> np.ndarray | None:
    """Compare in another process; None if this one has yet to be sent what ``key`` stands for."""
    for old in _known.keys() - in_use:
        _known.pop(old, None)
    if sent is not None:
        function, basis = sent
        _known[key] = function, list(items(basis))
    known = _known.get(key)
    return None if known is None else _compare(*known, A, first)


def _compare(function: Function, exemplars: list[Any], A: Any, first: int) -> np.ndarray:
    out = np.empty((n_rows(A), len(exemplars)))
    for i, sample in enumerate(items(A)):
        for j, exemplar in enumerate(exemplars):
            try:
                value: Any = function(exemplar, sample)
            except Exception as error:
                failed = RuntimeError(
                    f"the similarity function failed on the pair {shown_pair(exemplar, sample)}: "
                    f"{type(error).__name__}: {error}"
                )
                raise about(failed, first + i, j) from error
            if type(value) is not float and not is_one_number(value):
                wrong = TypeError(
                    f"a similarity function must return a number, got {type(value).__name__} "
                    f"for the pair {shown_pair(exemplar, sample)}"
                )
                raise about(wrong, first + i, j)
            try:
                out[i, j] = value
            except OverflowError:
                out[i, j] = np.inf  # an integer beyond all floats: refused with the block, by the names of its pair
    return out


def is_one_number(value: Any) -> bool:
    """Say whether a value is one real number; NumPy would also make one of None, texts, bytes and dates."""
    dtype = getattr(value, "dtype", None)
    if dtype is None:
        return hasattr(value, "__float__")
    return getattr(dtype, "kind", "f") in "biuf" and getattr(value, "ndim", 0) == 0  # other libraries' types: no kind
