"""Time series as they come, in any of the usual layouts, as a list of arrays."""

from typing import Any, NoReturn

import numpy as np

from besvm._support.parameters import is_number, shown
from besvm._support.rows import n_rows, whole_series

NUMBERS = "biuf"
LARGEST = 1e15  # so that squared differences can be added up in float32

Series = list[np.ndarray]  # (channels, moments) each


def as_series(X: Any) -> Series:
    """Return series as float32 arrays (channels, moments), C-contiguous, all with as many channels.

    ``X`` may be an array (series, moments) or (series, channels, moments), a list of arrays (moments,) or
    (channels, moments), a pandas Series of arrays, a data frame whose cells are series (each column is a channel) or
    whose rows are, or one with an index of two levels, series and moment. What is no sound series is refused by its
    number.
    """
    X = whole_series(X)
    X = _unmasked(X.to_numpy() if hasattr(X, "iloc") else X)
    if isinstance(X, np.ndarray) and X.dtype.kind in NUMBERS and X.ndim in (2, 3) and X.size:
        return _from_array(X)
    n_rows(X)  # which refuses what has no rows
    if isinstance(X, np.ndarray) and X.ndim == 2 and X.dtype.kind == "O":
        series = [_from_cells(cells, number) for number, cells in enumerate(X)]
    else:
        series = [_one(item, number) for number, item in enumerate(X)]
    for number, one in enumerate(series):
        if len(one) != len(series[0]):
            raise ValueError(
                f"series must have the same number of channels, but series 0 has {len(series[0])} and series {number} "
                f"has {len(one)}; an array of one series has shape (time points,) or (channels, time points)"
            )
    return series


def _from_array(X: np.ndarray) -> list[np.ndarray]:
    whole = X if X.ndim == 3 else X[:, None]
    sound = _sound(whole)
    if not sound.all():
        number = int((~sound.all(axis=(1, 2))).argmax())
        _refuse_values(whole[number], sound[number], number)
    return list(np.ascontiguousarray(whole, dtype=np.float32))


def _from_cells(cells: np.ndarray, number: int) -> np.ndarray:
    """Return the series whose channels, or else whose values, are the cells of a row."""
    if all(np.ndim(cell) == 0 for cell in cells):
        return _one(cells, number)
    channels = [_one(cell, number) for cell in cells]
    if len({one.shape[1] for one in channels}) > 1:
        lengths = " and ".join(str(one.shape[1]) for one in channels)
        raise ValueError(f"the channels of a series must be equally long, but those of series {number} have {lengths}")
    return np.concatenate(channels)


def _one(item: Any, number: int) -> np.ndarray:
    if getattr(item, "ndim", 0) == 2 and hasattr(item, "iloc"):
        item = item.to_numpy().T  # a frame of one series has its moments below each other
    try:
        values = np.asarray(_unmasked(item))
    except ValueError:
        raise ValueError(
            f"the channels of a series must be equally long, but those of series {number} are not"
        ) from None
    if values.dtype.kind == "O":
        values = _from_objects(values, number)
    if values.dtype.kind not in NUMBERS or values.ndim not in (1, 2):
        got = shown(item) if values.ndim == 0 or values.dtype.kind not in NUMBERS else f"shape {values.shape}"
        raise ValueError(
            f"a series must be an array of numbers, (time points,) or (channels, time points), but series {number} is "
            f"{got}"
        )
    if values.size == 0:
        raise ValueError(f"series must not be empty, but series {number} is; remove it")
    values = np.atleast_2d(values)
    sound = _sound(values)
    if not sound.all():
        _refuse_values(values, sound, number)
    return np.ascontiguousarray(values, dtype=np.float32)


def _unmasked(X: Any) -> Any:
    """Return a masked array as one with NaN in the places that are masked."""
    return X.astype(np.float64).filled(np.nan) if np.ma.is_masked(X) else X


def _sound(values: np.ndarray) -> np.ndarray:
    """Say which numbers are finite and not too large."""
    with np.errstate(invalid="ignore"):
        return np.asarray((values >= -LARGEST) & (values <= LARGEST))


def _from_objects(values: np.ndarray, number: int) -> np.ndarray:
    for value in values.ravel():
        if not (is_number(value) or isinstance(value, (float, np.floating, bool, np.bool_))):
            raise ValueError(
                f"series must hold numbers, but series {number} has {shown(value)}; fill it in, or remove the series"
            )
    return values.astype(np.float64)


def _refuse_values(values: np.ndarray, sound: np.ndarray, number: int) -> NoReturn:
    channel, moment = (int(place) for place in np.argwhere(~sound)[0])
    value = values[channel, moment]
    where = f"at time point {moment}" + (f" of channel {channel}" if len(values) > 1 else "")
    if np.isfinite(value):
        raise ValueError(
            f"series must hold numbers small enough to square in float32, but series {number} has {value:g} {where}; "
            "scale them down"
        )
    raise ValueError(
        f"series must hold finite numbers, but series {number} has {value} {where}; fill in missing values"
    )


def by_length(series: Series) -> list[tuple[int, np.ndarray]]:
    """Return each length that occurs, from the shortest on, and which series have it."""
    lengths = np.array([one.shape[1] for one in series], dtype=np.int64)
    return [(int(length), np.flatnonzero(lengths == length)) for length in np.unique(lengths)]


def check_channels(samples: Series, exemplars: Series) -> None:
    """Refuse samples that have not as many channels as the exemplars."""
    if samples and exemplars and len(samples[0]) != len(exemplars[0]):
        raise ValueError(
            f"series must have as many channels as the exemplars, {len(exemplars[0])}, got {len(samples[0])}"
        )
