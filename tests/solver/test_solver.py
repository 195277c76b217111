from threading import current_thread

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy.sparse import csr_matrix
from sklearn.svm import LinearSVC

import reference
from besvm._support.threads import workers
from besvm.blocks import MemoryBlocks, stores
from besvm.solver.newton import solve, solve_path
from besvm.solver.problem import Problem
from stores import STORES, make, one_vs_rest


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


@pytest.mark.parametrize("intercept", ["free", "penalized", "none"])
def test_the_gradient_vanishes_at_the_solution(problem_data, intercept, rng):
    X, y = problem_data
    X, y = X[:80, :6], y[:80]
    weights = rng.uniform(0.2, 3, len(y))
    got = solve(MemoryBlocks(X), one_vs_rest(y, weights), 0.7, intercept=intercept, tol=1e-10)
    for k in range(3):
        sign = np.where(y == k, 1, -1)
        slope = reference.gradient(got.coef[:, k], got.intercept[k], X, sign, 0.7, weights, intercept == "penalized")
        if intercept == "none":
            assert got.intercept[k] == 0
            slope = slope[:-1]
        np.testing.assert_allclose(slope, 0, atol=1e-4)


@given(st.integers(0, 10**6))
@settings(max_examples=20, deadline=None)
def test_no_random_step_improves_on_the_solution(seed):
    rng = np.random.default_rng(seed)
    n, d = int(rng.integers(3, 30)), int(rng.integers(1, 40))
    X, y = rng.normal(size=(n, d)), np.arange(n) % 2
    C = float(10 ** rng.uniform(-3, 2))
    got = solve(MemoryBlocks(X), one_vs_rest(y), C, tol=1e-9)
    w, b, sign = got.coef[:, 0], got.intercept[0], 2 * y - 1
    best = reference.objective(w, b, X, sign, C)
    for scale in (1e-3, 1e-2, 0.1):
        there = reference.objective(w + scale * rng.normal(size=d), b + scale * rng.normal(), X, sign, C)
        assert there >= best * (1 - 1e-9)


@pytest.mark.parametrize("store", STORES)
@pytest.mark.parametrize("dtype", [np.float32, np.float64])
def test_the_same_solution_from_every_store(problem_data, store, dtype, tmp_path):
    X, y = problem_data
    X = X.astype(dtype)
    expected = solve(MemoryBlocks(X), one_vs_rest(y), 1.0, tol=1e-6)
    with make(store, X, tmp_path) as blocks:
        got = solve(blocks, one_vs_rest(y), 1.0, tol=1e-6)
    np.testing.assert_allclose(got.coef, expected.coef, atol=2e-4 if dtype == np.float32 else 1e-6)
    np.testing.assert_allclose(got.margins, X @ got.coef + got.intercept, atol=1e-4)


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


def test_weights_are_repetitions_and_zero_is_absence(problem_data, rng):
    X, y = problem_data
    counts = rng.integers(0, 4, len(y))
    weighted = solve(MemoryBlocks(X), one_vs_rest(y, counts.astype(float)), 1.0, tol=1e-9)
    repeated = solve(MemoryBlocks(np.repeat(X, counts, axis=0)), one_vs_rest(np.repeat(y, counts)), 1.0, tol=1e-9)
    np.testing.assert_allclose(weighted.coef, repeated.coef, atol=1e-6)
    np.testing.assert_allclose(weighted.intercept, repeated.intercept, atol=1e-6)


def test_columns_that_leave_folds_out_equal_fits_without_them(problem_data):
    X, y = problem_data
    fold = np.arange(len(y)) % 2
    both = Problem(y, np.array([0, 0]), np.ones(len(y)), fold, np.array([0, 1]))
    got = solve(MemoryBlocks(X), both, 1.0, tol=1e-9)
    for out in (0, 1):
        kept = fold != out
        alone = solve(MemoryBlocks(X[kept]), Problem(y[kept], np.array([0]), np.ones(kept.sum())), 1.0, tol=1e-9)
        np.testing.assert_allclose(got.coef[:, out], alone.coef[:, 0], atol=1e-5)


def test_a_path_of_c_is_that_of_single_fits_in_fewer_passes(problem_data):
    X, y = problem_data
    Cs = [0.01, 0.1, 1.0, 10.0]
    path = solve_path(MemoryBlocks(X), one_vs_rest(y), Cs, tol=1e-7)
    alone = [solve(MemoryBlocks(X), one_vs_rest(y), C, tol=1e-7) for C in Cs]
    for step, single in zip(path, alone, strict=True):
        np.testing.assert_allclose(step.coef, single.coef, atol=1e-4)
    assert sum(r.n_passes for r in path) < sum(r.n_passes for r in alone)


@pytest.mark.parametrize("store", STORES)
def test_threads_do_not_change_the_result(problem_data, store, tmp_path, monkeypatch):
    """Several blocks, so that several threads have something to do; sums are added in row order all the same."""
    for name in ("CACHE_BYTES", "COARSE_BYTES", "DISK_BYTES"):
        monkeypatch.setattr(stores, name, 1 << 14)
    X, y = problem_data
    results, used = [], set()
    with make(store, X, tmp_path) as blocks:
        assert len(list(blocks.map(lambda rows, block: rows))) > 4
        for n in (1, 2, 1):
            with workers(n):
                results.append(solve(blocks, one_vs_rest(y), 1.0).coef)
                used |= set(blocks.map(lambda rows, block: current_thread().name))
    assert np.array_equal(results[0], results[2])
    np.testing.assert_allclose(results[1], results[0], rtol=1e-10, atol=1e-12)
    if store != "recompute":  # whose blocks come one after the other, each computed on all threads
        assert any(name.startswith("besvm") for name in used)


def test_the_report_is_honest(problem_data):
    X, y = problem_data
    lines = []
    stopped = solve(MemoryBlocks(X), one_vs_rest(y), 1.0, tol=1e-9, max_iter=1, report=lines.append)
    assert not stopped.converged.any()
    assert stopped.n_iter == 1
    assert (stopped.gradient_norm > 1e-9).all()
    assert lines[0].startswith("step 0: 3 of 3 columns")
    # float32 cannot do this: it stops by itself and says so
    floor = solve(MemoryBlocks(X.astype(np.float32)), one_vs_rest(y), 1.0, tol=1e-14)
    assert not floor.converged.all()
    assert floor.n_iter < 100


@pytest.mark.parametrize("kind", ["zeros", "constant", "copies"])
def test_degenerate_features(kind, rng):
    X = {
        "zeros": np.zeros((20, 3)),
        "constant": np.full((20, 100), 5.0),
        "copies": np.repeat(rng.normal(size=(20, 1)), 90, axis=1),
    }[kind]
    y = np.array([0] * 15 + [1] * 5)
    got = solve(MemoryBlocks(X), one_vs_rest(y), 1.0)
    assert got.converged.all()
    assert np.isfinite(got.coef).all()
    if kind != "copies":
        assert got.intercept[0] == pytest.approx(-0.5)  # (5 - 15) / 20


def test_csr_is_never_made_dense(rng, monkeypatch):
    X = csr_matrix(rng.normal(size=(50, 30)) * (rng.random((50, 30)) < 0.2))
    y = np.arange(50) % 2
    dense = solve(MemoryBlocks(X.toarray()), one_vs_rest(y), 1.0, tol=1e-8)
    for name in ("toarray", "todense"):
        monkeypatch.setattr(csr_matrix, name, None)
    np.testing.assert_allclose(solve(MemoryBlocks(X), one_vs_rest(y), 1.0, tol=1e-8).coef, dense.coef, atol=1e-6)


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
