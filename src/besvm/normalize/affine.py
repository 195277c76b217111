"""Normalizations that shift and scale every feature by itself: mean norm, z-scores, or neither; and their names."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import dataclass
from functools import reduce
from typing import Any, Self

import numpy as np
from sklearn.base import BaseEstimator, OneToOneFeatureMixin, TransformerMixin
from sklearn.utils import Tags, check_array
from sklearn.utils.validation import check_is_fitted

from besvm._support.norms import norms
from besvm._support.parameters import check_common, shown
from besvm._support.rows import check_one_shape
from besvm._support.validation import check_sample_weight, validated
from besvm.blocks import MemoryBlocks, RowBlocks
from besvm.blocks.state import Add, Rows, Values, added
from besvm.normalize.contract import Normalization, Normalizer, RawSimilarities


@dataclass(frozen=True)
class Affine(Normalizer):
    """The normalized features: (block - mean) / scale, column by column."""

    mean: np.ndarray
    scale: np.ndarray

    def __call__(self, block: np.ndarray) -> np.ndarray:
        block -= self.mean
        block /= self.scale
        return block

    def keep(self, columns: np.ndarray) -> Affine:
        return Affine(self.mean[columns], self.scale[columns])

    def learned(self) -> dict[str, np.ndarray]:
        return {"mean_": self.mean, "scale_": self.scale}


@dataclass(frozen=True)
class Identity(Normalizer):
    """The raw similarities as they are."""

    def __call__(self, block: np.ndarray) -> np.ndarray:
        return block

    def keep(self, columns: np.ndarray) -> Identity:
        return self

    def apply(self, blocks: RowBlocks) -> None:
        """Do nothing, without reading the blocks."""


class MeanNorm(Normalization):
    """Center the similarities and divide them by the mean norm of the centered rows (equation 4).

    Parameters
    ----------
    balanced : bool, default=False
        Weigh the exemplars so that every class contributes equally to the features, however many of its rows are in
        the basis: it takes away the pull toward classes with few exemplars. Needs class labels.

    Examples
    --------
    >>> import numpy as np
    >>> from besvm import BasisExpansion
    >>> from besvm.normalize import MeanNorm
    >>> X, y = np.arange(6.0)[:, None], [0, 0, 0, 0, 1, 1]
    >>> features = BasisExpansion("linear", basis=[1, 2, 5], normalize=MeanNorm(balanced=True)).fit_transform(X, y)
    >>> float(np.linalg.norm(features, axis=1).mean().round(4))
    1.0
    """

    def __init__(self, balanced: bool = False) -> None:
        self.balanced = balanced

    def learn(self, raw: RawSimilarities) -> Normalizer:
        return fit_mean_norm(raw.blocks, raw.groups, raw.weights, _column_weights(raw, self.balanced))


class ZScore(Normalization):
    """Center every similarity and divide it by its standard deviation; what does not vary is only centered.

    Examples
    --------
    >>> from besvm import BasisExpansion
    >>> from besvm.normalize import ZScore
    >>> BasisExpansion("linear", basis=[1], normalize=ZScore()).fit_transform([[1.0], [3.0]])
    array([[-1.],
           [ 1.]], dtype=float32)
    """

    def learn(self, raw: RawSimilarities) -> Normalizer:
        blocks, (shares, mean, center) = raw.blocks, weighted_mean(raw.blocks, raw.weights)

        def lengths(own: np.ndarray, block: np.ndarray) -> tuple[np.ndarray]:
            moved = block - center
            moved *= np.sqrt(own)[:, None]
            return (norms(moved, axis=0),)

        scale: np.ndarray = shares.sum(lengths, add=_lengths)[0] / np.sqrt(shares.total)
        return Affine(center, _rounded(_without_noise(scale, mean, blocks.dtype), blocks.dtype))


class Unscaled(Normalization):
    """Leave the similarities as they are.

    Parameters
    ----------
    balanced : bool, default=False
        Weigh the exemplars so that every class contributes equally, as in :class:`MeanNorm`.

    Examples
    --------
    >>> from besvm import BasisExpansion
    >>> from besvm.normalize import Unscaled
    >>> BasisExpansion("linear", basis=[1], normalize=Unscaled()).fit_transform([[1.0], [3.0]])
    array([[3.],
           [9.]], dtype=float32)
    """

    def __init__(self, balanced: bool = False) -> None:
        self.balanced = balanced

    def learn(self, raw: RawSimilarities) -> Normalizer:
        weights = _column_weights(raw, self.balanced)
        if weights is None:
            return Identity()
        dtype = raw.blocks.dtype
        return Affine(np.zeros(len(weights), dtype), (1 / weights).astype(dtype))


_BY_NAME = {"mean-norm": MeanNorm, "z-score": ZScore, None: Unscaled}


def as_normalization(normalize: Any) -> Normalization:
    """Return the normalization meant by a name, None, or an object that keeps the contract; checked.

    Examples
    --------
    >>> as_normalization("mean-norm"), as_normalization(None)
    (MeanNorm(), Unscaled())
    """
    if normalize is None or (isinstance(normalize, str) and normalize in _BY_NAME):
        normalize = _BY_NAME[normalize]()
    if not isinstance(normalize, Normalization):
        raise ValueError(
            "normalize must be 'mean-norm', 'z-score', None, a Nystrom instance or another Normalization, "
            f"got {shown(normalize)}"
        )
    check_common(normalize)
    normalize.check()
    return normalize


class MeanNormScaler(OneToOneFeatureMixin, TransformerMixin, BaseEstimator):  # type: ignore[misc]
    """Center the features and divide all of them by one number: the mean norm of the centered rows.

    This is the paper's normalization (equation 4), φ = (φ̃ - E φ̃) / E‖φ̃ - E φ̃‖, for input features
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
        return self.fit_blocks(MemoryBlocks(X.reshape(len(X), -1)), X.shape[1:], weights)

    def fit_blocks(self, blocks: RowBlocks, shape: tuple[int, ...], weights: np.ndarray | None = None) -> Self:
        """Learn from blocks of samples of this shape, laid out as vectors."""
        learned = fit_mean_norm(blocks, [slice(0, blocks.shape[1])], weights)
        if not np.isfinite(learned.mean).all():
            raise ValueError("Input X contains NaN or infinity. Remove or replace these rows.")
        self.n_features_in_ = shape[0]
        self.mean_ = learned.mean.reshape(shape)
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
        out: np.ndarray = X - self.mean_  # in float64 if either is: float32 may not hold the mean of float64 rows
        out /= self.scale_
        return out.astype(X.dtype, copy=False)

    def inverse_transform(self, X: Any) -> np.ndarray:
        """Undo :meth:`transform`."""
        check_is_fitted(self)
        X = check_array(X, dtype=(np.float64, np.float32), allow_nd=True)
        self._check_shape(X)
        out: np.ndarray = X * self.mean_.dtype.type(self.scale_) + self.mean_
        return out.astype(X.dtype, copy=False)

    def _check_shape(self, X: np.ndarray) -> None:
        if X.shape[1:] != self.mean_.shape:
            raise ValueError(f"samples must have the shape {self.mean_.shape} of the training rows, got {X.shape[1:]}")

    def __sklearn_tags__(self) -> Tags:
        tags = super().__sklearn_tags__()
        tags.input_tags.three_d_array = True
        tags.transformer_tags.preserves_dtype = ["float64", "float32"]
        return tags


