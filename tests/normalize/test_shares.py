"""The shares of the rows: those of equal weights take one number, and say the same."""

import cloudpickle
import numpy as np
import pytest

from besvm.blocks import MemoryBlocks
from besvm.blocks.state import LocalState
from besvm.normalize.affine import Shares, fit_mean_norm


@pytest.mark.parametrize("dtype", [np.float32, np.float64])
def test_equal_weights_are_one_number(dtype, rng):
    X = rng.normal(size=(200, 3)).astype(dtype)
    equal, none = Shares(MemoryBlocks(X), np.full(200, 7.0)), Shares(MemoryBlocks(X), None)
    assert equal.equal == none.equal
    assert (equal.whole() == none.whole()).all()
    assert equal.whole().shape == (200,)
    assert equal.whole().dtype == dtype
    almost = np.full(200, 7.0)
    almost[3] *= 1 + 1e-14
    assert Shares(MemoryBlocks(X), almost).equal is None
    np.testing.assert_allclose(Shares(MemoryBlocks(X), almost).whole(), equal.whole(), rtol=1e-6)
    groups = [slice(0, 2), slice(2, 3)]
    for one in (fit_mean_norm(MemoryBlocks(X), groups, weights) for weights in (None, np.full(200, 7.0), almost)):
        np.testing.assert_allclose(one.mean, X.mean(axis=0), rtol=1e-4, atol=1e-6)
        centered = X - X.mean(axis=0)
        wanted = [np.linalg.norm(centered[:, group], axis=1).mean() for group in groups]
        np.testing.assert_allclose(one.scale, [wanted[0], wanted[0], wanted[1]], rtol=1e-5)


def test_weights_are_shares_of_their_sum(rng):
    X, weights = rng.normal(size=(50_000, 2)), rng.random(50_000) * 1e300  # whose sum is no float
    shares = Shares(MemoryBlocks(X), weights)
    np.testing.assert_allclose(shares.whole(), weights / 1e300 / (weights / 1e300).sum(), rtol=1e-12)
    assert shares.total == pytest.approx(1)
    (mean,) = shares.sum(lambda own, block: (own @ block,))
    np.testing.assert_allclose(mean, shares.whole() @ X, rtol=1e-9)


def test_what_goes_to_the_rows_is_not_as_long_as_they_are(rng, monkeypatch):
    """On a cluster it is sent to the workers."""
    sent = []
    real = LocalState.sum

    def noted(self, fn, *args, **options):
        sent.append(len(cloudpickle.dumps(fn)))
        return real(self, fn, *args, **options)

    monkeypatch.setattr(LocalState, "sum", noted)
    for weights in (None, rng.random(100_000)):
        fit_mean_norm(MemoryBlocks(rng.normal(size=(100_000, 2))), [slice(0, 2)], weights)
    assert len(sent) >= 5
    assert max(sent) < 10_000


def test_a_single_row():
    assert Shares(MemoryBlocks(np.ones((1, 2), np.float32)), np.array([2.0])).whole().tolist() == [1.0]
