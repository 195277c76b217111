"""What is drawn over an image, a series or a text to show a match, whatever draws it."""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np

from besvm.explanations.looks import LONGEST_TEXT, Look
from besvm.explanations.pairs import Pair

STRONGEST_CELLS = 12  # cells whose match is drawn
MOST_LINKS = 40  # lines between paired moments
MOST_CHANNELS = 4  # of a series
BEFORE = 30  # characters shown before the first that matched, in a text that is cut


class Mark(NamedTuple):
    """Something over an image, in its pixels: a "frame", a "cell" that is filled, or an "arrow"."""

    kind: str
    on: str  # "sample" or "exemplar"
    x: float
    y: float
    width: float
    height: float
    strength: float = 1.0  # 0 to 1
    dashed: bool = False


class Line(NamedTuple):
    """A line of a picture of series, which is as wide as the longer one and of height 1."""

    x: np.ndarray
    y: np.ndarray
    kind: str  # "sample", "exemplar", "part" or "link"


class Run(NamedTuple):
    """A piece of a text."""

    text: str
    matched: bool


def image_marks(pair: Pair) -> list[Mark]:
    """Return what to draw over the images of a sample and an exemplar."""
    match, marks = pair.match, []
    if match.places is not None and match.size is not None and len(match.size) == 2 and match.grid is not None:
        marks += _frame("sample", pair.sample, match.grid, match.places[match.region], match.size, match.in_mirror)
        if pair.within is not None:
            marks += _frame("exemplar", pair.exemplar, _grid_of_row(pair), np.array(pair.within), match.size, False)
    if match.cells is not None and match.grid is not None:
        marks += _cell_marks(pair)
    return marks


def _frame(on: str, seen: Look, grid: tuple[float, float], place: Any, size: Any, dashed: bool) -> list[Mark]:
    if seen.kind != "image":
        return []
    down, across = _pixels(seen, grid)
    return [Mark("frame", on, place[1] * across, place[0] * down, size[1] * across, size[0] * down, dashed=dashed)]


def _grid_of_row(pair: Pair) -> tuple[float, float]:
    """Return the grid of the row that a part was cut from: cells are as large as the sample's, the image may not be."""
    assert pair.match.grid is not None
    if not pair.sample.kind == pair.exemplar.kind == "image":
        return pair.match.grid
    down, across = _pixels(pair.sample, pair.match.grid)
    return pair.exemplar.data.shape[0] / down, pair.exemplar.data.shape[1] / across


def _pixels(seen: Look, grid: tuple[float, float]) -> tuple[float, float]:
    height, width = seen.data.shape[:2]
    return height / grid[0], width / grid[1]


def _cell_marks(pair: Pair) -> list[Mark]:
    """Return the cells that add most, filled, on both images; how far each went by itself, and all of them together."""
    match, marks = pair.match, []
    assert match.cells is not None
    assert match.grid is not None
    (on, here), (other, there) = ("sample", pair.sample), ("exemplar", pair.exemplar)
    if match.on == "exemplar":
        (on, here), (other, there) = (other, there), (on, here)
    largest = float(match.cells.max())
    order = np.argsort(-match.cells, axis=None)[: STRONGEST_CELLS if largest > 0 else 0]
    for row, column in (np.unravel_index(k, match.cells.shape) for k in order):
        strength = float(match.cells[row, column]) / largest
        if strength <= 0.1:
            continue
        if here.kind == "image":
            down, across = _pixels(here, match.grid)
            marks.append(Mark("cell", on, column * across, row * down, across, down, strength))
        if there.kind == "image" and match.moves is not None:
            down, across = _pixels(there, match.grid)
            (dy, dx), (rigid_y, rigid_x) = match.moves[row, column], match.rigid or (0, 0)
            if not (0 <= row + dy < match.grid[0] and 0 <= column + dx < match.grid[1]):
                continue  # it met nothing
            marks.append(Mark("cell", other, (column + dx) * across, (row + dy) * down, across, down, strength))
            if (dy, dx) != (rigid_y, rigid_x):
                x, y = (column + rigid_x + 0.5) * across, (row + rigid_y + 0.5) * down
                marks.append(Mark("arrow", other, x, y, (dx - rigid_x) * across, (dy - rigid_y) * down, strength))
    if match.rigid is not None and any(match.rigid):
        marks += _frame(other, there, match.grid, match.rigid, match.grid, True)
    return marks


