"""Draw an explanation: the sample, and the exemplars that pulled towards a class and away from it."""

from __future__ import annotations

import textwrap
from itertools import zip_longest
from typing import TYPE_CHECKING, Any

import numpy as np

from besvm._support.extras import optional
from besvm._support.figures import COLORS, axes, in_style
from besvm.explanations.contribution import Contribution, signed
from besvm.explanations.looks import Look, value_text
from besvm.explanations.marks import Line, Mark, Run, image_marks, runs, series_lines, text_runs
from besvm.explanations.pairs import Pair

if TYPE_CHECKING:
    from matplotlib.figure import Figure

FOR, AGAINST, MARKED, GRAY = COLORS[0], COLORS[1], "#e0a100", COLORS[6]
LABEL, PICTURE, GAP = 2.1, 3.2, 0.3  # inches: what is said of an exemplar, what it looks like, and between the halves
MARGIN = 0.2
IMAGE = 1.1  # the height of an image beside what is said of an exemplar
LETTER = 0.602  # the width of a letter, over the size of the font, of matplotlib's monospaced one
TEXT_SIZE = 8
LETTERS = 33  # of a line of what is said of an exemplar
LISTED = 8  # classes, and values of a record, that are shown
LINE = {"sample": ("#37352f", 1.1), "exemplar": (FOR, 1.1), "part": (AGAINST, 2.4), "link": (GRAY, 0.4)}


class Sheet:
    """A figure on which everything is put in inches from the top left."""

    def __init__(self, width: float, height: float, figure: Any = None) -> None:
        with in_style():
            from matplotlib.backends.backend_agg import FigureCanvasAgg
            from matplotlib.figure import Figure

            if figure is None:  # none of pyplot's, which somebody would have to close
                figure = Figure()
                FigureCanvasAgg(figure)
            figure.set_layout_engine("none")
            figure.set_size_inches(width, height)
        self.figure, self.width, self.height = figure, width, height

    def axes(self, left: float, top: float, width: float, height: float) -> Any:
        """Return axes without anything on them."""
        box = (left / self.width, 1 - (top + height) / self.height, width / self.width, height / self.height)
        with in_style():
            ax = self.figure.add_axes(box)
        ax.axis("off")
        return ax

    def say(self, left: float, top: float, text: str, **look: Any) -> None:
        """Write below and to the right of a place; a question mark stands for what is no character."""
        x, y = left / self.width, 1 - top / self.height
        text = text.encode(errors="replace").decode()
        self.figure.text(x, y, text, **{"ha": "left", "va": "top", "fontsize": 9, "parse_math": False, **look})

    def letters(self, left: float, top: float, text: str, width: float) -> None:
        """Write letters of one width as shapes: text is put on whole pixels, so that it would not keep to the marks."""
        from matplotlib.font_manager import FontProperties
        from matplotlib.textpath import TextPath

        ax = self.axes(left, top, width * max(1, len(text)), 0.16)
        ax.set_xlim(0, 72 * width * max(1, len(text)))
        ax.set_ylim(-3.2, 72 * 0.16 - 3.2)
        patches = optional("matplotlib.patches", "drawing an explanation")
        with in_style():
            path = TextPath((0, 0), text, prop=FontProperties(family="monospace", size=TEXT_SIZE))
        ax.add_patch(patches.PathPatch(path, facecolor="black", linewidth=0))


