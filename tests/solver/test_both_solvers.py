"""What the solvers of both penalties must do: the same from every store and on every thread, honestly."""

import threading
import tracemalloc

import numpy as np
import pytest
from scipy.sparse import csr_matrix

from besvm._support.threads import workers
from besvm.blocks import MemoryBlocks
from besvm.blocks.stores import SparseBlocks
from besvm.solver.l1 import solve_l1
from besvm.solver.newton import solve
from besvm.solver.problem import Problem
from besvm.solver.result import Result
from stores import STORES, make, one_vs_rest
from variants import first_fast

both = pytest.mark.parametrize("solver", [solve, solve_l1])


@pytest.fixture(scope="module")
def large():
    """Of 24 MB, so that every store has several blocks of it; a tenth is not zero, and three classes overlap."""
    rng = np.random.default_rng(0)
    X = rng.normal(size=(3000, 1000)) * (rng.random((3000, 1000)) < 0.1)
    y = (X[:, :3] + 0.3 * rng.normal(size=(3000, 3))).argmax(axis=1)
    return X, y


def thread_names(blocks):
    return list(blocks.map(lambda rows, block: threading.current_thread().name))


@both
@pytest.mark.parametrize("store", first_fast(["disk", *(store for store in STORES if store != "disk")]))
def test_several_blocks_on_two_threads_give_the_serial_solution(large, solver, store, tmp_path):
    X, y = large
    with workers(1):
        expected = solver(MemoryBlocks(X), one_vs_rest(y), 0.1, tol=1e-6)
    assert expected.converged.all()
    with make(store, X, tmp_path) as blocks, workers(2):
        names = thread_names(blocks)
        got = solver(blocks, one_vs_rest(y), 0.1, tol=1e-6)
        again = solver(blocks, one_vs_rest(y), 0.1, tol=1e-6)
    assert len(names) > 2
    assert all(name.startswith("besvm") for name in names) or store == "recompute"  # which lets the similarity thread
    np.testing.assert_array_equal(got.coef, again.coef)  # whatever thread was first
    np.testing.assert_allclose(got.coef, expected.coef, atol=1e-8)
    np.testing.assert_allclose(got.intercept, expected.intercept, atol=1e-8)
    np.testing.assert_allclose(got.margins, X @ expected.coef + expected.intercept, atol=1e-6)
    assert got.n_passes == expected.n_passes


@both
@pytest.mark.parametrize("store", STORES)
def test_single_precision_from_every_store(problem_data, solver, store, tmp_path):
    X, y = problem_data
    expected = solver(MemoryBlocks(X), one_vs_rest(y), 1.0, tol=1e-6)
    with make(store, X.astype(np.float32), tmp_path) as blocks:
        got = solver(blocks, one_vs_rest(y), 1.0, tol=1e-5)
    assert got.converged.all()
    np.testing.assert_allclose(got.coef, expected.coef, atol=2e-3)


@both
def test_weights_are_repetitions_and_zero_is_absence(problem_data, rng, solver):
    X, y = problem_data
    counts = rng.integers(0, 4, len(y))
    again = np.repeat(np.arange(len(y)), counts)
    weighted = solver(MemoryBlocks(X), one_vs_rest(y, counts.astype(float)), 1.0, tol=1e-12)
    repeated = solver(MemoryBlocks(X[again]), one_vs_rest(y[again]), 1.0, tol=1e-12)
    np.testing.assert_allclose(weighted.coef, repeated.coef, atol=1e-6)
    np.testing.assert_allclose(weighted.intercept, repeated.intercept, atol=1e-6)


@both
def test_columns_that_leave_folds_out_equal_fits_without_them(problem_data, solver):
    X, y = problem_data
    fold = np.arange(len(y)) % 2
    problem = Problem(y, np.array([0, 0]), np.ones(len(y)), fold, np.array([0, 1]))
    got = solver(MemoryBlocks(X), problem, 1.0, tol=1e-12)
    for out in (0, 1):
        kept = fold != out
        alone = solver(MemoryBlocks(X[kept]), Problem(y[kept], np.array([0]), np.ones(kept.sum())), 1.0, tol=1e-12)
        np.testing.assert_allclose(got.coef[:, out], alone.coef[:, 0], atol=1e-5)


