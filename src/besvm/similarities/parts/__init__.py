"""Similarities whose exemplars are parts of samples, looked for wherever they may lie."""

from besvm._support.public import publish
from besvm.similarities.parts.contract import PartSimilarity, Pieces, Placement
from besvm.similarities.parts.grid import Parts
from besvm.similarities.parts.series import SeriesParts
from besvm.similarities.parts.text import TextParts

__all__ = ["PartSimilarity", "Parts", "Pieces", "Placement", "SeriesParts", "TextParts"]

publish(__name__, __all__)
