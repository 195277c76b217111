"""Similarities of histograms: what two distributions over the same bins have in common, or how far apart they are."""

from abc import abstractmethod
from collections.abc import Callable
from typing import Any, Self

import numpy as np
from scipy.sparse import issparse

from besvm._support.parameters import check_flag
from besvm.similarities.contract import register
from besvm.similarities.counts import shared_with
from besvm.similarities.distance import Distances, DistanceSimilarity
from besvm.similarities.tiles import TileFunction, as_vectors, dense, is_thin, squared_distance_to, then
from besvm.similarities.vector import VectorSimilarity, by_tiles

COPIES = 6  # of a sample, that one way or another are made to compare it


@register("histogram-intersection")
class HistogramIntersection(VectorSimilarity):
    """The histogram intersection, s(b, x) = Σ_k min(b_k, x_k): the mass that two histograms share.

    Parameters
    ----------
    normalize : bool, default=True
        Divide every histogram by its sum, so that two equal ones have the similarity 1; one without any mass is then
        refused. False takes counts as they are.

    Examples
    --------
    >>> from besvm.similarities import HistogramIntersection
    >>> HistogramIntersection()([[2, 1, 1]], [[1, 0, 1], [0, 5, 0]])
    array([[0.75, 0.25]])
    """

    symmetric = psd = True
    needs_scaling = False
    kind = "distributions"

    def __init__(self, normalize: bool = True) -> None:
        self.normalize = normalize

    def fit(self, X: Any) -> Self:
        """Check all histograms, so that a message names the row."""
        histograms(X, self.normalize)
        return self

    def tile(self, basis: Any) -> TileFunction:
        from besvm.similarities.vector_kernels import minimum_tile

        basis = np.ascontiguousarray(basis)
        return lambda A, out: minimum_tile(np.ascontiguousarray(A), basis, out)

    def against(self, basis: Any) -> Callable[[Any], np.ndarray]:
        basis = histograms(basis, self.normalize)
        if is_thin(basis):
            shared = shared_with(basis, "intersection")
            return lambda A: shared(type(basis)(histograms(A, self.normalize, basis)))
        compare = by_tiles(self.tile, dense(basis))
        return lambda A: compare(histograms(A, self.normalize, basis))


class HistogramDistance(DistanceSimilarity):
    """Abstract: a distance between histograms; a subclass says in ``tile`` how some are compared."""

    vectors = any_float = True
    kind = "distributions"
    normalize: bool

    @abstractmethod
    def tile(self, basis: np.ndarray) -> TileFunction:
        """Pack exemplars and return the function that fills a tile with the distances of some histograms to them."""

    def fit(self, X: Any, sample_weight: Any = None) -> Self:
        histograms(X, self.normalize)  # so that a message names the row
        return super().fit(X, sample_weight)

    def distances_to(self, basis: Any) -> Distances:
        basis = histograms(basis, self.normalize)
        compare = by_tiles(self.tile, basis)
        return lambda A: compare(histograms(A, self.normalize, basis))

    def bytes_a_row(self, sample: int, n_exemplars: int) -> int:
        return COPIES * sample + 8 * n_exemplars


@register("chi2-distance")
class ChiSquared(HistogramDistance):
    """The χ² distance of histograms, d(b, x) = ½ Σ_k (b_k - x_k)² / (b_k + x_k), from 0 to 1.

    Parameters
    ----------
    normalize : bool, default=True
        Divide every histogram by its sum; one without any mass is then refused. False takes counts as they are.
    how : {"exponential", "gaussian", "inverse", "log", "negative"}, default="exponential"
        What makes a similarity of it, as in :class:`FromDistance`. "exponential" is the χ² kernel.
    scale : float or "auto", default="auto"
        The distance that counts as 1; "auto" is a share of the median distance between training samples.

    Examples
    --------
    >>> from besvm.similarities import ChiSquared
    >>> ChiSquared(how="negative", scale=1)([[1, 1, 0]], [[1, 1, 0], [0, 0, 5]])
    array([[-0., -1.]])
    """

    def __init__(self, normalize: bool = True, *, how: str = "exponential", scale: float | str = "auto") -> None:
        self.normalize = normalize
        self.how = how
        self.scale = scale

    @property
    def psd(self) -> bool:  # type: ignore[override]
        return self.how in ("exponential", "inverse")

    def tile(self, basis: np.ndarray) -> TileFunction:
        from besvm.similarities.vector_kernels import chi2_tile

        basis, tiny = np.ascontiguousarray(basis), np.finfo(basis.dtype).tiny
        return lambda A, out: chi2_tile(np.ascontiguousarray(A), basis, tiny, out)


