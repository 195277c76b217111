"""The columns to solve: which class is positive in each, and what every row weighs."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from besvm.blocks.state import Rows, RowState, Values


def targets(labels: np.ndarray, positive: np.ndarray) -> np.ndarray:
    """Return +1 or -1, of shape (rows, K), a column in one piece: so is all that is made of them."""
    return np.where(positive[:, None] == labels, np.int8(1), np.int8(-1)).T


@dataclass(frozen=True)
class Problem:
    """The columns to solve: which class is positive in each, and what every row weighs.

    What is known of the rows is an array, or where the rows are; nobody looks at it but beside the rows.

    Parameters
    ----------
    labels : (n,) whole numbers
        The class number of every row.
    positive : (K,) int array
        The class that is +1 in column k; every other class is -1.
    weights : (n,) numbers
        What every row weighs in every column (sample weight times the weight of its own class).
    fold, left_out : (n,) whole numbers and (K,) int array, optional
        Column k leaves out the rows whose fold is ``left_out[k]``.
    """

    labels: Values
    positive: np.ndarray
    weights: Values
    fold: Values | None = None
    left_out: np.ndarray | None = None

    def begin(self, state: RowState, dtype: Any) -> None:
        """Put what the columns know of every row beside the rows."""
        state.put("labels", self.labels)
        state.put("weights", self.weights, dtype)
        if self.fold is not None:
            state.put("fold", self.fold)

    def row_weights(self) -> Callable[[Rows], np.ndarray]:
        """Return what gives the weights of rows: (rows, 1) or, where columns leave rows out, (rows, K)."""
        if self.left_out is None:
            return lambda rows: rows["weights"][:, None]
        left_out = self.left_out[:, None]
        return lambda rows: rows["weights"][:, None] * (left_out != rows["fold"]).T

    def mean_weights(self) -> Callable[[Rows], np.ndarray]:
        """Return what gives the mean weights of rows over the columns, of shape (rows,)."""
        if self.left_out is None:
            return lambda rows: rows["weights"]
        n_folds = int(self.left_out.max(initial=0)) + 1
        share = np.append((self.left_out[:, None] != np.arange(n_folds)).mean(axis=0), 1.0)  # the last: in no fold
        return lambda rows: rows["weights"] * share[np.minimum(rows["fold"], n_folds)]

    def keep(self, columns: np.ndarray) -> Problem:
        """Return the problem of these columns alone."""
        left_out = None if self.left_out is None else self.left_out[columns]
        return replace(self, positive=self.positive[columns], left_out=left_out)
