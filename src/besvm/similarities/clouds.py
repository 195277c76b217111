"""Similarities of point clouds: samples of points, maybe weighted, as distributions in space."""

from typing import Any, NamedTuple, Self

import numpy as np

from besvm._support.parameters import check_common, check_count, make_rng, shown
from besvm._support.rows import n_rows
from besvm._support.threads import slices, thread_map
from besvm.blocks.plan import check_fits
from besvm.similarities.contract import register
from besvm.similarities.distance import Distances, DistanceSimilarity
from besvm.similarities.distributions import euclidean_to
from besvm.similarities.tiles import TileFunction, manhattan_to
from besvm.similarities.vector import by_tiles

CLOUDS_EACH = 16  # that a thread sorts at a time
MOST_NUMBERS = 1 << 18  # that describe a cloud: 2 MB


class Cloud(NamedTuple):
    """Points, (points, dimensions), and their weights, which sum to 1."""

    points: np.ndarray
    weights: np.ndarray | None  # None: all the same


@register("sliced-wasserstein")
class SlicedWasserstein(DistanceSimilarity):
    """The sliced Wasserstein distance of point clouds: how far the points must move, one direction at a time.

    The points are projected onto random directions, on each of which the best way to move them is known: by rank. With
    q the quantile function of a projected cloud, d(b, x)² is the mean of (q_b(t) - q_x(t))² over all directions and
    over the middles t of ``quantiles`` equal steps from 0 to 1 (with ``order=1``, d is the mean of
    ``|q_b(t) - q_x(t)|``).

    A sample is an array of shape (points, dimensions), or (points,) on a line, or a pair of such an array and the
    weights of the points. Clouds may have different numbers of points.

    Parameters
    ----------
    projections : int, default=50
        The number of directions.
    quantiles : int, default=100
        The number of steps. Clouds whose numbers of points divide it are compared without further error. Together,
        at most 262,144 steps in all directions.
    order : {1, 2}, default=2
        The power of the distance that moving a point costs.
    random_state : int, RandomState, Generator or None, default=0
        Where the directions come from, which ``fit`` draws.
    how : {"exponential", "gaussian", "inverse", "log", "negative"}, default="exponential"
        What makes a similarity of it, as in :class:`FromDistance`.
    scale : float or "auto", default="auto"
        The distance that counts as 1; "auto" is a share of the median distance between training samples.

    Attributes
    ----------
    directions_ : array of shape (projections, dimensions)
        Vectors of length one.

    Examples
    --------
    >>> import numpy as np
    >>> from besvm.similarities import SlicedWasserstein
    >>> square = np.array([[0.0, 0.0], [0.0, 1.0], [1.0, 0.0], [1.0, 1.0]])
    >>> sliced = SlicedWasserstein(how="negative", scale=1).fit([square])
    >>> sliced([square, square[:2]], [square + [3, 0]]).round(1)
    array([[-2. ],
           [-2.4]])
    """

    kind = "distributions"

    def __init__(
        self,
        projections: int = 50,
        quantiles: int = 100,
        order: int = 2,
        random_state: Any = 0,
        *,
        how: str = "exponential",
        scale: float | str = "auto",
    ) -> None:
        self.projections = projections
        self.quantiles = quantiles
        self.order = order
        self.random_state = random_state
        self.how = how
        self.scale = scale

    @property
    def psd(self) -> bool:  # type: ignore[override]
        return self.how in ("exponential", "inverse") or (self.how == "gaussian" and self.order == 2)

    def fit(self, X: Any, sample_weight: Any = None) -> Self:
        """Draw the directions, and take the scale from the distances between some of the training samples."""
        check_common(self)
        check_count("projections", self.projections)
        self._check_quantiles(self.projections)
        if self.order not in (1, 2):
            raise ValueError(f"order must be 1 or 2, got {shown(self.order)}")
        clouds = read_clouds(X)
        if not clouds:
            raise ValueError("X must have at least one point cloud, got none")
        drawn = make_rng(self.random_state).normal(size=(self.projections, clouds[0].points.shape[1]))
        self.directions_ = drawn / np.linalg.norm(drawn, axis=1, keepdims=True)
        return super().fit(X, sample_weight)

    def distances_to(self, basis: Any) -> Distances:
        if not hasattr(self, "directions_"):
            raise ValueError("SlicedWasserstein needs the training samples to choose its directions; call fit(X) first")
        compare = by_tiles(self._tile, self.quantile_vectors(basis))
        return lambda A: compare(self.quantile_vectors(A))

    def bytes_a_row(self, sample: int, n_exemplars: int) -> int:
        return 3 * 8 * self.projections * self.quantiles + 4 * sample * max(1, self.projections) + 8 * n_exemplars

    def quantile_vectors(self, X: Any) -> np.ndarray:
        """Return the quantiles of every projection of every cloud, (clouds, projections * quantiles)."""
        self._check_quantiles(len(self.directions_))
        clouds = read_clouds(X, self.directions_.shape[1])
        need = 8 * len(clouds) * len(self.directions_) * self.quantiles
        check_fits(f"the quantiles of {len(clouds):,} clouds", need, None, "fewer quantiles")
        out = np.empty((len(clouds), len(self.directions_), self.quantiles))
        middles = (np.arange(self.quantiles) + 0.5) / self.quantiles

        def work(rows: slice) -> None:
            some = clouds[rows]
            sizes = {len(cloud.points) if cloud.weights is None else None for cloud in some}
            if len(sizes) == 1 and None not in sizes:  # all of one size at once
                out[rows] = _quantiles(np.stack([cloud.points for cloud in some]), self.directions_, middles)
                return
            for place, cloud in enumerate(some, rows.start):
                if cloud.weights is None:
                    out[place] = _quantiles(cloud.points, self.directions_, middles)
                else:
                    out[place] = _weighted_quantiles(cloud, self.directions_, middles)

        for _ in thread_map(work, slices(len(clouds), CLOUDS_EACH)):
            pass
        return out.reshape(len(clouds), len(self.directions_) * self.quantiles)

    def _check_quantiles(self, n_directions: int) -> None:
        check_count("quantiles", self.quantiles)
        if n_directions * self.quantiles > MOST_NUMBERS:
            raise ValueError(
                f"quantiles must be at most {MOST_NUMBERS // n_directions:,} for {n_directions:,} projections, got "
                f"{shown(self.quantiles)}"
            )

    def _tile(self, basis: np.ndarray) -> TileFunction:
        if self.order == 1:
            total = manhattan_to(basis)

            def mean(A: np.ndarray, out: np.ndarray) -> None:
                total(A, out)
                out /= basis.shape[1]

            return mean
        return euclidean_to(basis, lambda A: A, basis.shape[1] ** -0.5)


