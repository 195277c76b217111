"""A function of many samples and many exemplars at once, as a similarity."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
from scipy.sparse import issparse

from besvm._support.parameters import shown
from besvm._support.rows import items, n_rows, span
from besvm.similarities.contract import Similarity, name_of
from besvm.similarities.pairs import about, shown_pair


class BlockFunction(Similarity):
    """A function ``f(samples, exemplars)`` that returns the whole matrix, (samples, exemplars).

    For what computes many pairs at once faster than one by one: matrix products, another library, another machine. Both
    come as X came: an array, a list, a DataFrame. A function of two items needs no wrapper; this one has to be
    said, as the two look the same.

    Parameters
    ----------
    function : callable
        Row i, column j of what it returns is the similarity of sample i to exemplar j.
    threads : bool, default=False
        Whether several threads may call it at once, which pays off where it releases Python's lock.

    Examples
    --------
    >>> import numpy as np
    >>> from besvm.similarities import BlockFunction
    >>> def overlap(A, B):
    ...     return np.array([[len(set(a) & set(b)) for b in B] for a in A])
    >>> BlockFunction(overlap)(["cat", "dog"], ["tag", "god", "act"])
    array([[2, 0, 3],
           [1, 3, 0]])
    """

    def __init__(self, function: Callable[[Any, Any], Any], *, threads: bool = False) -> None:
        self.function = function
        self.threads = threads

    def __sklearn_clone__(self) -> BlockFunction:
        return BlockFunction(self.function, threads=self.threads)  # clone would copy whatever the function holds

    @property
    def parallel(self) -> bool:  # type: ignore[override]
        return self.threads

    @property
    def label(self) -> str:
        return name_of(self.function, "function")

    def __call__(self, A: Any, B: Any) -> np.ndarray:
        shape = n_rows(A), n_rows(B)
        try:
            block = self.function(A, B)
        except Exception as error:
            raise self._failed(error, A, B) from error
        if issparse(block):
            block = block.toarray()
        found = np.shape(block) if hasattr(block, "shape") or isinstance(block, (list, tuple)) else None
        if found != shape:
            got = type(block).__name__ if found is None else f"the shape {found}"
            advice = "; transpose it" if found == shape[::-1] else ""
            raise ValueError(
                f"a function of blocks must return a matrix of shape {shape} (samples, exemplars), got {got}{advice}"
            )
        matrix = np.asarray(block)
        if matrix.dtype.kind not in "fiub":
            i, j = next(((i, j) for i, row in enumerate(matrix) for j, s in enumerate(row) if not _is_real(s)), (0, 0))
            wrong = TypeError(
                f"a function of blocks must return real numbers, got {shown(matrix[i, j])} for the pair "
                f"{shown_pair(_item(B, j), _item(A, i))}"
            )
            raise about(wrong, i, j)
        return matrix

    def _failed(self, error: Exception, A: Any, B: Any) -> RuntimeError:
        """Return what to say of an error: the first pair that makes one, tried again row by row."""
        i, again = self._first_failure(n_rows(A), lambda row: self.function(span(A, slice(row, row + 1)), B))
        if again is None:
            return RuntimeError(
                f"the function of blocks failed on {n_rows(A)} samples and {n_rows(B)} exemplars: "
                f"{type(error).__name__}: {error}"
            )
        one = span(A, slice(i, i + 1))
        j, alone = self._first_failure(n_rows(B), lambda row: self.function(one, span(B, slice(row, row + 1))))
        if alone is None:
            text = f"the sample {shown(_item(A, i))} and {n_rows(B)} exemplars: {type(again).__name__}: {again}"
            return about(RuntimeError(f"the function of blocks failed on {text}"), i, None)
        text = f"the pair {shown_pair(_item(B, j), _item(A, i))}: {type(alone).__name__}: {alone}"
        return about(RuntimeError(f"the function of blocks failed on {text}"), i, j)

    @staticmethod
    def _first_failure(n: int, call: Callable[[int], Any]) -> tuple[int, Exception | None]:
        for row in range(n):
            try:
                call(row)
            except Exception as error:
                return row, error
        return 0, None


def _item(X: Any, row: int) -> Any:
    return next(iter(items(span(X, slice(row, row + 1)))))


def _is_real(value: Any) -> bool:
    return isinstance(value, (int, float, np.integer, np.floating, np.bool_))
