"""What chooses a basis: the selector's contract, how many rows of which class, and the selectors that never look."""

import warnings
from abc import ABC, abstractmethod
from typing import Any

import numpy as np
from sklearn.base import BaseEstimator

from besvm._support.parameters import check_common, check_flag, is_number, is_positive, is_whole, shown
from besvm._support.rows import n_rows
from besvm._support.validation import check_block
from besvm.blocks.plan import check_fits
from besvm.similarities.contract import Similarity


class BasisSelector(BaseEstimator, ABC):  # type: ignore[misc]
    """Abstract: a function (X, y, similarity, rng) -> row numbers, with its parameters."""

    room: float = np.inf  # bytes that choosing may take; no parameter, but set by whoever has a memory_limit
    warn: bool = True  # where there are fewer rows than were asked for

    @abstractmethod
    def __call__(self, X: Any, y: np.ndarray | None, similarity: Similarity, rng: np.random.Generator) -> np.ndarray:
        """Return the numbers of the chosen rows of X; ours in ascending order."""


def checked_similarities(
    similarity: Similarity,
    samples: Any,
    exemplars: Any,
    rows: np.ndarray,
    exemplar_rows: np.ndarray,
    dtype: Any = np.float64,
) -> np.ndarray:
    """Return the similarities of the samples (training rows ``rows``) to the exemplars, if they are sound."""
    S = check_block(
        similarity(samples, exemplars),
        (len(rows), len(exemplar_rows)),
        f"the similarity {similarity.label!r}",
        lambda i, j: f"training rows {exemplar_rows[j]} and {rows[i]}",
        dtype,
    )
    return np.array(S)  # a copy: it will be normalized in place


def check_room(what: str, need: int, room: float) -> None:
    """Refuse a choice that takes more memory than there is room for."""
    if need > room:
        check_fits(what, need, room, "a smaller basis")


def pools_of(selector: Any, n: int, y: np.ndarray | None) -> list[tuple[np.ndarray, int]]:
    """Return the rows of every class (or all of them, without classes), and how many a selector wants of each."""
    if (selector.n is None) == (selector.per_class is None):
        raise ValueError(
            f"{type(selector).__name__} must have either n or per_class, not both or neither, got {shown(selector)}"
        )
    check_common(selector)
    check_flag("warn", selector.warn)
    if selector.per_class is None and not getattr(selector, "balanced", True):
        y = None
    rows_of = [np.arange(n)] if y is None else [np.flatnonzero(y == label) for label in np.unique(y)]
    if selector.per_class is None:
        wanted = _wanted("n", selector.n, n, "rows to choose from", selector.warn)
        return list(zip(rows_of, _even_shares(wanted, [len(rows) for rows in rows_of]), strict=True))
    if y is None:
        raise ValueError("per_class needs class labels; pass y, or use n instead")
    what = "rows of class {} to choose from"
    size, warn = selector.per_class, selector.warn
    return [(rows, _wanted("per_class", size, len(rows), what.format(y[rows[0]]), warn)) for rows in rows_of]


def check_size(name: str, size: Any) -> None:
    """Refuse what is neither a number of rows nor a share of them."""
    share = not is_whole(size) and is_positive(size) and size <= 1
    if not (share or (is_whole(size, 1) and is_number(size))):
        raise ValueError(
            f"{name} must be a whole number of at least 1, or a share above 0.0 and up to 1.0, got {shown(size)}"
        )


def _wanted(name: str, size: Any, n: int, what: str, warn: bool) -> int:
    """Return how many of ``n`` rows a size means: a share of them, a number, or all where that is more."""
    check_size(name, size)
    if not is_whole(size):
        return max(1, round(size * n))
    if size > n and warn:
        warnings.warn(
            f"there are only {n} {what}, fewer than the {size} exemplars asked for; all of them are used",
            UserWarning,
            stacklevel=2,
        )
    return min(int(size), n)


def _even_shares(total: int, sizes: list[int]) -> list[int]:
    """Split ``total`` as evenly as the sizes allow; what a small class lacks goes to the others."""
    shares = [0] * len(sizes)
    left = total
    for place, i in enumerate(sorted(range(len(sizes)), key=lambda i: sizes[i])):
        share = min(sizes[i], left // (len(sizes) - place))
        shares[i] = share
        left -= share
    return shares


def subsample(rows: np.ndarray, at_most: int, rng: np.random.Generator) -> np.ndarray:
    """Return the rows, or ``at_most`` of them at random."""
    return rows if len(rows) <= at_most else np.sort(rng.choice(rows, at_most, replace=False))


class RandomBasis(BasisSelector):
    """Rows drawn at random ("Rand" in the paper).

    Parameters
    ----------
    n : int or float, optional
        How many rows in all, or which share of them (0.1). With class labels they are spread evenly over the classes,
        as far as the classes go. Where there are fewer rows, all are taken, with a warning.
    per_class : int or float, optional
        How many rows of each class, or which share of them, instead of ``n``.
    balanced : bool, default=True
        Whether ``n`` rows are spread evenly over the classes, rather than drawn whatever their class.
    warn : bool, default=True
        Whether to warn where there are fewer rows than were asked for.

    Examples
    --------
    >>> import numpy as np
    >>> from besvm.basis import RandomBasis
    >>> y = np.array([0] * 90 + [1] * 10)
    >>> rows = RandomBasis(8)(np.zeros((100, 1)), y, None, np.random.default_rng(0))
    >>> np.bincount(y[rows])
    array([4, 4])
    """

    def __init__(
        self, n: float | None = None, *, per_class: float | None = None, balanced: bool = True, warn: bool = True
    ) -> None:
        self.n = n
        self.per_class = per_class
        self.balanced = balanced
        self.warn = warn

    def __call__(self, X: Any, y: np.ndarray | None, similarity: Similarity, rng: np.random.Generator) -> np.ndarray:
        pools = pools_of(self, n_rows(X), y)
        return np.sort(np.concatenate([rng.choice(rows, quota, replace=False) for rows, quota in pools]))


class IndexBasis(BasisSelector):
    """The first rows of each class ("Indx" in the paper): no chance involved.

    Parameters
    ----------
    n, per_class : int or float, optional
        As in :class:`RandomBasis`.

    Examples
    --------
    >>> import numpy as np
    >>> from besvm.basis import IndexBasis
    >>> IndexBasis(per_class=2)(np.zeros((6, 1)), np.array([0, 0, 0, 1, 0, 1]), None, None)
    array([0, 1, 3, 5])
    """

    def __init__(self, n: float | None = None, *, per_class: float | None = None) -> None:
        self.n = n
        self.per_class = per_class

    def __call__(self, X: Any, y: np.ndarray | None, similarity: Similarity, rng: np.random.Generator) -> np.ndarray:
        return np.sort(np.concatenate([rows[:quota] for rows, quota in pools_of(self, n_rows(X), y)]))
