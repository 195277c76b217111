"""Choose among many measures, greedily, by held-out accuracy."""

from besvm.selection.greedy import GreedySelection

__all__ = ["GreedySelection"]
