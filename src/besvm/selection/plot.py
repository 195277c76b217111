"""Draw the trace of a greedy selection."""

from __future__ import annotations

from typing import Any

CHOSEN, OTHERS = "#1f5fa8", "#8c8c8c"


def draw(trace: list[Any], rejected: Any = None, ax: Any = None) -> Any:
    """Draw accuracy by step: every candidate a dot, the chosen ones joined and named; a rejected step has only dots."""
    steps = trace if rejected is None else [*trace, rejected]
    if ax is None:
        import matplotlib.pyplot as plt

        _, ax = plt.subplots(figsize=(max(4.0, 1.4 * len(steps) + 1.2), 3.6), layout="constrained")
    for place, step in enumerate(steps, start=1):
        chosen = None if step is rejected else step.chosen
        others = [accuracy for label, accuracy in step.accuracies.items() if label != chosen]
        label = "not chosen" if place == 1 else None
        ax.plot([place] * len(others), others, "o", ms=5, mew=0, alpha=0.7, color=OTHERS, label=label)
    places, accuracies = range(1, len(trace) + 1), [step.accuracy for step in trace]
    ax.plot(places, accuracies, "o-", color=CHOSEN, label="chosen")
    for place, step in zip(places, trace, strict=True):
        text = ("" if place == 1 else "+ ") + step.chosen
        ax.annotate(text, (place, step.accuracy), (4, 6), textcoords="offset points", ha="right", color=CHOSEN)
    ax.set(xlabel="measures", ylabel="held-out accuracy", xticks=range(1, len(steps) + 1), xlim=(0.4, len(steps) + 0.4))
    ax.margins(y=0.12)
    ax.spines[["top", "right"]].set_visible(False)
    if any(len(step.accuracies) > 1 for step in steps):
        ax.legend(frameon=False, loc="lower right")
    return ax
