"""The weights with which features come closest to given targets: a small model that decides like a large one."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from scipy.linalg import cho_factor, cho_solve

from besvm.blocks import RowBlocks
from besvm.normalize.affine import weighted_mean
from besvm.solver.training import Ending, LinearModel
from besvm.solver.votes import class_pairs

RIDGE = 0.02  # the penalty on weights, as a share of the mean square of a feature
SHARE = 0.3  # of the labels in what "both" learns from; the rest are margins
COPIES = 4  # of a matrix of features times features, in float64, that are there at once


def moments_bytes(width: int) -> int:
    """Return the bytes that projecting onto so many features, or dropping some of them, takes."""
    return COPIES * 8 * width**2


def targets_of(
    learn: str, margins: np.ndarray, labels: np.ndarray, n_classes: int, in_pairs: bool
) -> np.ndarray | None:
    """Return what a small model is to come close to: margins (n, K), alone or with labels; None for labels alone.

    A label is 1 on its own side and -1 on the other, as far as a margin has to go. Rows of neither class of a pair have
    no side, and keep their margins.
    """
    if learn == "labels":
        return None
    if learn == "margins":
        return margins
    if in_pairs or n_classes == 2:
        first, second = np.array(class_pairs(n_classes)).T
        sides = (labels[:, None] == second).astype(float) - (labels[:, None] == first)
    else:
        sides = np.where(labels[:, None] == np.arange(n_classes), 1.0, -1.0)
    return np.where(sides == 0, margins, (1 - SHARE) * margins + SHARE * sides)


@dataclass
class Moments:
    """What of the features and the targets a least-squares fit depends on; both seen from their means."""

    H: np.ndarray  # (D, D) products of features, with the ridge
    products: np.ndarray  # (D, K) of features and targets
    mean: np.ndarray  # (D,) of the features
    level: np.ndarray  # (K,) of the targets

    @classmethod
    def of(
        cls, blocks: RowBlocks, targets: np.ndarray, weights: np.ndarray, intercept: bool, ridge: float = RIDGE
    ) -> Moments:
        """Return those of all rows, by their weights; without an intercept, seen from zero."""
        shares, mean, center = weighted_mean(blocks, weights)
        w = shares.whole()
        level = w.astype(np.float64) @ targets / shares.total
        if not intercept:
            mean, center, level = np.zeros_like(mean), np.zeros_like(center), np.zeros_like(level)
        roots = np.sqrt(w * len(w))

        def part(rows: slice, block: Any) -> tuple[Any, ...]:
            scaled = (block - center) * roots[rows, None]
            wanted = (targets[rows] - level).astype(block.dtype) * roots[rows, None]
            return scaled.T @ scaled, scaled.T @ wanted

        H, products = blocks.sum(part, coarse=True)
        added = ridge * np.trace(H) / len(H)
        H[np.diag_indices_from(H)] += added if added > 0 else 1.0
        return cls(H, products, mean, level)

    def inverse(self) -> np.ndarray:
        """Return the inverse of H."""
        return np.asarray(cho_solve(cho_factor(self.H), np.eye(len(self.H)), overwrite_b=True))

    def model(self, slope: float | None) -> LinearModel:
        """Return the linear model that comes closest to the targets."""
        W = cho_solve(cho_factor(self.H), self.products)
        K = W.shape[1]
        ending = Ending(np.zeros(K), np.zeros(K), np.ones(K, dtype=bool), n_iter=1, n_passes=1, precise=False)
        return LinearModel(W.T, self.level - self.mean @ W, slope, ending)
