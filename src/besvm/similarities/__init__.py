"""What "similar" means: the contract, the registry, and the similarities that come with besvm."""

from besvm._support.public import publish
from besvm.similarities.block_functions import BlockFunction
from besvm.similarities.compiled_functions import CompiledFunction
from besvm.similarities.contract import Similarity, register, registered
from besvm.similarities.distance import FromDistance
from besvm.similarities.functions import PairFunction
from besvm.similarities.grid import Alignment, Deformable, Rigid
from besvm.similarities.latent import Jitter, Latent, LatentAlignment
from besvm.similarities.lookup import resolve
from besvm.similarities.metrics import NegativeDistance, PairwiseKernel
from besvm.similarities.parts import Parts, Placement, SeriesParts
from besvm.similarities.precomputed import Precomputed
from besvm.similarities.records import Gower
from besvm.similarities.vector import RBF, Cosine, Laplacian, Linear, Polynomial, Sigmoid, Tanimoto

__all__ = [
    "RBF",
    "Alignment",
    "BlockFunction",
    "CompiledFunction",
    "Cosine",
    "Deformable",
    "FromDistance",
    "Gower",
    "Jitter",
    "Laplacian",
    "Latent",
    "LatentAlignment",
    "Linear",
    "NegativeDistance",
    "PairFunction",
    "PairwiseKernel",
    "Parts",
    "Placement",
    "Polynomial",
    "Precomputed",
    "Rigid",
    "SeriesParts",
    "Sigmoid",
    "Similarity",
    "Tanimoto",
    "register",
    "registered",
    "resolve",
]

publish(__name__, __all__)