def draw(explanation: Any, cls: Any, top: int, columns: int = 2, figure: Any = None) -> Figure:
    """Return the figure of the explanation of one class: what pulls towards it and away from it, beside or below."""
    optional("matplotlib", "drawing an explanation")
    halves = [explanation.towards(cls, top), explanation.against(cls, top)]
    drawn = [[(one, explanation.pair(one, cls)) for one in found] for found in halves]
    heights = [[max(_height(pair), 0.35 + 0.15 * len(_lines(one, pair, cls))) for one, pair in half] for half in drawn]
    if columns == 2:  # what stands side by side is level
        heights = [[max(both) for both in zip_longest(*heights, fillvalue=0.0)]] * 2
    ranked = sorted(explanation.classes, key=lambda c: -explanation.decision[c])[:LISTED]
    first = next((pair.sample for half in drawn for _, pair in half), Look("none", ""))
    begin = 0.45 + _header_height(first, len(ranked), columns)
    lengths = [0.3 + sum(half) for half in heights]
    each = LABEL + PICTURE
    width = 2 * MARGIN + columns * each + (columns - 1) * GAP
    sheet = Sheet(width, begin + (max(lengths) if columns == 2 else sum(lengths) + GAP) + 0.1, figure)
    _draw_header(sheet, explanation, first, ranked, cls, columns)
    largest = max((abs(one.contribution[cls]) for one in explanation.contributions), default=0.0) or 1.0
    for number, half in enumerate(drawn):
        left, down = MARGIN, begin
        if number and columns == 2:
            left += each + GAP
        elif number:
            down += lengths[0] + GAP
        title, color = (f"away from {cls}", AGAINST) if number else (f"towards {cls}", FOR)
        sheet.say(left, down, title if half else f"nothing pulled {title}", color=color, fontweight="bold", fontsize=10)
        down += 0.3
        for (one, pair), height in zip(half, heights[number], strict=False):
            _draw_label(sheet, one, pair, cls, largest, color, left, down)
            _draw_pair(sheet, pair, left + LABEL, down, height - 0.1)
            down += height
    return sheet.figure


def _height(pair: Pair) -> float:
    if pair.match.values:
        return max(0.75, 0.16 * (1 + min(LISTED, len(pair.match.values))) + 0.2)
    kinds = {pair.sample.kind, pair.exemplar.kind}
    if "text" in kinds:
        lines = sum(len(_wrapped(some)) for some in text_runs(pair))
        return max(0.8, 0.16 * lines + 0.35)
    return IMAGE + 0.1 if "image" in kinds else 1.0 if "series" in kinds else 0.8


def _header_height(seen: Look, n_classes: int, columns: int) -> float:
    own, decisions = _sample_height(seen), 0.2 * n_classes + 0.2
    return max(own, decisions) if _fits_beside(seen, columns) else own + decisions


def _sample_height(seen: Look) -> float:
    return {"image": 1.4, "series": 1.0, "values": 1.2, "text": 0.3 + 0.16 * len(_wrapped(runs(seen, [])))}.get(
        seen.kind, 0.9
    )


def _fits_beside(seen: Look, columns: int) -> bool:
    """Say whether there is room for the decision values to the right of the sample."""
    return columns == 2 or seen.kind == "image"


def _draw_header(sheet: Sheet, explanation: Any, seen: Look, ranked: list[Any], cls: Any, columns: int) -> None:
    sheet.say(MARGIN, 0.1, f"predicted: {explanation.prediction}", fontweight="bold", fontsize=11)
    beside = _fits_beside(seen, columns)
    height = max(_sample_height(seen), 0.2 * len(ranked) + 0.2) if beside else _sample_height(seen)
    room = PICTURE if columns == 2 or not beside else 1.3
    _draw_look(sheet, seen, MARGIN, 0.4, room, height - 0.1)
    if beside:
        left, top = MARGIN + (room + 0.6 if columns == 2 else room), 0.35
    else:
        left, top = MARGIN + 0.4, 0.35 + height
    _draw_decisions(sheet, explanation, ranked, cls, left, top, 2.4 if columns == 2 else 1.8)


def _draw_decisions(
    sheet: Sheet, explanation: Any, ranked: list[Any], cls: Any, left: float, top: float, bars: float
) -> None:
    ax = sheet.axes(left + 1.1, top, bars, 0.2 * len(ranked))
    values = [explanation.decision[c] for c in ranked]
    places = np.arange(len(ranked))
    ax.barh(places, values, height=0.6, color=[FOR if c == cls else GRAY for c in ranked])
    ax.set_ylim(len(ranked) - 0.5, -0.5)
    ax.axvline(0, color=GRAY, lw=0.6)
    for place, c in enumerate(ranked):
        down = top + 0.2 * place + 0.03
        weight = "bold" if c == cls else "normal"
        sheet.say(left + 1.0, down, _short(str(c), 18), ha="right", fontweight=weight, fontsize=8.5)
        chance = "" if explanation.probability is None else f"   {100 * explanation.probability[c]:.0f} %"
        sheet.say(left + bars + 1.2, down, f"{signed(explanation.decision[c])}{chance}", fontsize=8.5)
    more = len(explanation.classes) - len(ranked)
    if more:
        down = top + 0.2 * len(ranked) + 0.03
        sheet.say(left + 1.0, down, f"and {more} more", ha="right", fontsize=7, color=GRAY)


