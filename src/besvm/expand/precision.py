"""Which numbers a model works in: float32, or float64 where float32 cannot tell the samples apart."""

import operator
from collections.abc import Callable
from dataclasses import replace
from typing import Any

import numpy as np

from besvm._support.row_source import RowSource
from besvm._support.rows import evenly_spaced, n_rows, span
from besvm._support.threads import slices
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
    rows = evenly_spaced(np.arange(n_rows(X)), PROBE_ROWS)
    if isinstance(X, (np.ndarray, RowSource)) and X.ndim == 2 and X.dtype.kind == "f":
        rows = np.append(rows, _extremes(X))
    return rows


def _extremes(X: Any) -> list[int]:
    """Return the rows with the largest and the smallest number of all, looked for block by block."""
    places, highest, lowest = [0, 0], -np.inf, np.inf
    for rows in slices(n_rows(X), rows_for(CACHE_BYTES, X.shape[1], X.dtype.itemsize)):
        block = np.asarray(span(X, rows))
        high, low = block.max(axis=1, initial=-np.inf), block.min(axis=1, initial=np.inf)
        if high.max() > highest:
            highest, places[0] = high.max(), rows.start + int(high.argmax())
        if low.min() < lowest:
            lowest, places[1] = low.min(), rows.start + int(low.argmin())
    return places


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