def fit_mean_norm(
    blocks: RowBlocks, groups: list[slice], weights: Values | None = None, column_weights: np.ndarray | None = None
) -> Affine:
    """Learn equation 4: every group of columns is centered and divided by its mean norm.

    The columns are multiplied by ``column_weights`` first. A group that does not vary is only centered.
    """
    shares, mean, center = weighted_mean(blocks, weights)
    factor = None if column_weights is None else column_weights.astype(blocks.dtype)

    def totals(own: np.ndarray, block: np.ndarray) -> tuple[Any, ...]:
        centered = block - center
        if factor is not None:
            centered *= factor
        return tuple(own @ norms(centered[:, group]) for group in groups)

    scale = np.empty(blocks.shape[1])
    for group, total in zip(groups, shares.sum(totals), strict=True):
        scale[group] = total / shares.total
    scale = _without_noise(scale, mean, blocks.dtype)
    return Affine(center, _rounded(scale if column_weights is None else scale / column_weights, blocks.dtype))


class Shares:
    """What the rows of a matrix weigh, about 1 in all: beside the rows, or one number where all weigh the same.

    Parameters
    ----------
    blocks : RowBlocks
    weights : (n,) numbers, or None
        What every row weighs; by default all the same.
    """

    def __init__(self, blocks: RowBlocks, weights: Values | None) -> None:
        n, self.dtype = blocks.shape[0], blocks.dtype
        self.equal: np.floating[Any] | None = None  # the share of every row, if they all have the same
        self._state = blocks.state()
        if weights is None or (isinstance(weights, np.ndarray) and (weights == weights[0]).all()):
            self.equal = self.dtype.type(1 / n)
            self.total = n * float(self.equal)
            return
        self._state.put("weights", weights)
        (peak,) = self._state.sum(lambda rows: (rows["weights"].max(),), features=False, add=_largest)
        (mass,) = self._state.sum(lambda rows: ((rows["weights"] / peak).sum(dtype=np.float64),), features=False)
        dtype = self.dtype

        def share(rows: Rows) -> tuple[float]:
            rows["shares"] = shares = (rows["weights"] / peak / mass).astype(dtype)
            return (shares.sum(dtype=np.float64),)

        self.total = float(self._state.sum(share, features=False)[0])

    def sum(
        self, fn: Callable[[np.ndarray, Any], tuple[Any, ...]], coarse: bool = False, add: Add = added
    ) -> tuple[Any, ...]:
        """Return the sums of what ``fn(shares, block)`` gives for the blocks of the matrix."""
        equal = self.equal

        def part(rows: Rows) -> tuple[Any, ...]:
            block = rows.features
            return fn(rows["shares"] if equal is None else np.full(block.shape[0], equal), block)

        return self._state.sum(part, coarse=coarse, add=add)

    def whole(self) -> np.ndarray:
        """Return the shares of all rows."""
        if self.equal is not None:
            return np.full(self._state.shape[0], self.equal)
        return np.asarray(self._state.collect(lambda rows: (rows["shares"],))[0])