def _draw_label(
    sheet: Sheet, one: Contribution, pair: Pair, cls: Any, largest: float, color: str, left: float, top: float
) -> None:
    ax = sheet.axes(left, top + 0.04, LABEL - 0.25, 0.1)
    ax.barh([0], [abs(one.contribution[cls]) / largest], color=color, height=1.0)
    ax.set_xlim(0, 1)
    sheet.say(left, top + 0.18, "\n".join(_lines(one, pair, cls)), fontsize=8, linespacing=1.3)


def _lines(one: Contribution, pair: Pair, cls: Any) -> list[str]:
    """Return what is said of an exemplar."""
    label = "" if one.label is None else f" ({one.label})"
    return [
        f"{signed(one.contribution[cls])}   ({100 * one.share[cls]:+.1f} %)",
        _short(f"{one.name}{label}", LETTERS),
        *textwrap.wrap(f"{one.measure}: {one.compared}", LETTERS)[:2],
        *textwrap.wrap(pair.match.words, LETTERS)[:2],
    ]


def _draw_pair(sheet: Sheet, pair: Pair, left: float, top: float, height: float) -> None:
    """Draw the sample and the exemplar as they match."""
    if pair.match.values:
        _draw_values(sheet, pair.match.values, left, top)
    elif pair.sample.kind == pair.exemplar.kind == "series":
        _draw_series(sheet.axes(left, top, PICTURE - 0.1, height), series_lines(pair))
    elif "text" in (pair.sample.kind, pair.exemplar.kind):
        down = top
        for some in text_runs(pair):
            down += _draw_text(sheet, some, left, down) + 0.1
    else:
        marks, height = image_marks(pair), min(height, IMAGE)  # of one size, whatever is said beside them
        _draw_look(sheet, pair.sample, left, top, PICTURE / 2 - 0.1, height, [m for m in marks if m.on == "sample"])
        own = [m for m in marks if m.on == "exemplar"]
        _draw_look(sheet, pair.exemplar, left + PICTURE / 2, top, PICTURE / 2 - 0.1, height, own)


def _draw_look(
    sheet: Sheet, seen: Look, left: float, top: float, width: float, height: float, marks: list[Mark] | None = None
) -> None:
    if seen.kind == "image":
        ax = sheet.axes(left, top, width, height)
        ax.imshow(seen.data, cmap="gray", vmin=0, vmax=255, interpolation="nearest")
        ax.set_anchor("W")
        _draw_marks(ax, marks or [])
    elif seen.kind == "series":
        ax = sheet.axes(left, top, width, height)
        for one in seen.data:
            ax.plot(one, color=LINE["sample"][0], linewidth=1.1)
    elif seen.kind == "text":
        _draw_text(sheet, runs(seen, []), left, top)
    elif seen.kind == "values":
        lines = [_short(f"{name}: {value}", 40) for name, value in seen.data[:LISTED]]
        sheet.say(left, top, "\n".join(lines), fontsize=7, linespacing=1.2)
    elif seen.data:
        sheet.say(left, top, textwrap.fill(str(seen.data), 40), fontsize=8)


def _draw_marks(ax: Any, marks: list[Mark]) -> None:
    patches = optional("matplotlib.patches", "drawing an explanation")
    for m in marks:
        corner = (m.x - 0.5, m.y - 0.5)
        if m.kind == "arrow":
            ends: Any = {"xy": (corner[0] + m.width, corner[1] + m.height), "xytext": corner}
            ax.annotate(
                "", **ends, arrowprops={"arrowstyle": "->", "color": MARKED, "lw": 1.0, "shrinkA": 0, "shrinkB": 0}
            )
        elif m.kind == "cell":
            ax.add_patch(patches.Rectangle(corner, m.width, m.height, color=MARKED, alpha=0.45 * m.strength, lw=0))
        else:
            style = "--" if m.dashed else "-"
            look: Any = {"fill": False, "edgecolor": MARKED, "linewidth": 1.6, "linestyle": style}
            ax.add_patch(patches.Rectangle(corner, m.width, m.height, **look))


