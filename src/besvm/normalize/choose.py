"""What a user may pass as ``normalize``, and the normalization it means."""

from __future__ import annotations

from typing import Any

from besvm.normalize.affine import MeanNorm, Unscaled, ZScore
from besvm.normalize.contract import Normalization

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
            f"got {normalize!r}"
        )
    normalize.check()
    return normalize
