"""What turns a sample into what is compared: descriptors of images and their variants, columns of records."""

from besvm._support.public import publish
from besvm.features.columns import Column
from besvm.features.descriptors import FHOG, CellColor, Pixels
from besvm.features.variants import Crops, Rotations, Shifts, mirror

__all__ = ["FHOG", "CellColor", "Column", "Crops", "Pixels", "Rotations", "Shifts", "mirror"]

publish(__name__, __all__)
