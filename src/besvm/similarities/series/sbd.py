"""Distances of series without warping: by shape, at the best shift, and time point by time point."""

from typing import Any, ClassVar, Self

import numpy as np

from besvm._support.kept import Kept
from besvm._support.parameters import check_choice, check_flag
from besvm._support.threads import slices, thread_map
from besvm.similarities.contract import register
from besvm.similarities.distance import Distances, DistanceSimilarity
from besvm.similarities.match import Match, moved
from besvm.similarities.series.items import Series, as_series, by_length, check_channels
from besvm.similarities.series.warping import CHANNELS, ROWS

TOGETHER = 64  # exemplars that a sample is correlated with at a time
SPECTRA = 1 << 26  # bytes of Fourier transforms of exemplars that are kept
CONSTANT = 1e-6  # of the largest value: a series that varies less is constant


@register("sbd")
class SBD(DistanceSimilarity):
    """Shape-based distance: one minus the best correlation of two series over all shifts, by Fourier transforms.

    A constant series has no shape: it is at distance 0 from another one, and at distance 1 from all others.

    Parameters
    ----------
    standardize : bool, default=True
        Center every channel and divide it by its standard deviation first.
    channels : {"independent", "dependent"}, default="independent"
        Each channel at its own best shift, and the mean of the distances, as in aeon; or all at the same shift.
    how : {"exponential", "gaussian", "inverse", "log", "negative"}, default="exponential"
        What makes a similarity of the distance; see :class:`FromDistance`.
    scale : float or "auto", default="auto"
        What the distance is divided by first; "auto" takes it from the training samples.

    Examples
    --------
    >>> import numpy as np
    >>> from besvm.similarities import SBD
    >>> bump, later = np.zeros((2, 20))
    >>> bump[5], later[9] = 1, 1
    >>> SBD(standardize=False, how="negative", scale=1)([bump], [5 * later, -later]).round(3)
    array([[-0., -1.]], dtype=float32)
    """

    kind: ClassVar[str] = "series"
    rows_per_block: ClassVar[int | None] = 1024

    def __init__(
        self,
        standardize: bool = True,
        *,
        channels: str = "independent",
        how: str = "exponential",
        scale: float | str = "auto",
    ) -> None:
        self.standardize = standardize
        self.channels = channels
        self.how = how
        self.scale = scale

    def fit(self, X: Any, sample_weight: Any = None) -> Self:
        return super().fit(as_series(X), sample_weight)

    def bytes_a_row(self, sample: int, n_exemplars: int) -> int:
        return 16 * sample + 8 * n_exemplars

    def distances_to(self, basis: Any) -> Distances:
        from scipy.fft import irfft, next_fast_len, rfft

        exemplars = self._prepared(basis)
        groups = [(group[part], m) for m, group in by_length(exemplars) for part in slices(len(group), TOGETHER)]
        flat = self._flat(exemplars)

        kept = Kept(SPECTRA)

        def spectra(number: int, size: int) -> np.ndarray:  # (exemplars, channels, frequencies)
            def make() -> tuple[np.ndarray]:
                return (rfft(np.stack([exemplars[k] for k in groups[number][0]]), size).conj(),)

            return kept.get((number, size), make)[0]

        def compare(A: Any) -> np.ndarray:
            samples = self._prepared(A)
            check_channels(samples, exemplars)
            out = np.empty((len(samples), len(exemplars)), dtype=np.float32)
            flat_samples = self._flat(samples)

            def work(rows: slice) -> None:
                for number, (columns, m) in enumerate(groups):  # what is made serves all rows, kept or not
                    for k in range(rows.start, rows.stop):
                        n = samples[k].shape[1]
                        size = next_fast_len(n + m - 1, real=True)
                        product = spectra(number, size) * rfft(samples[k], size)
                        if self.channels == "dependent":
                            product = product.sum(axis=1, keepdims=True)
                        shifted = irfft(product, size)  # shifts 0 to n - 1 first, and -1 to -(m - 1) from the end
                        best = shifted[..., :n].max(axis=-1)
                        if m > 1:
                            np.maximum(best, shifted[..., size - m + 1 :].max(axis=-1), out=best)
                        best[flat_samples[k] & flat[columns]] = 1
                        out[k, columns] = np.clip(1 - best, 0, 2).mean(axis=1)

            for _ in thread_map(work, slices(len(samples), ROWS)):
                pass
            return out

        return compare

    def show(self, x: Any, b: Any) -> Match:
        sample, exemplar = self._prepared([x, b])
        n, m = sample.shape[1], exemplar.shape[1]
        if len(sample) > 1 and self.channels == "independent":
            return Match("every channel is shifted by itself")
        at_shifts = sum(np.correlate(*channels, mode="full") for channels in zip(sample, exemplar, strict=True))
        shift = int(np.argmax(at_shifts)) - (m - 1)  # i of the sample lies on i - shift of the exemplar
        moments = np.arange(max(0, shift), min(n, m + shift))
        caption = moved("exemplar", 0, shift, "time point").replace("right", "later").replace("left", "earlier")
        return Match(caption, pairs=np.column_stack([moments, moments - shift]))

    def _prepared(self, X: Any) -> Series:
        """Return the series with channels (or, shifted together, the whole) of length 1; or 0, if that is constant."""
        check_flag("standardize", self.standardize)
        check_choice("channels", self.channels, CHANNELS)
        return [self._unit(one.astype(np.float64)) for one in as_series(X)]

    def _flat(self, series: Series) -> np.ndarray:
        """Say which channels are constant, (series, channels); or, shifted together, which series, (series, 1)."""
        flat = np.array([~one.any(axis=1) for one in series])
        return np.asarray(flat.all(axis=1, keepdims=True)) if self.channels == "dependent" and series else flat

    def _unit(self, x: np.ndarray) -> np.ndarray:
        if self.standardize:
            least = CONSTANT * np.abs(x).max(axis=1, keepdims=True)
            x = x - x.mean(axis=1, keepdims=True)
            deviation = x.std(axis=1, keepdims=True)
            x = np.where(deviation > least, x / np.where(deviation > least, deviation, 1), 0)
        axis = None if self.channels == "dependent" else 1
        length = np.sqrt(np.square(x).sum(axis=axis, keepdims=True))
        return np.asarray(x / np.where(length > 0, length, 1), dtype=np.float32)


