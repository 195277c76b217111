"""Which way cells may move, and what a move costs."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

Penalty = float | np.ndarray  # a weight λ, for R(z) = -λ|z|², or the table of R(z) itself


class Displacements(NamedTuple):
    """The set Z of displacements z = (dy, dx) and the regularization R(z) of each, smallest move first."""

    z: np.ndarray  # (n, 2) integers
    value: np.ndarray  # (n,)

    def within(self, reach: tuple[int, int]) -> Displacements:
        """Keep the displacements of at most ``reach`` in each direction."""
        keep = (np.abs(self.z) <= reach).all(axis=1)
        return Displacements(self.z[keep], self.value[keep])

    def table(self) -> np.ndarray:
        """Return R as a table, entry [dy, dx] counted from the center."""
        in_order = np.lexsort(self.z.T[::-1])
        far = np.abs(self.z).max(axis=0)
        return self.value[in_order].reshape(2 * far + 1)

    def best_beyond(self, reach: tuple[int, int]) -> float:
        """Return the largest R(z) among the others, and minus infinity if there are none."""
        return float(self.value[(np.abs(self.z) > reach).any(axis=1)].max(initial=-np.inf))


def displacements(radius: int, penalty: Penalty, reach: tuple[int, int]) -> Displacements:
    """Return {-radius, …, radius}² in order of size.

    No cell meets another beyond ``reach``, so under a weight only the nearest displacements there can matter.
    """
    if np.ndim(penalty) == 0:
        z = box(min(radius, reach[0] + 1), min(radius, reach[1] + 1))
        value = -float(penalty) * (z**2).sum(axis=1)
    else:
        z = box(radius, radius)
        value = np.asarray(penalty, dtype=np.float64).ravel()
    order = np.lexsort((z[:, 1], z[:, 0], (z**2).sum(axis=1)))
    return Displacements(z[order], value[order])


def box(dy: int, dx: int) -> np.ndarray:
    """Return {-dy, …, dy} x {-dx, …, dx}, in order."""
    return np.mgrid[-dy : dy + 1, -dx : dx + 1].reshape(2, -1).T
