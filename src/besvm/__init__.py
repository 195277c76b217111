"""Large-margin classification with any similarity measure, positive definite or not."""

from besvm.classifier import BESVMClassifier, LinearSVMClassifier
from besvm.expansion import BasisExpansion
from besvm.measures import Measure
from besvm.scaling import MeanNormScaler

__version__ = "0.1.0"

__all__ = ["BESVMClassifier", "BasisExpansion", "LinearSVMClassifier", "MeanNormScaler", "Measure"]
