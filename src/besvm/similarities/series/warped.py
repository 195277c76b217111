"""Dynamic time warping, and two of its kin. Parameters, their defaults and the distances are aeon's."""

from collections.abc import Mapping
from typing import ClassVar

import numpy as np

from besvm.similarities.contract import register
from besvm.similarities.series import rules
from besvm.similarities.series.items import Series
from besvm.similarities.series.warping import Warping


@register("dtw")
class DTW(Warping):
    """Dynamic time warping: the smallest sum of squared differences over all ways to align the time points in order.

    Parameters
    ----------
    window : float or None, default=None
        How far from the diagonal time points may be paired, as a share of the length of the shorter series: a
        Sakoe-Chiba band. It runs from corner to corner where lengths differ, and joins these however narrow it is.
        None: anywhere.
    channels : {"dependent", "independent"}, default="dependent"
        Whether all channels are warped together, or each by itself and the distances added.
    how : {"exponential", "gaussian", "inverse", "log", "negative"}, default="exponential"
        What makes a similarity of the distance d; see :class:`FromDistance`.
    scale : float or "auto", default="auto"
        What d is divided by first; "auto" takes it from the training series.

    Examples
    --------
    >>> import numpy as np
    >>> from besvm.similarities import DTW
    >>> bump, later = np.zeros((2, 20))
    >>> bump[5], later[9] = 1, 1
    >>> series = np.array([bump, later])
    >>> DTW(how="negative", scale=1)(series, series) + 0
    array([[0., 0.], [0., 0.]], dtype=float32)
    >>> DTW(window=0.1, how="negative", scale=1)(series, series) + 0
    array([[ 0., -2.], [-2.,  0.]], dtype=float32)
    >>> DTW().path(bump, later)[8:11]  # time point 5 meets time point 9
    array([[ 4,  8], [ 5,  9], [ 6, 10]])
    """

    rule = rules.DTW

    def __init__(
        self,
        window: float | None = None,
        *,
        channels: str = "dependent",
        how: str = "exponential",
        scale: float | str = "auto",
    ) -> None:
        self.window = window
        self.channels = channels
        self.how = how
        self.scale = scale


@register("ddtw")
class DDTW(Warping):
    """Derivative DTW: dynamic time warping of the slopes.

    The slope at time point i is ((x_i - x_i-1) + (x_i+1 - x_i-1) / 2) / 2, so that a series needs three time points.
    The path tells the time points of the series themselves.

    Parameters
    ----------
    window : float or None, default=None
        As in :class:`DTW`; the band is that of the slopes, two fewer than time points.
    channels : {"dependent", "independent"}, default="dependent"
        Whether all channels are warped together, or each by itself and the distances added.
    how : {"exponential", "gaussian", "inverse", "log", "negative"}, default="exponential"
        What makes a similarity of the distance; see :class:`FromDistance`.
    scale : float or "auto", default="auto"
        What the distance is divided by first; "auto" takes it from the training samples.

    Examples
    --------
    >>> import numpy as np
    >>> from besvm.similarities import DDTW
    >>> ramp = np.arange(5.0)
    >>> DDTW(how="negative", scale=1)([ramp], [ramp + 7, 3 * ramp])
    array([[ -0., -12.]], dtype=float32)
    """

    rule = rules.DTW
    first_moment = 1

    def __init__(
        self,
        window: float | None = None,
        *,
        channels: str = "dependent",
        how: str = "exponential",
        scale: float | str = "auto",
    ) -> None:
        self.window = window
        self.channels = channels
        self.how = how
        self.scale = scale

    def compared(self, series: Series) -> Series:
        slopes = []
        for number, one in enumerate(series):
            if one.shape[1] < 3:
                raise ValueError(
                    f"series must have at least 3 time points to have slopes, but series {number} has {one.shape[1]}; "
                    "remove it, or use 'dtw'"
                )
            x = one.astype(np.float64)
            before, here, after = x[:, :-2], x[:, 1:-1], x[:, 2:]
            slopes.append(((here - before + (after - before) / 2) / 2).astype(np.float32))
        return slopes


@register("wdtw")
class WDTW(Warping):
    """Weighted DTW: a squared difference counts more, the farther apart the two time points are.

    The weight of a lag k is 1 / (1 + exp(-g (k - n / 2))), for n time points of the longer series.

    Parameters
    ----------
    window : float or None, default=None
        How far from the diagonal time points may be paired, as a share of the shorter length, as in :class:`DTW`; None:
        anywhere.
    g : float, default=0.05
        How steeply the weight grows with the lag; 0 weighs all alike.
    channels : {"dependent", "independent"}, default="dependent"
        Whether all channels are warped together, or each by itself and the distances added.
    how : {"exponential", "gaussian", "inverse", "log", "negative"}, default="exponential"
        What makes a similarity of the distance; see :class:`FromDistance`.
    scale : float or "auto", default="auto"
        What the distance is divided by first; "auto" takes it from the training samples.

    Examples
    --------
    >>> import numpy as np
    >>> from besvm.similarities import WDTW
    >>> series = np.array([[0.0, 1.0, 0.0, 0.0], [0.0, 0.0, 0.0, 2.0]])
    >>> WDTW(g=0, how="negative", scale=1)(series[:1], series[1:])  # half of DTW
    array([[-2.5]], dtype=float32)
    """

    rule = rules.WDTW
    one_length = True
    at_least: ClassVar[Mapping[str, float]] = {"g": 0}

    def __init__(
        self,
        window: float | None = None,
        g: float = 0.05,
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

    def lags(self, n: int, m: int) -> np.ndarray:
        from scipy.special import expit

        longer = max(n, m)
        return expit(self.g * (np.arange(longer) - longer / 2)).astype(np.float32)
