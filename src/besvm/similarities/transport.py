"""A similarity by entropic optimal transport, which POT solves."""

import warnings
from typing import Any, Self

import numpy as np
from sklearn.exceptions import ConvergenceWarning

from besvm._support.extras import optional
from besvm._support.parameters import check_common, check_positive, shown
from besvm._support.rows import evenly_spaced, take
from besvm._support.threads import slices, thread_map
from besvm.similarities.clouds import Cloud, read_clouds
from besvm.similarities.contract import register
from besvm.similarities.distance import Distances, DistanceSimilarity
from besvm.similarities.distributions import histograms

POINTS = 500  # whose costs tell the scale of the regularization
NUMBERS = 1 << 19  # of the plans that are computed together
TOLERANCE, MISSED = 1e-6, 1e-4  # how far the mass of a plan may be from what it should be to stop, and to warn


@register("sinkhorn")
class Sinkhorn(DistanceSimilarity):
    """Entropic optimal transport: what it costs to move one distribution onto the other.

    With P the plan that minimizes ⟨P, M⟩ - r H(P), where M are the costs between points, H is the entropy and r the
    regularization, d(b, x) is √⟨P, M⟩ for point clouds, whose costs are squared distances, and ⟨P, M⟩ where ``cost`` is
    given. As the plan is blurred, a cloud is at a small distance from itself, too.

    Point clouds come as for :class:`SlicedWasserstein`. It needs POT, which is in the extra ``transport``.

    Parameters
    ----------
    regularization : float, default=0.1
        r, in units of the median cost between points of the training samples.
    cost : array of shape (bins, bins), optional
        What moving mass from one bin to another costs, symmetric; the samples are then histograms, the rows of a
        matrix.
    max_iter : int, default=1000
        After how many iterations to stop, with a warning.
    how : {"exponential", "gaussian", "inverse", "log", "negative"}, default="exponential"
        What makes a similarity of it, as in :class:`FromDistance`.
    scale : float or "auto", default="auto"
        The distance that counts as 1; "auto" is a share of the median distance between training samples.

    Attributes
    ----------
    cost_scale_ : float
        The median cost between points of the training samples that weigh more than 0.

    Examples
    --------
    >>> import numpy as np
    >>> from besvm.similarities import Sinkhorn
    >>> square = np.array([[0.0, 0.0], [0.0, 1.0], [1.0, 0.0], [1.0, 1.0]])
    >>> sinkhorn = Sinkhorn(0.5, how="negative", scale=1).fit([square])
    >>> sinkhorn([square], [square + [3, 0]]).round(2)
    array([[-3.04]])
    """

    kind = "distributions"
    extra = "transport"

    def __init__(
        self,
        regularization: float = 0.1,
        cost: Any = None,
        max_iter: int = 1000,
        *,
        how: str = "exponential",
        scale: float | str = "auto",
    ) -> None:
        self.regularization = regularization
        self.cost = cost
        self.max_iter = max_iter
        self.how = how
        self.scale = scale

    def fit(self, X: Any, sample_weight: Any = None) -> Self:
        """Take the scale of the costs, and that of the distances, from the samples that weigh more than 0."""
        check_common(self)
        check_positive("regularization", self.regularization)
        if sample_weight is not None:
            X = take(X, np.flatnonzero(np.asarray(sample_weight) > 0))
        if self.cost is None:
            some = evenly_spaced(np.concatenate([cloud.points for cloud in self._clouds(X)]), POINTS)
            costs = _squared(some, some)
        else:
            costs = self._checked_cost()
            self._clouds(X)
        costs = costs[costs > 0]
        self.cost_scale_ = float(np.median(costs)) if len(costs) else 1.0
        return super().fit(X)

    def distances_to(self, basis: Any) -> Distances:
        if not hasattr(self, "cost_scale_"):
            raise ValueError("Sinkhorn needs the training samples to choose the scale of the costs; call fit(X) first")
        exemplars = self._clouds(basis)
        regularization = self.regularization * self.cost_scale_
        cost = None if self.cost is None else self._checked_cost()

        def compare(sample: Cloud) -> tuple[np.ndarray, np.ndarray]:
            """Return the distances of all exemplars to one sample, and which plans are not yet finished."""
            d, unfinished = np.empty(len(exemplars)), np.zeros(len(exemplars), dtype=bool)
            largest = max((len(cloud.points) for cloud in exemplars), default=1)
            for some in slices(len(exemplars), max(1, NUMBERS // (largest * len(sample.points)))):
                points, weights = _padded(exemplars[some])
                costs = _squared(points, sample.points) if cost is None else _looked_up(cost, points, sample.points)
                plans = _plans(costs, regularization, weights, _weights(sample), self.max_iter)
                d[some] = (plans * costs).sum(axis=(1, 2))
                unfinished[some] = np.linalg.norm(plans.sum(axis=2) - weights, axis=1) > MISSED
            return (np.sqrt(d) if cost is None else d), unfinished

        def distances(A: Any) -> np.ndarray:
            samples = self._clouds(A, exemplars)
            results = list(thread_map(compare, samples))
            unfinished = np.argwhere(np.array([late for _, late in results]).reshape(len(samples), len(exemplars)))
            if len(unfinished):
                i, j = unfinished[0]
                warnings.warn(
                    f"Sinkhorn's iterations did not converge for {len(unfinished)} pairs, such as exemplar {j} and "
                    f"sample {i}; raise max_iter ({self.max_iter}) or regularization ({self.regularization:g})",
                    ConvergenceWarning,
                    stacklevel=2,
                )
            return np.array([d for d, _ in results]).reshape(len(samples), len(exemplars))

        return distances

    def bytes_a_row(self, sample: int, n_exemplars: int) -> int:
        return 4 * sample + 24 * n_exemplars

    def _clouds(self, X: Any, like: list[Cloud] | None = None) -> list[Cloud]:
        """Return point clouds, or histograms as clouds whose points are the numbers of bins."""
        if self.cost is None:
            return read_clouds(X, like[0].points.shape[1] if like else None)
        rows = histograms(X, True, self._checked_cost())
        rows = rows.toarray() if hasattr(rows, "toarray") else rows
        return [Cloud(np.flatnonzero(row), row[row > 0].astype(np.float64) / row.sum(dtype=np.float64)) for row in rows]

    def _checked_cost(self) -> np.ndarray:
        cost = np.asarray(self.cost)
        square = cost.ndim == 2 and cost.shape[0] == cost.shape[1] and cost.dtype.kind in "buif"
        if not (square and np.isfinite(cost).all() and cost.min(initial=0) >= 0 and np.array_equal(cost, cost.T)):
            raise ValueError(
                f"cost must be a symmetric matrix of finite numbers of at least 0, (bins, bins), got {shown(self.cost)}"
            )
        return cost.astype(np.float64)


def _plans(costs: np.ndarray, r: float, weights: np.ndarray, own: np.ndarray, max_iter: int) -> np.ndarray:
    """Return the plans of several problems, (problems, points, points).

    What is the same for all that leaves, or comes to, a point changes no plan, so it is taken off its costs, and
    exp(-costs / r) has no row or column of zeros. Where the numbers are still too large for that, logarithms are used,
    which takes several times as long.
    """
    solve = getattr(optional("ot", "the similarity 'sinkhorn'"), "solve_batch", None)
    if solve is None:
        raise ImportError(
            "the similarity 'sinkhorn' needs pot 0.9.7 or later; install besvm with the extra 'transport' again"
        )
    less = costs - costs.min(axis=2, keepdims=True)
    less -= less.min(axis=1, keepdims=True)
    own = np.broadcast_to(own, (len(costs), len(own)))

    def solved(which: Any, method: str) -> np.ndarray:
        with np.errstate(all="ignore"):
            return solve(*(less[which], r, weights[which], own[which], max_iter, TOLERANCE, method), grad="detach").plan

    plans = solved(slice(None), "sinkhorn")
    failed = ~(np.linalg.norm(plans.sum(axis=2) - weights, axis=1) < 1)  # or not a number
    if failed.any():
        plans[failed] = solved(failed, "log_sinkhorn")
    return plans


def _weights(cloud: Cloud) -> np.ndarray:
    return np.full(len(cloud.points), 1 / len(cloud.points)) if cloud.weights is None else cloud.weights


def _padded(clouds: list[Cloud]) -> tuple[np.ndarray, np.ndarray]:
    """Return clouds of one size: the last point of a smaller one is repeated, and its weight shared out.

    That changes neither what is moved, nor what it costs.
    """
    size = max(len(cloud.points) for cloud in clouds)
    points, weights = [], np.empty((len(clouds), size))
    for row, cloud in zip(weights, clouds, strict=True):
        n = len(cloud.points)
        points.append(cloud.points[np.minimum(np.arange(size), n - 1)])
        row[:n] = _weights(cloud)
        row[n - 1 :] = row[n - 1] / (size - n + 1)
    return np.stack(points), weights


def _squared(A: np.ndarray, B: np.ndarray) -> np.ndarray:
    """Return the squared distances of points, (..., points of A, points of B)."""
    return np.square(A[..., :, None, :] - B[..., None, :, :]).sum(axis=-1)


def _looked_up(cost: np.ndarray, A: np.ndarray, B: np.ndarray) -> np.ndarray:
    return cost[A[:, :, None], B[None, None, :]]
