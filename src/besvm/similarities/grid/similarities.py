"""Similarities of grids of cells, each cell a descriptor, that look for the best alignment of two grids."""

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, ClassVar

import numpy as np

from besvm._support.parameters import check_choice, check_common, is_whole, shown
from besvm._support.rows import check_one_shape
from besvm._support.threads import slices, thread_map
from besvm.similarities.contract import Similarity, diagonal, register
from besvm.similarities.grid import scores
from besvm.similarities.grid.scores import Displacements, Penalty
from besvm.similarities.match import Match, moved


@dataclass(frozen=True, eq=False)
class Alignment:
    """Where the cells of one grid found their matches in the other: what the maxima of the similarity chose.

    The cell at c of the grid that stays is compared with the cell at c + z_R + z_L of the one that moves (by default,
    the exemplar).

    Attributes
    ----------
    score : float
        The similarity.
    rigid : tuple of int
        z_R = (dy, dx), the same for all cells.
    local : ndarray of shape (h, w, 2)
        z_L = (dy, dx) of each cell of the grid that stays.
    contribution : ndarray of shape (h, w)
        What each of these cells adds to the score (before the division, if ``cosine``); R(z_R) makes up the rest.

    Examples
    --------
    >>> import numpy as np
    >>> from besvm.similarities import Deformable
    >>> x, y = np.zeros((2, 1, 3, 1))
    >>> x[0, 0], y[0, 1] = 2.0, 3.0
    >>> found = Deformable(rigid=0, local=1).alignment(x, y)
    >>> found.score, found.local[0, 0]
    (6.0, array([0, 1]))
    """

    score: float
    rigid: tuple[int, int]
    local: np.ndarray
    contribution: np.ndarray


