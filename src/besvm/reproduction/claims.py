"""Sentences that can be checked: when one holds, what was measured, and the verdict."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import dataclass

HOLDS, FAILS, UNMEASURED, UNDEFINED = "holds", "does not hold", "not measured", "undefined"
VERDICTS = (HOLDS, FAILS, UNMEASURED, UNDEFINED)
PAPER, OURS = "paper", "ours"


@dataclass(frozen=True)
class Claim:
    """A sentence that can be checked, when it is said to hold, what was measured, and the verdict."""

    sentence: str
    criterion: str  # goes on from "holds if"
    measured: str
    verdict: str
    origin: str = PAPER  # or OURS: an aim or a conclusion that the paper does not state


@dataclass(frozen=True)
class Undefined:
    """Stands for a value that is undefined although everything was measured."""

    reason: str


def check(
    sentence: str,
    criterion: str,
    measured: str,
    holds: Callable[..., bool],
    *values: float | Undefined | None,
    origin: str = PAPER,
) -> Claim:
    """Return the claim with the values written into ``measured``; not measured, if one of them is missing.

    Examples
    --------
    >>> words = "Rigid helps more than local.", "rigid > local", "{:.1%} and {:.1%}"
    >>> check(*words, lambda rigid, local: rigid > local, 0.62, 0.6).measured
    '62.0% and 60.0%'
    >>> check(*words, lambda rigid, local: rigid > local, 0.62, None).verdict
    'not measured'
    """
    if any(one is None for one in values):
        return Claim(sentence, criterion, "not measured in this run", UNMEASURED, origin)
    for one in values:
        if isinstance(one, Undefined):
            return Claim(sentence, criterion, one.reason, UNDEFINED, origin)
    return Claim(sentence, criterion, measured.format(*values), HOLDS if holds(*values) else FAILS, origin)


def tally(claims: Iterable[Claim]) -> str:
    """Return how many claims got each verdict, in words.

    Examples
    --------
    >>> tally([Claim("a", "a > b", "1 and 0", "holds"), Claim("b", "b > a", "0 and 1", "does not hold")])
    '2 sentences: 1 holds, 1 does not hold.'
    """
    verdicts = [claim.verdict for claim in claims]
    plural = {"holds": "hold", "does not hold": "do not hold"}
    counts = [(verdicts.count(word), word) for word in VERDICTS if word in verdicts]
    parts = ", ".join(f"{n} {word if n == 1 else plural.get(word, word)}" for n, word in counts)
    return f"{len(verdicts)} {'sentence' if len(verdicts) == 1 else 'sentences'}: {parts}."
