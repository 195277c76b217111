"""The preconditioner: as large as it pays, no larger than it may be, and found from a sample of the rows."""

import numpy as np
import pytest

from besvm._support.threads import one_blas_thread
from besvm.blocks import MemoryBlocks
from besvm.blocks.estimates import ROWS_EACH, first_rank, last_rank
from besvm.solver.design import Design
from besvm.solver.newton import solve, solve_path
from stores import one_vs_rest


@pytest.fixture(autouse=True)
def _as_in_a_fit():
    with one_blas_thread():
        yield


def falling(rng, n=6000, D=450, power=0.5, n_classes=3):
    """Features of length one whose spectrum falls slowly, and classes that they tell."""
    X = (rng.normal(size=(n, D)) * np.arange(1, D + 1) ** -power).astype(np.float32)
    X /= np.linalg.norm(X, axis=1).mean()
    margins = X @ rng.normal(size=(D, n_classes))
    return X, (margins / margins.std() + 0.3 * rng.normal(size=margins.shape)).argmax(axis=1)


@pytest.mark.parametrize("size", [5, 129, 1001, 2049, 48_601, 10**6])
def test_the_first_rank_is_paid_by_passes_and_never_above_the_last(size):
    ranks = [first_rank(n, size, 10) for n in (10, 10**4, 10**5, 10**6, 10**7)]
    assert ranks == sorted(ranks)
    assert 1 <= ranks[-1] <= last_rank(size) <= size
    assert 4 * ROWS_EACH * last_rank(size) * size <= max(2**30, 4 * ROWS_EACH * 2048**2)


def test_what_is_alike_outside_its_span_costs_no_passes(rng):
    """However large it is: a preconditioner of all directions took most of the time, and saved two passes."""
    X, y = falling(rng)
    result = solve(MemoryBlocks(X), one_vs_rest(y), 1e4)
    assert result.converged.all()
    assert result.preconditioner.rank == first_rank(*X.shape, 3)
    assert result.n_passes < 60


def test_it_grows_with_c_and_stays_below_what_it_may_be(rng):
    X, y = falling(rng, power=1.2)
    blocks, problem = MemoryBlocks(X), one_vs_rest(y)
    first = first_rank(*X.shape, 3)
    small, large = solve_path(blocks, problem, [1e-3, 1e4])
    assert small.preconditioner.rank == first < large.preconditioner.rank
    assert large.converged.all()
    held = solve(blocks, problem, 1e4, max_rank=first)
    assert held.preconditioner.rank == first
    assert large.n_passes < held.n_passes
    np.testing.assert_allclose(held.objective, large.objective, rtol=3e-3)


def test_a_sample_of_the_rows_does_as_well_as_all_of_them(rng):
    """Three times as many rows take no more passes, though the sample hardly grows."""
    passes = {}
    for n in (6000, 18_000):
        X, y = falling(rng, n, power=0.8)
        result = solve(MemoryBlocks(X), one_vs_rest(y), 10_000 / n)
        assert len(result.preconditioner.rows) < n
        passes[n] = result.n_passes
    assert passes[18_000] <= passes[6000] + 5


@pytest.mark.parametrize("dtype", [np.float32, np.float64])
@pytest.mark.parametrize("D", [300, 700])
def test_features_that_say_nothing(D, dtype):
    y = np.arange(200) % 3
    for X in (np.zeros((200, D)), np.full((200, D), 3.0), np.outer(np.arange(200) % 2, np.ones(D))):
        result = solve(MemoryBlocks(X.astype(dtype)), one_vs_rest(y), 1.0)
        assert result.converged.all()


@pytest.mark.parametrize(("D", "K"), [(3, 1), (1000, 10), (4000, 9), (70_000, 2)])
def test_products_in_pieces_are_those_of_the_whole(rng, D, K):
    X = rng.normal(size=(40 if D > 5000 else 700, D)).astype(np.float32)
    design = Design(MemoryBlocks(X).state(), "penalized")
    V = rng.normal(size=(D + 1, K))
    np.testing.assert_allclose(design.forward(V)(X), X @ V[:-1] + V[-1], rtol=0, atol=1e-6 * D)
