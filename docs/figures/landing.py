"""Draw the picture of the first page: a digit, its similarities to exemplars, and what a model makes of them.

    python docs/figures/landing.py

writes landing-light.svg and landing-dark.svg beside this file. The model is that of `besvm demo`.
"""

from pathlib import Path
from typing import Any

import matplotlib as mpl
import numpy as np
from matplotlib import pyplot as plt
from matplotlib.colors import LinearSegmentedColormap, to_rgb
from matplotlib.patches import FancyArrowPatch

from besvm import BESVMClassifier
from besvm.demo import N_BASIS, N_TRAIN, C, displaced_digits
from besvm.similarities import Rigid

COLORS = {  # text and digits, bars, what stands out
    "light": ("#222222", "#9db8d6", "#0b5cad"),
    "dark": ("#dddddd", "#54708f", "#7cb7ff"),
}
SHOWN = 8  # exemplars: as many as one can see at a time


def draw(theme: str, images: np.ndarray, model: Any, sample: int) -> None:
    """Write the picture for pages of one theme."""
    ink, bar, best = COLORS[theme]
    mpl.rcParams.update({"svg.hashsalt": "besvm", "text.color": ink, "xtick.color": ink, "font.size": 12})
    cmap = LinearSegmentedColormap.from_list("ink", [(*to_rgb(ink), 0.0), (*to_rgb(ink), 1.0)])
    rows = model.basis_rows_[0]
    similarities = Rigid(2)(images[[sample]], images[rows])[0]
    shares = (similarities - similarities.min()) / np.ptp(similarities)
    fig = plt.figure(figsize=(7, 3.1))

    def picture(row: int, *place: float) -> None:
        ax = fig.add_axes(place)
        ax.imshow(images[row, 1:11, 1:11, 0], cmap=cmap, interpolation="nearest", vmin=0, vmax=1)
        ax.axis("off")

    picture(sample, 0.0, 0.33, 0.19, 0.43)
    fig.text(0.095, 0.06, "a sample", ha="center")
    for k, number in enumerate(np.argsort(-similarities)[:: len(rows) // SHOWN][:SHOWN]):
        x, y = 0.275 + 0.105 * (k % 4), 0.64 if k < 4 else 0.23
        picture(rows[number], x, y, 0.1, 0.226)
        ax = fig.add_axes((x + 0.01, y - 0.045, 0.08, 0.03))
        ax.barh([0], [max(0.05, shares[number])], color=best if k == 0 else bar)
        ax.set(xlim=(0, 1))
        ax.axis("off")
    fig.text(0.48, 0.06, f"similar to {len(rows)} exemplars?", ha="center")
    decision = model.decision_function(images[[sample]])[0]
    ax = fig.add_axes((0.775, 0.23, 0.225, 0.6))
    colors = [best if k == decision.argmax() else bar for k in range(len(decision))]
    ax.bar(np.arange(len(decision)), decision - decision.min() + 0.1, color=colors, width=0.8)
    ax.set_xticks(np.arange(len(decision)), [str(k) for k in model.classes_], fontsize=10)
    ax.tick_params(length=0)
    ax.set_yticks([])
    for side in ax.spines.values():
        side.set_visible(False)
    fig.text(0.887, 0.06, "an SVM decides", ha="center")
    for left, right in ((0.2, 0.262), (0.7, 0.762)):
        fig.add_artist(
            FancyArrowPatch((left, 0.545), (right, 0.545), arrowstyle="-|>", mutation_scale=16, color=ink, lw=1.5)
        )
    path = Path(__file__).parent / f"landing-{theme}.svg"
    fig.savefig(path, transparent=True, metadata={"Date": None, "Creator": None})
    path.write_text("\n".join(line.rstrip() for line in path.read_text().splitlines()) + "\n")
    plt.close(fig)


def main() -> None:
    """Train the model, and draw a digit that it gets right."""
    images, labels = displaced_digits()
    model = BESVMClassifier(Rigid(2), basis=N_BASIS, C=C, random_state=0).fit(images[:N_TRAIN], labels[:N_TRAIN])
    sample = N_TRAIN + int(np.flatnonzero(labels[N_TRAIN:] == 3)[0])
    for theme in COLORS:
        draw(theme, images, model, sample)


if __name__ == "__main__":
    main()