def series_lines(pair: Pair) -> list[Line]:
    """Return the picture of two series: the sample above, the exemplar below, and what was paired between them."""
    sample, exemplar, match = pair.sample.data, pair.exemplar.data, pair.match
    place, moments = 0, np.arange(exemplar.shape[1])
    if match.places is not None and pair.within is None:  # a part, below where it was found
        place = int(match.places[match.region][0])
        moments = place + match.step * np.arange(exemplar.shape[1])
    low, high = min(sample.min(), exemplar.min()), max(sample.max(), exemplar.max())
    height = 0.44 / ((high - low) or 1.0)

    def up(values: np.ndarray, base: float) -> np.ndarray:
        return base + (values - low) * height

    lines = [Line(np.arange(sample.shape[1]), up(one, 0.56), "sample") for one in sample[:MOST_CHANNELS]]
    lines += [Line(moments, up(one, 0.0), "exemplar") for one in exemplar[:MOST_CHANNELS]]
    if match.pairs is not None:
        some = match.pairs[np.linspace(0, len(match.pairs) - 1, min(MOST_LINKS, len(match.pairs))).astype(int)]
        for i, j in some:
            ends = np.array([up(sample[0, i], 0.56), up(exemplar[0, j], 0.0)])
            lines.append(Line(np.array([i, j]), ends, "link"))
    if match.places is not None and match.size is not None:
        lines += _part_lines(pair, up)
    return lines


def _part_lines(pair: Pair, up: Any) -> list[Line]:
    """Return where a part was found in the sample, and where it was cut from if its whole row is shown."""
    match, lines = pair.match, []
    assert match.places is not None
    assert match.size is not None
    spots = [(pair.sample.data, int(match.places[match.region][0]), 0.56)]
    if pair.within is not None:
        spots.append((pair.exemplar.data, pair.within[0], 0.0))
    for data, place, base in spots:
        moments = np.minimum(place + match.step * np.arange(match.size[0]), data.shape[1] - 1)
        lines += [Line(moments, up(one[moments], base), "part") for one in data[:MOST_CHANNELS]]
    return lines


def text_runs(pair: Pair) -> tuple[list[Run], list[Run]]:
    """Return the texts of a sample and an exemplar as pieces that matched and pieces that did not."""
    match = pair.match
    of_sample, of_exemplar = [], []
    for p, q, r, s in match.pieces or []:
        of_sample.append((p, q))
        of_exemplar.append((r, s))
    if match.places is not None and match.size is not None:
        place = int(match.places[match.region][0])
        of_sample.append((place, place + match.size[0]))
        start = 0 if pair.within is None else pair.within[0]
        of_exemplar.append((start, start + match.size[0]))
    return runs(pair.sample, of_sample), runs(pair.exemplar, of_exemplar)


def runs(seen: Look, spans: list[tuple[int, int]]) -> list[Run]:
    """Return a text in pieces, with those of its characters or tokens matched that lie in one of the spans.

    A long text is cut to what is around the first of them.
    """
    if seen.kind != "text":
        return []
    tokens, between = seen.data, "" if all(len(token) == 1 for token in seen.data) else " "
    matched = np.zeros(len(tokens), dtype=bool)
    for start, stop in spans:
        matched[start:stop] = True
    first = max(0, (int(matched.argmax()) if matched.any() else 0) - BEFORE) if len(tokens) > LONGEST_TEXT else 0
    last = min(len(tokens), first + LONGEST_TEXT)
    out = [Run("…", False)] if first else []
    start = first
    for place in range(first, last):
        if place + 1 == last or matched[place + 1] != matched[place]:
            piece = between.join(tokens[start : place + 1]) + (between if place + 1 < len(tokens) else "")
            out.append(Run(piece, bool(matched[place])))
            start = place + 1
    return [*out, Run("…", False)] if last < len(tokens) else out
