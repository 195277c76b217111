"""What turns a sample into what is compared: descriptors of images, and their variants."""

from besvm.features.color import CellColor
from besvm.features.hog import FHOG
from besvm.features.variants import Crops, Rotations, Shifts, mirror

__all__ = ["FHOG", "CellColor", "Crops", "Rotations", "Shifts", "mirror"]