def _draw_series(ax: Any, lines: list[Line]) -> None:
    for line in sorted(lines, key=lambda one: one.kind != "link"):
        color, width = LINE[line.kind]
        ax.plot(line.x, line.y, color=color, linewidth=width)


def _draw_values(sheet: Sheet, values: list[tuple[Any, Any, Any, float]], left: float, top: float) -> None:
    for offset, text in ((1.35, "sample"), (2.0, "exemplar"), (2.7, "alike")):
        sheet.say(left + offset, top, text, fontsize=7, color=GRAY)
    for place, (name, x, b, alike) in enumerate(sorted(values, key=lambda one: -one[3])[:LISTED]):
        down = top + 0.16 * (place + 1)
        for offset, text, longest in ((0.0, str(name), 20), (1.35, value_text(x), 10), (2.0, value_text(b), 10)):
            sheet.say(left + offset, down, _short(text, longest), fontsize=7)
        ax = sheet.axes(left + 2.7, down + 0.02, 0.4, 0.08)
        ax.barh([0], [alike], color=FOR, height=1.0)
        ax.set_xlim(0, 1)


def _wrapped(some: list[Run]) -> list[list[tuple[str, bool]]]:
    """Return a text as lines of letters, each with whether it matched; broken after a space, where there is one."""
    each = int(72 * (PICTURE - 0.15) / (LETTER * TEXT_SIZE))
    letters = [(" " if letter.isspace() else letter, run.matched) for run in some for letter in run.text]
    lines = []
    while letters:
        spaces = [k for k in range(min(each, len(letters))) if letters[k][0] == " "]
        stop = spaces[-1] + 1 if len(letters) > each and spaces else each
        lines.append(letters[:stop])
        letters = letters[stop:]
    return lines


def _draw_text(sheet: Sheet, some: list[Run], left: float, top: float) -> float:
    """Write a text with what matched in color; return its height."""
    lines = _wrapped(some)
    letter = LETTER * TEXT_SIZE / 72
    for number, line in enumerate(lines):
        down = top + 0.16 * number
        start = 0
        while start < len(line):
            stop = start + next(
                (k for k, one in enumerate(line[start:]) if one[1] != line[start][1]), len(line) - start
            )
            if line[start][1]:
                ax = sheet.axes(left + start * letter, down - 0.015, (stop - start) * letter, 0.145)
                ax.add_patch(
                    optional("matplotlib.patches", "drawing an explanation").Rectangle(
                        (0, 0), 1, 1, color=MARKED, alpha=0.4, lw=0
                    )
                )
            start = stop
        sheet.letters(left, down, "".join(one for one, _ in line), letter)
    return 0.16 * len(lines)


def _short(text: str, length: int) -> str:
    return text if len(text) <= length else f"{text[: length - 1]}…"


def draw_carriers(carriers: Any, top: int) -> Figure:
    """Return the figure of what the exemplars of a model carry."""
    some = carriers.all[:top]
    figure, (left, right) = axes(10, max(3.0, 0.24 * len(some) + 1.0), 1, 2, width_ratios=(3, 2))
    with in_style():
        places = np.arange(len(some))
        left.barh(places, [100 * one.share for one in some], color=FOR, height=0.7)
        names = [f"{one.measure}, {one.name}" + ("" if one.label is None else f" ({one.label})") for one in some]
        left.set_yticks(places, [_short(name, 40) for name in names], fontsize=8, parse_math=False)
        left.invert_yaxis()
        left.set_xlabel("% of what the decision values vary by" if carriers.n_samples else "% of the weight")
        left.grid(axis="y", visible=False)
        total = np.cumsum([0.0, *(100 * one.share for one in carriers.all)])
        right.plot(np.arange(len(total)), total, color=FOR)
        right.set_xlabel("exemplars, those that carry most first")
        right.set_ylabel("% carried by them together")
        right.set_ylim(0, 101)
        right.set_xlim(0, max(1, len(total) - 1))
    return figure
