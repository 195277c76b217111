"""A function of two items that numba has compiled, as a similarity: threads, and no Python in the loop."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, ClassVar, NamedTuple

import numpy as np
from scipy.sparse import issparse

from besvm._support.parameters import shown
from besvm._support.rows import n_rows
from besvm._support.threads import n_workers, slices, thread_map
from besvm.similarities.contract import Similarity, name_of
from besvm.similarities.functions import PairFunction, is_one_number
from besvm.similarities.pairs import about, shown_pair

MOST_AXES = 3


def is_compiled(function: Any) -> bool:
    """Say whether numba has compiled a function, as by ``njit``; numba is not imported for it."""
    kind = type(function)
    return kind.__module__.partition(".")[0] == "numba" and hasattr(function, "py_func")


def of_function(function: Any) -> Similarity:
    """Return the similarity that a function of two items stands for."""
    return CompiledFunction(function) if is_compiled(function) else PairFunction(function)


class CompiledFunction(Similarity):
    """A function ``f(exemplar, sample)`` that numba has compiled, called for every pair in a compiled loop on threads.

    Any function that ``numba.njit`` was put on becomes one where a measure is expected. Its items are numbers, or
    arrays of numbers with up to three axes, of equal or unequal shapes, which come as contiguous arrays.

    Parameters
    ----------
    function : numba function
        Takes an exemplar and a sample, returns a number. It may be asymmetric.

    Examples
    --------
    >>> import numpy as np
    >>> from numba import njit
    >>> from besvm.similarities import CompiledFunction
    >>> @njit
    ... def closest(a, b):
    ...     "Minus the least distance of a number of the one to one of the other."
    ...     return -min([abs(x - y) for x in a for y in b])
    >>> CompiledFunction(closest)([np.array([1.0, 5.0]), np.array([9.0])], [np.array([2.0, 3.5, 8.0])])
    array([[-1.],
           [-1.]])
    """

    rows_per_block: ClassVar[int | None] = 256  # so that progress moves and an interrupt is quick

    def __init__(self, function: Any) -> None:
        self.function = function

    def __sklearn_clone__(self) -> CompiledFunction:
        return CompiledFunction(self.function)  # which clone would copy, and so compile again

    def __deepcopy__(self, memo: Any) -> CompiledFunction:
        return CompiledFunction(self.function)

    @property
    def label(self) -> str:
        return name_of(self.function, "function")

    def bytes_a_row(self, sample: int, n_exemplars: int) -> int:
        return 3 * sample + 16 * n_exemplars

    def __call__(self, A: Any, B: Any) -> np.ndarray:
        return self.against(B)(A)

    def against(self, basis: Any) -> Callable[[Any], np.ndarray]:
        exemplars = _packed(basis, lambda error, place: about(error, None, place))
        tried: set[tuple[np.dtype[Any], int]] = set()

        def similarities(A: Any) -> np.ndarray:
            from besvm.similarities.function_kernels import tile_of

            samples = _packed(A, lambda error, place: about(error, place, None))
            out = np.empty((samples.n, exemplars.n))
            if not out.size:
                return out
            if samples.flat.dtype != exemplars.flat.dtype and np.can_cast(samples.flat.dtype, exemplars.flat.dtype):
                samples = samples._replace(flat=samples.flat.astype(exemplars.flat.dtype))
            if (samples.flat.dtype, samples.axes) not in tried:
                self._try(exemplars, samples)
                tried.add((samples.flat.dtype, samples.axes))
            tile = tile_of(self.function, samples.axes, exemplars.axes)

            def work(rows: slice) -> None:
                at = np.zeros(2, dtype=np.intp)
                try:
                    tile(samples[:3], exemplars[:3], rows.start, out[rows], at)
                except Exception as error:
                    raise self._failed(error, exemplars, samples, int(at[0]), int(at[1])) from error

            for _ in thread_map(work, slices(samples.n, -(-samples.n // (4 * n_workers())))):
                pass
            return out

        return similarities

    def _try(self, exemplars: _Packed, samples: _Packed) -> None:
        """Call the function once from Python, to see whether it takes such items and returns a number."""
        from numba.core.errors import NumbaError

        try:
            value = self.function(exemplars.item(0), samples.item(0))
        except NumbaError as error:
            lines = [line.strip() for line in str(error).splitlines() if line.strip()]
            says = lines[1] if lines[0].startswith("Failed in") and len(lines) > 1 else lines[0]
            raise TypeError(
                f"numba cannot compile the similarity function {self.label!r} for these items ({says}); "
                f"call it on two of them to see why, or pass the uncompiled function, {self.label}.py_func"
            ) from error
        except Exception as error:
            raise self._failed(error, exemplars, samples, 0, 0) from error
        if not is_one_number(value):
            wrong = TypeError(
                f"a similarity function must return a number, got {type(value).__name__} "
                f"for the pair {shown_pair(exemplars.item(0), samples.item(0))}"
            )
            raise about(wrong, 0, 0)

    def _failed(self, error: Exception, exemplars: _Packed, samples: _Packed, i: int, j: int) -> RuntimeError:
        pair = shown_pair(exemplars.item(j), samples.item(i))
        text = f"the similarity function failed on the pair {pair}: {type(error).__name__}: {error}"
        return about(RuntimeError(text), i, j)


class _Packed(NamedTuple):
    """Items one behind the other, as compiled code reads them."""

    flat: np.ndarray
    starts: np.ndarray  # (n + 1,)
    shapes: np.ndarray  # (n, axes)

    @property
    def n(self) -> int:
        return len(self.starts) - 1

    @property
    def axes(self) -> int:
        return self.shapes.shape[1]

    def item(self, i: int) -> Any:
        part = self.flat[self.starts[i] : self.starts[i + 1]]
        return part.reshape(self.shapes[i]) if self.axes else part[0]


def _packed(X: Any, name: Callable[[TypeError, int], TypeError]) -> _Packed:
    """Pack items; ``name`` lets an error know which item it is about."""
    if issparse(X):
        X = X.toarray()
    elif hasattr(X, "to_numpy"):
        X = X.to_numpy()
    if isinstance(X, np.ndarray) and X.dtype.kind in "biuf":
        if X.ndim - 1 > MOST_AXES:
            raise name(_unfit(X[0]), 0)
        shape = X.shape[1:]
        size = int(np.prod(shape))
        return _Packed(
            np.ascontiguousarray(X).reshape(-1),
            size * np.arange(len(X) + 1),
            np.tile(np.array(shape, dtype=np.intp), (len(X), 1)).reshape(len(X), len(shape)),
        )
    arrays: list[np.ndarray] = []
    for place, item in enumerate(X):
        array = _as_array(item)
        if array is None or (arrays and array.ndim != arrays[0].ndim):
            raise name(_unfit(item), place)
        arrays.append(array)
    axes = arrays[0].ndim if arrays else 0
    return _Packed(
        np.concatenate([array.ravel() for array in arrays]) if arrays else np.empty(0),
        np.cumsum([0, *(array.size for array in arrays)]),
        np.array([array.shape for array in arrays], dtype=np.intp).reshape(n_rows(X), axes),
    )


def _as_array(item: Any) -> np.ndarray | None:
    """Return a number or an array of them; None for anything else."""
    try:
        array = np.asarray(item)
    except ValueError:  # lists of different lengths
        return None
    return array if array.dtype.kind in "biuf" and array.ndim <= MOST_AXES else None


def _unfit(item: Any) -> TypeError:
    return TypeError(
        "a compiled similarity function compares numbers, or arrays of numbers with the same number of axes, at most "
        f"{MOST_AXES}, got {shown(item)}; a plain function of two items takes anything"
    )
