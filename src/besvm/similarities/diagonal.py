"""How similar every item is to itself."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from besvm._support.rows import n_rows, span
from besvm._support.threads import slices

TOGETHER = 16  # items compared with each other for the diagonal of one small matrix: a call costs more than its pairs


def diagonal(similarity: Callable[[Any, Any], np.ndarray], X: Any) -> np.ndarray:
    """Return s(x, x) of every item of X, (n,).

    A similarity that asks for few rows per block, because each pair takes long, gets the items one by one.
    """
    each = 1 if getattr(similarity, "rows_per_block", None) else TOGETHER
    tiles = [span(X, rows) for rows in slices(n_rows(X), each)]
    return np.concatenate([np.empty(0, np.float32), *(np.asarray(similarity(t, t)).diagonal() for t in tiles)])
