"""What the descriptors of images have in common as scikit-learn transformers."""

from __future__ import annotations

from typing import Any

from sklearn.base import BaseEstimator, TransformerMixin


class GridDescriptor(TransformerMixin, BaseEstimator):  # type: ignore[misc]
    """Abstract: turns images into grids of cells, and learns nothing from the data."""

    def fit(self, X: Any = None, y: Any = None) -> Any:
        """Do nothing but return self: a descriptor learns nothing from the data."""
        return self

    def __sklearn_is_fitted__(self) -> bool:
        return True

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.requires_fit = False
        tags.input_tags.two_d_array = False
        tags.input_tags.three_d_array = True
        return tags
