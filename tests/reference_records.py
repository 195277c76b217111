"""The naive loop that the similarity of records is checked against: two records at a time, column by column."""

from __future__ import annotations

import numpy as np
import pandas as pd


def ranges(frame):
    """Return the range of every column that has one in these rows."""
    found = {}
    for name in frame:
        column = frame[name].dropna()
        if len(column) and column.dtype.kind in "iufMm" and column.max() > column.min():
            found[name] = column.max() - column.min()
    return found


def gower(a, b, extent, weights=None):
    """Return Gower's similarity of two rows (Series), given the ranges of the columns that have one."""
    alike = total = 0.0
    for name in a.index:
        if pd.isna(a[name]) or pd.isna(b[name]):
            continue
        weight = 1.0 if weights is None else weights.get(name, 1.0)
        equal = float(a[name] == b[name])
        alike += weight * (max(0.0, 1 - abs(a[name] - b[name]) / extent[name]) if name in extent else equal)
        total += weight
    return alike / total if total else 0.0


def gower_matrix(A, B, extent, weights=None):
    rows_a, rows_b = ([X.iloc[i] for i in range(len(X))] for X in (A, B))
    return np.array([[gower(b, a, extent, weights) for b in rows_b] for a in rows_a])
