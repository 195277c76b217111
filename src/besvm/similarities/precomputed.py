"""Similarities that the user has already computed."""

from typing import Any, ClassVar

import numpy as np

from besvm.similarities.contract import Similarity, register


@register
class Precomputed(Similarity):
    """X holds the similarities themselves: row i, column j is s(b_j, x_i).

    With ``basis="auto"`` every column is an exemplar, whether X is square or not, and cross-validation cuts rows
    alone. With any other basis X is n x n (test rows x n when predicting) and the columns of the chosen rows are
    picked; cross-validation then cuts rows and columns alike.

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

    def bytes_a_row(self, sample: int, n_exemplars: int) -> int:
        return 16 * n_exemplars

    def exemplars(self, X: Any, rows: np.ndarray) -> Any:
        """Return the row numbers: of a precomputed exemplar only its column is needed."""
        return np.asarray(rows)

    def subset(self, X: Any, rows: np.ndarray) -> Any:
        return X[rows][:, rows] if X.shape[0] == X.shape[1] else X[rows]

    def __call__(self, A: Any, B: Any) -> np.ndarray:
        return np.asarray(A)[:, np.asarray(B, dtype=np.intp)]
