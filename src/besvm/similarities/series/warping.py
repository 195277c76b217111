"""What every warping measure does: series side by side, the band, and the path."""

from abc import abstractmethod
from collections.abc import Mapping
from typing import Any, ClassVar, NamedTuple, Self

import numpy as np

from besvm._support.kept import Kept
from besvm._support.parameters import check_choice, is_number, shown
from besvm._support.threads import slices, thread_map
from besvm.similarities.distance import Distances, DistanceSimilarity
from besvm.similarities.match import Match
from besvm.similarities.series.items import Series, as_series, by_length, check_channels
from besvm.similarities.series.rules import MSM_SQUARED, Pack, Samples

ROWS = 8  # samples that a thread takes at a time
CHANNELS = ("dependent", "independent")
_bands = Kept(1 << 24)  # for series of the same lengths, as most are


class Packed(NamedTuple):
    """Exemplars side by side, and which they are."""

    pack: Pack
    columns: np.ndarray


class Warping(DistanceSimilarity):
    """Abstract: a distance of series by the cheapest path that pairs their time points, in float32 and on all threads.

    A subclass says which rule of the compiled dynamic programme it follows, and what that has to be given.
    """

    kind: ClassVar[str] = "series"
    rows_per_block: ClassVar[int | None] = 256  # so that progress moves, and an interrupt is quick
    at_least: ClassVar[Mapping[str, float]] = {}  # its other parameters, and the least that each may be
    first_moment: ClassVar[int] = 0  # of the series, that is compared
    one_length: ClassVar[bool] = False  # whether a lag counts otherwise in series of another length
    window: float | None
    channels: str

    @property
    @abstractmethod
    def rule(self) -> int:
        """The rule of the dynamic programme."""

    def fit(self, X: Any, sample_weight: Any = None) -> Self:
        return super().fit(as_series(X), sample_weight)

    def bytes_a_row(self, sample: int, n_exemplars: int) -> int:
        return 4 * sample + 8 * n_exemplars

    def distances_to(self, basis: Any) -> Distances:
        from besvm.similarities.series.kernels import distances

        exemplars = self._prepared(basis)
        packed = [self._packed(view) for view in self._views(exemplars)]
        constant = np.float32(self.constant)

        def compare(A: Any) -> np.ndarray:
            samples = self._prepared(A)
            check_channels(samples, exemplars)
            out = np.zeros((len(samples), len(exemplars)), dtype=np.float32)

            def work(rows: slice) -> None:
                for n, numbers in by_length(samples[rows]):
                    several = [samples[rows][k] for k in numbers]
                    for view, packs in zip(self._views(several), packed, strict=True):
                        ready = self._samples(np.stack(view))
                        fill = distances(self.rule, self._of_vectors(view))
                        for pack, columns in packs:
                            ends = self._ends(fill, ready, pack, constant)[:, : len(columns)]
                            self.finish(ends, n, pack.lengths[: len(columns)])
                            out[rows][np.ix_(numbers, columns)] += ends

            for _ in thread_map(work, slices(len(samples), ROWS) if exemplars else []):
                pass
            return out

        return compare

    def path(self, a: Any, b: Any) -> np.ndarray:
        """Return the pairs of time points that the cheapest path matches, (k, 2): one of ``a``, and one of ``b``."""
        from besvm.similarities.series.kernels import backtrack, distances

        series = self._prepared([a, b])
        if len(self._views(series)) > 1:
            raise ValueError(
                f"there is no single path, because channels='independent' gives each of the {len(series[0])} channels "
                "its own; pass one channel, or use channels='dependent'"
            )
        x, (y,) = self._samples(series[0][None]), self._packed(series[1:], lanes=1)
        several, constant = self._of_vectors(series), np.float32(self.constant)
        n, m = (one.shape[1] for one in series)
        table = np.empty((n + 1, m + 1, 1), dtype=np.float32)
        crossed = np.empty_like(table) if several else np.empty((n + 1, 1, 1), dtype=np.float32)
        lags, out = self.lags(n, m), np.empty((1, 1), dtype=np.float32)
        distances(self.rule, several, 1)(x, y.pack, *band(n, m, self.window), lags, constant, table, crossed, out)
        path = np.empty((n + m, 2), dtype=np.int64)
        start = backtrack(self.rule, several)(x, y.pack, lags, constant, table, crossed, path)
        return path[start:] + self.first_moment

    def show(self, x: Any, b: Any) -> Match:
        if len(self._views(self._prepared([x]))) > 1:
            return Match("every channel is warped by itself")
        return Match(pairs=self.path(x, b))

    @property
    def constant(self) -> float:
        """What the rule takes for all time points alike."""
        return 0.0

    def compared(self, series: Series) -> Series:
        """Return what is compared of the series."""
        return series

    def gaps(self, values: np.ndarray) -> np.ndarray:
        """Return what it costs to move on to each value alone, (k, n + 1), of values (k, n + 1, channels)."""
        return np.zeros(values.shape[:2])

    def own(self, values: np.ndarray, gaps: np.ndarray) -> np.ndarray:
        """Return the number that the rule takes of each series, (k,)."""
        return np.zeros(len(values))

    def lags(self, n: int, m: int) -> np.ndarray:
        """Return what the rule takes of |i - j|, for series of n and m time points."""
        return np.zeros(1, dtype=np.float32)

    def finish(self, ends: np.ndarray, n: int, lengths: np.ndarray) -> None:
        """Make distances of the ends of paths, (samples of n time points, exemplars of ``lengths``), in place."""

    def _prepared(self, X: Any) -> Series:
        """Return series as they are compared; the parameters are checked."""
        if self.window is not None and not (is_number(self.window) and 0 <= self.window <= 1):
            raise ValueError(
                f"window must be None or a share of the length between 0 and 1, got {shown(self.window)}; for w of n "
                "time points, use w / n"
            )
        check_choice("channels", self.channels, CHANNELS)
        for name, least in self.at_least.items():
            value = getattr(self, name)
            if not (is_number(value) and value >= least):
                rule = f"a number of at least {least:g}" if np.isfinite(least) else "a finite number"
                raise ValueError(f"{name} must be {rule}, got {shown(value)}")
        return self.compared(as_series(X))

    def _views(self, series: Series) -> list[Series]:
        """Return the series as they are compared one after the other: whole, or channel by channel."""
        if self.channels == "dependent" or not series:
            return [series]
        return [[one[channel : channel + 1] for one in series] for channel in range(len(series[0]))]

    def _of_vectors(self, view: Series) -> bool:
        return len(view[0]) > 1 or self.rule == MSM_SQUARED

    def _samples(self, series: np.ndarray) -> Samples:
        """Return series of one length, (k, channels, n), as the dynamic programme takes them."""
        k, n_channels, n = series.shape
        values = np.zeros((k, n + 1, n_channels), dtype=np.float32)
        values[:, 1:] = series.transpose(0, 2, 1)
        exact = values.astype(np.float64)
        gaps = self.gaps(exact)
        own = self.own(exact[:, 1:], gaps[:, 1:])
        return Samples(values, gaps.astype(np.float32), own.astype(np.float32))

    def _packed(self, exemplars: Series, lanes: int | None = None) -> list[Packed]:
        """Return exemplars side by side; those in a pack have one length where the band, or a lag, depends on it."""
        from besvm.similarities.series.kernels import LANES

        lanes = lanes or LANES
        groups = [group for _, group in by_length(exemplars)]
        if groups and self.window is None and not self.one_length:
            groups = [np.concatenate(groups)]
        together = [group[part] for group in groups for part in slices(len(group), lanes)]
        return [Packed(self._pack([exemplars[k] for k in group], lanes), group) for group in together]

    def _pack(self, series: Series, lanes: int) -> Pack:
        longest = max(one.shape[1] for one in series)
        values = np.zeros((len(series[0]), longest + 1, lanes), dtype=np.float32)
        gaps = np.zeros((longest + 1, lanes), dtype=np.float32)
        own, lengths = np.zeros(lanes, dtype=np.float32), np.ones(lanes, dtype=np.int64)
        for lane, one in enumerate(series):
            ready, n = self._samples(one[None]), one.shape[1]
            values[:, : n + 1, lane] = ready.values[0].T
            gaps[: n + 1, lane], own[lane], lengths[lane] = ready.gaps[0], ready.own[0], n
        return Pack(values, gaps, own, lengths)

    def _ends(self, fill: Any, samples: Samples, pack: Pack, constant: np.float32) -> np.ndarray:
        """Return D at the end of all paths, (samples, lanes)."""
        k, n, _ = samples.values.shape
        _, m, lanes = pack.values.shape
        table = np.empty((2, m, lanes), dtype=np.float32)
        crossed = np.empty_like(table)
        out = np.empty((k, lanes), dtype=np.float32)
        fill(samples, pack, *band(n - 1, m - 1, self.window), self.lags(n - 1, m - 1), constant, table, crossed, out)
        return out


