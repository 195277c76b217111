"""What "similar" means: the contract, the registry, and the similarities that come with besvm."""

from besvm._support.public import publish
from besvm.similarities.block_functions import BlockFunction
from besvm.similarities.clouds import SlicedWasserstein
from besvm.similarities.compiled_functions import CompiledFunction
from besvm.similarities.contract import Similarity, register, registered
from besvm.similarities.distance import FromDistance
from besvm.similarities.distributions import ChiSquared, Hellinger, HistogramIntersection
from besvm.similarities.functions import PairFunction
from besvm.similarities.graphs import ShortestPath, WeisfeilerLehman
from besvm.similarities.grid import Alignment, Deformable, Rigid
from besvm.similarities.kmers import KMers
from besvm.similarities.latent import Jitter, Latent, LatentAlignment
from besvm.similarities.lookup import resolve
from besvm.similarities.match import Match
from besvm.similarities.metrics import NegativeDistance, PairwiseKernel
from besvm.similarities.parts import Parts, Placement, SeriesParts, TextParts
from besvm.similarities.precomputed import Precomputed
from besvm.similarities.records import Gower
from besvm.similarities.sequences import GlobalAlignment, LocalAlignment
from besvm.similarities.series import DDTW, DTW, EDR, ERP, LCSS, MSM, SBD, TWE, WDTW, SeriesEuclidean
from besvm.similarities.sets import Jaccard, Tanimoto
from besvm.similarities.text import CommonSubsequence, Edit, JaroWinkler, PartialRatio, TokenRatio
from besvm.similarities.transport import Sinkhorn
from besvm.similarities.vector import RBF, Cosine, Laplacian, Linear, Polynomial, Sigmoid

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
    "BlockFunction",
    "ChiSquared",
    "CommonSubsequence",
    "CompiledFunction",
    "Cosine",
    "Deformable",
    "Edit",
    "FromDistance",
    "GlobalAlignment",
    "Gower",
    "Hellinger",
    "HistogramIntersection",
    "Jaccard",
    "JaroWinkler",
    "Jitter",
    "KMers",
    "Laplacian",
    "Latent",
    "LatentAlignment",
    "Linear",
    "LocalAlignment",
    "Match",
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
    "ShortestPath",
    "Sigmoid",
    "Similarity",
    "Sinkhorn",
    "SlicedWasserstein",
    "Tanimoto",
    "TextParts",
    "TokenRatio",
    "WeisfeilerLehman",
    "register",
    "registered",
    "resolve",
]

publish(__name__, __all__)