class GridSimilarity(Similarity):
    """Abstract: a similarity of grids of cells, arrays of shape (items, h, w, d), computed in float32."""

    kind: ClassVar[str] = "images"
    radius_of_rigid: ClassVar[str] = "rigid"  # the parameter that says how far the whole grid moves
    rigid_penalty: Penalty
    local: int = 0
    local_penalty: Penalty = 0.0
    moving: str = "exemplar"
    cosine: bool

    def bytes_a_row(self, sample: int, n_exemplars: int) -> int:
        return 3 * sample + 8 * n_exemplars  # converted, and packed or transformed

    def __call__(self, A: Any, B: Any) -> np.ndarray:
        return self.against(B)(A)

    def against(self, basis: Any) -> Callable[[Any], np.ndarray]:
        check_common(self)
        basis = _as_float32(_as_grids(basis))
        n_basis, *shape = basis.shape
        fill = self._cosine_scores(basis) if self.cosine else self._scores(basis)

        def similarities(A: Any) -> np.ndarray:
            A = _as_grids(A, tuple(shape))
            out = np.empty((len(A), n_basis), dtype=np.float32)
            for _ in thread_map(lambda rows: fill(_as_float32(A[rows]), out[rows]), slices(len(A), scores.ROWS)):
                pass
            return out

        return similarities

    def alignment(self, x: Any, y: Any) -> Alignment:
        """Return how the sample x, one grid (h, w, d), and the exemplar y are best laid over each other.

        Of equally good displacements the smallest wins, and of equally small ones the first by (dy, dx).
        """
        still, mover = (x, y) if self._exemplar_moves() else (y, x)
        grids = _as_grids([still])
        x, y = (np.asarray(one[0], np.float64) for one in (grids, _as_grids([mover], grids.shape[1:])))
        h, w, d = x.shape
        rigid, local = self._displacements(h, w)
        dots = np.zeros((h * w, h * w + 1))  # the last column: what a cell meets outside the frame
        dots[:, :-1] = x.reshape(-1, d) @ y.reshape(-1, d).T
        cells = np.indices((h, w)).reshape(2, -1).T

        def terms(z_rigid: np.ndarray) -> np.ndarray:  # (cells, local)
            met = cells[:, None] + z_rigid + local.z
            inside = ((met >= 0) & (met < (h, w))).all(axis=-1)
            return np.take_along_axis(dots, np.where(inside, met @ [w, 1], -1), axis=1) + local.value

        totals = [value + terms(z).max(axis=1).sum() for z, value in zip(rigid.z, rigid.value, strict=True)]
        best = int(np.argmax(totals))
        chosen = terms(rigid.z[best])
        score = totals[best]
        if self.cosine:
            score *= float(np.prod([_inverse_root(self._self_scores(_as_float32(g[None]))) for g in (x, y)]))
        return Alignment(
            score=float(score),
            rigid=(int(rigid.z[best, 0]), int(rigid.z[best, 1])),
            local=local.z[chosen.argmax(axis=1)].reshape(h, w, 2),
            contribution=chosen.max(axis=1).reshape(h, w),
        )

    def show(self, x: Any, b: Any) -> Match:
        found, exemplar_moves = self.alignment(x, b), self._exemplar_moves()
        dy, dx = found.rigid
        h, w = found.contribution.shape
        return Match(
            moved("exemplar" if exemplar_moves else "sample", -dy, -dx),  # its cell at c + z comes to lie on c
            cells=found.contribution,
            moves=found.local + np.array(found.rigid),
            rigid=found.rigid,
            on="sample" if exemplar_moves else "exemplar",
            grid=(h, w),
        )

    def _scores(self, basis: np.ndarray) -> scores.Fill:
        """Choose the fastest way to compute the measure."""
        rigid, local = self._displacements(*basis.shape[1:3])
        if len(local.z) > 1 or local.value[0] != 0:
            return scores.deformable_scores(basis, rigid, local, self._exemplar_moves())
        if len(rigid.z) > 1 or rigid.value[0] != 0:
            return scores.rigid_scores(basis, rigid, self._exemplar_moves())
        return scores.linear_scores(basis)

    def _displacements(self, h: int, w: int) -> tuple[Displacements, Displacements]:
        """Return the rigid and the local displacements, each cut to where, helped by the other, cells still meet."""
        for name in (self.radius_of_rigid, "local"):
            if not is_whole(getattr(self, name), 0) or getattr(self, name) > scores.MOST_CELLS:
                raise ValueError(f"{name} must be a whole number of cells, 0 or more, got {shown(getattr(self, name))}")
        far, near = getattr(self, self.radius_of_rigid), self.local
        rigid, local = self._penalty("rigid_penalty", far), self._penalty("local_penalty", near)
        # Under weights, what leads farther than just outside of the frame costs more, and meets no more cells.
        helped = near if np.ndim(local) else 0
        reach = (h - 1 + helped, w - 1 + helped)
        moved = [far if np.ndim(rigid) else min(far, cells + 1) for cells in reach]
        return (
            scores.displacements(far, rigid, reach),
            scores.displacements(near, local, (h - 1 + moved[0], w - 1 + moved[1])),
        )

    def _penalty(self, name: str, radius: int) -> Penalty:
        given: Any = getattr(self, name)
        side = 2 * radius + 1
        try:
            table = np.asarray(given)
        except ValueError:  # lists of different lengths
            table = np.array(None)
        table = table.astype(np.float64) if table.dtype.kind in "fiub" else np.array(np.nan)
        if table.ndim == 0 and 0 <= table < np.inf:
            return float(table)
        if table.shape == (side, side) and np.isfinite(table).all():
            return table
        got = f"shape {table.shape}" if table.ndim else shown(given)
        raise ValueError(
            f"{name} must be a finite weight of at least 0 or a finite table of shape ({side}, {side}), got {got}"
        )

    def _exemplar_moves(self) -> bool:
        check_choice("moving", self.moving, ("exemplar", "sample"))
        return self.moving == "exemplar"

    def _cosine_scores(self, basis: np.ndarray) -> scores.Fill:
        fill = self._scores(basis)
        of_basis = _inverse_root(self._self_scores(basis))

        def fill_cosine(samples: np.ndarray, out: np.ndarray) -> None:
            fill(samples, out)
            out *= _inverse_root(self._self_scores(samples))[:, None]
            out *= of_basis

        return fill_cosine

    def _self_scores(self, grids: np.ndarray) -> np.ndarray:
        """Return s(x, x) of every grid."""

        def compare(A: np.ndarray, B: np.ndarray) -> np.ndarray:
            out = np.empty((len(A), len(B)), dtype=np.float32)
            self._scores(B)(A, out)
            return out

        return diagonal(compare, grids)


@register("rigid")
class Rigid(GridSimilarity):
    """The best match of two grids over translations of the whole grid (equation 11 of the paper).

    K_R(x, y) = max over z of R(z) + Σ_c φ(x, c)ᵀ φ(y, c + z), with z in {-radius, …, radius}² and φ(y, ·) zero outside
    the frame, for the sample x and the exemplar y.

    Parameters
    ----------
    radius : int, default=1
        The farthest translation, in cells, along either side.
    rigid_penalty : float or array of shape (2·radius + 1, 2·radius + 1), default=0.0
        A weight λ >= 0, for R(z) = -λ|z|², or the table of R itself: entry [radius + dy, radius + dx].
    cosine : bool, default=False
        Divide by √(s(x, x) s(y, y)); the similarity is 0 where one of the two is not positive.

    Examples
    --------
    >>> import numpy as np
    >>> from besvm.similarities import Rigid
    >>> x = np.zeros((1, 3, 3, 1))
    >>> x[0, 1, 1] = 2.0
    >>> moved = np.roll(x, 1, axis=2)
    >>> Rigid(radius=0)(moved, x), Rigid(radius=1)(moved, x), Rigid(radius=1, rigid_penalty=0.5)(moved, x)
    (array([[0.]], dtype=float32), array([[4.]], dtype=float32), array([[3.5]], dtype=float32))
    """

    radius_of_rigid = "radius"

    def __init__(self, radius: int = 1, *, rigid_penalty: Penalty = 0.0, cosine: bool = False) -> None:
        self.radius = radius
        self.rigid_penalty = rigid_penalty
        self.cosine = cosine

    @property
    def symmetric(self) -> bool:  # type: ignore[override]
        """Whether s(x, y) = s(y, x): always, unless a table has R(z) ≠ R(-z)."""
        table = np.asarray(self.rigid_penalty)
        return table.ndim == 0 or bool(np.array_equal(table, np.flip(table)))


