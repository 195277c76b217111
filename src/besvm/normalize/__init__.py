"""What stands between raw similarities and the linear SVM: mean norm, z-scores, Nyström, and fixes of a spectrum."""

from besvm._support.public import publish
from besvm.normalize.affine import Affine, Identity, MeanNorm, MeanNormScaler, Unscaled, ZScore, as_normalization
from besvm.normalize.contract import Normalization, Normalizer, RawSimilarities
from besvm.normalize.nystrom import Nystrom, Rotation

__all__ = [
    "Affine",
    "Identity",
    "MeanNorm",
    "MeanNormScaler",
    "Normalization",
    "Normalizer",
    "Nystrom",
    "RawSimilarities",
    "Rotation",
    "Unscaled",
    "ZScore",
    "as_normalization",
]

publish(__name__, __all__)
