"""How samples and the exemplars that decided match: alignments, places of parts, warpings, common pieces of texts."""

from __future__ import annotations

from typing import Any

import numpy as np

from besvm._support.progress import progress
from besvm._support.rows import evenly_spaced, span, take
from besvm._support.threads import one_blas_thread, slices, workers
from besvm.expand.features import Samples
from besvm.explanations.looks import value_text
from besvm.explanations.pairs import as_compared
from besvm.report.content import Content
from besvm.report.data import Labelled
from besvm.report.payload import Payload, packed
from besvm.similarities.contract import Similarity
from besvm.similarities.match import Match

PAIRS = 12_000  # of samples and exemplars that a page shows the match of, at most: each takes milliseconds
BYTES = 4_000_000  # of a page that these may take
TRIED = 50  # samples, evenly spaced, whose strongest matches tell what one takes
CHUNK = 200  # samples that the page reads the matches of at a time
STRANDS = 24  # pairs of time points that are drawn of a warping


def add_matches(payload: Payload, content: Content, some: Labelled) -> dict[str, Any]:
    """Add how the listed samples match the exemplars that pull most; return how many pairs there are.

    How many are kept follows from the samples alone, so that the same page is written each time: so many that they
    take BYTES, going by what some of them take, and PAIRS at most.
    """
    evidence, reading, rows = content.evidence, content.reading, content.listed
    assert evidence is not None
    assert reading is not None
    showing = [m for m, one in enumerate(reading.map.expander.measures) if shows(one.similarity)]
    if not showing:
        return {"chunk": CHUNK, "pairs": 0, "all": True}
    maker, X = _Maker(content, showing), reading.prepared(some.X)
    wrong, chosen, found = ~content.right[rows], evidence.chosen[rows], 0
    with workers(1), one_blas_thread(), progress("matching", len(rows)) as shown:  # of two items, threads would wait
        places = evenly_spaced(np.arange(len(rows)), TRIED)
        samples = Samples(take(X, places), reading.map.expander.transformers)
        tried = [maker.match(samples, k, rows[place], 0, 0) for k, place in enumerate(places)]
        wanted = worth_showing(chosen, wrong, planned(tried))
        for number, block in enumerate(slices(len(rows), CHUNK)):
            samples = Samples(span(X, block), reading.map.expander.transformers)
            chunk = []
            for k, row in enumerate(range(block.start, block.stop)):
                slots = np.argwhere(wanted[row])
                one = {f"{side}-{slot}": maker.match(samples, k, rows[row], side, slot) for side, slot in slots}
                chunk.append({key: match for key, match in one.items() if match})
                found += len(chunk[-1])
            payload.add_json(f"matches-{number}", chunk)
            shown.advance(block.stop - block.start)
    return {"chunk": CHUNK, "pairs": found, "all": bool((wanted == (chosen >= 0)).all())}


def planned(tried: list[Any]) -> int:
    """Return how many matches a page keeps, going by what some of them take in it.

    Examples
    --------
    >>> planned([None] * 50), planned([{"pieces": [[k, k + 7, 3 * k, 3 * k + 7] for k in range(1000)]}]) < 2000
    (12000, True)
    """
    return min(PAIRS, BYTES * len(tried) // max(1, len(packed(tried))))


def worth_showing(chosen: np.ndarray, wrong: np.ndarray, most: int) -> np.ndarray:
    """Return which of the exemplars (n, sides, slots) to match: the strongest of all samples first, of wrong ones more.

    Examples
    --------
    >>> chosen = np.zeros((2, 1, 2), int)
    >>> worth_showing(chosen, np.array([False, True]), 3)[:, 0].tolist()
    [[True, False], [True, True]]
    """
    n, sides, slots = chosen.shape
    order = np.empty((n, sides, slots))
    order[:] = np.arange(slots) + slots * np.arange(sides)[:, None]  # the first for the predicted class first
    order[wrong] -= 0.5  # at every slot, those that are wrong
    order[chosen < 0] = np.inf
    flat = np.argsort(order, axis=None, kind="stable")[:most]
    out = np.zeros(n * sides * slots, dtype=bool)
    out[flat] = True
    return np.asarray(out.reshape(n, sides, slots) & (chosen >= 0))


def shows(similarity: Any) -> bool:
    """Say whether a similarity has anything to show of a match."""
    return type(similarity).show is not Similarity.show


class _Maker:
    """Matches samples with exemplars by the measure that counted most among those that show anything."""

    def __init__(self, content: Content, showing: list[int]) -> None:
        assert content.evidence is not None
        assert content.basis is not None
        assert content.reading is not None
        self.evidence, self.showing = content.evidence, showing
        expander = content.reading.map.expander
        self.measures, self.transformers = expander.measures, expander.transformers
        self.place = [dict(zip(own.tolist(), range(len(own)), strict=True)) for own in content.basis.of_measure]

    def match(self, samples: Samples, k: int, row: int, side: int, slot: int) -> dict[str, Any] | None:
        """Return how the sample k of a block, which is row ``row`` of all, matches one of its exemplars."""
        exemplar = int(self.evidence.chosen[row, side, slot])
        pulls = np.abs(self.evidence.pulls[row, side, slot])
        having = [m for m in self.showing if exemplar in self.place[m]]
        if not having:
            return None
        m = max(having, key=lambda one: float(pulls[one]))
        measure = self.measures[m]
        features = None if measure.transformer is None else self.transformers[measure.transformer]
        x, b = as_compared(measure, features, samples, k, self.place[m][exemplar])
        found = compact(measure.similarity.show(x, b).of_column(int(self.evidence.columns[row, side, slot])), b)
        return {"measure": m, **found} if found else None


def _flip(match: Match, exemplar: Any) -> dict[str, Any]:
    mirrored = match.exemplar is not None and np.ndim(exemplar) > 1
    return {"flip": True} if mirrored and np.array_equal(match.exemplar, np.asarray(exemplar)[:, ::-1]) else {}


def compact(match: Match, exemplar: Any) -> dict[str, Any]:
    """Return what the page draws of a match, as few plain values as will do; nothing if there is nothing to see."""
    out: dict[str, Any] = {}
    if match.moves is not None:
        moves = np.asarray(match.moves)
        same = (moves == moves[0, 0]).all()
        out |= {"grid": list(moves.shape[:2]), "moves": moves[0, 0].tolist() if same else moves.ravel().tolist()}
        out["on"] = match.on
        out |= _flip(match, exemplar)
    elif match.places is not None and match.size is not None:
        place = np.atleast_1d(match.places[match.region]).tolist()
        out |= {"place": place, "size": list(match.size), "step": match.step}
        if match.grid is not None:
            out["grid"] = list(match.grid)
        if match.in_mirror:
            out["flip"] = True
    elif match.pairs is not None and len(match.pairs):
        kept = np.unique(np.linspace(0, len(match.pairs) - 1, STRANDS).astype(int))
        out["pairs"] = np.asarray(match.pairs)[kept].tolist()
    elif match.pieces:
        out["pieces"] = [[int(place) for place in piece] for piece in match.pieces]
    elif match.values:
        rows = sorted(match.values, key=lambda row: -row[3])
        out["values"] = [[str(n), value_text(x), value_text(b), round(float(alike), 3)] for n, x, b, alike in rows]
    elif _flip(match, exemplar):
        out |= {"grid": [1, 1], "moves": [0, 0], "on": "sample", "flip": True}
    if match.words:
        out["caption"] = match.words
    return out
