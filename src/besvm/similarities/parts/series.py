"""Parts of time series: pieces, maybe with gaps between their time points, found wherever they fit best."""

from collections.abc import Iterator
from typing import Any

import numpy as np
from sklearn.utils.validation import check_is_fitted

from besvm._support.parameters import is_number, is_whole, shown
from besvm._support.rows import evenly_spaced, n_rows
from besvm.similarities.contract import register
from besvm.similarities.parts.contract import Pieces, VectorParts, Vectors, cut
from besvm.similarities.parts.pooling import PLACES
from besvm.similarities.series.items import as_series

SETTLE_SERIES = 1000  # that the scale is settled on
STEPS = np.array([1, 2, 3, 4, 6, 8, 12, 16, 24, 32, 48, 64, 96, 128, 192, 256, 384, 512])  # few, to share the work
SOFTENING = 0.005  # half a squared distance: nearer than this, pieces are alike
CONSTANT = 1e-5  # of the scale of the series: a piece that varies less is constant


@register("series-parts")
class SeriesParts(VectorParts):
    """How well a piece of one time series matches the best place of another.

    The exemplar b is ``length`` time points of a training series, ``dilation`` apart; s(b, x) = max over all places z
    of k(b, x_z) (equation 7 of the paper, with the place as the latent variable), with k(b, w) = -log(d² / 2 + 0.005).
    Of z-normalized pieces, d² / 2 is one minus the correlation; of others, half the squared distance of the pieces in
    units of the standard deviation of the series, per value. The series may have several channels, which move
    together, and different lengths.

    Parameters
    ----------
    length : int, default=11
        How many time points a piece has.
    regions : int, default=1
        The places of a piece are cut into so many regions, one after the other; every region gives a column.
    normalized : float, default=0.8
        The share of pieces that are z-normalized, channel by channel, as is every place that they are compared with.
    max_dilation : int or None, default=None
        The farthest that time points of a piece may lie apart; None: as far as the series that it is cut from allows.
        The dilations are drawn evenly on a logarithmic scale. A series that is too short for such a piece, though not
        for ``length`` time points side by side, is continued by its last value.
    pool : {"max", "mean"} or both, default=("max", "mean")
        What is taken of all places: the best; √(mean of max(0.9 - d² / 2, 0)), which tells how often the piece occurs;
        or a column of each.
    similarity : Similarity, name or None, default=None
        Another k, of the (normalized or scaled) pieces as vectors.

    Attributes
    ----------
    scale_ : float
        The standard deviation of the training series.

    Examples
    --------
    >>> import numpy as np
    >>> from besvm.similarities import SeriesParts
    >>> series = np.random.default_rng(0).normal(size=(2, 50))
    >>> parts = SeriesParts(length=5).fit(series)
    >>> pieces = parts.draw(series[:1], 3, np.random.default_rng(0))
    >>> parts(series, pieces.items)[0, ::2].round(1)  # -log(0.005), where the pieces come from
    array([5.3, 5.3, 5.3], dtype=float32)
    """

    kind = "series"

    def __init__(
        self,
        length: int = 11,
        regions: int = 1,
        *,
        normalized: float = 0.8,
        max_dilation: int | None = None,
        pool: Any = ("max", "mean"),
        similarity: Any = None,
    ) -> None:
        self.length = length
        self.regions = regions
        self.normalized = normalized
        self.max_dilation = max_dilation
        self.pool = pool
        self.similarity = similarity

    def fit(self, X: Any) -> "SeriesParts":
        """Settle the scale of the series."""
        series = self.checked(X)
        some = evenly_spaced(series, SETTLE_SERIES)
        values = np.concatenate([(one - one.mean(axis=1, keepdims=True)).ravel() for one in some])
        self.scale_ = float(np.sqrt(np.mean(values.astype(np.float64) ** 2))) or 1.0
        if self.similarity is not None:
            self._settle_inner(self.draw(some, 10, np.random.default_rng(0)).items)
        return self

    def draw(self, samples: Any, each: int, rng: np.random.Generator) -> Pieces:
        check_is_fitted(self, "scale_")
        series = self.checked(samples)
        numbers = np.repeat(np.arange(n_rows(series)), each)
        widest = (np.array([one.shape[1] for one in series])[numbers] - 1) // (self.length - 1)
        widest = widest if self.max_dilation is None else np.minimum(widest, self.max_dilation)
        wanted = np.exp(rng.random(len(numbers)) * np.log(widest + 1))  # evenly on a logarithmic scale
        steps = STEPS[np.searchsorted(STEPS, wanted, side="right") - 1]
        items = np.empty(len(numbers), dtype=self._dtype(series[0].shape[0] if len(series) else 1))
        items["dilation"] = steps
        items["normalized"] = rng.random(len(numbers)) < self.normalized
        where = rng.random(len(numbers))
        places = np.empty((len(numbers), 1), dtype=np.intp)
        for item, place, number, start in zip(items, places, numbers, where, strict=True):
            one, step = series[number], int(item["dilation"])
            place[0] = int(start * (one.shape[1] - (self.length - 1) * step))
            item["values"] = one[:, place[0] : place[0] + (self.length - 1) * step + 1 : step]
        return Pieces(items, numbers, places)

    def as_vectors(self, pieces: Any) -> np.ndarray:
        pieces = self._as_pieces(pieces)
        return self._compared(_flat(pieces), (1, True)) if len(pieces) else np.empty((0, 1), np.float32)

    def exemplar_vectors(self, pieces: np.ndarray, kind: tuple[int, bool], mirrored: bool = False) -> np.ndarray:
        values = self._compared(_flat(pieces), kind)
        if kind[1] or self.similarity is not None:
            return values
        ones = np.ones((len(values), 1), np.float32)
        return np.hstack([values, ones, 1 - _half_squares(values)])

    def kinds(self, pieces: np.ndarray) -> Iterator[tuple[tuple[int, bool], np.ndarray]]:
        names = pieces[["dilation", "normalized"]]
        for kind in np.unique(names):
            yield (int(kind["dilation"]), bool(kind["normalized"])), np.flatnonzero(names == kind)

    def at_places(self, samples: list[np.ndarray], kind: tuple[int, bool]) -> Vectors:
        from besvm.similarities.parts.kernels import windows

        step, normalized = kind
        series = np.stack(samples)
        n, n_channels, span = *series.shape[:2], (self.length - 1) * step
        missing = span + int(self.regions) - series.shape[2]
        if missing > 0:
            series = np.pad(series, ((0, 0), (0, 0), (0, missing)), mode="edge")
        n_places = series.shape[2] - span
        augmented = not normalized and self.similarity is None
        values = np.empty((n * n_places, n_channels * self.length + 2 * augmented), dtype=np.float32)
        windows(series, int(self.length), step, *self._scaling(normalized, n_channels), values)
        regions = [(part.start, part.stop) for part in cut(n_places, int(self.regions))]
        bounds = np.add.outer(n_places * np.arange(n), regions).reshape(-1, 2)
        return Vectors(values, bounds, np.arange(n_places)[:, None])

    def at_once(self, samples: list[np.ndarray]) -> int:
        if not samples or any(one.shape != samples[0].shape for one in samples):
            return 1
        return max(1, PLACES // samples[0].shape[1])

    def finish(self, best: np.ndarray) -> None:
        if self.similarity is None:
            best[:] = -np.log(np.maximum(1 - best, 0) + SOFTENING)

    def plot(self, x: Any, b: Any, ax: Any = None) -> Any:
        """Draw the series x, and over it the part b where it fits best; on ``ax``, or on a new figure.

        Returns the axes.
        """
        from besvm.similarities.parts.drawing import draw_in_series

        (series,) = self.checked([x])
        piece = self._as_pieces(np.asarray(b)[None])[0]
        step, normalized = int(piece["dilation"]), bool(piece["normalized"])
        return draw_in_series(series, piece["values"], step, normalized, self.alignment(x, b), ax)

    def extent(self, x: Any, b: Any) -> dict[str, Any]:
        (piece,) = self._as_pieces(np.asarray(b)[None])
        return {"size": (int(self.length),), "step": int(piece["dilation"])}

    def checked(self, samples: Any) -> Any:
        """Return the series as a list of float32 arrays (channels, moments), each as long as a piece at least."""
        self._check()
        series = as_series(samples)
        for number, one in enumerate(series):
            if one.shape[1] < self.length:
                raise ValueError(
                    f"parts of {self.length} time points must be no longer than the series, but series {number} has "
                    f"{one.shape[1]}; use shorter parts"
                )
        return series

    def unrolled(self, sample: int) -> int:
        return 2 * sample * int(self.length)

    @property
    def n_regions(self) -> int:
        return int(self.regions)

    def _check(self) -> None:
        for name, least in (("length", 2), ("regions", 1)):
            if not is_whole(getattr(self, name), least):
                raise ValueError(f"{name} must be a whole number of at least {least}, got {shown(getattr(self, name))}")
        if self.max_dilation is not None and not is_whole(self.max_dilation, 1):
            raise ValueError(
                f"max_dilation must be None or a whole number of at least 1, got {shown(self.max_dilation)}"
            )
        if not (is_number(self.normalized) and 0 <= self.normalized <= 1):
            raise ValueError(f"normalized must be a share between 0 and 1, got {shown(self.normalized)}")
        _ = self.pools

    def _dtype(self, n_channels: int) -> np.dtype[Any]:
        values = ("values", np.float32, (n_channels, int(self.length)))
        return np.dtype([values, ("dilation", np.int32), ("normalized", np.bool_)])

    def _as_pieces(self, basis: Any) -> np.ndarray:
        pieces = np.asarray(basis)
        plain = pieces.dtype.names is None  # as they are drawn by default, without gaps
        values = np.asarray(pieces if plain else pieces["values"], np.float32)
        values = values[:, None] if values.ndim == 2 else values
        if values.ndim != 3 or values.shape[2] != self.length:
            raise ValueError(
                f"parts must be an array (parts, {self.length}) or (parts, channels, {self.length}), "
                f"got {(pieces if plain else pieces['values']).shape}"
            )
        if plain:
            pieces = np.empty(len(values), self._dtype(values.shape[1]))
            pieces["values"], pieces["dilation"], pieces["normalized"] = values, 1, self.normalized > 0
        wrong = (pieces["dilation"] < 1) | (pieces["dilation"] > STEPS[-1])
        if wrong.any():  # compiled code would read outside of the series
            raise ValueError(
                f"the dilation of a part must be from 1 to {STEPS[-1]}, got {pieces['dilation'][wrong][0]}"
            )
        return pieces

    def _scaling(self, normalized: bool, n_channels: int) -> tuple[bool, np.float32, np.float32]:
        check_is_fitted(self, "scale_")
        factor = 1 / (self.scale_ * np.sqrt(n_channels * self.length))
        return normalized, np.float32(factor), np.float32(CONSTANT * self.scale_)

    def _compared(self, values: np.ndarray, kind: tuple[int, bool]) -> np.ndarray:
        """Return pieces (n, channels, length) as the vectors that are compared."""
        from besvm.similarities.parts.kernels import windows

        n, n_channels, length = values.shape
        out = np.empty((n, n_channels * length), dtype=np.float32)
        scaling = self._scaling(kind[1], n_channels)
        windows(np.ascontiguousarray(values), length, 1, *scaling, out)
        return out


def _flat(pieces: np.ndarray) -> np.ndarray:
    return np.ascontiguousarray(pieces["values"], dtype=np.float32)


def _half_squares(values: np.ndarray) -> np.ndarray:
    return np.asarray(np.einsum("ij,ij->i", values, values)[:, None] / 2)
