"""What the compiled dynamic programme is given: the numbers of the step rules, and series side by side."""

from typing import NamedTuple

import numpy as np

DTW, WDTW, ERP, MSM, MSM_SQUARED, TWE, LCSS, EDR = range(8)


class Samples(NamedTuple):
    """Series of one length, one after the other, each with a zero in front.

    The gaps are what it costs to move on to a value alone, where that does not depend on the other series (ERP, TWE,
    and, before the constant, MSM of vectors); ``own`` is a number of each series (the sum of its gaps in ERP, its
    tolerance in EDR).
    """

    values: np.ndarray  # (k, n + 1, channels)
    gaps: np.ndarray  # (k, n + 1)
    own: np.ndarray  # (k,)


class Pack(NamedTuple):
    """The same of exemplars, side by side; shorter ones are filled up with zeros, which nothing before them sees."""

    values: np.ndarray  # (channels, m + 1, lanes)
    gaps: np.ndarray  # (m + 1, lanes)
    own: np.ndarray  # (lanes,)
    lengths: np.ndarray  # (lanes,)
