"""Decisions taken apart: what every exemplar adds to every class, so that it all adds up again."""

from __future__ import annotations

from dataclasses import dataclass
from math import fsum

import numpy as np

from besvm.explanations.exemplars import Basis
from besvm.explanations.models import Block, Reading


@dataclass(frozen=True)
class Parts:
    """The decision of one sample, taken apart.

    ``contributions.sum(axis=0) + constant`` is the decision, to the last digit that float64 has for the largest of
    them; ``rounding`` is what of the constant is neither intercept nor vote: the digits that the model's own product
    has rounded off.
    """

    columns: np.ndarray  # (D, classes)
    contributions: np.ndarray  # (exemplars, classes)
    constant: np.ndarray  # (classes,)
    rounding: np.ndarray  # (classes,)
    votes: np.ndarray | None  # (classes,), one-vs-one


def share_of_margins(reading: Reading, block: Block) -> np.ndarray:
    """Return by what the sums of margins are multiplied in the decision values: (rows, classes).

    One-vs-one a class's value is its votes and c / (3(|c| + 1)), for a sum of margins c; else it is c.
    """
    if not reading.one_vs_one:
        return np.ones_like(block.confidence)
    return np.asarray(1 / (3 * (np.abs(block.confidence) + 1)))


def taken_apart(reading: Reading, basis: Basis, block: Block) -> Parts:
    """Return what makes up the decision of the only sample of a block."""
    factor = share_of_margins(reading, block)[0]
    columns = block.terms[0].astype(np.float64)[:, None] * reading.weights * factor  # (D, classes)
    contributions = np.ascontiguousarray(basis.summed(columns.T).T)
    decision = block.decision[0]
    constant = np.array([fsum([value, *(-own)]) for value, own in zip(decision, contributions.T, strict=True)])
    votes = np.rint(decision) if reading.one_vs_one else None
    known = reading.constant * factor + (0 if votes is None else votes)
    return Parts(columns, contributions, constant, constant - known, votes)