@register("series-euclidean")
class SeriesEuclidean(DistanceSimilarity):
    """The Euclidean distance between series of equal length, time point by time point, over all channels.

    Parameters
    ----------
    how : {"exponential", "gaussian", "inverse", "log", "negative"}, default="exponential"
        What makes a similarity of the distance; see :class:`FromDistance`.
    scale : float or "auto", default="auto"
        What the distance is divided by first; "auto" takes it from the training samples.

    Examples
    --------
    >>> from besvm.similarities import SeriesEuclidean
    >>> SeriesEuclidean(how="negative", scale=1)([[1.0, 2.0, 3.0]], [[1.0, 6.0, 6.0]])
    array([[-5.]], dtype=float32)
    """

    kind: ClassVar[str] = "series"

    def __init__(self, *, how: str = "exponential", scale: float | str = "auto") -> None:
        self.how = how
        self.scale = scale

    def fit(self, X: Any, sample_weight: Any = None) -> Self:
        return super().fit(as_series(X), sample_weight)

    def bytes_a_row(self, sample: int, n_exemplars: int) -> int:
        return 4 * sample + 8 * n_exemplars

    def show(self, x: Any, b: Any) -> Match:
        n = as_series([x])[0].shape[1]
        return Match(pairs=np.column_stack([np.arange(n)] * 2))

    def distances_to(self, basis: Any) -> Distances:
        from besvm.similarities.series.kernels import euclidean

        exemplars = as_series(basis)
        _check_one_length(exemplars, exemplars)
        packed = np.stack(exemplars).reshape(len(exemplars), -1) if exemplars else np.empty((0, 1), np.float32)

        def compare(A: Any) -> np.ndarray:
            samples = as_series(A)
            check_channels(samples, exemplars)
            _check_one_length(samples, exemplars)
            out = np.empty((len(samples), len(exemplars)), dtype=np.float32)

            def work(rows: slice) -> None:
                euclidean(np.stack(samples[rows]).reshape(rows.stop - rows.start, -1), packed, out[rows])

            for _ in thread_map(work, slices(len(samples), 32 * ROWS) if exemplars else []):
                pass
            return out

        return compare


def _check_one_length(samples: Series, exemplars: Series) -> None:
    for number, one in enumerate(samples if exemplars else []):
        if one.shape[1] != exemplars[0].shape[1]:
            raise ValueError(
                "series must have the same length to be compared point by point, but an exemplar has "
                f"{exemplars[0].shape[1]} time points and series {number} has {one.shape[1]}; use 'dtw' for different "
                "lengths"
            )
