"""One look for all figures: what the experiments and the analysis draw with."""

from __future__ import annotations

import io
from collections.abc import Iterator
from contextlib import AbstractContextManager
from typing import TYPE_CHECKING, Any

import numpy as np

from besvm._support.extras import optional

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

Figures = Iterator[tuple[str, "Figure"]]  # with their names
COLORS = ("#0b6e99", "#d9730d", "#4d8f3a", "#ad1a72", "#6940a5", "#64473a", "#9b9a97", "#0f7b6c", "#e0a100", "#37352f")
STYLE: Any = {
    "font.size": 10,
    "axes.spines.top": False,
    "axes.spines.right": False,
    "axes.grid": True,
    "grid.color": "#e6e6e6",
    "grid.linewidth": 0.6,
    "axes.axisbelow": True,
    "legend.frameon": False,
    "legend.fontsize": 8.5,
    "figure.constrained_layout.use": True,
    "svg.hashsalt": "besvm",
}


def in_style() -> AbstractContextManager[None]:
    """Give everything drawn inside the ``with`` the one look, and leave matplotlib's own settings alone."""
    return optional("matplotlib", "drawing").rc_context(STYLE)


def axes(width: float, height: float, rows: int = 1, columns: int = 1, **options: Any) -> tuple[Figure, Any]:
    """Return a new figure and its axes, without a window and without touching matplotlib's settings."""
    with in_style():
        from matplotlib.backends.backend_agg import FigureCanvasAgg
        from matplotlib.figure import Figure

        figure = Figure(figsize=(width, height), layout="constrained")
        FigureCanvasAgg(figure)
        return figure, figure.subplots(rows, columns, **options)


def rendered(figure: Figure, kind: str) -> bytes:
    """Return a figure as the bytes of a PNG or SVG file; the same figure gives the same bytes."""
    out = io.BytesIO()
    with in_style():
        metadata = {"Date": None} if kind == "svg" else {"Software": None}
        figure.savefig(out, format=kind, dpi=150, metadata=metadata)
    return out.getvalue()


# one color for a series in all figures
SERIES = {"H8R": COLORS[0], "H8L": COLORS[6], "H4L": COLORS[9], "K8R": COLORS[1], "K4R": COLORS[8]}
SERIES |= {"M1, first 2": COLORS[2], "M1, first 3": COLORS[7]}
SERIES |= {"M2, first 2": COLORS[4], "M2, first 3": COLORS[3], "M2, first 4": COLORS[5]}


def curve(ax: Axes, rows: list[dict[str, Any]], x: str, y: str, style: str = "o-", **look: Any) -> None:
    """Draw one column of a table against another; nothing if there are no rows."""
    if rows:
        ax.plot([row[x] for row in rows], [row[y] for row in rows], style, **look)


def log_ticks(ax: Axes, values: list[float]) -> None:
    """Label a logarithmic horizontal axis at these values, and nowhere else."""
    ax.set_xticks(sorted(values), [f"{value:,.0f}" for value in sorted(values)])
    ax.minorticks_off()


def dots(series: dict[str, dict[str, list[float]]], label: str, width: float = 7.5) -> Figure:
    """Draw groups of dots: for every category one dot of each series, with its standard deviation where it has one.

    Dots and not bars, because the axis does not begin at 0: differences of a percent are to be seen.
    """
    categories = list(dict.fromkeys(name for values in series.values() for name in values))
    figure, ax = axes(width, 3.8)
    share = 0.72 / len(series)
    for place, (name, values) in enumerate(series.items()):
        x = np.arange(len(categories)) + (place - (len(series) - 1) / 2) * share
        scores = [values.get(category, []) for category in categories]
        means = [np.mean(one) if one else np.nan for one in scores]
        errors = [np.std(one, ddof=1) if len(one) > 1 else np.nan for one in scores]
        color, marker = COLORS[place % len(COLORS)], "os^Dv*P"[place % 7]
        ax.errorbar(x, means, yerr=errors, fmt=marker, ms=4.5, capsize=2, elinewidth=1, color=color, label=name)
    for edge in range(1, len(categories)):
        ax.axvline(edge - 0.5, color="#e6e6e6", lw=0.6)
    ax.set_xticks(range(len(categories)), categories, rotation=40, ha="right")
    ax.set_xlim(-0.5, len(categories) - 0.5)
    every = [score for values in series.values() for several in values.values() for score in several]
    room = max(0.15 * (max(every) - min(every)), 0.005)
    ax.set_ylim(max(0, min(every) - 2 * room), max(every) + room)
    ax.set_ylabel(label)
    ax.grid(axis="x", visible=False)
    if len(series) > 1:
        look: Any = {"loc": "lower center", "bbox_to_anchor": (0.5, 1.0), "columnspacing": 1.0, "handletextpad": 0.2}
        ax.legend(ncols=len(series), **look)
    return figure
