"""Smaller models: the exemplars that are worth most, refitted, and what the others were worth."""

from besvm._support.public import publish
from besvm.pruning.curve import PruningCurve
from besvm.pruning.pruned import prune, pruning_curve

__all__ = ["PruningCurve", "prune", "pruning_curve"]

publish(__name__, __all__)
