"""Which numbers a model works in: float32, or float64 where float32 cannot tell the samples apart."""

import operator
from collections.abc import Callable, Iterable
from dataclasses import replace
from typing import Any

import numpy as np

from besvm._support.row_source import RowSource, sums_of
from besvm._support.rows import n_rows
from besvm.blocks.stores import CACHE_BYTES, rows_for
from besvm.expand.expander import FittedMeasure, in_dtype

SMALL = 1 << 18  # training features up to this many are float64: it costs nothing, and rounds nothing off
PROBE_ROWS = 16  # samples that are compared in both; one tile
SMALLEST, LARGEST = 1e-15, 1e15  # what can be squared in float32, and summed over rows and columns
LOST = 1e-3  # how much of a column's standard deviation float32 may round off


def working_dtype(
    n_numbers: int, measures: list[FittedMeasure], samples: Callable[[], list[Any]], rows: np.ndarray
) -> np.dtype[Any]:
    """Return float64 for few features, or where float32 would not do for some measure; else float32.

    A few training rows, seen by every measure as ``samples()``, are compared with the basis in both.
    """
    few = n_numbers <= SMALL
    will_do = not few and all(map(_float32_will_do, measures, samples(), [rows] * len(measures)))
    return np.dtype(np.float32 if will_do else np.float64)


def to_probe(X: Any) -> np.ndarray:
    """Return the numbers of some rows, evenly spaced, and of those with the largest and the smallest number."""
    n = n_rows(X)
    rows = np.arange(n) if n <= PROBE_ROWS else np.linspace(0, n - 1, PROBE_ROWS).astype(int)
    if isinstance(X, (np.ndarray, RowSource)) and X.ndim == 2 and X.dtype.kind == "f":
        each = rows_for(CACHE_BYTES, X.shape[1], X.dtype.itemsize)
        if isinstance(X, RowSource):
            _, high, _, low = X.sums(_extremes, each, _most_extreme)
        else:
            _, high, _, low = sums_of(_extremes, X, range(n), each, _most_extreme, None)
        rows = np.append(rows, [high, low])
    return rows


def _extremes(first: int, block: Any, beside: Any) -> tuple[float, int, float, int]:
    """Return the largest number of some rows and the number of its row, and the same of the smallest."""
    plain = np.asarray(block)  # of a masked array without gaps, whose own max has no initial
    high, low = np.max(plain, axis=1, initial=-np.inf), np.min(plain, axis=1, initial=np.inf)
    return float(high.max()), first + int(high.argmax()), float(low.min()), first + int(low.argmin())


def _most_extreme(parts: Iterable[tuple[Any, ...]]) -> tuple[Any, ...]:
    """Return the extremes of several parts; of equal ones the first."""
    found = list(parts)
    return *max(found, key=lambda part: part[0])[:2], *min(found, key=lambda part: part[2])[2:]


def _float32_will_do(measure: FittedMeasure, samples: Any, rows: np.ndarray) -> bool:
    if not measure.width:
        return True
    similarity, given = measure.similarity, (samples, measure.exemplars)
    with np.errstate(all="ignore"):
        single, double = ([in_dtype(similarity, one, np.dtype(dtype)) for one in given] for dtype in ("f4", "f8"))
        if all(map(operator.is_, single, double)):
            exact = rounded = measure(samples, rows)
        else:
            exact = replace(measure, exemplars=double[1])(double[0], rows)
            rounded = np.asarray(similarity(*single))
    return float32_holds(exact, rounded)


def float32_holds(exact: np.ndarray, rounded: np.ndarray) -> bool:
    """Say whether float32 holds what ``exact`` numbers, of which ``rounded`` are a version, differ by in each column.

    Numbers whose squares float32 could not sum are for float64 too.
    """
    exact = np.asarray(exact, dtype=np.float64)
    sizes = np.abs(exact).max(axis=0, initial=0)
    if not SMALLEST <= sizes.max(initial=0) <= LARGEST:
        return not sizes.any()
    lost = np.abs(rounded.astype(np.float32) - exact).max(axis=0)
    spread = exact.std(axis=0)
    varies = spread > 8 * np.finfo(np.float64).eps * sizes
    return bool((lost <= LOST * spread)[varies].all())
