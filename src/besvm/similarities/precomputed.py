"""Similarities that the user has already computed."""

from typing import Any, ClassVar

import numpy as np

from besvm._support.parameters import is_whole, shown
from besvm._support.rows import take
from besvm.similarities.contract import Similarity, register


@register
class Precomputed(Similarity):
    """X holds the similarities themselves: row i, column j is s(b_j, x_i).

    Several matrices stand one behind the other, X of shape (samples, exemplars, matrices) as ``np.dstack`` does it, for
    ``measures=["precomputed", "precomputed"]``; or side by side, for measures whose features cut out their columns.

    With ``basis="auto"`` every column is an exemplar, whether X is square or not, and cross-validation cuts rows
    alone. With any other basis X is n x n (test rows x n when predicting) and the columns of the chosen rows are
    picked; cross-validation then cuts rows and columns alike.

    Parameters
    ----------
    layer : int, optional
        Which of several matrices, X[:, :, layer]. Where measures are several "precomputed", each gets the next one.
    layers : int, optional
        How many matrices there must be; by default any number. Several "precomputed" must be as many as the matrices.

    Examples
    --------
    >>> import numpy as np
    >>> from besvm import BESVMClassifier
    >>> S = np.array([[1.0, 0.1], [0.9, 0.2], [0.2, 0.8], [0.0, 1.0]])  # 4 samples against 2 exemplars
    >>> BESVMClassifier("precomputed").fit(S, ["a", "a", "b", "b"]).predict([[0.8, 0.0]])
    array(['a'], dtype='<U1')
    """

    vectors: ClassVar[bool] = True
    precomputed: ClassVar[bool] = True

    def __init__(self, layer: int | None = None, layers: int | None = None) -> None:
        self.layer = layer
        self.layers = layers

    def matrix(self, X: Any) -> np.ndarray:
        """Return the matrix that is meant, of shape (samples, exemplars)."""
        X = np.asarray(X)
        if X.ndim == 2 and self.layer is None:
            return X
        if X.ndim != 3 or X.shape[2] > X.shape[1]:
            raise ValueError(
                f"{self!r} needs X of shape (samples, exemplars, matrices), got {X.shape}; "
                "stack the matrices with np.dstack"
            )
        layer = 0 if self.layer is None and X.shape[2] == 1 else self.layer
        if not (is_whole(layer, 0) and layer < X.shape[2]):
            raise ValueError(
                f"layer must be the number of one of the {X.shape[2]} matrices in X, counting from 0, got "
                f"{shown(layer)}; or use one measure for each matrix, as in ['precomputed', 'precomputed']"
            )
        if self.layers is not None and self.layers != X.shape[2]:
            raise ValueError(
                f"there must be as many matrices as 'precomputed' measures, {shown(self.layers)}, got {X.shape[2]}; "
                "remove some, or choose them, as in [Precomputed(layer=0), Precomputed(layer=2)]"
            )
        return X[:, :, layer]

    def bytes_a_row(self, sample: int, n_exemplars: int) -> int:
        return 16 * n_exemplars

    def exemplars(self, X: Any, rows: np.ndarray) -> Any:
        """Return the row numbers: of a precomputed exemplar only its column is needed."""
        return np.asarray(rows)

    def subset(self, X: Any, rows: np.ndarray) -> Any:
        return take(X, rows)[:, rows] if X.shape[0] == X.shape[1] else super().subset(X, rows)

    def __call__(self, A: Any, B: Any) -> np.ndarray:
        return self.matrix(A)[:, np.asarray(B, dtype=np.intp)]
