"""What stands between raw similarities and the linear SVM: which normalization a user means, and how it is learned."""

from __future__ import annotations

from typing import Any, Protocol

import numpy as np

from besvm._support.threads import n_workers
from besvm._support.validation import check_choice
from besvm.blocks import RowBlocks
from besvm.blocks.estimates import nystrom_bytes
from besvm.expand.expander import Expander
from besvm.normalize.affine import NORMALIZATIONS, fit_affine
from besvm.normalize.nystrom import WAYS, Nystrom, Rotation, fit_roots

BASIS_WEIGHTS = (None, "balanced")


class Normalizer(Protocol):
    """A learned normalization: changes a block of raw similarities in place, and returns it."""

    def __call__(self, block: np.ndarray) -> np.ndarray: ...


def check_normalize(normalize: Any, basis_weight: Any = None, multi_class: str = "ovr") -> None:
    """Refuse what is no normalization, and what a normalization would undo."""
    check_choice("basis_weight", basis_weight, BASIS_WEIGHTS)
    if isinstance(normalize, Nystrom):
        if normalize.spectrum not in WAYS:
            raise ValueError(f"spectrum must be {' or '.join(map(repr, WAYS))}, got {normalize.spectrum!r}")
    elif not any(normalize is choice or normalize == choice for choice in NORMALIZATIONS):
        raise ValueError(f"normalize must be 'mean-norm', 'z-score', None or a Nystrom instance, got {normalize!r}")
    if isinstance(normalize, Nystrom) and multi_class == "ovo-own":
        raise ValueError(
            "multi_class='ovo-own' needs features that belong to one exemplar each, got a Nystrom normalization, "
            "which mixes them; choose multi_class='ovo' or 'ovr'"
        )
    if basis_weight is not None and normalize not in ("mean-norm", None):
        raise ValueError(
            f"basis_weight={basis_weight!r} needs normalize='mean-norm' or None, got {normalize!r}, "
            "which scales every exemplar by itself and so undoes the weights"
        )


def fit_normalizer(
    expander: Expander,
    blocks: RowBlocks,
    X: Any,
    labels: np.ndarray | None,
    normalize: Any,
    basis_weight: str | None = None,
    weights: np.ndarray | None = None,
) -> Normalizer | None:
    """Learn a normalization from the raw similarities of the training rows X, each measure for itself.

    None is returned where there is nothing to do.
    """
    if isinstance(normalize, Nystrom):
        within = [] if normalize.spectrum == "covariance" else expander.within_basis(X)
        roots = fit_roots(blocks, expander.groups, normalize.spectrum, within, weights)
        return Rotation(expander.groups, [root.astype(blocks.dtype) for root in roots])
    balance = None
    if basis_weight is not None:
        if labels is None:
            raise ValueError(f"basis_weight={basis_weight!r} needs class labels; give y, or leave it None")
        balance = balancing_weights(expander, labels)
    return fit_affine(blocks, expander.groups, normalize, weights, balance)


def apply_in_place(normalizer: Normalizer | None, blocks: RowBlocks) -> None:
    """Normalize the raw similarities in ``blocks``."""
    if normalizer is not None:
        blocks.update(lambda rows, block: normalizer(block))


def normalizer_bytes(normalize: Any, expander: Expander, n: int) -> int:
    """Return the memory that learning a normalization from ``n`` rows takes, beside their features."""
    if not isinstance(normalize, Nystrom):
        return 0
    return nystrom_bytes([len(measure) for measure in expander.measures], n, expander.dtype.itemsize, n_workers())


def balancing_weights(expander: Expander, labels: np.ndarray) -> np.ndarray:
    """Return a weight for every column that makes all classes contribute equally to the features.

    The class with B_c of a measure's B exemplars contributes B_c terms to the inner products of eq. besvm_mult_kernel;
    weights of √(B / (C B_c)) make its share one C-th.
    """
    parts = []
    for measure, own in zip(expander.measures, expander.basis_labels(labels), strict=True):
        _, inverse, count = np.unique(own, return_inverse=True, return_counts=True)
        parts.append(np.sqrt(len(measure) / (len(count) * count[inverse])))
    return np.concatenate(parts)
