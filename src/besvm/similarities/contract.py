"""The contract every similarity keeps."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable
from typing import Any, ClassVar

import numpy as np
from sklearn.base import BaseEstimator

from besvm._support.rows import take


class Similarity(BaseEstimator, ABC):  # type: ignore[misc]
    """What "similar" means: a function of two sets of items that gives a matrix.

    ``similarity(A, B)`` has shape ``(len(A), len(B))``. Row i, column j holds ``s(B[j], A[i])``: the exemplar
    comes first and the sample second, as in the feature map of the paper (eq. besvm_feature_map). Only an
    asymmetric similarity can tell the difference.

    A subclass stores its parameters in ``__init__`` and writes ``__call__``. It must be pure: the same items
    give the same numbers, whatever block of rows they arrive in. :func:`besvm.testing.check_similarity` checks
    all of this.

    Attributes
    ----------
    symmetric : bool
        Whether s(a, b) = s(b, a) for all items.
    psd : bool
        Whether every Gram matrix is positive semi-definite.
    vectors : bool
        Whether the items are the rows of a 2-D numeric array; X is then validated as scikit-learn does.

    Examples
    --------
    >>> from besvm.similarities import Similarity, register
    >>> @register("overlap")
    ... class Overlap(Similarity):
    ...     "How many words two texts share."
    ...     symmetric = True
    ...     def __call__(self, A, B):
    ...         return np.array([[len(set(a.split()) & set(b.split())) for b in B] for a in A])
    >>> Overlap()(["a rose is a rose"], ["a nose", "is a rose"])
    array([[1, 3]])
    """

    name: ClassVar[str] = ""
    symmetric: ClassVar[bool] = False
    psd: ClassVar[bool] = False
    vectors: ClassVar[bool] = False
    rows_per_block: ClassVar[int | None] = None  # None: as many as the memory budget of a block allows

    def fit(self, X: Any) -> Similarity:
        """Settle the parameters that follow from the data, once, on the training rows."""
        return self

    @abstractmethod
    def __call__(self, A: Any, B: Any) -> np.ndarray:
        """Return the matrix of s(B[j], A[i]), of shape (len(A), len(B))."""

    def against(self, basis: Any) -> Callable[[Any], np.ndarray]:
        """Return the function A -> self(A, basis); override it to pack the basis once for every block."""
        return lambda A: self(A, basis)

    def exemplars(self, X: Any, rows: np.ndarray) -> Any:
        """Return what is kept of the training rows chosen as basis: by default, the items themselves."""
        return take(X, rows)

    @property
    def label(self) -> str:
        """The name to show to people, and the prefix of the feature names."""
        return self.name or type(self).__name__.lower()
