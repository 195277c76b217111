"""Samples to features: fitted measures with their bases side by side, and their normalization."""

from besvm._support.public import publish
from besvm.expand.expander import Expander, FittedMeasure
from besvm.expand.feature_map import FeatureMap, learn_feature_map
from besvm.expand.fit import fit_expander
from besvm.expand.training import mark_input, targets_of, training_set

__all__ = [
    "Expander",
    "FeatureMap",
    "FittedMeasure",
    "fit_expander",
    "learn_feature_map",
    "mark_input",
    "targets_of",
    "training_set",
]

publish(__name__, __all__)
