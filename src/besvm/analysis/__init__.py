"""What the paper measures classifiers and similarities by: spectrum, margins, model size and complexity."""

from besvm._support.public import publish
from besvm.analysis.costs import Complexity, Run, complexity, profile
from besvm.analysis.margin import Margins, margins
from besvm.analysis.size import ModelSize, model_size
from besvm.analysis.spectra import Spectrum, measure_spectrum, spectrum

__all__ = [
    "Complexity",
    "Margins",
    "ModelSize",
    "Run",
    "Spectrum",
    "complexity",
    "margins",
    "measure_spectrum",
    "model_size",
    "profile",
    "spectrum",
]

publish(__name__, __all__)