@register("hellinger")
class Hellinger(HistogramDistance):
    """The Hellinger distance of histograms, d(b, x) = ‖√b - √x‖ / √2, from 0 to 1.

    Parameters
    ----------
    normalize : bool, default=True
        Divide every histogram by its sum; one without any mass is then refused. False takes counts as they are.
    how : {"exponential", "gaussian", "inverse", "log", "negative"}, default="exponential"
        What makes a similarity of it, as in :class:`FromDistance`.
    scale : float or "auto", default="auto"
        The distance that counts as 1; "auto" is a share of the median distance between training samples.

    Examples
    --------
    >>> from besvm.similarities import Hellinger
    >>> Hellinger(how="negative", scale=1)([[1, 1, 0]], [[2, 0, 0], [0, 0, 5]]).round(3)
    array([[-0.541, -1.   ]])
    """

    def __init__(self, normalize: bool = True, *, how: str = "exponential", scale: float | str = "auto") -> None:
        self.normalize = normalize
        self.how = how
        self.scale = scale

    @property
    def psd(self) -> bool:  # type: ignore[override]
        return self.how in ("exponential", "gaussian", "inverse")

    def tile(self, basis: np.ndarray) -> TileFunction:
        return euclidean_to(np.sqrt(basis), np.sqrt, np.sqrt(0.5))


def euclidean_to(basis: np.ndarray, change: Callable[[np.ndarray], np.ndarray], factor: float) -> TileFunction:
    """Fill ``factor`` times the Euclidean distances of rows, once changed, from the basis."""
    squared = squared_distance_to(basis, factor=factor**2)

    def root(out: np.ndarray) -> None:
        np.sqrt(np.maximum(out, 0, out=out), out=out)

    return then(lambda A, out: squared(change(A), out), root)


def histograms(X: Any, normalize: bool, basis: Any = None) -> Any:
    """Return histograms as the rows of a matrix of floats, each divided by its sum if asked for; name a wrong one."""
    check_flag("normalize", normalize)
    given = X if issparse(X) else np.asarray(X)
    if given.dtype.kind not in "buif":
        raise TypeError(f"histograms must hold numbers, got {given.dtype}")
    if not issparse(given) and given.ndim < 2:
        raise ValueError(f"histograms must be a 2-D array (histograms, bins), got {given.ndim} dimensions")
    X = as_vectors(X)
    if basis is not None and X.shape[1] != basis.shape[1]:
        raise ValueError(f"histograms must have {basis.shape[1]} bins, as the exemplars do, got {X.shape[1]}")
    values = X.data if issparse(X) else X
    if values.size and not 0 <= values.min() <= values.max() < np.inf:  # which NaN is not either
        bad = ~((values >= 0) & (values < np.inf))
        row = (
            int(np.searchsorted(X.indptr, bad.argmax(), "right")) - 1 if issparse(X) else int(bad.any(axis=1).argmax())
        )
        value = values[bad][0]
        raise ValueError(f"histograms must hold finite numbers of at least 0, but row {row} has {value}")
    if not normalize:
        return X
    mass = np.asarray(X.sum(axis=1, dtype=np.float64)).ravel()
    empty = np.flatnonzero(~(mass > 0))
    if len(empty):
        raise ValueError(
            f"histograms must not be all zeros when they are normalized, but row {empty[0]} is; remove it, or set "
            "normalize=False"
        )
    if issparse(X):
        X = X.tocsr()
        return type(X)(
            ((X.data / np.repeat(mass, np.diff(X.indptr))).astype(X.dtype), X.indices, X.indptr), shape=X.shape
        )
    return (X / mass[:, None]).astype(X.dtype, copy=False)
