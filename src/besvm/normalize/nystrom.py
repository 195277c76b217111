"""Nyström features: similarities to the basis, decorrelated by the similarities within the basis."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, Self

import numpy as np
from sklearn.base import ClassNamePrefixFeaturesOutMixin, TransformerMixin
from sklearn.utils import Tags
from sklearn.utils.validation import check_is_fitted

from besvm._support.parameters import atomic_fit, check_choice
from besvm._support.threads import n_workers
from besvm._support.validation import validated
from besvm.blocks import MemoryBlocks, RowBlocks
from besvm.blocks.estimates import nystrom_bytes
from besvm.blocks.state import Values
from besvm.normalize.affine import weighted_mean
from besvm.normalize.contract import Normalization, Normalizer, RawSimilarities
from besvm.normalize.spectrum import SPECTRA, check_matrix, inverse_root, rounding

WAYS = (*SPECTRA, "covariance")


class Nystrom(ClassNamePrefixFeaturesOutMixin, TransformerMixin, Normalization):  # type: ignore[misc]
    """The Nyström normalization, Ψ = K_mm^(-1/2) K_mn (equations 1 and 2 of the paper).

    The m x m matrix K_mm holds the similarities within the basis. The inner products of these features approximate a
    positive definite similarity. An indefinite K_mm has no real root; ``spectrum`` says how it is made positive
    semi-definite first. Pass it as ``normalize`` to :class:`BasisExpansion` or :class:`BESVMClassifier`, or use it
    alone: ``fit(K_mm)``, then ``transform(K_nm)``.

    An asymmetric similarity is symmetrized within the basis, (K_mm + K_mmᵀ) / 2; the similarities of the samples to the
    basis are taken as they are. Eigenvalues that are nothing but rounding errors, as copies of an exemplar cause, are
    left out rather than inverted.

    Parameters
    ----------
    spectrum : {"clip", "flip", "shift", "square", "covariance"}, default="clip"
        "clip" sets negative eigenvalues to zero, "flip" takes their absolute value (as scikit-learn's Nystroem does
        without saying so), "shift" raises all until the smallest is zero, and "square" replaces K_mm by K_mmᵀ K_mm,
        which needs no eigenvectors. "covariance" replaces K_mm by the covariance of the samples' similarities: the
        features are then uncorrelated.

    Attributes
    ----------
    normalization_ : ndarray of shape (m, m)
        N, where the features are K_nm N.
    rank_ : int
        How many directions were kept.

    Examples
    --------
    >>> import numpy as np
    >>> from besvm import Nystrom
    >>> from besvm.similarities import RBF
    >>> X = np.linspace(0, 1, 20)[:, None]
    >>> basis = X[::4]
    >>> K = RBF(gamma=1.0)
    >>> features = Nystrom().fit(K(basis, basis)).transform(K(X, basis))
    >>> bool(np.abs(features @ features.T - K(X, X)).max() < 1e-3)
    True
    """

    mixes = True

    def __init__(self, spectrum: str = "clip") -> None:
        self.spectrum = spectrum

    @atomic_fit
    def fit(self, K: Any, y: Any = None) -> Self:
        """Take the inverse root.

        Parameters
        ----------
        K : array of shape (m, m)
            The similarities within the basis; for "covariance" those of the samples to the basis, (n, m).
        y : ignored
        """
        self.check()
        K = validated(self, K, dtype=(np.float64, np.float32))
        if self.spectrum == "covariance":
            ((root, rank),) = _roots_of_covariances(MemoryBlocks(K), [slice(0, K.shape[1])], None)
        else:
            root, rank = _root_within(check_matrix(K, "the similarities within the basis"), self.spectrum, K.dtype)
        self.normalization_, self.rank_ = root, rank
        return self

    def transform(self, K: Any) -> np.ndarray:
        """Return the features of samples, from their similarities to the basis: (n, m) to (n, m)."""
        check_is_fitted(self)
        K = validated(self, K, dtype=(np.float64, np.float32), reset=False)
        return K @ self.normalization_.astype(K.dtype)

    def check(self) -> None:
        check_choice("spectrum", self.spectrum, WAYS)

    def takes(self, widths: list[int], n: int, itemsize: int) -> int:
        return nystrom_bytes(widths, n, itemsize, n_workers())

    def learn(self, raw: RawSimilarities) -> Normalizer:
        dtype = raw.blocks.dtype
        if self.spectrum == "covariance":
            roots = _roots_of_covariances(raw.blocks, raw.groups, raw.weights)
        else:
            roots = [_root_within(K.astype(np.float64), self.spectrum, dtype) for K in raw.within()]
        return Rotation(raw.groups, [root.astype(dtype) for root, _ in roots])

    @property
    def _n_features_out(self) -> int:
        return int(self.normalization_.shape[1])

    def __sklearn_tags__(self) -> Tags:
        tags = super().__sklearn_tags__()
        tags.input_tags.pairwise = self.spectrum != "covariance"
        tags.transformer_tags.preserves_dtype = ["float64", "float32"]
        return tags


@dataclass(frozen=True)
class Rotation(Normalizer):
    """Normalized features: every group of columns times its matrix."""

    groups: list[slice]
    matrices: list[np.ndarray]

    mixes = True

    def __call__(self, block: np.ndarray) -> np.ndarray:
        for columns, matrix in zip(self.groups, self.matrices, strict=True):
            block[:, columns] = block[:, columns] @ matrix
        return block

    def keep(self, columns: np.ndarray) -> Rotation:
        raise TypeError(
            "exemplars cannot be dropped after Nyström normalization, because every feature mixes all of them"
        )

    def unmixed(self, weights: np.ndarray) -> np.ndarray:
        pairs = zip(self.groups, self.matrices, strict=True)
        return np.concatenate([matrix.astype(np.float64) @ weights[columns] for columns, matrix in pairs])


def _roots_of_covariances(
    blocks: RowBlocks, groups: list[slice], weights: Values | None
) -> list[tuple[np.ndarray, int]]:
    """Return the inverse root of the covariance of every group of columns, and its rank."""
    with np.errstate(over="ignore", invalid="ignore"):
        shares, mean, center = weighted_mean(blocks, weights)

        def products(own: np.ndarray, block: np.ndarray) -> tuple[Any, ...]:
            roots = np.sqrt(own)
            centered = (block - center) * roots[:, None]
            return roots @ centered, *(centered[:, group].T @ centered[:, group] for group in groups)

        # first, what rounding left of the mean
        left, *totals = (total / shares.total for total in shares.sum(products))
        covariances = [K - np.outer(left[g], left[g]) for g, K in zip(groups, totals, strict=True)]
    if not all(np.isfinite(K).all() for K in covariances):
        largest = max(blocks.map(lambda rows, block: float(np.abs(block).max())))
        raise ValueError(
            f"similarities must be small enough for their covariance to be a finite {blocks.dtype}, got {largest:.3g}; "
            "divide them by a constant"
        )
    rounded_off = np.square(np.finfo(blocks.dtype).eps * mean)  # of numbers that vary little, far from zero
    noise = [rounding(K, blocks.dtype) + rounded_off[group].sum() for K, group in zip(covariances, groups, strict=True)]
    return [inverse_root(K, "clip", float(least)) for K, least in zip(covariances, noise, strict=True)]


def _root_within(K: np.ndarray, spectrum: str, dtype: Any) -> tuple[np.ndarray, int]:
    """Return the inverse root of K made symmetric, and its rank; K is scaled to about 1, so that nothing overflows."""
    exponent = int(np.frexp(np.abs(K).max(initial=0))[1]) - 1
    root = 2.0 ** (exponent // 2)  # powers of two, which round nothing off
    scaled = K / root**2
    symmetric = (scaled + scaled.T) / 2
    inverse, rank = inverse_root(symmetric, spectrum, rounding(symmetric, dtype))
    return inverse / (root**2 if spectrum == "square" else root), rank
