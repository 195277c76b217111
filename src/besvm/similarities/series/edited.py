"""Edit distances of series of numbers. Parameters, their defaults and the distances are aeon's."""

from collections.abc import Mapping
from typing import ClassVar

import numpy as np

from besvm.similarities.contract import register
from besvm.similarities.series import rules
from besvm.similarities.series.warping import Warping


@register("erp")
class ERP(Warping):
    """Edit distance with real penalty: a match costs the distance of two time points, a skip that from ``g``.

    As in aeon, to leave out the first time points of a series, before any is matched, costs as much as to leave out
    all.

    Parameters
    ----------
    window : float or None, default=None
        How far from the diagonal time points may be paired, as a share of the shorter length, as in :class:`DTW`; None:
        anywhere.
    g : float, default=0.0
        The value that a time point is compared with if it is left out, in every channel.
    channels : {"dependent", "independent"}, default="dependent"
        Whether all channels are warped together, by Euclidean distances, or each by itself and the distances added.
    how : {"exponential", "gaussian", "inverse", "log", "negative"}, default="exponential"
        What makes a similarity of the distance; see :class:`FromDistance`.
    scale : float or "auto", default="auto"
        What the distance is divided by first; "auto" takes it from the training samples.

    Examples
    --------
    >>> from besvm.similarities import ERP
    >>> ERP(how="negative", scale=1)([[1.0, 2.0, 3.0]], [[1.0, 2.0, 5.0]])
    array([[-2.]], dtype=float32)
    """

    rule = rules.ERP
    at_least: ClassVar[Mapping[str, float]] = {"g": -np.inf}

    def __init__(
        self,
        window: float | None = None,
        g: float = 0.0,
        *,
        channels: str = "dependent",
        how: str = "exponential",
        scale: float | str = "auto",
    ) -> None:
        self.window = window
        self.g = g
        self.channels = channels
        self.how = how
        self.scale = scale

    def gaps(self, values: np.ndarray) -> np.ndarray:
        return _lengths(values - self.g)

    def own(self, values: np.ndarray, gaps: np.ndarray) -> np.ndarray:
        return np.asarray(gaps.sum(axis=1))


@register("msm")
class MSM(Warping):
    """Move-split-merge: moving a value costs the change, and splitting or merging time points at least ``c``.

    Parameters
    ----------
    window : float or None, default=None
        How far from the diagonal time points may be paired, as a share of the shorter length, as in :class:`DTW`; None:
        anywhere.
    c : float, default=1.0
        What a split or a merge costs, at least.
    channels : {"independent", "dependent"}, default="independent"
        Each channel by itself, by absolute differences, and the distances added; or all together, as in aeon by squared
        distances.
    how : {"exponential", "gaussian", "inverse", "log", "negative"}, default="exponential"
        What makes a similarity of the distance; see :class:`FromDistance`.
    scale : float or "auto", default="auto"
        What the distance is divided by first; "auto" takes it from the training samples.

    Examples
    --------
    >>> from besvm.similarities import MSM
    >>> MSM(how="negative", scale=1)([[1.0, 2.0, 3.0]], [[1.0, 2.0, 5.0], [1.0, 2.0, 2.0]])
    array([[-2., -1.]], dtype=float32)
    """

    at_least: ClassVar[Mapping[str, float]] = {"c": 0}

    def __init__(
        self,
        window: float | None = None,
        c: float = 1.0,
        *,
        channels: str = "independent",
        how: str = "exponential",
        scale: float | str = "auto",
    ) -> None:
        self.window = window
        self.c = c
        self.channels = channels
        self.how = how
        self.scale = scale

    @property
    def rule(self) -> int:
        return rules.MSM if self.channels == "independent" else rules.MSM_SQUARED

    @property
    def constant(self) -> float:
        return self.c

    def gaps(self, values: np.ndarray) -> np.ndarray:
        return _lengths(np.diff(values, axis=1, prepend=0)) ** 2


@register("twe")
class TWE(Warping):
    """Time warp edit distance: matches and deletions cost the change in value and the time that they span.

    Parameters
    ----------
    window : float or None, default=None
        How far from the diagonal time points may be paired, as a share of the shorter length, as in :class:`DTW`; None:
        anywhere.
    nu : float, default=0.001
        What a unit of time costs, the stiffness.
    lmbda : float, default=1.0
        What a step in one series alone costs further.
    channels : {"dependent", "independent"}, default="dependent"
        Whether all channels are warped together, by Euclidean distances, or each by itself and the distances added.
    how : {"exponential", "gaussian", "inverse", "log", "negative"}, default="exponential"
        What makes a similarity of the distance; see :class:`FromDistance`.
    scale : float or "auto", default="auto"
        What the distance is divided by first; "auto" takes it from the training samples.

    Examples
    --------
    >>> from besvm.similarities import TWE
    >>> TWE(how="negative", scale=1)([[1.0, 2.0, 3.0]], [[1.0, 2.0, 3.0], [1.0, 2.0, 5.0]])
    array([[-0., -2.]], dtype=float32)
    """

    rule = rules.TWE
    at_least: ClassVar[Mapping[str, float]] = {"nu": 0, "lmbda": 0}

    def __init__(
        self,
        window: float | None = None,
        nu: float = 0.001,
        lmbda: float = 1.0,
        *,
        channels: str = "dependent",
        how: str = "exponential",
        scale: float | str = "auto",
    ) -> None:
        self.window = window
        self.nu = nu
        self.lmbda = lmbda
        self.channels = channels
        self.how = how
        self.scale = scale

    def gaps(self, values: np.ndarray) -> np.ndarray:
        return _lengths(np.diff(values, axis=1, prepend=0)) + self.nu + self.lmbda

    def lags(self, n: int, m: int) -> np.ndarray:
        return (2 * self.nu * np.arange(max(n, m))).astype(np.float32)


