"""Rows of Dask collections, read without a cluster."""

import dask
import dask.array as da
import dask.bag as db
import numpy as np
import pytest

from besvm._support.row_source import Vectors
from besvm._support.sizes import large_one
from besvm.sources import DaskSource


@pytest.fixture(autouse=True)
def in_this_thread():
    with dask.config.set(scheduler="synchronous"):
        yield


@pytest.mark.parametrize("rows", [[0], [19, 3, 3, 7], [5, 6, 12], []], ids=str)
def test_rows_are_picked_in_any_order(rows):
    X = np.arange(40.0).reshape(20, 2)
    np.testing.assert_array_equal(DaskSource(da.from_array(X, chunks=(6, 1))).take(rows), X[rows])
    words = [f"word {k}" for k in range(20)]
    assert DaskSource(db.from_sequence(words, npartitions=3)).take(rows) == [words[row] for row in rows]


def test_a_large_item_is_found_in_one_go(monkeypatch):
    """Every item was asked for by itself: 25 ms each on a cluster, a minute in all."""
    source = DaskSource(db.from_sequence(["a"] * 500 + ["long" * 9] + ["b"] * 400, npartitions=4))
    calls = []
    monkeypatch.setattr(dask, "compute", lambda *parts, compute=dask.compute: calls.append(parts) or compute(*parts))
    assert large_one(source) == ["long" * 9]
    assert len(calls) == 2  # all that are looked at, and the one


def test_picked_vectors_are_checked_and_named():
    X = np.ones((20, 2))
    X[13, 1] = np.nan
    source = Vectors(DaskSource(da.from_array(X, chunks=(6, 2))), np.float32)
    assert source.take([1, 12]).dtype == np.float32
    with pytest.raises(ValueError, match="X must be finite, got nan in row 13"):
        source.take([2, 13])
