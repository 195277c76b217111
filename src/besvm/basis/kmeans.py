"""Rows that stand for clusters of vectors."""

from typing import Any

import numpy as np
from scipy.sparse import issparse

from besvm._support.parameters import is_whole, shown
from besvm._support.row_source import RowSource
from besvm._support.threads import one_blas_thread
from besvm.basis.contract import BasisSelector, check_room, pools_of
from besvm.similarities.contract import Similarity

COPIES = 3  # of the vectors, that clustering them takes


class KMeansBasis(BasisSelector):
    """The rows nearest to the centers of k-means clusters: for vectors, and for parts by the vectors they become.

    The similarity is not asked; :class:`KMedoidsBasis` clusters by the similarity itself, and whatever it compares.

    Parameters
    ----------
    n : int or float, optional
        How many rows in all, or which share of them.
    per_class : int or float, optional
        How many rows of each class, or which share of them, instead of ``n``.
    balanced : bool, default=True
        Whether the classes are clustered one by one, rather than all rows together.
    max_iter : int, default=20
        How often all rows are gone through.

    Examples
    --------
    >>> import numpy as np
    >>> from besvm.basis import KMeansBasis
    >>> X = np.array([[0.0], [0.1], [0.2], [5.0], [5.1], [5.2]])
    >>> KMeansBasis(2)(X, None, None, np.random.default_rng(0))
    array([1, 4])
    """

    def __init__(
        self, n: float | None = None, *, per_class: float | None = None, balanced: bool = True, max_iter: int = 20
    ) -> None:
        self.n = n
        self.per_class = per_class
        self.balanced = balanced
        self.max_iter = max_iter

    def __call__(self, X: Any, y: np.ndarray | None, similarity: Similarity, rng: np.random.Generator) -> np.ndarray:
        if not is_whole(self.max_iter, 1):
            raise ValueError(f"max_iter must be a whole number of at least 1, got {shown(self.max_iter)}")
        elsewhere = isinstance(X, RowSource)
        X = X if issparse(X) or elsewhere else np.asarray(X)
        if len(X.shape) != 2 or X.dtype.kind not in "fiub":
            raise ValueError(
                f"KMeansBasis needs vectors, got samples of shape {X.shape[1:]} and dtype {X.dtype}; "
                "use KMedoidsBasis, which needs only the similarity"
            )
        pools = [(rows, quota) for rows, quota in pools_of(self, X.shape[0], y) if quota]
        held = X.shape[0] * X.shape[1] * X.dtype.itemsize if elsewhere else 0
        for n, k in ((len(rows), quota) for rows, quota in pools):
            copies = COPIES * 8 * (n + k) * X.shape[1] if k < n else 0
            check_room(f"clustering {n:,} rows by KMeansBasis", held + copies, self.room)
        vectors = np.asarray(X) if elsewhere else X
        chosen = [
            rows if quota == len(rows) else rows[self._nearest_to_centers(vectors[rows], quota, rng)]
            for rows, quota in pools
        ]
        return np.sort(np.concatenate(chosen))

    def _nearest_to_centers(self, vectors: Any, k: int, rng: np.random.Generator) -> np.ndarray:
        """Return the places of k different rows, each the nearest to a center that is left."""
        from sklearn.cluster import MiniBatchKMeans
        from sklearn.metrics import pairwise_distances_argmin_min

        with one_blas_thread():  # for the same centers on any machine with these threads
            centers = (
                MiniBatchKMeans(
                    k,
                    max_iter=self.max_iter,
                    n_init=1,
                    batch_size=max(1024, 4 * k),
                    random_state=int(rng.integers(2**31)),
                )
                .fit(vectors)
                .cluster_centers_
            )
            free, chosen = np.arange(vectors.shape[0]), np.empty(0, dtype=np.intp)
            while len(centers):  # two centers may have one nearest row: the farther then looks among those left
                nearest, distance = pairwise_distances_argmin_min(centers, vectors[free])
                order = np.argsort(distance)
                _, first = np.unique(nearest[order], return_index=True)
                served = order[first]
                chosen = np.concatenate([chosen, free[nearest[served]]])
                centers = np.delete(centers, served, axis=0)
                free = np.setdiff1d(free, chosen)
        return chosen