@register("lcss")
class LCSS(Warping):
    """Longest common subsequence: the share of the shorter series' time points without a match in the other.

    The path pairs the time points that are alike, and no others. Among series of very different lengths a short one
    finds all of its time points in a long one, and is near to it whatever it looks like; take another measure there.

    Parameters
    ----------
    window : float or None, default=None
        How far from the diagonal time points may be paired, as a share of the shorter length, as in :class:`DTW`; None:
        anywhere.
    epsilon : float, default=1.0
        How far apart values may be that are alike.
    channels : {"dependent", "independent"}, default="dependent"
        Whether all channels are warped together, by Euclidean distances, or each by itself and the distances added.
    how : {"exponential", "gaussian", "inverse", "log", "negative"}, default="exponential"
        What makes a similarity of the distance; see :class:`FromDistance`.
    scale : float or "auto", default="auto"
        What the distance is divided by first; "auto" takes it from the training samples.

    Examples
    --------
    >>> from besvm.similarities import LCSS
    >>> LCSS(epsilon=0.5, how="negative", scale=1)([[1.0, 9.0, 2.0, 3.0]], [[1.0, 2.0, 3.0, 5.0]])
    array([[-0.25]], dtype=float32)
    """

    rule = rules.LCSS
    at_least: ClassVar[Mapping[str, float]] = {"epsilon": 0}

    def __init__(
        self,
        window: float | None = None,
        epsilon: float = 1.0,
        *,
        channels: str = "dependent",
        how: str = "exponential",
        scale: float | str = "auto",
    ) -> None:
        self.window = window
        self.epsilon = epsilon
        self.channels = channels
        self.how = how
        self.scale = scale

    @property
    def constant(self) -> float:
        return self.epsilon

    def finish(self, ends: np.ndarray, n: int, lengths: np.ndarray) -> None:
        ends /= np.minimum(n, lengths).astype(np.float32)
        ends += 1


@register("edr")
class EDR(Warping):
    """Edit distance on real sequences: the share of time points, of the longer series, that must be changed or skipped.

    As in aeon, to leave out the first time points of a series, before any is matched, costs nothing. Among series of
    very different lengths it tells the lengths apart, and little else; take another measure there.

    Parameters
    ----------
    window : float or None, default=None
        How far from the diagonal time points may be paired, as a share of the shorter length, as in :class:`DTW`; None:
        anywhere.
    epsilon : float or None, default=None
        How far apart values may be that are alike; None: a quarter of the standard deviation of the series that varies
        more.
    channels : {"dependent", "independent"}, default="dependent"
        Whether all channels are warped together, by Euclidean distances, or each by itself and the distances added.
    how : {"exponential", "gaussian", "inverse", "log", "negative"}, default="exponential"
        What makes a similarity of the distance; see :class:`FromDistance`.
    scale : float or "auto", default="auto"
        What the distance is divided by first; "auto" takes it from the training samples.

    Examples
    --------
    >>> from besvm.similarities import EDR
    >>> EDR(epsilon=0.5, how="negative", scale=1)([[1.0, 9.0, 2.0, 3.0]], [[1.0, 2.0, 3.0, 5.0]])
    array([[-0.5]], dtype=float32)
    """

    rule = rules.EDR

    def __init__(
        self,
        window: float | None = None,
        epsilon: float | None = None,
        *,
        channels: str = "dependent",
        how: str = "exponential",
        scale: float | str = "auto",
    ) -> None:
        self.window = window
        self.epsilon = epsilon
        self.channels = channels
        self.how = how
        self.scale = scale

    @property
    def at_least(self) -> Mapping[str, float]:  # type: ignore[override]
        return {} if self.epsilon is None else {"epsilon": 0}

    def own(self, values: np.ndarray, gaps: np.ndarray) -> np.ndarray:
        if self.epsilon is not None:
            return np.full(len(values), float(self.epsilon))
        return np.asarray(values.std(axis=(1, 2)) / 4)

    def finish(self, ends: np.ndarray, n: int, lengths: np.ndarray) -> None:
        ends /= np.maximum(n, lengths).astype(np.float32)


def _lengths(vectors: np.ndarray) -> np.ndarray:
    """Return the Euclidean length of each vector, over the last axis."""
    return np.asarray(np.sqrt(np.square(vectors).sum(axis=-1)))
