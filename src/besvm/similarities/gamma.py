"""The gamma of a kernel: a number, or taken from the training rows."""

from collections.abc import Callable, Iterable
from typing import Any

import numpy as np
from scipy.sparse import issparse
from sklearn.utils import check_consistent_length

from besvm._support.parameters import is_positive, shown
from besvm._support.row_source import RowSource
from besvm._support.rows import span, take
from besvm._support.threads import slices
from besvm.similarities.tiles import as_vectors, dense

MEDIAN_ROWS = 1000  # whose distances are compared: at most so many,
MEDIAN_ITEMS = 1 << 23  # and of so many numbers
LARGE_EXPONENT = 200  # of two: the squares of such numbers are still far from the limits of float64
BLOCK_ITEMS = 1 << 20  # numbers of X to look at in one go


def settle_gamma(
    gamma: float | str, choices: tuple[str, ...], X: Any = None, weights: Any = None, order: int = 2
) -> float:
    """Return gamma as a number; ``order`` is the power of a difference that gamma multiplies."""
    if isinstance(gamma, str) and gamma in choices:
        X = X if issparse(X) or isinstance(X, RowSource) else as_vectors(X)
        if not isinstance(weights, RowSource):
            weights = np.broadcast_to(1.0, X.shape[0]) if weights is None else np.asarray(weights, dtype=np.float64)
            check_consistent_length(X, weights)
        largest, mass, shift = _reduced(X, weights, _look, _together)
        if not mass > 0:
            raise ValueError(f"gamma={gamma!r} needs at least one row with a weight above 0, got none")
        exponent = int(np.frexp(largest)[1])
        exponent = exponent if abs(exponent) > LARGE_EXPONENT else 0  # the numbers of X / 2^exponent can be squared
        if gamma == "scale":
            small = _standard_deviation(X, weights, mass, shift or 0.0, exponent) ** order * _width(X)
        else:
            small = _median(X, weights, order, exponent)
        with np.errstate(over="ignore", under="ignore", divide="ignore"):
            inverse = 1 / np.ldexp(small, order * exponent)
        if small > 0 and not 0 < inverse < np.inf:
            raise ValueError(
                f"gamma={gamma!r} needs values that are neither huge nor tiny, got about "
                f"1e{exponent * np.log10(2):.0f}; scale X"
            )
        return float(inverse) if small > 0 else 1.0
    if not is_positive(gamma):
        raise ValueError(f"gamma must be a positive number or {' or '.join(map(repr, choices))}, got {shown(gamma)}")
    return float(gamma)


def _width(X: Any) -> int:
    """Return how many numbers a row of X has."""
    return int(np.prod(X.shape[1:]))


