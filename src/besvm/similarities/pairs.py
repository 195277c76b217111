"""Errors of the user's own functions: which pair of items they are about."""

from typing import TypeVar

E = TypeVar("E", bound=BaseException)

Place = int | None  # in the block of samples, or among the exemplars; None where it is about the other alone


def about(error: E, sample: Place, exemplar: Place) -> E:
    """Return an error that knows its pair, which :func:`pair_of` finds; it survives the way between processes."""
    error.pair = sample, exemplar  # type: ignore[attr-defined]
    return error


def pair_of(error: BaseException) -> tuple[Place, Place] | None:
    """Return the places of the sample and of the exemplar that an error is about; None if it does not say."""
    return getattr(error, "pair", None)


def moved(error: E, first: int) -> E:
    """Return an error about a part of a block, which begins at row ``first``, as one about the whole block."""
    pair = pair_of(error)
    if pair is not None and pair[0] is not None:
        about(error, pair[0] + first, pair[1])
    error.first = first  # type: ignore[attr-defined]
    return error


def first_of(error: BaseException) -> int:
    """Return the row at which the part of a block begins that an error is about."""
    return int(getattr(error, "first", 0))


def shown_pair(*items: object) -> str:
    """Return what a message says of a pair: an exemplar and a sample, not too long."""
    texts = (" ".join(repr(item).split()) for item in items)
    return f"({', '.join(text if len(text) <= 40 else text[:37] + '...' for text in texts)})"
