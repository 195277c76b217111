"""The steps of a greedy selection, as a table and as a figure."""

from dataclasses import dataclass
from typing import Any

from besvm._support.extras import optional

CHOSEN, OTHERS = "#1f5fa8", "#8c8c8c"


@dataclass(frozen=True)
class SelectionStep:
    """One step of a selection: what was added, and how every candidate would have done in its place.

    Attributes
    ----------
    chosen : str
        The name of the best candidate.
    accuracy : float
        That of the held-out rows, with it.
    gain : float
        The accuracy over that of the step before; of the first step, over always naming the most frequent class.
    accuracies : dict
        The accuracy with every candidate that was left.
    seconds : float
        How long training on all of them took.

    Examples
    --------
    >>> from besvm.selection import SelectionStep
    >>> SelectionStep("rbf", accuracy=0.9, gain=0.4, accuracies={"linear": 0.8, "rbf": 0.9}, seconds=1.5).chosen
    'rbf'
    """

    chosen: str
    accuracy: float
    gain: float
    accuracies: dict[str, float]
    seconds: float


def table(trace: list[SelectionStep], rejected: SelectionStep | None) -> str:
    """Return a row for every candidate, a column for every step, * for the chosen one."""
    names = list(trace[0].accuracies)
    columns = [(f"step {number}", step, step.chosen) for number, step in enumerate(trace, start=1)]
    if rejected is not None:
        columns.append(("rejected", rejected, ""))
    width = max(len("candidate"), *map(len, names))
    lines = ["candidate".ljust(width) + "".join(f"{head:>9}" for head, *_ in columns)]
    for name in names:
        cells = [_cell(step.accuracies.get(name), taken == name) for _, step, taken in columns]
        lines.append((name.ljust(width) + "".join(cells)).rstrip())
    lines.append("gain".ljust(width) + "".join(f"{step.gain:>+8.4f} " for _, step, _ in columns).rstrip())
    lines.append("seconds".ljust(width) + "".join(f"{step.seconds:>8.1f} " for _, step, _ in columns).rstrip())
    if rejected is not None:
        lines.append(stopped(rejected))
    return "\n".join(lines)


def _cell(accuracy: float | None, chosen: bool) -> str:
    return " " * 9 if accuracy is None else f"{accuracy:>8.4f}" + ("*" if chosen else " ")


def stopped(rejected: SelectionStep) -> str:
    """Say why a selection ended."""
    return f"stopped: {rejected.chosen} would add only {rejected.gain:+.4f}"


def draw(trace: list[SelectionStep], rejected: SelectionStep | None, ax: Any) -> Any:
    """Draw accuracy by step: every candidate a dot, the chosen ones joined and named; a rejected step has only dots."""
    steps = trace if rejected is None else [*trace, rejected]
    if ax is None:
        plt = optional("matplotlib.pyplot", "drawing a selection")
        _, ax = plt.subplots(figsize=(max(4.0, 1.4 * len(steps) + 1.2), 3.6), layout="constrained")
    for place, step in enumerate(steps, start=1):
        chosen = None if step is rejected else step.chosen
        others = [accuracy for name, accuracy in step.accuracies.items() if name != chosen]
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
