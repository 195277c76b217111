"""What the paper measures classifiers and similarities by: spectrum, margins, model size and complexity."""

from besvm.analysis._complexity import Complexity, Run, complexity, measured
from besvm.analysis._margins import Margins, margins
from besvm.analysis._size import ModelSize, model_size
from besvm.analysis._spectrum import Spectrum, spectrum, spectrum_of

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
