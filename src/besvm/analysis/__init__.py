"""What the paper measures classifiers and similarities by: spectrum, margins, model size and complexity."""

from besvm.analysis.costs import Complexity, Run, complexity, measured
from besvm.analysis.margin import Margins, margins
from besvm.analysis.size import ModelSize, model_size
from besvm.analysis.spectra import Spectrum, spectrum, spectrum_of

__all__ = [
    "Complexity",
    "Margins",
    "ModelSize",
    "Run",
    "Spectrum",
    "complexity",
    "margins",
    "measured",
    "model_size",
    "spectrum",
    "spectrum_of",
]
