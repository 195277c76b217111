"""Which exemplars are worth most: drop, a few at a time, those that the others can best stand in for.

Let F be the margins of a model and Φ its features. With H = ΦᵀΦ (and a small ridge), the weights that come closest to F
are W = H⁻¹ΦᵀF. Dropping the columns g of an exemplar, and letting all others move to where they are then best, raises
the squared distance from F by

    Σ_k w_gkᵀ [H⁻¹]_gg⁻¹ w_gk,    and moves the others by    -[H⁻¹]_·g [H⁻¹]_gg⁻¹ w_g

(Hassibi and Stork's "optimal brain surgeon", with the columns of an exemplar for a weight; it is exact here, since the
distance is a square). What others can stand in for is cheap, however large its weights.
"""

import numpy as np
from sklearn.base import clone

from besvm._support.progress import say
from besvm.blocks import RowBlocks
from besvm.classifier import BESVMClassifier
from besvm.normalize import MeanNorm, as_normalization
from besvm.pruning.projection import Moments
from besvm.pruning.stage import Stage

RIDGE = 0.005  # of H, as a share of the mean square of a feature: against rounding, not for choosing
AT_ONCE = 0.05  # the share of the exemplars that is dropped before the costs of the others are brought up to date


def ranked(stage: Stage, margins: np.ndarray, weights: np.ndarray, down_to: int = 1) -> np.ndarray:
    """Return the numbers of all exemplars, those worth most to these margins first, as rows of these weights see it.

    The first ``down_to`` are in no order. Where the model's normalization mixes exemplars, the mean norm stands for it.
    Where there is no room for H, what goes first is what has the smallest weights times spread.
    """
    every = np.arange(stage.n_exemplars)
    if down_to >= len(every):
        return every
    judge: BESVMClassifier = clone(stage.params)
    judge.set_params(penalty="l2", multi_class="ovr", probability=False, verbose=0)
    if as_normalization(judge.normalize).mixes:
        judge.set_params(normalize=MeanNorm())
    with stage.features(judge, every, weights) as (_, blocks, options):
        if stage.has_room(blocks.shape[1]):
            moments = Moments.of(blocks, margins, weights, judge.fit_intercept, RIDGE)
            inverse = moments.inverse()
            first = eliminated(inverse, inverse @ moments.products, stage.owner, len(every) - down_to)
        else:
            say(
                stage.params.verbose,
                "not enough memory for second-order costs, so exemplars are ranked by their weights",
            )
            coef = judge._train(blocks, stage.classes, stage.labels, weights, **options).coef
            worth = np.bincount(stage.owner, (coef**2).sum(axis=0) * _variances(blocks, weights))
            first = np.argsort(worth, kind="stable")[: len(every) - down_to]
    order = np.concatenate([np.delete(every, first), first[::-1]])
    return _every_class_first(order, stage) if stage.params.multi_class == "ovo-pair-basis" else order


def _variances(blocks: RowBlocks, weights: np.ndarray) -> np.ndarray:
    """Return the variance of every column."""
    w = (weights / weights.sum()).astype(blocks.dtype)
    mean, squares = blocks.sum(lambda rows, block: (w[rows] @ block, w[rows] @ block**2))
    return np.maximum(squares - mean**2, 0)


def eliminated(
    inverse: np.ndarray, W: np.ndarray, owner: np.ndarray, goes: int, at_once: float = AT_ONCE
) -> np.ndarray:
    """Return the ``goes`` exemplars that are cheapest to drop one after the other, the first one first.

    ``inverse`` is H⁻¹, (D, D), ``W`` are the weights, (D, K), and ``owner`` (D,) says whose every column is. A share
    ``at_once`` of the exemplars is dropped before the costs of the others are brought up to date.

    Examples
    --------
    >>> import numpy as np
    >>> H = np.array([[1.0, 0.9, 0.0], [0.9, 1.0, 0.0], [0.0, 0.0, 1.0]])  # the first two can stand in for each other
    >>> eliminated(np.linalg.inv(H), np.array([[1.0], [1.1], [0.8]]), np.arange(3), goes=2)
    array([0, 2])
    """
    together = np.argsort(owner, kind="stable")
    inverse, W = inverse[np.ix_(together, together)], W[together]
    sizes, alive = np.bincount(owner), np.arange(owner.max() + 1)
    gone: list[int] = []
    while len(gone) < goes:
        several = min(goes - len(gone), max(1, int(at_once * len(alive))))
        now = np.argsort(_costs(inverse, W, sizes), kind="stable")[:several]
        gone += alive[now].tolist()
        out = np.isin(np.arange(len(alive)), now)
        drop = out.repeat(sizes)
        cross = inverse[np.ix_(drop, ~drop)]
        step = np.linalg.solve(inverse[np.ix_(drop, drop)], np.hstack([W[drop], cross]))
        W = W[~drop] - cross.T @ step[:, : W.shape[1]]
        inverse = inverse[np.ix_(~drop, ~drop)]
        inverse -= cross.T @ step[:, W.shape[1] :]
        sizes, alive = sizes[~out], alive[~out]
    return np.array(gone, dtype=np.intp)


def _costs(inverse: np.ndarray, W: np.ndarray, sizes: np.ndarray) -> np.ndarray:
    """Return what dropping each exemplar costs, where ``sizes`` are their numbers of columns, side by side."""
    places = np.arange(sizes.max())
    inside = places < sizes[:, None]
    columns = np.where(inside, (np.cumsum(sizes) - sizes)[:, None] + places, 0)
    own = inverse[columns[:, :, None], columns[:, None, :]]
    own = np.where(inside[:, :, None] & inside[:, None, :], own, np.eye(len(places)))  # those with fewer are filled up
    weights = np.where(inside[:, :, None], W[columns], 0.0)
    costs: np.ndarray = np.einsum("gck,gck->g", weights, np.linalg.solve(own, weights))
    return costs


def _every_class_first(order: np.ndarray, stage: Stage) -> np.ndarray:
    """Return the order with the best exemplar of every class at its head: pairs of classes see only their own."""
    of_class = np.empty(stage.n_exemplars, dtype=np.intp)
    of_class[stage.owner] = np.concatenate(stage.expander.basis_labels(stage.labels))
    first = np.sort(np.unique(of_class[order], return_index=True)[1])
    return np.concatenate([order[first], np.delete(order, first)])
