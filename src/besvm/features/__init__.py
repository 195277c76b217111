"""What turns a sample into what is compared: descriptors of images, their variants, molecules, columns of records."""

from besvm._support.public import publish
from besvm.features.columns import Column
from besvm.features.descriptors import FHOG, CellColor, Pixels
from besvm.features.molecules import Fingerprints
from besvm.features.reduction import CellPCA
from besvm.features.variants import Crops, Rotations, Shifts, mirror

__all__ = ["FHOG", "CellColor", "CellPCA", "Column", "Crops", "Fingerprints", "Pixels", "Rotations", "Shifts", "mirror"]

publish(__name__, __all__)
