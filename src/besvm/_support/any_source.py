"""Whatever gives rows a block at a time, known as a source."""

from typing import Any

import numpy as np
from scipy.sparse import issparse

from besvm._support.dask_source import DaskSource
from besvm._support.row_source import ArraySource, RowSource, is_dask

NUMBERS = "biuf"  # kinds of dtypes


def as_source(X: Any) -> RowSource | None:
    """Return X as a source if it is one, or an array that is not known to be in memory; else None."""
    if isinstance(X, RowSource):
        return X
    if is_dask(X):
        return DaskSource(X)
    if isinstance(X, np.memmap):
        return ArraySource(X) if X.ndim else None
    if isinstance(X, (np.ndarray, np.generic)) or issparse(X) or hasattr(X, "iloc") or not hasattr(X, "__getitem__"):
        return None
    shape, dtype = getattr(X, "shape", None), getattr(X, "dtype", None)
    rows = isinstance(shape, tuple) and len(shape) > 0
    return ArraySource(X) if rows and isinstance(dtype, np.dtype) and dtype.kind in NUMBERS else None
