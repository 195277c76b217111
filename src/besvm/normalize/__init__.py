"""What stands between raw similarities and the linear SVM: mean norm, z-scores, Nyström, and fixes of a spectrum."""

from besvm._support.public import publish
from besvm.normalize.affine import Affine, Identity, MeanNorm, Unscaled, ZScore
from besvm.normalize.choose import as_normalization
from besvm.normalize.contract import Normalization, Normalizer, RawSimilarities
from besvm.normalize.nystrom import Nystrom, Rotation
from besvm.normalize.scaler import MeanNormScaler

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
