"""Draw where a part was found."""

from typing import Any

import numpy as np

from besvm._support.extras import optional
from besvm.similarities.parts.contract import Placement

COLOR = "#d9730d"


def draw_in_grid(grid: np.ndarray, size: int, found: Placement, ax: Any = None, color: str = COLOR) -> Any:
    """Draw an image, or the mean of a grid's values, with a frame around the best place of a part; return the axes.

    The frame is dashed where the part was found in the mirror.
    """
    patches = optional("matplotlib.patches", "drawing parts")
    ax = _axes(ax, (3, 3))
    if not ax.images:
        ax.imshow(
            np.clip(grid, 0, 1) if grid.shape[2] == 3 else grid.mean(axis=2), cmap="gray", interpolation="nearest"
        )
        ax.axis("off")
    best = int(found.score.argmax())
    top, left = found.place[best]
    dashed = "--" if found.mirrored[best] else "-"
    frame = {"fill": False, "edgecolor": color, "linestyle": dashed, "linewidth": 1.6}
    ax.add_patch(patches.Rectangle((left - 0.5, top - 0.5), size, size, **frame))
    return ax


def draw_in_series(
    series: np.ndarray, values: np.ndarray, step: int, normalized: bool, found: Placement, ax: Any = None
) -> Any:
    """Draw a series, and over it the part ``values`` (channels, length) where it fits best; return the axes.

    A normalized part is drawn with the mean and the spread of the place that it was compared with.
    """
    ax = _axes(ax, (6, 2.4))
    first = int(found.place[found.score.argmax(), 0])
    moments = np.minimum(first + step * np.arange(values.shape[1]), series.shape[1] - 1)
    for channel, piece in zip(series, values, strict=True):
        (line,) = ax.plot(channel, linewidth=1, alpha=0.6)
        if normalized:
            there = channel[moments]
            piece = (piece - piece.mean()) / (piece.std() or 1) * there.std() + there.mean()
        ax.plot(
            moments, piece, "o-", markersize=3, linewidth=1.6, color=COLOR if len(series) == 1 else line.get_color()
        )
    ax.spines[["top", "right"]].set_visible(False)
    return ax


def _axes(ax: Any, size: tuple[float, float]) -> Any:
    if ax is not None:
        return ax
    return optional("matplotlib.pyplot", "drawing parts").subplots(figsize=size, layout="constrained")[1]
