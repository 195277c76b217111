"""Which training rows become the exemplars: selectors, and what a user may pass as ``basis``."""

from besvm._support.public import publish
from besvm.basis.choose import Exemplars
from besvm.basis.contract import IndexBasis, RandomBasis
from besvm.basis.diverse import FarthestBasis, KMedoidsBasis, PivotedBasis
from besvm.basis.gradient import GradientBasis
from besvm.basis.kmeans import KMeansBasis

__all__ = [
    "Exemplars",
    "FarthestBasis",
    "GradientBasis",
    "IndexBasis",
    "KMeansBasis",
    "KMedoidsBasis",
    "PivotedBasis",
    "RandomBasis",
]

publish(__name__, __all__)
