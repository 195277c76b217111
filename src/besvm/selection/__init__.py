"""Choose among many measures, greedily, by held-out accuracy."""

from besvm._support.public import publish
from besvm.selection.greedy import GreedySelection

__all__ = ["GreedySelection"]

publish(__name__, __all__)
