"""What exemplars are worth: held-out accuracy against their number, as a table and as a figure."""

from dataclasses import dataclass
from typing import Any

from besvm._support.extras import optional
from besvm._support.figures import COLORS


@dataclass(frozen=True)
class PruningCurve:
    """Accuracy on held-out rows by the number of exemplars, from all of them down.

    For every size, exemplars were chosen and the model was trained without the rows that judge it.

    Attributes
    ----------
    sizes : list of int
        Numbers of exemplars, the first being all that the model had.
    accuracy : list of float
        With the exemplars that pruning keeps.
    random : list of float or None
        With as many exemplars drawn at random: the mean over the draws, where some were asked for.
    n_rows : int
        The rows that were held out.

    Examples
    --------
    >>> from besvm.pruning import PruningCurve
    >>> curve = PruningCurve([1000, 500, 250], [0.70, 0.70, 0.68], None, n_rows=2000)
    >>> [round(loss, 2) for loss in curve.loss]
    [0.0, 0.0, 0.02]
    >>> curve.smallest(max_loss=0.01)
    500
    """

    sizes: list[int]
    accuracy: list[float]
    random: list[float] | None
    n_rows: int

    @property
    def loss(self) -> list[float]:
        """By how much each size is less accurate than all exemplars."""
        return [self.accuracy[0] - accuracy for accuracy in self.accuracy]

    def smallest(self, max_loss: float) -> int:
        """Return the smallest size that loses no more than this, as does every larger one."""
        within = [loss <= max_loss for loss in self.loss]
        return self.sizes[within.index(False) - 1 if False in within else -1]

    def to_dict(self) -> dict[str, Any]:
        """Return plain lists and numbers, for JSON."""
        return {"sizes": self.sizes, "accuracy": self.accuracy, "random": self.random, "n_rows": self.n_rows}

    def __str__(self) -> str:
        head = f"{'exemplars':>9}{'accuracy':>10}{'change':>9}" + ("" if self.random is None else f"{'random':>10}")
        lines = [f"accuracy on {self.n_rows:,} held-out rows, by the number of exemplars", head]
        for place, (size, accuracy) in enumerate(zip(self.sizes, self.accuracy, strict=True)):
            beside = "" if self.random is None else f"{self.random[place]:>10.4f}"
            lines.append(f"{size:>9,}{accuracy:>10.4f}{accuracy - self.accuracy[0]:>+9.4f}{beside}")
        return "\n".join(lines)

    def plot(self, ax: Any = None) -> Any:
        """Draw accuracy against the number of exemplars, which doubles from tick to tick; return the axes."""
        if ax is None:
            plt = optional("matplotlib.pyplot", "drawing a pruning curve")
            _, ax = plt.subplots(figsize=(5.2, 3.4), layout="constrained")
        ax.plot(self.sizes, self.accuracy, "o-", ms=4, color=COLORS[0], label="kept by pruning")
        if self.random is not None:
            ax.plot(self.sizes, self.random, "s--", ms=3.5, color=COLORS[6], label="drawn at random")
            ax.legend(frameon=False, loc="lower right")
        ax.set_xscale("log", base=2)
        ticks = self.sizes[::2]
        ax.set_xticks(ticks, [f"{size:,}" for size in ticks])
        ax.minorticks_off()
        ax.set(xlabel="exemplars", ylabel=f"accuracy on {self.n_rows:,} held-out rows")
        ax.spines[["top", "right"]].set_visible(False)
        return ax
