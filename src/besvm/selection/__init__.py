"""Choose among many measures, greedily, by held-out accuracy."""

from besvm._support.public import publish
from besvm.selection.greedy import GreedySelection
from besvm.selection.trace import SelectionStep

__all__ = ["GreedySelection", "SelectionStep"]

publish(__name__, __all__)