@both
def test_the_report_is_honest(problem_data, solver):
    X, y = problem_data
    lines = []
    stopped = solver(MemoryBlocks(X), one_vs_rest(y), 1.0, tol=1e-9, max_iter=1, report=lines.append)
    assert not stopped.converged.any()
    assert stopped.n_iter == 1
    assert (stopped.gap > 1e-9).all()
    assert lines[0] == "training: 0 of 3 problems solved, step 0"
    # float32 cannot do this: float64 takes over
    assert solver(MemoryBlocks(X.astype(np.float32)), one_vs_rest(y), 1.0, tol=1e-14).precise
    # nor can float64: it stops by itself and says so
    floor = solver(MemoryBlocks(X), one_vs_rest(y), 1.0, tol=1e-40)
    assert not floor.converged.all()
    assert floor.n_iter < 100


@both
@pytest.mark.parametrize("kind", ["zeros", "constant", "copies", "no weight"])
@pytest.mark.parametrize("dtype", [np.float32, np.float64])
def test_degenerate_features(kind, dtype, solver, rng):
    X = {
        "zeros": np.zeros((20, 3)),
        "constant": np.full((20, 100), 5.0),
        "copies": np.repeat(rng.normal(size=(20, 1)), 90, axis=1),
        "no weight": rng.normal(size=(20, 300)),
    }[kind].astype(dtype)
    y = np.array([0] * 15 + [1] * 5)
    got = solver(MemoryBlocks(X), one_vs_rest(y, np.full(20, float(kind != "no weight"))), 1.0)
    assert got.converged.all()
    assert np.isfinite(got.coef).all()
    if kind in ("zeros", "constant"):
        assert got.intercept[0] == pytest.approx(-0.5)  # (5 - 15) / 20
    if kind == "no weight":
        assert not got.coef.any()


@both
def test_results_are_joined_column_by_column(problem_data, solver):
    X, y = problem_data
    problem, blocks = one_vs_rest(y), MemoryBlocks(X)
    whole = solver(blocks, problem, 1.0, tol=1e-9)
    parts = [solver(blocks, problem.keep(np.array(columns)), 1.0, tol=1e-9) for columns in ([0], [1, 2])]
    joined = Result.joined(iter(parts), 3)
    for name in ("coef", "intercept", "objective", "margins"):
        np.testing.assert_allclose(getattr(joined, name), getattr(whole, name), atol=1e-5)
    assert joined.converged.shape == (3,)
    assert joined.n_passes == sum(part.n_passes for part in parts)


def objective(X, sign, C, weights, intercept, solver, coef, b):
    slack = np.maximum(0, 1 - sign * (X.astype(np.float64) @ coef + b))
    penalty = 0.5 * coef @ coef if solver is solve else np.abs(coef).sum()
    if intercept == "penalized":
        penalty += 0.5 * b * b if solver is solve else abs(b)
    return penalty + C * weights @ slack**2


def hostile(kind, rng):
    """Problems on which a small relative gradient says little: X, labels, C and weights."""
    X = rng.normal(size=(400, 30))
    weights, C = np.ones(400), 1.0
    if kind == "heavy rows":
        weights[:10] = 1e6
    elif kind == "large C":
        C = 1e5
    elif kind == "scales":
        X = X * np.geomspace(1, 1e4, 30)
    elif kind == "far from zero":
        X = X + 1e3
    elif kind == "tiny":
        X = X * 1e-13
    elif kind == "huge":
        X = X * 1e25
    score = (X - X.mean(axis=0)) @ (rng.normal(size=30) / X.std(axis=0))
    y = (score + rng.normal(size=400) > 0).astype(int)
    return X, y, C, weights


