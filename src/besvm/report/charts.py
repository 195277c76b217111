"""Charts as the templates draw them: places on a small sheet, ticks, and the words that a pointer over a mark shows."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field

import numpy as np

from besvm.analysis import Spectrum
from besvm.report.figures import Bin

WIDTH, HEIGHT = 400, 250
LEFT, RIGHT, TOP, BOTTOM = 44, 12, 26, 40  # around the frame
LINE_POINTS = 200  # of a curve: more cannot be told apart
LEAST_SPAN = 0.1  # of accuracies, so that ticks are whole percents


@dataclass(frozen=True)
class Mark:
    """A point, or a bar that stands on the horizontal axis."""

    x: float
    y: float
    words: str
    width: float = 0.0
    height: float = 0.0
    look: str = ""


@dataclass(frozen=True)
class Line:
    """A line through points, "x,y x,y ..."."""

    points: str
    look: str = ""


@dataclass(frozen=True)
class Chart:
    """All there is on a sheet of WIDTH x HEIGHT."""

    label: str  # for those who cannot see it
    x_label: str
    y_label: str
    x_ticks: list[tuple[float, str]]
    y_ticks: list[tuple[float, str]]
    lines: list[Line] = field(default_factory=list)
    bars: list[Mark] = field(default_factory=list)
    dots: list[Mark] = field(default_factory=list)
    legend: list[tuple[str, str]] = field(default_factory=list)  # (look, words)

    width, height, left, right, top, bottom = WIDTH, HEIGHT, LEFT, WIDTH - RIGHT, TOP, HEIGHT - BOTTOM


def percent(share: float, digits: int = 1) -> str:
    """Return a share as people read it."""
    return f"{100 * share:.{digits}f} %"


Scale = Callable[[float], float]


def linear(low: float, high: float, start: float, end: float) -> Scale:
    """Return the function that takes low..high to start..end."""
    return lambda value: round(start + (value - low) / ((high - low) or 1) * (end - start), 2)


def horizontal(low: float, high: float) -> Scale:
    """Return where values lie from left to right."""
    return linear(low, high, LEFT, WIDTH - RIGHT)


def vertical(low: float, high: float) -> Scale:
    """Return where values lie from the bottom up."""
    return linear(low, high, HEIGHT - BOTTOM, TOP)


def path(xs: Sequence[float], ys: Sequence[float]) -> str:
    """Return points as SVG has them."""
    return " ".join(f"{x:g},{y:g}" for x, y in zip(xs, ys, strict=True))


def reliability(bins: list[Bin]) -> Chart:
    """Draw how often the predicted class was right, against how probable it was said to be."""
    x, y = horizontal(0, 1), vertical(0, 1)
    most = max(one.count for one in bins)
    bars, dots = [], []
    for one in bins:
        words = (
            f"{one.count:,} samples, {percent(one.confidence)} sure on average: {percent(one.accuracy)} of them right"
        )
        left, right, top = x(one.low), x(one.high), y(one.accuracy)
        bars.append(Mark(left + 1, top, words, right - left - 2, y(0) - top))
        dots.append(Mark(x(one.confidence), top, words, width=round(2.5 + 3.5 * (one.count / most) ** 0.5, 2)))
    ticks = [0, 0.25, 0.5, 0.75, 1]
    return Chart(
        "Reliability: " + "; ".join(bar.words for bar in bars),
        "probability of the predicted class",
        "share that was right",
        [(x(t), percent(t, 0)) for t in ticks],
        [(y(t), percent(t, 0)) for t in ticks],
        [Line(path([x(0), x(1)], [y(0), y(1)]), "ideal")],
        bars,
        dots,
    )


def size_curve(curves: list[tuple[str, list[tuple[int, float]]]]) -> Chart:
    """Draw accuracy against the number of exemplars, which goes up by factors; each curve has a name."""
    every = [point for _, curve in curves for point in curve]
    most = max(2, *(size for size, _ in every))
    low, high = min(share for _, share in every), max(share for _, share in every)
    top = min(1.0, max(high + 0.02, LEAST_SPAN))
    y_ticks = nice_ticks(max(0.0, min(low - 0.02, top - LEAST_SPAN)), top)
    x, y = horizontal(0, np.log(most)), vertical(y_ticks[0], y_ticks[-1])
    lines, dots = [], []
    for k, (name, curve) in enumerate(curves):
        look = f"curve-{k}"
        lines.append(Line(path([x(np.log(n)) for n, _ in curve], [y(share) for _, share in curve]), look))
        words = [f"{n:,} exemplar{'s' * (n > 1)}: {percent(share)} right ({name})" for n, share in curve]
        dots += [Mark(x(np.log(n)), y(s), w, 3.5, look=look) for (n, s), w in zip(curve, words, strict=True)]
    return Chart(
        "Accuracy against the number of exemplars: " + "; ".join(dot.words for dot in dots),
        "exemplars",
        "accuracy",
        [(x(np.log(n)), f"{n:,}") for n in powers(most)],
        [(y(t), percent(t, 0)) for t in y_ticks],
        lines,
        dots=dots,
        legend=[(f"curve-{k}", name) for k, (name, _) in enumerate(curves)] if len(curves) > 1 else [],
    )


def spectrum_chart(found: Spectrum) -> Chart:
    """Draw the sizes of eigenvalues, the largest first, on a logarithmic axis."""
    values = found.eigenvalues
    sizes, places = np.abs(values), np.arange(1, len(values) + 1)
    sure = sizes[sizes > found.noise]
    top = float(sure.max()) if len(sure) else 1.0
    floor = max(top * 1e-8, float(np.quantile(sure, 0.01)) / 2) if len(sure) else 0.1
    x, y = horizontal(1, max(2, len(values))), vertical(np.log10(floor), np.log10(top))
    lines = []
    for look, chosen in (("positive", values > found.noise), ("negative", values < -found.noise)):
        if chosen.any():
            at = np.flatnonzero(chosen)
            at = at[np.unique(np.linspace(0, len(at) - 1, LINE_POINTS).astype(int))]
            high = np.log10(np.clip(sizes[at], floor, top))
            xs, ys = [x(p) for p in places[at]], [y(h) for h in high]
            base = y(np.log10(floor))
            lines.append(Line(path([xs[0], *xs, xs[-1]], [base, *ys, base]), f"area {look}"))
            lines.append(Line(path(xs, ys), look))
    decades = range(int(np.ceil(np.log10(floor))), int(np.floor(np.log10(top))) + 1)
    step = max(1, len(decades) // 4)
    ticks = [t for t in nice_ticks(0, len(values)) if 1 <= t <= len(values)]
    return Chart(
        f"Eigenvalues: {found}",
        "eigenvalues, from the largest down",
        "size",
        [(x(t), f"{t:,.0f}") for t in ticks],
        [(y(d), f"{10.0**d:g}") for d in decades[::step]],
        lines,
        legend=[("positive", "positive"), ("negative", "negative")] if found.negative_ratio else [],
    )


def nice_ticks(low: float, high: float, about: int = 5) -> list[float]:
    """Return round numbers that begin at or below ``low`` and end at or above ``high``.

    Examples
    --------
    >>> nice_ticks(0.62, 0.98)
    [0.6, 0.7, 0.8, 0.9, 1.0]
    """
    span = (high - low) or abs(high) or 1.0
    rough = span / about
    power = 10.0 ** np.floor(np.log10(rough))
    step = next(power * m for m in (1, 2, 2.5, 5, 10) if power * m >= rough * 0.999)
    first, last = np.floor(low / step + 1e-9), np.ceil(high / step - 1e-9)
    return [round(float(k * step), 10) for k in np.arange(first, last + 1)]


def powers(most: int) -> list[int]:
    """Return 1, 10, 100, ... up to ``most``, and 2 and 5 times these where there are few.

    Examples
    --------
    >>> powers(40), powers(5000)
    ([1, 2, 5, 10, 20], [1, 10, 100, 1000])
    """
    steps = (1, 2, 5) if most < 100 else (1,)
    return [m * 10**k for k in range(len(str(most))) for m in steps if m * 10**k <= most]
