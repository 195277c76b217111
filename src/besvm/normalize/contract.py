"""The contract of a normalization: what it learns from, and what it leaves for new samples."""

from abc import ABC, abstractmethod
from collections.abc import Callable
from dataclasses import dataclass
from typing import ClassVar, Self

import numpy as np
from sklearn.base import BaseEstimator

from besvm.blocks import RowBlocks
from besvm.blocks.state import Values


@dataclass(frozen=True)
class RawSimilarities:
    """The raw similarities of the training rows, and what is known of the basis.

    ``within()`` gives the similarities within the basis, K_mm, and ``basis_labels()`` the class numbers of the
    exemplars, a matrix or an array for each measure; both are computed only when they are asked for.
    """

    blocks: RowBlocks  # (n, D)
    groups: list[slice]  # the columns of each measure
    weights: Values | None  # (n,) what the rows weigh: an array, or what np.asarray makes one of
    basis_labels: Callable[[], list[np.ndarray]]
    within: Callable[[], list[np.ndarray]]


class Normalizer(ABC):
    """A learned normalization: what is done to the similarities of any samples.

    ``mixes`` says whether a feature depends on several exemplars; only where it does not can exemplars be dropped.
    """

    mixes: ClassVar[bool] = False

    @abstractmethod
    def __call__(self, block: np.ndarray) -> np.ndarray:
        """Change a block of raw similarities (rows, D) in place, and return it."""

    @abstractmethod
    def keep(self, columns: np.ndarray) -> Self:
        """Return the normalization of the columns where this mask is true."""

    def unmixed(self, weights: np.ndarray) -> np.ndarray:
        """Return what every raw similarity weighs, given what every feature does: (D, K) to (D, K).

        Only of a normalization that mixes: of any other, a feature and its weight belong to one exemplar already.
        """
        raise TypeError(
            f"the features of {type(self).__name__} mix exemplars, so it must say how to undo that; implement "
            "unmixed(weights)"
        )

    def learned(self) -> dict[str, np.ndarray]:
        """Return what an estimator shows of it as attributes, by name."""
        return {}

    def apply(self, blocks: RowBlocks) -> None:
        """Normalize all of the raw similarities in ``blocks``."""
        blocks.update(lambda rows, block: self(block))


class Normalization(BaseEstimator, ABC):  # type: ignore[misc]
    """How raw similarities become features: what a user passes as ``normalize``, with its parameters.

    Attributes
    ----------
    mixes : bool
        Whether its features mix exemplars.

    Examples
    --------
    >>> import numpy as np
    >>> from besvm import BasisExpansion
    >>> from besvm.normalize import Affine, Normalization
    >>> class Halved(Normalization):
    ...     def learn(self, raw):
    ...         ones = np.ones(raw.blocks.shape[1], raw.blocks.dtype)
    ...         return Affine(mean=0 * ones, scale=2 * ones)
    >>> BasisExpansion("linear", basis=[1], normalize=Halved()).fit_transform([[1.0], [3.0]])
    array([[1.5],
           [4.5]], dtype=float32)
    """

    mixes: ClassVar[bool] = False

    def check(self) -> None:
        """Refuse parameters that make no sense."""

    def takes(self, widths: list[int], n: int, itemsize: int) -> int:
        """Return the bytes that learning takes beside the features: ``widths`` columns a measure, n rows."""
        return 0

    @abstractmethod
    def learn(self, raw: RawSimilarities) -> Normalizer:
        """Learn from the raw similarities of the training rows, each measure for itself."""
