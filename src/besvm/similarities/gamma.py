"""The gamma of a kernel: a number, or taken from the training rows."""

from collections.abc import Iterator
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
        weights = np.ones(X.shape[0]) if weights is None else np.asarray(weights, dtype=np.float64)
        check_consistent_length(X, weights)
        if not (weights > 0).any():
            raise ValueError(f"gamma={gamma!r} needs at least one row with a weight above 0, got none")
        exponent = _exponent(X, weights)
        if gamma == "scale":
            small = _standard_deviation(X, weights, exponent) ** order * _width(X)
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


def _blocks(X: Any, weights: np.ndarray) -> Iterator[tuple[Any, np.ndarray]]:
    """Yield the rows of X that weigh anything, as vectors and some at a time, with their weights."""
    for rows in slices(X.shape[0], max(1, BLOCK_ITEMS // max(1, _width(X)))):
        block, own = as_vectors(span(X, rows)), weights[rows]
        yield (block, own) if own.all() else (block[own > 0], own[own > 0])


def _exponent(X: Any, weights: np.ndarray) -> int:
    """Return the k for which the numbers of X / 2^k can be squared: 0 where X itself can be."""
    largest = 0.0
    for block, _ in _blocks(X, weights):
        numbers = block.data if issparse(block) else block
        largest = max(largest, abs(float(numbers.max(initial=0))), abs(float(numbers.min(initial=0))))
    exponent = int(np.frexp(largest)[1])
    return exponent if abs(exponent) > LARGE_EXPONENT else 0


def _standard_deviation(X: Any, weights: np.ndarray, exponent: int) -> float:
    """Return the deviation of all numbers of X / 2^exponent, block by block: np.std would copy X, in float64."""
    total = squares = 0.0
    # Numbers far from zero would lose digits.
    shift = 0.0 if issparse(X) else np.ldexp(float(as_vectors(take(X, [int(np.argmax(weights > 0))]))[0, 0]), -exponent)
    for block, own in _blocks(X, weights):
        if exponent:
            block = block * 2.0**-exponent
        if issparse(block):
            total += float((own @ block).sum())
            squares += float((own @ block.multiply(block)).sum())
        else:
            block = np.asarray(block, dtype=np.float64) - shift
            total += float(own @ block.sum(axis=1))
            squares += float(own @ np.einsum("ij,ij->i", block, block))
    size = weights.sum() * _width(X)
    return float(np.sqrt(max(0.0, squares / size - (total / size) ** 2)))


def _median(X: Any, weights: np.ndarray, order: int, exponent: int) -> float:
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


def _evenly_spaced(weights: np.ndarray, at_most: int) -> tuple[np.ndarray, np.ndarray]:
    """Return which rows to compare, and how many copies of each, as if every row stood there as often as it weighs."""
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
