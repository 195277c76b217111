"""Which way cells may move, what a move costs, and which cells it then meets."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

Penalty = float | np.ndarray  # a weight λ, for R(z) = -λ|z|², or the table of R(z) itself


class Displacements(NamedTuple):
    """The set Z of displacements z = (dy, dx) and the regularisation R(z) of each, smallest move first."""

    z: np.ndarray  # (n, 2) integers
    value: np.ndarray  # (n,)

    def within(self, reach: tuple[int, int]) -> Displacements:
        """Keep the displacements of at most ``reach`` in each direction."""
        keep = (np.abs(self.z) <= reach).all(axis=1)
        return Displacements(self.z[keep], self.value[keep])

    def best_beyond(self, reach: tuple[int, int]) -> float:
        """Return the largest R(z) among the others, and minus infinity if there are none."""
        return float(self.value[(np.abs(self.z) > reach).any(axis=1)].max(initial=-np.inf))


def displacements(radius: int, penalty: Penalty, reach: tuple[int, int]) -> Displacements:
    """Return {-radius, …, radius}² in order of size.

    No cell meets another beyond ``reach``, so under a weight only the nearest displacements there can matter.
    """
    if np.ndim(penalty) == 0:
        z = _box(min(radius, reach[0] + 1), min(radius, reach[1] + 1))
        value = -float(penalty) * (z**2).sum(axis=1)
    else:
        z = _box(radius, radius)
        value = np.asarray(penalty, dtype=np.float64).ravel()
    order = np.lexsort((z[:, 1], z[:, 0], (z**2).sum(axis=1)))
    return Displacements(z[order], value[order])


def _box(dy: int, dx: int) -> np.ndarray:
    return np.mgrid[-dy : dy + 1, -dx : dx + 1].reshape(2, -1).T


class CellPlan(NamedTuple):
    """For every cell c of an exemplar, the cells of a sample it is compared with (flat lists, with starts).

    ``reach[reach_start[c] : reach_start[c + 1]]`` are the cells that c can meet at all. Under the rigid
    displacement number z they are, with ``at = c * len(rigid_value) + z``,
    ``candidate[candidate_start[at] : candidate_start[at + 1]]``, each with the R(z_L) that leads there in
    ``local_value``; ``floor[at]`` is the best that z_L out of the frame can do (minus infinity: none does).
    """

    reach_start: np.ndarray
    reach: np.ndarray
    candidate_start: np.ndarray
    candidate: np.ndarray
    local_value: np.ndarray
    floor: np.ndarray
    rigid_value: np.ndarray
    beyond: np.float32  # the best score among the rigid displacements under which nothing meets


def plan_cells(shape: tuple[int, int], rigid: Displacements, local: Displacements) -> CellPlan:
    """List what every cell of a grid of ``shape`` is compared with under z_R + z_L."""
    h, w = shape
    farthest = np.abs(local.z).max(axis=0)
    overlap = (h - 1 + int(farthest[0]), w - 1 + int(farthest[1]))
    near = rigid.within(overlap)
    cells = np.indices(shape).reshape(2, -1).T
    met = cells[:, None, None] + near.z[:, None] + local.z  # (cells, rigid, local, 2)
    inside = ((met >= 0) & (met < shape)).all(axis=-1)
    candidate = (met @ [w, 1])[inside]
    meets = np.zeros((h * w, h * w), dtype=bool)
    meets[np.nonzero(inside)[0], candidate] = True
    return CellPlan(
        reach_start=_starts(meets.sum(axis=1)),
        reach=np.nonzero(meets)[1],
        candidate_start=_starts(inside.sum(axis=2).ravel()),
        candidate=candidate,
        local_value=np.broadcast_to(local.value, inside.shape)[inside].astype(np.float32),
        floor=np.where(inside, -np.inf, local.value).max(axis=2).ravel().astype(np.float32),
        rigid_value=near.value.astype(np.float32),
        beyond=np.float32(h * w * local.value.max() + rigid.best_beyond(overlap)),
    )


def _starts(counts: np.ndarray) -> np.ndarray:
    return np.concatenate([[0], np.cumsum(counts)])
