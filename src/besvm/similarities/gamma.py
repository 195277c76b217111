"""The gamma of a kernel: a number, or taken from the training rows."""

from typing import Any

import numpy as np
from scipy.sparse import issparse
from sklearn.utils import check_consistent_length

from besvm._support.threads import slices
from besvm._support.validation import is_positive, shown
from besvm.similarities.tiles import as_vectors

MEDIAN_ROWS = 1000  # whose distances are compared
BLOCK_ITEMS = 1 << 20  # numbers of X to look at in one go


def settle_gamma(
    gamma: float | str, choices: tuple[str, ...], X: Any = None, weights: Any = None, order: int = 2
) -> float:
    """Return gamma as a number; ``order`` is the power of a difference that gamma multiplies."""
    if isinstance(gamma, str) and gamma in choices:
        X = X if issparse(X) else as_vectors(X)
        weights = np.ones(X.shape[0]) if weights is None else np.asarray(weights, dtype=np.float64)
        check_consistent_length(X, weights)
        if not (weights > 0).any():
            raise ValueError(f"gamma={gamma!r} needs a row that weighs more than 0, got none")
        if gamma == "scale":
            spread = _standard_deviation(X, weights) ** order * X.shape[1]
        else:
            spread = _median(X, weights, order)
        return 1.0 / spread if spread > 0 else 1.0
    if not is_positive(gamma):
        raise ValueError(f"gamma must be a positive number or {' or '.join(map(repr, choices))}, got {shown(gamma)}")
    return float(gamma)


def _standard_deviation(X: Any, weights: np.ndarray) -> float:
    """Return the deviation of all numbers of X, block by block: np.std would copy X, in float64."""
    total = squares = 0.0
    shift = 0.0 if issparse(X) else X[np.argmax(weights > 0), 0]  # numbers far from zero would lose digits
    for rows in slices(X.shape[0], max(1, BLOCK_ITEMS // max(1, X.shape[1]))):
        block, own = X[rows], weights[rows]
        if not own.all():
            block, own = block[own > 0], own[own > 0]
        if issparse(block):
            total += float((own @ block).sum())
            squares += float((own @ block.multiply(block)).sum())
        else:
            block = np.asarray(block, dtype=np.float64) - shift
            total += float(own @ block.sum(axis=1))
            squares += float(own @ np.einsum("ij,ij->i", block, block))
    size = weights.sum() * X.shape[1]
    return float(np.sqrt(max(0.0, squares / size - (total / size) ** 2)))


def _median(X: Any, weights: np.ndarray, order: int) -> float:
    """Return the median distance between two rows; w copies of a row make w (w - 1) / 2 pairs of distance 0."""
    from scipy.spatial.distance import pdist

    rows, copies = _evenly_spaced(weights)
    some = X[rows].toarray() if issparse(X) else X[rows]
    distances = pdist(some, "cityblock" if order == 1 else "sqeuclidean")
    if (copies == 1).all():
        return float(np.median(distances)) if len(distances) else 0.0
    first, second = np.triu_indices(len(rows), 1)
    distances = np.concatenate([np.zeros(len(rows)), distances])
    pairs = np.concatenate([np.maximum(0, copies * (copies - 1) / 2), copies[first] * copies[second]])
    ascending = np.argsort(distances)
    up_to = np.cumsum(pairs[ascending])  # how many pairs are at most this far apart
    middle = [np.searchsorted(up_to, up_to[-1] / 2, side=side) for side in ("left", "right")]
    return float(distances[ascending[np.minimum(middle, len(distances) - 1)]].mean())


def _evenly_spaced(weights: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Return which rows to compare, and how many copies of each, as if every row stood there as often as it weighs."""
    rows = np.flatnonzero(weights > 0)
    weights = weights[rows]
    if max(len(rows), weights.sum()) <= MEDIAN_ROWS:
        return rows, weights
    if weights.sum() <= MEDIAN_ROWS:  # many rows of small weights: only their proportions matter
        weights = weights * len(rows) / weights.sum()
    ends = np.cumsum(weights)
    places = np.linspace(0, ends[-1] - 1, MEDIAN_ROWS).astype(int)
    chosen, copies = np.unique(np.searchsorted(ends, places, side="right"), return_counts=True)
    return rows[chosen], copies
