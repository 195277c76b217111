"""The shares of the rows: those of equal weights take one number, and say the same."""

import pickle

import numpy as np
import pytest

from besvm.blocks import MemoryBlocks
from besvm.normalize.affine import Shares, fit_mean_norm


@pytest.mark.parametrize("dtype", [np.float32, np.float64])
def test_equal_weights_are_one_number(dtype, rng):
    X = rng.normal(size=(200, 3)).astype(dtype)
    equal, none = Shares.of(np.full(200, 7.0), 200, dtype), Shares.of(None, 200, dtype)
    assert len(pickle.dumps(equal)) < 500
    assert (equal[slice(20, 50)] == none[slice(20, 50)]).all()
    assert equal[slice(20, 50)].shape == (30,)
    assert equal[slice(20, 50)].dtype == dtype
    almost = np.full(200, 7.0)
    almost[3] *= 1 + 1e-14
    assert len(Shares.of(almost, 200, dtype).values) == 200
    groups = [slice(0, 2), slice(2, 3)]
    for one in (fit_mean_norm(MemoryBlocks(X), groups, weights) for weights in (None, np.full(200, 7.0), almost)):
        np.testing.assert_allclose(one.mean, X.mean(axis=0), rtol=1e-4, atol=1e-6)
        centered = X - X.mean(axis=0)
        wanted = [np.linalg.norm(centered[:, group], axis=1).mean() for group in groups]
        np.testing.assert_allclose(one.scale, [wanted[0], wanted[0], wanted[1]], rtol=1e-5)


def test_a_single_row():
    assert Shares.of(np.array([2.0]), 1, np.float32)[slice(0, 1)].tolist() == [1.0]
