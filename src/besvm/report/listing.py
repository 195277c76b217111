"""What the page's program reads: the listed samples, the exemplars, and what pulled every decision."""

from __future__ import annotations

from typing import Any

import numpy as np

from besvm.report.content import Content
from besvm.report.data import Labelled
from besvm.report.drawing import add_items
from besvm.report.evidence import FOR, SHOWN, Evidence
from besvm.report.matches import add_matches
from besvm.report.payload import Payload, smallest_unsigned

RANKED = 6  # classes that are shown of a sample, and of an exemplar


def add_listing(payload: Payload, content: Content, some: Labelled) -> None:
    """Put what the program reads into the payload; ``some`` are the listed samples."""
    rows, scores = content.listed, content.scores
    payload.add_array("truth", smallest_unsigned(content.truth[rows]))
    payload.add_array("predicted", smallest_unsigned(scores.predicted[rows]))
    payload.add_array("confidence", scores.confidence[rows].astype(np.float32))
    about: dict[str, Any] = {
        "n": len(rows),
        "classes": content.classes,
        "chances": scores.chances is not None,
        "ranked": _add_ranked(payload, content),
        "samples": add_items(payload, "samples", some.X, some.kind),
        "measures": [],
        "n_exemplars": 0,
    }
    payload.add_json("names", some.names)
    if content.evidence is not None:
        about |= _add_evidence(payload, content, content.evidence)
        about |= _add_exemplars(payload, content, content.evidence)
        about["matches"] = add_matches(payload, content, some)
    payload.add_json("about", about)


def _add_ranked(payload: Payload, content: Content) -> int:
    """Add the best classes of every listed sample, the true one always among them; return how many."""
    rows, (scores, chances) = content.listed, (content.scores.scores, content.scores.chances)
    n_classes = scores.shape[1]
    count = min(RANKED, n_classes)
    order = np.argsort(-scores[rows], axis=1, kind="stable")[:, :count]
    truth = content.truth[rows]
    lost = (truth < n_classes) & ~(order == truth[:, None]).any(axis=1)
    order[lost, -1] = truth[lost]
    payload.add_array("ranked", smallest_unsigned(order))
    payload.add_array("ranked-scores", np.take_along_axis(scores[rows], order, axis=1).astype(np.float32))
    if chances is not None:
        payload.add_array("ranked-chances", np.take_along_axis(chances[rows], order, axis=1).astype(np.float32))
    return count


def _add_evidence(payload: Payload, content: Content, evidence: Evidence) -> dict[str, Any]:
    """Add the exemplars that pull most on every listed sample, and by how much."""
    rows = content.listed
    assert content.reading is not None
    payload.add_array("rival", smallest_unsigned(evidence.rival[rows]))
    payload.add_array("chosen", smallest_unsigned(evidence.chosen[rows] + 1))  # 0: none
    pulls = evidence.pulls[rows]
    size = np.abs(pulls).max(axis=(1, 2, 3), initial=0)
    size[size == 0] = 1
    payload.add_array("pulls", np.round(pulls / size[:, None, None, None] * 32767).astype(np.int16))
    payload.add_array("pull-sizes", size.astype(np.float32))
    payload.add_array("totals", evidence.totals[rows].astype(np.float32))
    if content.reading.usual is not None:
        payload.add_array("nearer", evidence.nearer[rows])
    return {
        "shown": SHOWN,
        "towards": FOR,
        "centered": content.reading.usual is not None,
        "measures": content.reading.map.expander.labels,
        "constants": [float(value) for value in content.reading.constant],
        "votes": content.reading.one_vs_one,
    }


def _add_exemplars(payload: Payload, content: Content, evidence: Evidence) -> dict[str, Any]:
    """Add what is known of every exemplar."""
    basis, gallery, reading = content.basis, content.gallery, content.reading
    assert basis is not None
    assert gallery is not None
    assert reading is not None
    payload.add_array("carries", evidence.carries.astype(np.float32))
    payload.add_array("drawn", smallest_unsigned(gallery.shown + 1))  # 0: cannot be drawn
    count = min(RANKED, evidence.leans.shape[1])
    order = np.argsort(-np.abs(evidence.leans), axis=1, kind="stable")[:, :count]
    payload.add_array("leaning", smallest_unsigned(order))
    payload.add_array("leans", np.take_along_axis(evidence.leans, order, axis=1).astype(np.float32))
    frames = [basis.frame(number) for number in range(len(basis))] if gallery.whole else []
    payload.add_json(
        "exemplars",
        {
            "names": [basis.name(number) for number in range(len(basis))],
            "classes": basis.classes(reading.labels),
            "frames": frames if any(frames) else [],
        },
    )
    items = add_items(payload, "exemplars", gallery.items, gallery.kind)
    return {"exemplars": items, "n_exemplars": len(basis), "leaning": count, "note": gallery.note}
