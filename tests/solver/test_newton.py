"""The solver with the squared norm: at the optimum, in few passes, along a path of C."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy.sparse import csc_matrix, csr_matrix
from sklearn.datasets import load_digits
from sklearn.svm import LinearSVC

import reference
from besvm.blocks import MemoryBlocks
from besvm.blocks.stores import SparseBlocks
from besvm.solver.newton import solve, solve_path
from besvm.solver.problem import Problem
from stores import one_vs_rest


@pytest.mark.parametrize("C", [1e-3, 1.0, 100.0])
def test_reaches_liblinears_objective(problem_data, C):
    X, y = problem_data
    ours = solve(MemoryBlocks(X), one_vs_rest(y), C, intercept="penalized", tol=1e-8)
    assert ours.converged.all()
    theirs = LinearSVC(C=C, tol=1e-10, max_iter=200_000, dual=False).fit(X, y)
    for k in range(3):
        sign = np.where(y == k, 1, -1)
        best = reference.objective(theirs.coef_[k], theirs.intercept_[k], X, sign, C, penalize_intercept=True)
        assert ours.objective[k] == pytest.approx(best, rel=1e-6)
        mine = reference.objective(ours.coef[:, k], ours.intercept[k], X, sign, C, penalize_intercept=True)
        assert mine == pytest.approx(ours.objective[k], rel=1e-9)
    np.testing.assert_allclose(ours.coef.T, theirs.coef_, atol=1e-4)


@given(st.integers(0, 10**6), st.sampled_from(["free", "penalized", "none"]))
@settings(max_examples=20)
def test_the_gradient_vanishes_at_the_solution(seed, intercept):
    rng = np.random.default_rng(seed)
    n, d = int(rng.integers(3, 30)), int(rng.integers(1, 40))
    X, y, weights = rng.normal(size=(n, d)), np.arange(n) % 2, rng.uniform(0.2, 3, n)
    C = float(10 ** rng.uniform(-3, 1))
    got = solve(MemoryBlocks(X), one_vs_rest(y, weights), C, intercept=intercept, tol=1e-10)
    slope = reference.gradient(
        got.coef[:, 0], got.intercept[0], X, 2 * y - 1, C, weights, penalize_intercept=intercept == "penalized"
    )
    if intercept == "none":
        assert got.intercept[0] == 0
        slope = slope[:-1]
    np.testing.assert_allclose(slope, 0, atol=1e-3 * max(1, C))  # differences across the edge of the margin are rough


def test_more_features_than_rows_and_a_real_sketch(rng):
    """300 features: more than the preconditioner keeps, and more than there are rows."""
    X = rng.normal(size=(120, 300)) * np.logspace(0, -2, 300)
    y = rng.integers(0, 3, 120)
    got = solve(MemoryBlocks(X), one_vs_rest(y), 10.0, intercept="penalized", tol=1e-9)
    assert got.converged.all()
    theirs = LinearSVC(C=10.0, tol=1e-10, max_iter=100_000).fit(X, y)
    for k in range(3):
        best = reference.objective(
            theirs.coef_[k], theirs.intercept_[k], X, np.where(y == k, 1, -1), 10.0, penalize_intercept=True
        )
        assert got.objective[k] == pytest.approx(best, rel=1e-5)


def test_few_passes_on_correlated_features(rng):
    """Features like BE-SVM's, with a spectrum over seven orders of magnitude: CG alone needs hundreds of passes."""
    basis = np.linalg.qr(rng.normal(size=(500, 500)))[0]
    X = (rng.normal(size=(3000, 500)) * np.logspace(1.5, -2, 500)) @ basis
    y = (X @ rng.normal(size=(500, 5)) + rng.normal(size=(3000, 5))).argmax(axis=1)
    got = solve(MemoryBlocks(X.astype(np.float32)), one_vs_rest(y), 1.0)
    assert got.converged.all()
    assert got.n_passes <= 80


@pytest.mark.slow
def test_twenty_thousand_features(rng):
    """A square matrix of this size would take 1.6 GB; the sketch takes a hundredth of it."""
    n, D = 3000, 20_000
    X = (rng.normal(size=(n, 300)) * np.logspace(0, -1.5, 300)).astype(np.float32) @ rng.normal(size=(300, D)).astype(
        np.float32
    )
    X += 0.05 * rng.standard_normal((n, D), dtype=np.float32)
    X /= np.linalg.norm(X, axis=1).mean()
    y = rng.integers(0, 4, n)
    got = solve(MemoryBlocks(X), one_vs_rest(y), 1.0)
    assert got.converged.all()
    assert got.n_passes <= 40
    assert got.preconditioner.vectors.nbytes + got.preconditioner.coordinates.nbytes < 4 * D * D / 50


def test_a_path_of_c_is_that_of_single_fits_in_fewer_passes(problem_data):
    X, y = problem_data
    Cs = [0.01, 0.1, 1.0, 10.0]
    path = solve_path(MemoryBlocks(X), one_vs_rest(y), Cs, tol=1e-7)
    alone = [solve(MemoryBlocks(X), one_vs_rest(y), C, tol=1e-7) for C in Cs]
    for step, single in zip(path, alone, strict=True):
        np.testing.assert_allclose(step.coef, single.coef, atol=1e-4)
    assert sum(r.n_passes for r in path) < sum(r.n_passes for r in alone)


def test_csr_is_never_made_dense(rng, monkeypatch):
    X = csr_matrix(rng.normal(size=(50, 300)) * (rng.random((50, 300)) < 0.2))
    y = np.arange(50) % 2
    expected = solve(MemoryBlocks(X.toarray()), one_vs_rest(y), 1.0, tol=1e-12)

    def refused(*args, **kwargs):
        raise AssertionError("a sparse matrix was made dense")

    for name in ("toarray", "todense"):
        monkeypatch.setattr(csr_matrix, name, refused)
        monkeypatch.setattr(csc_matrix, name, refused)
    got = solve(SparseBlocks(X), one_vs_rest(y), 1.0, tol=1e-12)
    np.testing.assert_allclose(got.coef, expected.coef, atol=1e-6)


@pytest.mark.parametrize("C", [0.1, 1.0, 100.0])
def test_large_unnormalized_features_in_single_precision(C):
    """Where 2C‖φ‖² is far beyond 1/ε, rounding must slow the solver down at most, not make it diverge."""
    rng = np.random.default_rng(0)
    rotation, _ = np.linalg.qr(rng.normal(size=(80, 80)))
    F = (rng.normal(size=(300, 80)) * np.geomspace(500, 5, 80)) @ rotation
    y = rng.integers(0, 5, size=300)
    problem = Problem(y, np.arange(5), np.ones(300))
    single = solve(MemoryBlocks(F.astype(np.float32)), problem, C, max_iter=500)
    double = solve(MemoryBlocks(F), problem, C, max_iter=500)
    assert np.isfinite(single.coef).all()
    assert double.converged.all()
    at_zero = C * 300 * (1 - np.abs(1 - 2 * np.bincount(y) / 300) ** 2)  # w = 0 with the best intercept
    np.testing.assert_allclose(single.objective, double.objective, atol=2e-3 * at_zero.max())


def test_few_steps_where_hardly_a_row_is_within_the_margin():
    """Digits as they are took 38 steps, from one set of rows to the next."""
    X, y = load_digits(return_X_y=True)
    result = solve(MemoryBlocks(X), one_vs_rest(y), 1.0)
    assert result.converged.all()
    assert result.n_iter <= 32
