"""Random numbers that follow from whole numbers alone: the same for a row whoever draws them, and in whatever order."""

import numpy as np

STEP = np.uint64(0x9E3779B97F4A7C15)  # of SplitMix64 (Steele, Lea and Flood 2014), as are the constants below


def uniform(numbers: np.ndarray, *more: np.ndarray | int) -> np.ndarray:
    """Return a number in [0, 1) for each whole number, or for each tuple of them.

    Examples
    --------
    >>> import numpy as np
    >>> uniform(np.array([1, 2, 1])).round(3)
    array([0.567, 0.591, 0.567])
    """
    state = _mixed(_as_bits(numbers))
    for others in more:
        state = _mixed(state ^ _as_bits(others))
    return (state >> np.uint64(11)).astype(np.float64) * 2.0**-53


def _as_bits(numbers: np.ndarray | int) -> np.ndarray:
    return np.asarray(numbers, np.int64).view(np.uint64)


def _mixed(state: np.ndarray) -> np.ndarray:
    with np.errstate(over="ignore"):
        state = state + STEP
        state = (state ^ (state >> np.uint64(30))) * np.uint64(0xBF58476D1CE4E5B9)
        state = (state ^ (state >> np.uint64(27))) * np.uint64(0x94D049BB133111EB)
    return np.asarray(state ^ (state >> np.uint64(31)))
