"""Which pieces of two texts match."""

import re
from typing import Any

from besvm._support.extras import optional
from besvm.similarities.match import Piece
from besvm.similarities.text_items import coded_like


def common_pieces(x: Any, b: Any, how: str = "Levenshtein", least: int = 1) -> list[Piece]:
    """Return the pieces that two texts, or lists of tokens, have in common where one is edited into the other.

    ``how`` is the distance of rapidfuzz whose edits are the fewest; pieces shorter than ``least`` are left out.
    """
    (exemplar,), code = coded_like([b])
    (sample,) = code([x])
    edits = getattr(optional("rapidfuzz.distance", "showing how texts match"), how).opcodes(sample, exemplar)
    found = [(e.src_start, e.src_end, e.dest_start, e.dest_end) for e in edits if e.tag == "equal"]
    return [piece for piece in found if piece[1] - piece[0] >= least]


def best_place(x: str, b: str) -> list[Piece]:
    """Return what the shorter of two texts has in common with the place of the longer that it matches best."""
    found = optional("rapidfuzz.fuzz", "showing how texts match").partial_ratio_alignment(x, b)
    if found is None:
        return []
    inside = common_pieces(x[found.src_start : found.src_end], b[found.dest_start : found.dest_end], "Indel")
    return [
        (p + found.src_start, q + found.src_start, r + found.dest_start, s + found.dest_start) for p, q, r, s in inside
    ]


def common_words(x: str, b: str) -> list[Piece]:
    """Return the words, cut at white space, that two texts have in common, each with its first place in b."""
    there: dict[str, tuple[int, int]] = {}
    for word in re.finditer(r"\S+", b):
        there.setdefault(word[0], word.span())
    return [(*word.span(), *there[word[0]]) for word in re.finditer(r"\S+", x) if word[0] in there]


def common_kmers(x: str, b: str, k: int) -> list[Piece]:
    """Return the longest stretches of x all of whose pieces of k symbols b has too, side by side where they begin."""
    found: list[Piece] = []
    for start in range(len(x) - k + 1):
        stop = start + k
        if found:
            p, q, r, s = found[-1]
            if q == stop - 1 and b[s : s + 1] == x[q:stop]:
                found[-1] = (p, stop, r, s + 1)
                continue
        place = b.find(x[start:stop])
        if place >= 0:
            found.append((start, stop, place, place + k))
    return found