def weighted_mean(blocks: RowBlocks, weights: Values | None) -> tuple[Shares, np.ndarray, np.ndarray]:
    """Return the shares of the rows, and the mean of the columns in float64 and in the blocks' dtype."""
    shares = Shares(blocks, weights)
    mean = shares.sum(lambda own, block: (own @ block,))[0] / shares.total
    return shares, mean, mean.astype(blocks.dtype)


def _largest(parts: Iterable[tuple[Any, ...]]) -> tuple[Any, ...]:
    return tuple(max(items) for items in zip(*parts, strict=True))


def _lengths(parts: Iterable[tuple[Any, ...]]) -> tuple[Any, ...]:
    """Return the lengths of vectors of which these are the lengths of pieces; no square of them overflows."""
    return tuple(reduce(np.hypot, items) for items in zip(*parts, strict=True))


def _without_noise(scale: np.ndarray, mean: np.ndarray, dtype: np.dtype[Any]) -> np.ndarray:
    """Return the scales, 1 in place of those that are nothing but the rounding of the mean."""
    return np.where((scale == 0) | (scale <= np.finfo(dtype).eps * np.abs(mean)), 1.0, scale)


def _rounded(scale: np.ndarray, dtype: np.dtype[Any]) -> np.ndarray:
    """Return the scales in ``dtype``, if it holds them: whatever is divided by infinity is zero."""
    with np.errstate(over="ignore"):
        out = scale.astype(dtype)
    if not np.isfinite(out).all():
        raise ValueError(
            f"features must be small enough for their norm to be a finite {dtype}, got {np.max(scale):.3g}; "
            "divide them by a constant"
        )
    return out


def _column_weights(raw: RawSimilarities, balanced: bool) -> np.ndarray | None:
    """Return a weight for every column that makes all classes contribute equally to the features.

    The class with B_c of a measure's B exemplars contributes B_c terms to the inner products of equation 13;
    weights of √(B / (C B_c)) make its share one C-th.
    """
    if not balanced:
        return None
    parts = []
    for own in raw.basis_labels():
        _, inverse, count = np.unique(own, return_inverse=True, return_counts=True)
        parts.append(np.sqrt(len(own) / (len(count) * count[inverse])))
    return np.concatenate(parts)