def band(n: int, m: int, window: float | None) -> tuple[np.ndarray, np.ndarray]:
    """Return the first and the last column, counted from 1, that a path may visit in each row.

    A Sakoe-Chiba band around the diagonal from one corner to the other, as wide to either side as a share ``window``
    of the shorter series, measured along that: as in aeon. It joins the corners, however narrow it is.
    """
    first, last = _bands.get((n, m, window), lambda: _band(n, m, window))
    return first, last


def _band(n: int, m: int, window: float | None) -> tuple[np.ndarray, np.ndarray]:
    if window is None or window == 1:
        return np.ones(n, dtype=np.int64), np.full(n, m, dtype=np.int64)
    reach = int(window * min(n, m))
    steps = max(n, m) + 1  # along the diagonal
    # rounded in this order, as aeon's compiled code does: where a step ends between two rows, both would be right
    row, column = (np.floor(np.arange(steps) * (1 / steps * size)).astype(np.int64) for size in (n, m))
    rows = np.arange(n)
    if n <= m:
        first = column[np.searchsorted(row, rows - reach, side="left")]
        last = column[np.searchsorted(row, rows + reach, side="right") - 1]
    else:
        first = np.maximum(column[np.searchsorted(row, rows, side="left")] - reach, 0)
        last = np.minimum(column[np.searchsorted(row, rows, side="right") - 1] + reach, m - 1)
    return first + 1, last + 1
