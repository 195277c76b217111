"""The variants of many items side by side, what each is worth, and the sums to choose among them by."""

from collections.abc import Callable, Iterator, Sequence
from typing import Any

import numpy as np

from besvm._support.parameters import shown
from besvm._support.rows import items, n_rows
from besvm._support.threads import slices

Variants = Callable[[Any], Sequence[Any]]  # of ONE item
Worth = np.ndarray | None  # (n,) what is added to K_I for each of n items when it is chosen; None for nothing
Choices = Iterator[tuple[Any, np.ndarray]]  # (one variant of each of n items, (n,) which of the item's variants)

_TILE = 1 << 16  # entries to add up and compare while they stay in cache


def column_apart(features: Any) -> tuple[Any, Any]:
    """Return what chooses a column of records, which comes before the variants, and the features that come after.

    Either is None where there is none.
    """
    first = getattr(features, "steps", [("", features)])[0][1]
    if not getattr(first, "chooses_column", False):
        return None, features
    return first, (None if first is features else features[1:])


def variants_of(item: Any, make: Variants | None, name: str) -> list[Any]:
    """Return the variants of one item, at least one; ``name`` is what an error calls the function ``make``."""
    if make is None:
        return [item]
    if not callable(make):
        raise TypeError(f"{name} must be a function that returns the variants of one sample, got {shown(make)}")
    made = make(item)
    if isinstance(made, str) or not hasattr(made, "__iter__"):
        raise TypeError(f"{name} must return a list of variants of a sample, got {type(made).__name__}")
    several = list(made)
    if not several:
        raise ValueError(
            f"{name} must return at least one variant of every sample, got none; "
            "return the sample itself if there are no others"
        )
    return several


def variant_groups(X: Any, make: Variants | None, name: str, limit: float) -> Iterator[tuple[slice, Choices]]:
    """Yield consecutive rows of X, at most about ``limit`` bytes of variants at a time, and their choices."""
    n = n_rows(X)
    if make is None or n == 0:
        yield slice(0, n), iter([(X, np.zeros(n, dtype=int))])
        return
    group: list[list[Any]] = []
    start = size = 0
    for row, item in enumerate(items(X), start=1):
        group.append(variants_of(item, make, name))
        size += sum(getattr(variant, "nbytes", 0) for variant in group[-1])
        if size >= limit or row == n:
            yield slice(start, row), _choices(group)
            group, start, size = [], row, 0


def _choices(group: list[list[Any]]) -> Choices:
    """Yield the first variants of all items, the second ones, ...

    An item with fewer variants than others repeats its last, at that one's worth: no maximum changes.
    """
    counts = np.array([len(several) for several in group])
    for z in range(counts.max()):
        order = np.minimum(z, counts - 1)
        yield together([several[k] for several, k in zip(group, order, strict=True)]), order


def together(several: list[Any]) -> Any:
    """Return one array of arrays of the same shape; anything else stays a list."""
    if all(isinstance(one, np.ndarray) and one.shape == several[0].shape for one in several):
        return np.stack(several)
    return several


def total(K: np.ndarray, exemplar_worth: Worth, sample_worth: Worth) -> np.ndarray:
    """Return K_I with the worth of the chosen variants added: K is (samples, exemplars)."""
    dtype = np.result_type(K, np.float32)
    out = K.astype(dtype)
    if exemplar_worth is not None:
        out += exemplar_worth.astype(dtype)
    if sample_worth is not None:
        out += sample_worth.astype(dtype)[:, None]
    return out


def totals(K: np.ndarray, exemplar_worth: Worth, sample_worth: Worth) -> Iterator[tuple[slice, np.ndarray]]:
    """Yield :func:`total` a few rows at a time: K is the inner similarity's own and must stay as it is."""
    for rows in slices(len(K), max(1, _TILE // max(1, K.shape[1]))):
        yield rows, total(K[rows], exemplar_worth, None if sample_worth is None else sample_worth[rows])
