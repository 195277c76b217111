"""What "similar" means: the contract, the registry, and the similarities that come with besvm."""

from besvm._support.public import publish
from besvm.similarities.contract import Similarity, register, registered
from besvm.similarities.distance import FromDistance
from besvm.similarities.functions import PairFunction
from besvm.similarities.grid import Alignment, Deformable, Rigid
from besvm.similarities.kmers import KMers
from besvm.similarities.latent import Jitter, Latent, LatentAlignment
from besvm.similarities.lookup import resolve
from besvm.similarities.metrics import NegativeDistance, PairwiseKernel
from besvm.similarities.parts import Parts, Placement, SeriesParts, TextParts
from besvm.similarities.precomputed import Precomputed
from besvm.similarities.sequences import GlobalAlignment, LocalAlignment
from besvm.similarities.series import DDTW, DTW, EDR, ERP, LCSS, MSM, SBD, TWE, WDTW, SeriesEuclidean
from besvm.similarities.text import CommonSubsequence, Edit, JaroWinkler, PartialRatio, TokenRatio
from besvm.similarities.vector import RBF, Cosine, Laplacian, Linear, Polynomial, Sigmoid, Tanimoto

__all__ = [
    "DDTW",
    "DTW",
    "EDR",
    "ERP",
    "LCSS",
    "MSM",
    "RBF",
    "SBD",
    "TWE",
    "WDTW",
    "Alignment",
    "CommonSubsequence",
    "Cosine",
    "Deformable",
    "Edit",
    "FromDistance",
    "GlobalAlignment",
    "JaroWinkler",
    "Jitter",
    "KMers",
    "Laplacian",
    "Latent",
    "LatentAlignment",
    "Linear",
    "LocalAlignment",
    "NegativeDistance",
    "PairFunction",
    "PairwiseKernel",
    "PartialRatio",
    "Parts",
    "Placement",
    "Polynomial",
    "Precomputed",
    "Rigid",
    "SeriesEuclidean",
    "SeriesParts",
    "Sigmoid",
    "Similarity",
    "Tanimoto",
    "TextParts",
    "TokenRatio",
    "register",
    "registered",
    "resolve",
]

publish(__name__, __all__)
