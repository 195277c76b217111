"""What turns a sample into what is compared: descriptors of images, and their variants."""

from besvm._support.public import publish
from besvm.features.descriptors import FHOG, CellColor, Pixels
from besvm.features.reduction import CellPCA
from besvm.features.variants import Crops, Rotations, Shifts, mirror

__all__ = ["FHOG", "CellColor", "CellPCA", "Crops", "Pixels", "Rotations", "Shifts", "mirror"]

publish(__name__, __all__)