@register("deformable")
class Deformable(GridSimilarity):
    """The best match of two grids whose cells may also move one by one (equation 12 of the paper).

    K_L(x, y) = max over z_R of R(z_R) + Σ_c max over z_L of R(z_L) + φ(x, c)ᵀ φ(y, c + z_R + z_L), with z_R in
    {-rigid, …, rigid}², z_L in {-local, …, local}² and φ(y, ·) zero outside the frame: a cell that meets nothing there
    gains R(z_L) + 0. Every cell of x picks its match among those of y, so K_L(x, y) ≠ K_L(y, x) as soon as local > 0.

    Parameters
    ----------
    rigid : int, default=0
        The farthest translation of the whole grid, in cells, along either side.
    local : int, default=1
        The farthest further translation of each cell.
    rigid_penalty, local_penalty : float or array, default=0.0
        R(z_R) and R(z_L), as in :class:`Rigid`: a weight, or a table of side 2·rigid + 1, or 2·local + 1.
    moving : {"exemplar", "sample"}, default="exemplar"
        Whose cells are picked from. "exemplar" lets every cell of the sample x find its match among the exemplar's,
        K_L(x, b); "sample" lets every cell of the exemplar find its match in the sample, K_L(b, x). The first is the
        more accurate on CIFAR-10.
    cosine : bool, default=False
        As in :class:`Rigid`.

    Examples
    --------
    >>> import numpy as np
    >>> from besvm.similarities import Deformable
    >>> x, y = np.zeros((2, 1, 3, 3, 1))
    >>> x[0, 1, 0], x[0, 1, 2] = 1.0, 2.0  # two cells with something in them,
    >>> y[0, 0, 0], y[0, 2, 2] = 1.0, 1.0  # which in y have moved apart
    >>> Deformable(rigid=1, local=0)(x, y), Deformable(rigid=0, local=1)(x, y)
    (array([[2.]], dtype=float32), array([[3.]], dtype=float32))
    """

    def __init__(
        self,
        rigid: int = 0,
        local: int = 1,
        *,
        rigid_penalty: Penalty = 0.0,
        local_penalty: Penalty = 0.0,
        moving: str = "exemplar",
        cosine: bool = False,
    ) -> None:
        self.rigid = rigid
        self.local = local
        self.rigid_penalty = rigid_penalty
        self.local_penalty = local_penalty
        self.moving = moving
        self.cosine = cosine


def _as_grids(items: Any, shape: tuple[int, ...] | None = None) -> np.ndarray:
    check_one_shape(items, "grids")
    A = np.asarray(items)
    if A.ndim != 4 or 0 in A.shape[1:] or A.dtype.kind not in "biuf":
        raise ValueError(
            "grids must be an array of real numbers of shape (items, height, width, descriptor), got "
            f"{A.dtype} of shape {A.shape}; add an axis to images of gray levels, X[..., None], or compute "
            "descriptors first (besvm.FHOG)"
        )
    if shape is not None and A.shape[1:] != shape:
        raise ValueError(
            f"grids must have shape {shape} (height, width, descriptor), as the exemplars do, "
            f"got {A.shape[1:]}; compute both with the same cell size and descriptor"
        )
    return A


def _as_float32(grids: np.ndarray) -> np.ndarray:
    """Return the grids in float32; the maxima behind could hide a NaN or an overflow, so there must be none."""
    with np.errstate(over="ignore"):
        grids = np.ascontiguousarray(grids, dtype=np.float32)
        squared = np.einsum("nijk,nijk->n", grids, grids)
    if not np.isfinite(squared).all():
        if np.isfinite(grids).all():
            largest = np.abs(grids).max()
            raise ValueError(f"grids must be small enough to square in float32, got {largest:g}; scale them down")
        raise ValueError("grids must hold finite float32 numbers, got NaN or infinity; remove or replace them")
    return grids


def _inverse_root(own: np.ndarray) -> np.ndarray:
    positive = own > 0
    return np.where(positive, 1 / np.sqrt(np.where(positive, own, 1)), 0).astype(np.float32)
