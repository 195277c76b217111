"""Rows chosen without looking at them: at random, or the first of every class."""

from __future__ import annotations

from typing import Any

import numpy as np

from besvm._support.rows import n_rows
from besvm.basis.contract import BasisSelector, pools_of
from besvm.similarities.contract import Similarity


class RandomBasis(BasisSelector):
    """Rows drawn at random ("Rand" in the paper).

    Parameters
    ----------
    n : int, optional
        How many rows in all. With class labels they are spread evenly over the classes, as far as the classes go.
    per_class : int, optional
        How many rows of each class, instead of ``n``.
    balanced : bool, default=True
        Whether ``n`` rows are spread evenly over the classes, rather than drawn whatever their class.

    Examples
    --------
    >>> import numpy as np
    >>> from besvm.basis import RandomBasis
    >>> y = np.array([0] * 90 + [1] * 10)
    >>> rows = RandomBasis(8)(np.zeros((100, 1)), y, None, np.random.default_rng(0))
    >>> np.bincount(y[rows])
    array([4, 4])
    """

    def __init__(self, n: int | None = None, *, per_class: int | None = None, balanced: bool = True) -> None:
        self.n = n
        self.per_class = per_class
        self.balanced = balanced

    def __call__(self, X: Any, y: np.ndarray | None, similarity: Similarity, rng: np.random.Generator) -> np.ndarray:
        """Return random rows, in ascending order."""
        pools = pools_of(self, n_rows(X), y if self.balanced or self.per_class is not None else None)
        chosen = [rng.choice(pool.rows, pool.quota, replace=False) for pool in pools]
        return np.sort(np.concatenate(chosen))


class IndexBasis(BasisSelector):
    """The first rows of each class ("Indx" in the paper): no chance involved.

    Parameters
    ----------
    n : int, optional
        How many rows in all, spread evenly over the classes; without labels, the first ``n``.
    per_class : int, optional
        How many rows of each class, instead of ``n``.

    Examples
    --------
    >>> import numpy as np
    >>> from besvm.basis import IndexBasis
    >>> IndexBasis(per_class=2)(np.zeros((6, 1)), np.array([0, 0, 0, 1, 0, 1]), None, None)
    array([0, 1, 3, 5])
    """

    def __init__(self, n: int | None = None, *, per_class: int | None = None) -> None:
        self.n = n
        self.per_class = per_class

    def __call__(self, X: Any, y: np.ndarray | None, similarity: Similarity, rng: np.random.Generator) -> np.ndarray:
        """Return the first rows of every class, in ascending order."""
        return np.sort(np.concatenate([pool.rows[: pool.quota] for pool in pools_of(self, n_rows(X), y)]))
