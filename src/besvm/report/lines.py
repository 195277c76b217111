"""Series as short lines: so many points, a byte each."""

from dataclasses import dataclass
from typing import Any

import numpy as np
from scipy.sparse import issparse

from besvm._support.rows import items, n_rows, whole_series

POINTS = 120  # of a line
CHANNELS = 4  # that are drawn of a series


@dataclass(frozen=True)
class Lines:
    """Lines of many items: values (n, channels, points) from 0 at ``low`` to 255 at ``high``.

    ``lengths`` are the numbers of moments that the points are spread over.
    """

    values: np.ndarray
    low: np.ndarray
    high: np.ndarray
    lengths: np.ndarray


def draw_lines(X: Any) -> Lines:
    """Return all items of X, (moments,) or (channels, moments) each, as lines.

    Examples
    --------
    >>> draw_lines([[0.0, 1.0, 2.0]]).values
    array([[[  0, 128, 255]]], dtype=uint8)
    """
    X = whole_series(X)
    longest = max((_moments(item) for item in _each(X)), default=1)
    channels = max((min(CHANNELS, len(_channels(item))) for item in _each(X)), default=1)
    n, points = n_rows(X), max(2, min(POINTS, longest))
    values = np.zeros((n, channels, points), dtype=np.uint8)
    low, high, lengths = np.zeros(n, np.float32), np.ones(n, np.float32), np.ones(n, np.uint32)
    for k, item in enumerate(_each(X)):
        series = _channels(item)[:channels]
        moments = max(1, series.shape[1])
        at = np.linspace(0, moments - 1, points)
        drawn = np.stack([np.interp(at, np.arange(moments), one) if one.size else np.zeros(points) for one in series])
        finite = drawn[np.isfinite(drawn)]
        low[k], high[k] = (finite.min(), finite.max()) if len(finite) else (0, 1)
        span = float(high[k]) - float(low[k])
        scaled = (np.nan_to_num(drawn, nan=float(low[k])) - low[k]) / (span or 1) * 255
        values[k, : len(drawn)] = np.clip(np.round(scaled), 0, 255) if span else 128
        lengths[k] = moments
    return Lines(values, low, high, lengths)


def _each(X: Any) -> Any:
    if hasattr(X, "to_numpy") and not issparse(X):
        X = X.to_numpy()
    return items(X)


def _channels(item: Any) -> np.ndarray:
    values = np.asarray(item, dtype=np.float64)
    return values.reshape(1, -1) if values.ndim < 2 else values.reshape(-1, values.shape[-1])


def _moments(item: Any) -> int:
    return int(np.shape(item)[-1]) if np.ndim(item) else 1