def _reduced(
    X: Any,
    weights: Any,
    fn: Callable[[Any, np.ndarray], tuple[Any, ...]],
    add: Callable[[Iterable[tuple[Any, ...]]], tuple[Any, ...]],
) -> tuple[Any, ...]:
    """Return what ``add`` makes of ``fn(rows, weights)``, for the rows of X that weigh anything, some at a time.

    Those of a source are looked at where they are.
    """
    each = max(1, BLOCK_ITEMS // max(1, _width(X)))
    beside = None if _same(weights) else weights

    def part(first: int, rows: Any, own: np.ndarray | None) -> tuple[Any, ...]:
        block = as_vectors(rows)
        own = np.ones(block.shape[0]) if own is None else own
        return fn(block, own) if own.all() else fn(block[own > 0], own[own > 0])

    if isinstance(X, RowSource):
        return X.sums(part, each, add, beside)
    rows = slices(X.shape[0], each)
    return add(part(some.start, span(X, some), None if beside is None else beside[some]) for some in rows)


def _same(weights: Any) -> bool:
    """Return whether one number stands for the weights of all rows, which is then not 0."""
    return getattr(weights, "strides", None) == (0,) and len(weights) > 0 and bool(weights[0] > 0)


def _look(block: Any, own: np.ndarray) -> tuple[float, float, float | None]:
    """Return the largest number of rows, what they weigh together, and their first number, if they are dense."""
    numbers = block.data if issparse(block) else block
    first = None if issparse(block) or not numbers.size else float(numbers[0, 0])
    return max(abs(float(numbers.max(initial=0))), abs(float(numbers.min(initial=0)))), float(own.sum()), first


def _together(parts: Iterable[tuple[Any, ...]]) -> tuple[Any, ...]:
    largest, masses, firsts = zip(*parts, strict=True)
    return max(largest), sum(masses), next((first for first in firsts if first is not None), None)


def _standard_deviation(X: Any, weights: Any, mass: float, shift: float, exponent: int) -> float:
    """Return the deviation of all numbers of X / 2^exponent, block by block: np.std would copy X, in float64.

    They are seen from one of them, ``shift``: those far from zero would lose digits.
    """
    shift = float(np.ldexp(shift, -exponent))

    def moments(block: Any, own: np.ndarray) -> tuple[float, float]:
        if exponent:
            block = block * 2.0**-exponent
        if issparse(block):
            return float((own @ block).sum()), float((own @ block.multiply(block)).sum())
        block = np.asarray(block, dtype=np.float64) - shift
        return float(own @ block.sum(axis=1)), float(own @ np.einsum("ij,ij->i", block, block))

    total, squares = _reduced(X, weights, moments, _added)
    size = mass * _width(X)
    return float(np.sqrt(max(0.0, squares / size - (total / size) ** 2)))


def _added(parts: Iterable[tuple[Any, ...]]) -> tuple[Any, ...]:
    return tuple(sum(items) for items in zip(*parts, strict=True))


def _median(X: Any, weights: Any, order: int, exponent: int) -> float:
    """Return the median distance between two rows of X / 2^exponent.

    The w copies of a row of weight w make w (w - 1) / 2 pairs of distance 0.
    """
    from scipy.spatial.distance import pdist

    rows, copies = _evenly_spaced(weights, min(MEDIAN_ROWS, max(50, MEDIAN_ITEMS // max(1, _width(X)))))
    some = dense(as_vectors(take(X, rows)))
    distances = pdist(some * 2.0**-exponent, "cityblock" if order == 1 else "sqeuclidean")
    if (copies == 1).all():
        return float(np.median(distances)) if len(distances) else 0.0
    first, second = np.triu_indices(len(rows), 1)
    distances = np.concatenate([np.zeros(len(rows)), distances])
    pairs = np.concatenate([np.maximum(0, copies * (copies - 1) / 2), copies[first] * copies[second]])
    ascending = np.argsort(distances)
    up_to = np.cumsum(pairs[ascending])  # how many pairs are at most this far apart
    middle = [np.searchsorted(up_to, up_to[-1] / 2, side=side) for side in ("left", "right")]
    return float(distances[ascending[np.minimum(middle, len(distances) - 1)]].mean())


def _evenly_spaced(weights: Any, at_most: int) -> tuple[np.ndarray, np.ndarray]:
    """Return which rows to compare, and how many copies of each, as if every row stood there as often as it weighs."""
    n = len(weights)
    if _same(weights) and weights[0] == 1 and n > at_most:
        return np.unique(np.linspace(0, n - 1, at_most).astype(int), return_counts=True)
    weights = np.asarray(weights)
    rows = np.flatnonzero(weights > 0)
    weights = weights[rows]
    if max(len(rows), weights.sum()) <= at_most:
        return rows, weights
    if weights.sum() <= at_most:  # many rows of small weights: only their proportions matter
        weights = weights * len(rows) / weights.sum()
    ends = np.cumsum(weights)
    places = np.linspace(0, ends[-1] - 1, at_most).astype(int)
    chosen, copies = np.unique(np.searchsorted(ends, places, side="right"), return_counts=True)
    return rows[chosen], copies
