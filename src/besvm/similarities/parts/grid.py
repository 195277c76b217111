"""Parts of grids: patches of images, and of grids of descriptors."""

from functools import cache
from itertools import pairwise
from typing import Any

import numpy as np
from numpy.lib.stride_tricks import sliding_window_view
from sklearn.utils.validation import check_is_fitted

from besvm._support.parameters import is_number, is_whole, shown
from besvm._support.rows import SETTLE_ROWS, evenly_spaced, n_rows
from besvm._support.threads import slices
from besvm.similarities.contract import register
from besvm.similarities.parts.contract import Pieces, VectorParts, Vectors, cut
from besvm.similarities.parts.pooling import PLACES

SETTLE_PIECES, SETTLE_VALUES = 20_000, 1 << 24  # that the whitening is learned from, and values of all of them
DRAWN_AT_ONCE = 1_000  # pieces: a copy of so many is made on the way
LEAST = 1e-4  # a whitened piece shorter than this is rounding: it is like nothing


@register("parts")
class Parts(VectorParts):
    """How well a patch of one image matches the best place of another, region by region.

    The exemplar b is a ``size`` x ``size`` piece of a training image, or of a grid of descriptors such as FHOG's;
    s_r(b, x) = max over the places z in region r of k(b, x_z), with ``regions`` x ``regions`` regions (equation 7
    of the paper, with the place as the latent variable). By default, pieces are compared as [1]_ does: contrast
    normalized, whitened, and by the cosine of the angle between them.

    Parameters
    ----------
    size : int, default=6
        The side of a piece, in pixels or cells.
    regions : int, default=3
        The places of a piece are cut into so many rows and columns of regions; every region gives a column.
    stride : int, default=1
        How far apart the places are.
    whiten : float or None, default=0.1
        What is added to the variances of the principal components when they are evened out; None leaves them.
    components : int or None, default=64
        How many principal components are compared, where pieces are whitened and have more values; None: all.
    contrast : float or None, default=1.5e-4
        A piece is centered and divided by the root of its variance and this; None leaves it as it is. Pixels are 0..1.
    pool : {"max", "mean"} or both, default="max"
        What is taken of all places of a region: the best; 2.5 √(mean of max(k - 0.1, 0)), which tells how much
        of the region is alike; or one column of each.
    mirror : bool, default=False
        Whether the exemplars may also be seen in the mirror: the better of the image and its mirror image, for every
        part and region.
    similarity : Similarity, name or None, default=None
        k, as a similarity of vectors; None is their cosine.

    Attributes
    ----------
    components_ : ndarray of shape (values, components)
        What turns a piece into the vector that is compared, after ``mean_`` is subtracted.
    mean_ : ndarray of shape (values,)

    References
    ----------
    .. [1] Coates, Lee, Ng. An Analysis of Single-Layer Networks in Unsupervised Feature Learning. AISTATS 2011.

    Examples
    --------
    >>> import numpy as np
    >>> from besvm.similarities import Parts
    >>> image = np.random.default_rng(0).random((1, 8, 8, 1))
    >>> parts = Parts(size=3, regions=1, whiten=None)
    >>> parts(image, image[:, 2:5, 4:7]).round(4)
    array([[1.]], dtype=float32)
    >>> parts.alignment(image[0], image[0, 2:5, 4:7]).place
    array([[2, 4]])
    """

    kind = "images"

    def __init__(
        self,
        size: int = 6,
        regions: int = 3,
        *,
        stride: int = 1,
        whiten: float | None = 0.1,
        components: int | None = 64,
        contrast: float | None = 1.5e-4,
        pool: Any = "max",
        mirror: bool = False,
        similarity: Any = None,
    ) -> None:
        self.size = size
        self.regions = regions
        self.stride = stride
        self.whiten = whiten
        self.components = components
        self.contrast = contrast
        self.pool = pool
        self.mirror = mirror
        self.similarity = similarity

    @property
    def label(self) -> str:
        return f"parts{self.size}"

    @property
    def settles(self) -> bool:
        return self.whiten is not None or self.similarity is not None

    def fit(self, X: Any) -> "Parts":
        """Learn the whitening from pieces of some of the grids, and settle ``similarity``, if it is given."""
        self._check()
        if not self.settles:
            return self
        grids = self.checked(evenly_spaced(X, SETTLE_ROWS))
        wanted = min(SETTLE_PIECES, max(1, SETTLE_VALUES // (int(self.size) ** 2 * np.shape(grids[0])[2])))
        some = evenly_spaced(grids, wanted)
        pieces = self.draw(some, -(-wanted // n_rows(some)), np.random.default_rng(0)).items
        if self.whiten is not None:
            self._learn_whitening(pieces)
        self._settle_inner(pieces)
        return self

    def _learn_whitening(self, pieces: np.ndarray) -> None:
        assert self.whiten is not None
        if self.mirror:
            pieces = np.concatenate([pieces, self._mirrored(pieces)])
        values = self._contrasted(pieces).astype(np.float64)
        self.mean_ = values.mean(axis=0).astype(np.float32)
        values -= self.mean_
        variances, directions = np.linalg.eigh(values.T @ values / len(values))
        kept = slice(None, None, -1) if self.components is None else slice(None, -1 - self.components, -1)
        scale = np.sqrt(np.maximum(variances[kept], 0) + self.whiten)
        self.components_ = np.ascontiguousarray(directions[:, kept] / scale, dtype=np.float32)

    def behind(self, features: Any) -> "Parts":
        if self.mirror and not hasattr(features, "mirror_order"):
            raise ValueError(
                "mirror=True works with the features of Pixels, CellColor and FHOG, got those of "
                f"{type(features).__name__}; use one of the three, or mirror=False"
            )
        self._order = getattr(features, "mirror_order", None)
        return self

    def draw(self, samples: Any, each: int, rng: np.random.Generator) -> Pieces:
        size = int(self.size)
        grids = self.checked(samples)
        n = n_rows(grids)
        numbers = np.repeat(np.arange(n), each)
        room = np.array([np.shape(grid)[:2] for grid in grids]).reshape(n, 2)[numbers] - size + 1
        places = (rng.random((len(numbers), 2)) * room).astype(np.intp)
        depth = np.shape(grids[0])[2] if n else 1
        items = np.empty((len(numbers), size, size, depth), dtype=np.float32)
        if isinstance(grids, np.ndarray):
            windows = sliding_window_view(grids, (size, size), axis=(1, 2))  # (n, y, x, values, size, size)
            for some in slices(len(numbers), DRAWN_AT_ONCE):
                items[some] = windows[numbers[some], *places[some].T].transpose(0, 2, 3, 1)
        else:
            for item, number, (y, x) in zip(items, numbers, places, strict=True):
                item[:] = grids[number][y : y + size, x : x + size]
        return Pieces(items, numbers, places)

    def as_vectors(self, pieces: Any) -> np.ndarray:
        return self.exemplar_vectors(self._as_pieces(pieces), None)

    def exemplar_vectors(self, pieces: np.ndarray, kind: Any, mirrored: bool = False) -> np.ndarray:
        return self._compared(self._contrasted(self._mirrored(pieces) if mirrored else pieces))

    def at_places(self, samples: Any, kind: Any) -> Vectors:
        from besvm.similarities.parts.kernels import unroll

        size = int(self.size)
        grids = samples if isinstance(samples, np.ndarray) else samples[0][None]
        places, regions = self._places_in(grids[0])
        values = np.empty((len(grids) * len(places), size * size * grids.shape[3]), dtype=np.float32)
        unroll(grids, size, places, self._softening, values)
        bounds = np.add.outer(len(places) * np.arange(len(grids)), regions).reshape(-1, 2)
        return Vectors(self._compared(values), bounds, places)

    def at_once(self, samples: Any) -> int:
        if not (isinstance(samples, np.ndarray) and len(samples)):
            return 1
        return max(1, PLACES // len(self._places_in(samples[0])[0]))

    def _places_in(self, grid: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        return _places(grid.shape[:2], int(self.size), int(self.stride), int(self.regions))

    def plot(self, x: Any, b: Any, ax: Any = None, **look: Any) -> Any:
        """Draw the grid x with a frame around the best place of the part b, dashed if that was in the mirror.

        Draws on ``ax``, by default on a new figure, and returns the axes; ``color=`` is that of the frame.
        """
        from besvm.similarities.parts.drawing import draw_in_grid

        (grid,) = self.checked([x])
        return draw_in_grid(grid, int(self.size), self.alignment(x, b), ax, **look)

    def extent(self, x: Any, b: Any) -> dict[str, Any]:
        height, width = np.shape(x)[:2]
        return {"size": (int(self.size), int(self.size)), "grid": (height, width)}

    def checked(self, samples: Any) -> Any:
        """Return the grids in float32, each at least as large as a piece; those of one size in one array."""
        self._check()
        numbers = range(n_rows(samples))
        if isinstance(samples, np.ndarray) and samples.dtype != object:
            if samples.ndim != 4:
                raise ValueError(
                    "grids must be an array of shape (items, height, width, values), or a list of arrays "
                    f"(height, width, values), got {samples.shape}; for images, use features=Pixels()"
                )
            grids: Any = np.ascontiguousarray(samples, dtype=np.float32)
            numbers = range(min(1, len(grids)))
        else:
            grids = [np.ascontiguousarray(sample, dtype=np.float32) for sample in samples]
        for number in numbers:
            self._check_grid(grids[number], number, grids[0])
        with np.errstate(over="ignore", invalid="ignore"):
            if isinstance(grids, np.ndarray):
                squares = np.einsum("nijk,nijk->n", grids, grids)
            else:
                squares = np.array([np.einsum("ijk,ijk->", grid, grid) for grid in grids])
        sound = np.isfinite(squares)
        if not sound.all():
            raise ValueError(
                f"grids must hold finite numbers that are small enough to square in float32, but grid {sound.argmin()} "
                "does not"
            )
        return grids

    def unrolled(self, sample: int) -> int:
        return 2 * sample * int(self.size) ** 2

    def opposite(self) -> np.ndarray:
        return np.arange(self.n_regions).reshape(self.regions, self.regions)[:, ::-1].ravel()

    @property
    def n_regions(self) -> int:
        return int(self.regions) ** 2

    def _check(self) -> None:
        for name in ("size", "regions", "stride"):
            if not is_whole(getattr(self, name), 1):
                raise ValueError(f"{name} must be a whole number of at least 1, got {shown(getattr(self, name))}")
        if self.components is not None and not is_whole(self.components, 1):
            raise ValueError(f"components must be None or a whole number of at least 1, got {shown(self.components)}")
        for name in ("whiten", "contrast"):
            value = getattr(self, name)
            if value is not None and not (is_number(value) and 0 < value < np.inf):
                raise ValueError(f"{name} must be None or a number above 0, got {shown(value)}")
        _ = self.pools

    def _check_grid(self, grid: np.ndarray, number: int, first: np.ndarray) -> None:
        if grid.ndim != 3 or grid.shape[2] != first.shape[2]:
            raise ValueError(
                "grids must have shape (height, width, values) with the same number of values, but grid 0 has "
                f"{first.shape} and grid {number} has {grid.shape}; make all images gray or all color first"
            )
        if min(grid.shape[:2]) < self.size:
            raise ValueError(
                f"parts of {self.size} x {self.size} must be no larger than the samples, but sample {number} is "
                f"{grid.shape[0]} x {grid.shape[1]}; use smaller parts"
            )
        places = [(side - self.size) // self.stride + 1 for side in grid.shape[:2]]
        if min(places) < self.regions:
            raise ValueError(
                f"there must be no more regions than places for a part, but parts of {self.size} x {self.size} have "
                f"{places[0]} x {places[1]} places in sample {number}, got {self.regions} x {self.regions} regions; "
                "use fewer regions or smaller parts"
            )

    def _as_pieces(self, basis: Any) -> np.ndarray:
        pieces = np.ascontiguousarray(basis, dtype=np.float32)
        if pieces.ndim != 4 or pieces.shape[1:3] != (self.size, self.size):
            raise ValueError(
                f"parts must be an array of shape (parts, {self.size}, {self.size}, values), got {pieces.shape}"
            )
        return pieces

    @property
    def _softening(self) -> np.float32:
        return np.float32(-1 if self.contrast is None else self.contrast)

    def _contrasted(self, pieces: np.ndarray) -> np.ndarray:
        """Return pieces as vectors (n, values), with their contrast normalized."""
        from besvm.similarities.parts.kernels import unroll

        out = np.empty((len(pieces), pieces[0].size if len(pieces) else 0), dtype=np.float32)
        if len(pieces):
            unroll(np.ascontiguousarray(pieces), int(self.size), np.zeros((1, 2), np.intp), self._softening, out)
        return out

    def _compared(self, values: np.ndarray) -> np.ndarray:
        """Return contrast-normalized pieces as they are compared: whitened and, for the cosine, of length 1."""
        from besvm.similarities.parts.kernels import to_unit

        shift = np.zeros(values.shape[1], np.float32)
        if self.whiten is not None:
            check_is_fitted(self, "components_")
            if values.shape[1] != len(self.mean_):
                raise ValueError(
                    f"pieces must have {len(self.mean_)} values like those used in fit, "
                    f"got {values.shape[1]}; make all images gray or all color first"
                )
            values, shift = np.dot(values, self.components_), self.mean_ @ self.components_
        if self.similarity is None:
            to_unit(values, shift, np.float32(LEAST))
        else:
            values -= shift
        return values

    def _mirrored(self, pieces: np.ndarray) -> np.ndarray:
        flipped = pieces[:, :, ::-1]
        order = getattr(self, "_order", None)
        return np.ascontiguousarray(flipped if order is None else flipped[..., order])


@cache
def _places(shape: tuple[int, int], size: int, stride: int, regions: int) -> tuple[np.ndarray, np.ndarray]:
    """Return where pieces begin, (places, 2), region by region, and from which to which each region has."""
    sides = []
    for side in shape:
        starts = np.arange(0, side - size + 1, stride)
        sides.append([starts[part] for part in cut(len(starts), regions)])
    each = [np.stack(np.meshgrid(ys, xs, indexing="ij"), -1).reshape(-1, 2) for ys in sides[0] for xs in sides[1]]
    ends = np.cumsum([0, *map(len, each)])
    return np.concatenate(each), np.array(list(pairwise(ends)))
