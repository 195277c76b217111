"""The compiled loop in vectors and its plain twin: the same scores, and the way out where the vectors fail."""

from __future__ import annotations

import warnings

import numpy as np
import pytest

from besvm.similarities import Deformable
from besvm.similarities.grid import plain_tile, simd_tile, tile
from variants import first_fast


@pytest.fixture(autouse=True)
def tried_anew():
    tile._simd_works.cache_clear()
    yield
    tile._simd_works.cache_clear()


@pytest.fixture
def grids(rng):
    return (rng.normal(size=(n, 5, 6, 31)).astype(np.float32) for n in (101, 130))  # no whole number of tiles


@pytest.mark.parametrize("moving", ["exemplar", "sample"])
@pytest.mark.parametrize(
    "parameters",
    first_fast(
        [
            {"rigid": 2, "local": 1},
            {"rigid": 1, "local": 1, "local_penalty": 0.5, "rigid_penalty": 1.0},
            {"rigid": 0, "local": 1},
            {"rigid": 1, "local": 2},
            {"rigid": 0, "local": 9},
            {"rigid": 0, "local": 1, "local_penalty": np.arange(9.0).reshape(3, 3)},
        ],
    ),
    ids=str,
)
def test_the_twins_give_the_same_scores(parameters, moving, grids, monkeypatch):
    A, B = grids
    vectors = Deformable(**parameters, moving=moving)(A, B)
    monkeypatch.setenv("BESVM_PLAIN_KERNELS", "1")
    np.testing.assert_allclose(Deformable(**parameters, moving=moving)(A, B), vectors, rtol=1e-5, atol=1e-4)


@pytest.mark.parametrize("penalized", [False, True])
def test_the_vectors_pass_their_trial_here(penalized):
    assert tile.tile_module(penalized) is simd_tile


def refused(*_):
    raise RuntimeError("no such instruction")


def wrong(*arguments):
    arguments[-1][:] = 1.0


@pytest.mark.parametrize(("broken", "reason"), [(refused, "no such instruction"), (wrong, "wrong numbers")])
def test_where_the_vectors_fail_the_plain_twin_stands_in(broken, reason, grids, monkeypatch):
    A, B = grids
    expected = Deformable(1, 1)(A, B)
    tile._simd_works.cache_clear()
    monkeypatch.setattr(simd_tile, "deformable_tile", broken)
    with pytest.warns(RuntimeWarning, match=f"{reason}.* plain numba is used instead. It gives the same scores"):
        got = Deformable(1, 1)(A, B)
    np.testing.assert_allclose(got, expected, rtol=1e-5, atol=1e-4)
    with warnings.catch_warnings(action="error"):  # once is enough
        Deformable(0, 1)(A, B)


def test_the_plain_twin_can_be_asked_for_without_a_trial(monkeypatch):
    monkeypatch.setenv("BESVM_PLAIN_KERNELS", "1")
    monkeypatch.setattr(simd_tile, "deformable_tile", refused)
    assert tile.tile_module(penalized=False) is plain_tile
