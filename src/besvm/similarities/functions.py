"""Any Python function of two items as a similarity, spread over processes."""

from __future__ import annotations

from collections.abc import Callable
from time import perf_counter
from typing import Any, ClassVar

import numpy as np

from besvm._support.rows import items, n_rows, span
from besvm._support.threads import n_workers, slices
from besvm.similarities.contract import Similarity

WORTH_PROCESSES = 0.5  # seconds of work below which handing it to other processes costs more than it saves


class PairFunction(Similarity):
    """A function ``f(exemplar, sample)`` of two items, called for every pair.

    The pairs are spread over processes when there is enough work to pay for it; the function must then be
    picklable (joblib's loky takes lambdas and closures too).

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

    def __init__(self, function: Callable[[Any, Any], float]) -> None:
        self.function = function

    @property
    def label(self) -> str:
        """The function's own name."""
        name = getattr(self.function, "__name__", type(self.function).__name__)
        return "function" if name == "<lambda>" else str(name)

    def __call__(self, A: Any, B: Any) -> np.ndarray:
        """Return the matrix of function(B[j], A[i])."""
        from joblib import Parallel, delayed

        rows, workers = n_rows(A), n_workers()
        if rows == 0 or workers == 1:
            return _compare(self.function, A, B)
        start = perf_counter()
        first = _compare(self.function, span(A, slice(0, 1)), B)
        if (perf_counter() - start) * (rows - 1) < WORTH_PROCESSES:
            return np.concatenate([first, _compare(self.function, span(A, slice(1, rows)), B)])
        parts = [slice(s.start + 1, s.stop + 1) for s in slices(rows - 1, -(-(rows - 1) // (4 * workers)))]
        rest = Parallel(n_jobs=workers)(delayed(_compare)(self.function, span(A, part), B) for part in parts)
        return np.concatenate([first, *rest])


def _compare(function: Callable[[Any, Any], float], A: Any, B: Any) -> np.ndarray:
    out = np.empty((n_rows(A), n_rows(B)))
    exemplars = list(items(B))
    for i, sample in enumerate(items(A)):
        for j, exemplar in enumerate(exemplars):
            value: Any = function(exemplar, sample)
            try:
                if value is None or isinstance(value, str):  # NumPy would take them for numbers
                    raise TypeError
                out[i, j] = value
            except (TypeError, ValueError):
                raise TypeError(
                    f"a similarity function must return a number, got {type(value).__name__} "
                    f"for the pair ({_short(exemplar)}, {_short(sample)})"
                ) from None
    return out


def _short(item: Any) -> str:
    text = repr(item)
    return text if len(text) <= 40 else text[:37] + "..."
