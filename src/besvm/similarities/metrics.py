"""Distances and kernels that scikit-learn knows by name, as similarities."""

from collections.abc import Mapping
from functools import cache
from typing import Any

import numpy as np

from besvm._support.parameters import check_choice, shown
from besvm.similarities.contract import register
from besvm.similarities.tiles import TileFunction, manhattan_to, squared_distance_to, then
from besvm.similarities.vector import VectorSimilarity

KERNEL_NAMES = ("additive_chi2", "chi2", "poly", "polynomial", "laplacian", "sigmoid", "cosine", "linear", "rbf")
SCIPY_NAMES = (  # the distances of SciPy's cdist that need no parameters and that scikit-learn passes on to it
    "braycurtis", "canberra", "chebyshev", "correlation", "dice", "hamming", "jaccard", "matching", "minkowski",
    "rogerstanimoto", "russellrao", "sokalsneath", "sqeuclidean", "yule",
)  # fmt: skip
EACH_COLUMN_BY_ITSELF = (  # compared as equal or not, or relative to its own size
    "additive_chi2", "canberra", "chi2", "dice", "hamming", "jaccard", "matching", "rogerstanimoto", "russellrao",
    "sokalsneath", "yule",
)  # fmt: skip
EUCLIDEAN = ("euclidean", "l2", "sqeuclidean")
NOT_OF_VECTORS = {"precomputed", "haversine", "nan_euclidean"}  # or not of finite ones


@register("negative_distance")
class NegativeDistance(VectorSimilarity):
    """Minus a distance, s(b, x) = -d(b, x): indefinite, and often all one has.

    Parameters
    ----------
    metric : str, default="euclidean"
        Any metric that ``scipy.spatial.distance.cdist`` or scikit-learn's ``pairwise_distances`` knows.

    Examples
    --------
    >>> from besvm.similarities import NegativeDistance
    >>> NegativeDistance()([[0.0, 0.0]], [[3.0, 4.0]])
    array([[-5.]])
    """

    symmetric = True

    def __init__(self, metric: str = "euclidean") -> None:
        self.metric = metric

    @property
    def label(self) -> str:
        return f"-{self.metric}"

    @property
    def needs_scaling(self) -> bool:  # type: ignore[override]
        return not (isinstance(self.metric, str) and self.metric in EACH_COLUMN_BY_ITSELF)

    @property
    def sparse(self) -> bool:  # type: ignore[override]
        return isinstance(self.metric, str) and self.metric in EUCLIDEAN

    def tile(self, basis: Any) -> TileFunction:
        given: Any = self.metric
        named = isinstance(given, str) and _is_distance(given)
        if not named and (isinstance(given, type) or not callable(given)):
            raise ValueError(
                f"metric must be the name of a distance in SciPy or scikit-learn, got {shown(self.metric)}"
            )
        if self.metric in EUCLIDEAN:
            distance = then(squared_distance_to(basis, factor=1.0), lambda out: np.maximum(out, 0, out=out))
            if self.metric != "sqeuclidean":
                distance = then(distance, lambda out: np.sqrt(out, out=out))
        elif self.metric in ("manhattan", "cityblock", "l1"):
            distance = manhattan_to(basis)
        else:
            from sklearn.metrics import pairwise_distances

            def distance(A: np.ndarray, out: np.ndarray) -> None:
                out[:] = pairwise_distances(A, basis, metric=self.metric)

        return then(distance, lambda out: np.negative(out, out=out))


class PairwiseKernel(VectorSimilarity):
    """One of scikit-learn's pairwise kernels by its name, with its own parameters.

    Parameters
    ----------
    metric : str
        A name that ``sklearn.metrics.pairwise.pairwise_kernels`` knows.
    params : dict, optional
        Parameters of that kernel, for example ``{"gamma": 0.5}``.

    Examples
    --------
    >>> from besvm.similarities import PairwiseKernel
    >>> PairwiseKernel("chi2", {"gamma": 1.0})([[1.0, 0.0]], [[1.0, 0.0]])
    array([[1.]])
    """

    def __init__(self, metric: str, params: dict[str, Any] | None = None) -> None:
        self.metric = metric
        self.params = params

    @property
    def label(self) -> str:
        return self.metric

    @property
    def needs_scaling(self) -> bool:  # type: ignore[override]
        return not (isinstance(self.metric, str) and self.metric in EACH_COLUMN_BY_ITSELF)

    def tile(self, basis: np.ndarray) -> TileFunction:
        from sklearn.metrics.pairwise import pairwise_kernels

        check_choice("metric", self.metric, KERNEL_NAMES)
        if not (self.params is None or isinstance(self.params, Mapping)):
            raise ValueError(f"params must be a dict or None, got {shown(self.params)}")

        def fill(A: np.ndarray, out: np.ndarray) -> None:
            out[:] = pairwise_kernels(A, basis, metric=self.metric, **(self.params or {}))

        return fill


def _is_distance(name: str) -> bool:
    from scipy.spatial import distance

    return name in distance_names() or hasattr(distance, name)


@cache
def distance_names() -> tuple[str, ...]:
    """Return the distances between vectors that scikit-learn knows by name."""
    from sklearn.metrics.pairwise import distance_metrics

    return tuple(sorted({*SCIPY_NAMES, *distance_metrics()} - NOT_OF_VECTORS))