def _quantiles(points: np.ndarray, directions: np.ndarray, middles: np.ndarray) -> np.ndarray:
    """Return the quantiles of projected points, (..., projections, quantiles)."""
    projected = np.sort(directions @ np.swapaxes(points, -1, -2), axis=-1)  # (..., projections, points)
    n = points.shape[-2]
    return projected[..., np.minimum((middles * n).astype(np.intp), n - 1)]


def _weighted_quantiles(cloud: Cloud, directions: np.ndarray, middles: np.ndarray) -> np.ndarray:
    assert cloud.weights is not None
    projected = directions @ cloud.points.T
    order = np.argsort(projected, axis=1)
    reached = np.cumsum(cloud.weights[order], axis=1)
    places = np.stack([np.searchsorted(row, middles, side="right") for row in reached])
    sorted_points = np.take_along_axis(projected, order, axis=1)
    return np.take_along_axis(sorted_points, np.minimum(places, len(cloud.points) - 1), axis=1)


def read_clouds(X: Any, dimensions: int | None = None) -> list[Cloud]:
    """Return point clouds as arrays of float64; what is wrong with one is said with its number."""
    n_rows(X)  # that it has rows
    clouds: list[Cloud] = []
    for number, item in enumerate(X):
        try:
            cloud = _read(item)
            found = cloud.points.shape[1]
            if dimensions is not None and found != dimensions:
                raise ValueError(f"must have {dimensions} dimensions like the others, got {found}")
        except (TypeError, ValueError) as error:
            raise ValueError(f"point cloud {number} {error}") from None
        dimensions = found
        clouds.append(cloud)
    return clouds


def _read(item: Any) -> Cloud:
    weighted = isinstance(item, tuple) and len(item) == 2 and np.ndim(item[0]) > 0
    points = _numbers(item[0] if weighted else item, "points")
    points = points[:, None] if points.ndim == 1 else points
    if points.ndim != 2 or not points.size:
        raise ValueError(
            f"must be an array (points, dimensions) with at least one point, or a pair (points, weights), got shape "
            f"{points.shape}"
        )
    if not weighted:
        return Cloud(points, None)
    weights = _numbers(item[1], "weights")
    if weights.shape != points.shape[:1]:
        raise ValueError(f"must have a weight for each of its {len(points)} points, got shape {weights.shape}")
    total = weights.sum()
    if weights.min() < 0 or total <= 0:
        raise ValueError("must have weights of at least 0, not all of them 0")
    kept = weights > 0
    return Cloud(points[kept], weights[kept] / total)


def _numbers(values: Any, what: str) -> np.ndarray:
    try:
        array = np.asarray(values)
    except ValueError:
        raise ValueError(f"must have {what} in a rectangular array, got rows of different lengths") from None
    if array.dtype.kind not in "buif":
        raise ValueError(f"must have {what} that are numbers, got {shown(values)}")
    array = array.astype(np.float64)
    if not np.isfinite(array).all():
        raise ValueError(f"must have finite {what}, got {array[~np.isfinite(array)][0]}")
    return array