@both
@pytest.mark.parametrize(
    ("dtype", "intercept"),
    [
        (np.float32, "free"),
        *(pytest.param(np.float32, intercept, marks=pytest.mark.slow) for intercept in ("penalized", "none")),
        *(pytest.param(np.float64, intercept, marks=pytest.mark.slow) for intercept in ("free", "penalized", "none")),
    ],
)
@pytest.mark.parametrize("kind", ["heavy rows", "large C", "scales", "far from zero", "tiny", "huge"])
def test_what_has_converged_is_within_the_tolerance(kind, dtype, intercept, solver, rng):
    """Ten rows of weight 1e6 ended after one step, five times above the optimum, as converged."""
    X, y, C, weights = hostile(kind, rng)
    X = X.astype(dtype)
    got = solver(MemoryBlocks(X), one_vs_rest(y, weights), C, intercept=intercept, max_iter=300)
    best = solver(MemoryBlocks(X.astype(np.float64)), one_vs_rest(y, weights), C, intercept=intercept, tol=1e-8)
    exact = [objective(X, 2 * y - 1, C, weights, intercept, solver, r.coef[:, 0], r.intercept[0]) for r in (got, best)]
    assert np.isfinite(got.coef).all()
    if solver is solve and kind != "huge":
        assert got.converged.all()
    if got.converged.all():
        assert exact[0] <= exact[1] * (1 + 1.1e-3)
        assert got.objective[0] == pytest.approx(exact[0], rel=1e-3)


@both
def test_the_gap_is_a_bound_at_every_step(problem_data, solver):
    X, y = problem_data
    best = solver(MemoryBlocks(X), one_vs_rest(y), 10.0, tol=1e-12).objective
    for max_iter in range(1, 9):
        got = solver(MemoryBlocks(X), one_vs_rest(y), 10.0, max_iter=max_iter)
        assert (got.objective * (1 - got.gap) <= best * (1 + 1e-9)).all()


@both
@pytest.mark.parametrize("intercept", ["free", "penalized", "none"])
def test_sparse_features_give_the_dense_solution(solver, intercept, rng):
    X = csr_matrix(rng.random((400, 700)) * (rng.random((400, 700)) < 0.02))
    y = (np.asarray(X[:, :40].sum(axis=1)).ravel() > 0.3).astype(int)
    y[:60] = 2
    sparse, dense = (
        solver(blocks, one_vs_rest(y), 2.0, intercept=intercept, tol=1e-10)
        for blocks in (SparseBlocks(X), MemoryBlocks(X.toarray()))
    )
    assert sparse.converged.all()
    np.testing.assert_allclose(sparse.objective, dense.objective, rtol=1e-8)
    np.testing.assert_allclose(sparse.margins, X @ sparse.coef + sparse.intercept, atol=1e-8)
    np.testing.assert_allclose(sparse.coef, dense.coef, atol=2e-4)


def few_in_every_row(rng, n_rows, n_columns, each):
    """Return a sparse matrix; SciPy's own generator would shuffle all places there are."""
    X = csr_matrix(
        (rng.random(n_rows * each), rng.integers(0, n_columns, n_rows * each), np.arange(n_rows + 1) * each),
        shape=(n_rows, n_columns),
    )
    X.sum_duplicates()
    return X


def test_sparse_features_take_no_dense_matrix(rng):
    """A sketch of 10,000 columns took 43 s and a gigabyte."""
    X = few_in_every_row(rng, 2000, 100_000, 50)
    y = rng.integers(0, 2, 2000)
    tracemalloc.start()
    solve(SparseBlocks(X), one_vs_rest(y), 1.0)
    peak = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()
    assert peak < 20 * 8 * 100_000  # twenty columns


def test_many_classes_of_sparse_features_are_held_once(rng):
    """The coefficients of all groups of classes were kept until they were copied into one array."""
    X = few_in_every_row(rng, 500, 70_000, 35)
    y = rng.integers(0, 30, 500)
    tracemalloc.start()
    with workers(1):
        solve(SparseBlocks(X), one_vs_rest(y), 1.0, intercept="penalized", tol=0.1)
    peak = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()
    assert peak < (30 + 20) * 8 * 70_000  # their columns, and those of the class at work


@both
def test_float64_begins_anew_where_float32_went_astray(solver, rng):
    """A solution in float32 that is nowhere near kept float64 from finding one."""
    X = rng.normal(size=(60, 8)) * np.geomspace(1, 1e5, 8)
    y = (X @ (rng.normal(size=8) / np.geomspace(1, 1e5, 8)) > 0).astype(int)
    weights = 10.0 ** rng.uniform(-3, 6, 60)
    single, double = (
        solver(MemoryBlocks(X.astype(np.float32).astype(dtype)), one_vs_rest(y, weights), 10.0, max_iter=300)
        for dtype in (np.float32, np.float64)
    )
    assert single.objective[0] <= double.objective[0] * 1.01
