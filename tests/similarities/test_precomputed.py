"""Similarities that the user has already computed."""

from __future__ import annotations

import numpy as np

from besvm.similarities import Precomputed


def test_precomputed_picks_columns(rng):
    S = rng.normal(size=(5, 8))
    np.testing.assert_array_equal(Precomputed()(S, [1, 6]), S[:, [1, 6]])
