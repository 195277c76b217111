"""The feature map φ whole: raw similarities, then their normalization."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

from besvm.blocks import RowBlocks
from besvm.blocks.state import Values
from besvm.expand.expander import Expander
from besvm.normalize import Normalization, Normalizer, RawSimilarities


@dataclass
class FeatureMap:
    """What a fitted model does to samples: φ of equation 4."""

    expander: Expander
    normalizer: Normalizer

    def __call__(self, X: Any, first_row: int = 0) -> np.ndarray:
        """Return the features of the samples X, of shape (len(X), width)."""
        return self.normalizer(self.expander(X, first_row))

    def keep(self, columns: np.ndarray) -> FeatureMap:
        """Return the map without the features where this mask is false; one whose features are mixtures stays whole."""
        if columns.all() or self.normalizer.mixes:
            return self
        return FeatureMap(self.expander.keep(columns), self.normalizer.keep(columns))

    def names(self) -> np.ndarray:
        """Return a name for every feature: the measure, and the exemplar's row or place, or the mixture's number."""
        names = []
        for label, measure in zip(self.expander.labels, self.expander.measures, strict=True):
            columns = [f"nystrom{k}" for k in range(measure.width)] if self.normalizer.mixes else measure.column_names
            names += [f"{label}_{column}" for column in columns]
        return np.array(names, dtype=object)


def learn_feature_map(
    expander: Expander,
    blocks: RowBlocks,
    normalization: Normalization,
    X: Any,
    labels: Values | None,
    weights: Values | None = None,
) -> FeatureMap:
    """Learn the normalization from the raw similarities of X, whose classes are ``labels``, and normalize them."""
    raw = RawSimilarities(
        blocks=blocks,
        groups=expander.groups,
        weights=weights,
        basis_labels=lambda: expander.basis_labels(labels),
        within=lambda: expander.within_basis(X),
    )
    normalizer = normalization.learn(raw)
    normalizer.apply(blocks)
    return FeatureMap(expander, normalizer)
