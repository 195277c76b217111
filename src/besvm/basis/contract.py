"""What chooses a basis: the selector's contract, how many rows of which class, and the selectors that never look."""

from __future__ import annotations

import warnings
from abc import ABC, abstractmethod
from collections.abc import Sequence
from typing import Any, TypeVar

import numpy as np
from sklearn.base import BaseEstimator

from besvm._support.parameters import check_common, check_flag, is_number, is_positive, is_whole, shown
from besvm._support.rows import n_rows
from besvm._support.validation import check_block
from besvm.blocks.plan import check_fits
from besvm.similarities.contract import Similarity

R = TypeVar("R", bound="RowClasses")


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


class RowClasses(ABC):
    """The rows to choose from, class by class: how many there are of each, and which they are.

    Rows on a cluster stay there: only the numbers of those that are chosen come here.
    """

    labels: Any  # the classes, or None: all rows are in one
    sizes: Sequence[int]  # how many rows of each class weigh anything

    @abstractmethod
    def rows_at(self, ranks: Sequence[np.ndarray]) -> list[np.ndarray]:
        """Return the numbers of rows: of every class those at some ranks, counted in ascending order."""

    @abstractmethod
    def together(self) -> RowClasses:
        """Return all rows as one class."""


class ClassesHere(RowClasses):
    """The classes of rows that are in memory, by the label of each; None: there are n rows of one class."""

    def __init__(self, n: int, y: np.ndarray | None) -> None:
        self.n = n
        self.labels = None if y is None else np.unique(y)
        self.rows = [np.arange(n)] if y is None else [np.flatnonzero(y == label) for label in self.labels]
        self.sizes = [len(rows) for rows in self.rows]

    def rows_at(self, ranks: Sequence[np.ndarray]) -> list[np.ndarray]:
        return [rows[some] for rows, some in zip(self.rows, ranks, strict=True)]

    def together(self) -> ClassesHere:
        return ClassesHere(self.n, None)


def pools_of(selector: Any, n: int, y: np.ndarray | None) -> list[tuple[np.ndarray, int]]:
    """Return the rows of every class (or all of them, without classes), and how many a selector wants of each."""
    classes, quotas = _quotas(selector, ClassesHere(n, y))
    return list(zip(classes.rows, quotas, strict=True))


def _quotas(selector: Any, classes: R) -> tuple[R, list[int]]:
    """Return the classes that a selector keeps apart, and how many rows it wants of each."""
    if (selector.n is None) == (selector.per_class is None):
        raise ValueError(
            f"{type(selector).__name__} must have either n or per_class, not both or neither, got {shown(selector)}"
        )
    check_common(selector)
    check_flag("warn", selector.warn)
    warn = selector.warn
    if selector.per_class is None:
        if not getattr(selector, "balanced", True):
            classes = classes.together()  # type: ignore[assignment]
        wanted = _wanted("n", selector.n, sum(classes.sizes), "rows to choose from", warn)
        return classes, _even_shares(wanted, list(classes.sizes))
    if classes.labels is None:
        raise ValueError("per_class needs class labels; pass y, or use n instead")
    what = "rows of class {} to choose from"
    sizes = zip(classes.labels, classes.sizes, strict=True)
    return classes, [_wanted("per_class", selector.per_class, n, what.format(k), warn) for k, n in sizes]


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


class BlindSelector(BasisSelector):
    """Abstract: a selector that looks at the classes of the rows alone, wherever these are."""

    @abstractmethod
    def ranks(self, sizes: Sequence[int], quotas: Sequence[int], rng: np.random.Generator) -> list[np.ndarray]:
        """Return which rows of each class, by rank, given how many there are and how many are wanted."""

    def choose(self, classes: RowClasses, rng: np.random.Generator) -> np.ndarray:
        """Return the numbers of the chosen rows, in ascending order."""
        classes, quotas = _quotas(self, classes)
        return np.sort(np.concatenate(classes.rows_at(self.ranks(classes.sizes, quotas, rng))))

    def __call__(self, X: Any, y: np.ndarray | None, similarity: Similarity, rng: np.random.Generator) -> np.ndarray:
        return self.choose(ClassesHere(n_rows(X), y), rng)


class RandomBasis(BlindSelector):
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

    def ranks(self, sizes: Sequence[int], quotas: Sequence[int], rng: np.random.Generator) -> list[np.ndarray]:
        return [rng.choice(size, quota, replace=False) for size, quota in zip(sizes, quotas, strict=True)]


class IndexBasis(BlindSelector):
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

    def ranks(self, sizes: Sequence[int], quotas: Sequence[int], rng: np.random.Generator) -> list[np.ndarray]:
        return [np.arange(quota) for quota in quotas]
