"""What a user may pass as basis, and the rows or exemplars it means."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from scipy.sparse import issparse

from besvm._support.rows import n_rows, take
from besvm.basis.simple import RandomBasis
from besvm.similarities.contract import Similarity
from besvm.similarities.precomputed import Precomputed

AUTO_SIZE = 1000


@dataclass(frozen=True)
class Exemplars:
    """Exemplars given outright: things of the same kind as the samples, from anywhere.

    Examples
    --------
    >>> from besvm import BasisExpansion
    >>> from besvm.basis import Exemplars
    >>> BasisExpansion("linear", basis=Exemplars([[1.0, 0.0]]), normalize=None).fit_transform([[3.0, 4.0]])
    array([[3.]], dtype=float32)
    """

    items: Any


def choose_rows(
    basis: Any,
    X: Any,
    y: np.ndarray | None,
    similarity: Similarity,
    rng: np.random.Generator,
    weights: np.ndarray | None = None,
) -> np.ndarray | Exemplars:
    """Return the rows of X (or the exemplars) that a user's ``basis`` means, checked."""
    n = n_rows(X)
    if isinstance(basis, Exemplars):
        return basis
    if isinstance(basis, str):
        if basis != "auto":
            raise ValueError(f"basis must be 'auto', a number, row numbers, exemplars or a selector, got {basis!r}")
        return _auto_rows(X, y, similarity, rng, _weighty(n, weights))
    if isinstance(basis, (int, np.integer)) and not isinstance(basis, bool):
        basis = RandomBasis(int(basis))
    if callable(basis):
        return _selected(basis, X, y, similarity, rng, _weighty(n, weights))
    if basis is None or isinstance(basis, (bool, float)):
        raise ValueError(f"basis must be 'auto', a number, row numbers, exemplars or a selector, got {basis!r}")
    rows = row_numbers(basis, n)
    return Exemplars(basis) if rows is None else rows


def row_numbers(basis: Any, n: int) -> np.ndarray | None:
    """Return the rows, of n, that a user's ``basis`` names by number, checked; None if it is anything else."""
    return _checked_rows(basis, n, "basis rows") if _looks_like_rows(basis) else None


def _weighty(n: int, weights: np.ndarray | None) -> np.ndarray:
    """Return the rows that weigh anything: only they may be chosen, since a weight of 0 is as good as no row."""
    return np.arange(n) if weights is None else np.flatnonzero(weights)


def _selected(
    selector: Any,
    X: Any,
    y: np.ndarray | None,
    similarity: Similarity,
    rng: np.random.Generator,
    candidates: np.ndarray,
) -> np.ndarray:
    """Return what a selector chooses from the candidates, which are all that it sees of X."""
    if len(candidates) < n_rows(X):
        X = take(X, candidates)
        X = X[:, candidates] if isinstance(similarity, Precomputed) else X
        y = None if y is None else y[candidates]
    rows = _checked_rows(selector(X, y, similarity, rng), len(candidates), "the selector's rows")
    return candidates[rows]


def _auto_rows(
    X: Any, y: np.ndarray | None, similarity: Similarity, rng: np.random.Generator, candidates: np.ndarray
) -> np.ndarray:
    """Return up to 1,000 random rows, classes balanced, none without weight and (of vectors) none twice."""
    select = RandomBasis(min(AUTO_SIZE, len(candidates)))
    rows = candidates[select(candidates, None if y is None else y[candidates], similarity, rng)]
    if similarity.vectors:
        vectors = X[rows].toarray() if issparse(X) else np.asarray(take(X, rows))
        rows = rows[np.sort(np.unique(vectors, axis=0, return_index=True)[1])]
    return rows


def _looks_like_rows(basis: Any) -> bool:
    if isinstance(basis, np.ndarray):
        return basis.ndim == 1 and basis.dtype.kind in "iub"
    return isinstance(basis, (list, tuple, range)) and all(
        isinstance(row, (int, np.integer)) and not isinstance(row, bool) for row in basis
    )


def _checked_rows(rows: Any, n: int, what: str) -> np.ndarray:
    rows = np.asarray(rows)
    if rows.ndim == 1 and rows.dtype == bool and len(rows) == n:
        rows = np.flatnonzero(rows)
    if rows.ndim != 1 or len(rows) == 0 or rows.dtype.kind not in "iu":
        raise ValueError(f"{what} must be a list of at least one row number, got {rows!r}")
    outside = rows[(rows < 0) | (rows >= n)]
    if len(outside):
        raise ValueError(f"{what} must lie between 0 and {n - 1} (there are {n} rows), got {outside[0]}")
    values, counts = np.unique(rows, return_counts=True)
    if counts.max() > 1:
        raise ValueError(f"{what} must all differ, got row {values[counts.argmax()]} {counts.max()} times")
    return rows.astype(np.intp)
