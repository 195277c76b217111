"""The paper's normalization as a transformer of features of any shape."""

from __future__ import annotations

from typing import Any, Self

import numpy as np
from sklearn.base import BaseEstimator, OneToOneFeatureMixin, TransformerMixin
from sklearn.utils import Tags, check_array
from sklearn.utils.validation import check_is_fitted

from besvm._support.rows import check_one_shape
from besvm._support.validation import check_sample_weight, validated
from besvm.blocks import MemoryBlocks
from besvm.normalize.affine import fit_mean_norm


class MeanNormScaler(OneToOneFeatureMixin, TransformerMixin, BaseEstimator):  # type: ignore[misc]
    """Center the features and divide all of them by one number: the mean norm of the centered rows.

    This is the paper's normalization (eq. besvm_feature_map_norm), φ = (φ̃ - E φ̃) / E‖φ̃ - E φ̃‖, for input features
    of any shape: vectors, or grids of descriptors (n, h, w, d). Unlike z-scoring it keeps the proportions between
    features, and afterwards gamma = 1 and C = 1 are sensible everywhere.

    Attributes
    ----------
    mean_ : ndarray of the shape of one sample
    scale_ : float
        The mean norm of the centered rows; 1 if the rows do not differ.

    Examples
    --------
    >>> from besvm import MeanNormScaler
    >>> MeanNormScaler().fit_transform([[0.0, 0.0], [2.0, 0.0]])
    array([[-1.,  0.],
           [ 1.,  0.]])
    """

    def fit(self, X: Any, y: Any = None, sample_weight: Any = None) -> Self:
        """Learn the mean and the mean norm.

        Parameters
        ----------
        X : array of shape (n, ...)
        y : ignored
        sample_weight : array of shape (n,), optional
            What every row counts in the two means.
        """
        check_one_shape(X, "samples")
        X = validated(self, X, dtype=(np.float64, np.float32), allow_nd=True)
        weights = None if sample_weight is None else check_sample_weight(sample_weight, len(X), X.dtype)
        flat = X.reshape(len(X), -1)
        learned = fit_mean_norm(MemoryBlocks(flat), [slice(0, flat.shape[1])], weights)
        self.mean_ = learned.mean.reshape(X.shape[1:])
        self.scale_ = float(learned.scale[0])
        return self

    def transform(self, X: Any) -> np.ndarray:
        """Center and scale ``X``."""
        check_is_fitted(self)
        check_one_shape(X, "samples")
        if getattr(X, "ndim", 0) > 2:  # of grids, scikit-learn would compare the heights and call them features
            self._check_shape(np.asarray(X))
        X = validated(self, X, dtype=(np.float64, np.float32), allow_nd=True, reset=False)
        self._check_shape(X)
        out: np.ndarray = X - self.mean_.astype(X.dtype)
        out /= X.dtype.type(self.scale_)
        return out

    def inverse_transform(self, X: Any) -> np.ndarray:
        """Undo :meth:`transform`."""
        check_is_fitted(self)
        X = check_array(X, dtype=(np.float64, np.float32), allow_nd=True)
        self._check_shape(X)
        original: np.ndarray = X * X.dtype.type(self.scale_) + self.mean_.astype(X.dtype)
        return original

    def _check_shape(self, X: np.ndarray) -> None:
        if X.shape[1:] != self.mean_.shape:
            raise ValueError(f"samples must have the shape {self.mean_.shape} of the training rows, got {X.shape[1:]}")

    def __sklearn_tags__(self) -> Tags:
        tags = super().__sklearn_tags__()
        tags.input_tags.three_d_array = True
        tags.transformer_tags.preserves_dtype = ["float64", "float32"]
        return tags
