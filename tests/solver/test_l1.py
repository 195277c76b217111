"""The solver with the L1 penalty: at the optimum, with a gap that bounds the distance to it, in the memory given."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from sklearn.svm import LinearSVC

import reference
from besvm.blocks import MemoryBlocks
from besvm.solver.l1 import solve_l1
from besvm.solver.l1_model import FIRST_SET
from stores import one_vs_rest
from variants import first_fast

INTERCEPTS = ["free", "penalized", "none"]


def violations(got, X, y, C, weights=None, intercept="free"):
    """How far every column is from optimal, in float64, and relative to w = 0."""
    X = X.astype(np.float64)
    columns = range(got.coef.shape[1])
    signs = [np.where(y == (1 if len(columns) == 1 else k), 1, -1) for k in columns]
    zero = np.zeros(X.shape[1])
    return [
        np.linalg.norm(reference.l1_violation(got.coef[:, k], got.intercept[k], X, signs[k], C, weights, intercept))
        / max(1, np.linalg.norm(reference.l1_violation(zero, 0.0, X, signs[k], C, weights, intercept)))
        for k in columns
    ]


@pytest.mark.parametrize("C", [0.05, 1.0, 10.0])
@pytest.mark.parametrize("dtype", first_fast([np.float32, np.float64]))
def test_reaches_liblinears_objective(problem_data, C, dtype):
    X, y = problem_data
    X = X - 2.9  # far from the origin LIBLINEAR takes minutes
    got = solve_l1(MemoryBlocks(X.astype(dtype)), one_vs_rest(y), C, intercept="penalized")
    assert got.converged.all()
    theirs = LinearSVC(C=C, penalty="l1", dual=False, tol=1e-5, max_iter=20_000, random_state=0).fit(X, y)
    for k in range(3):
        sign = np.where(y == k, 1, -1)
        best = reference.l1_objective(theirs.coef_[k], theirs.intercept_[k], X, sign, C, penalize_intercept=True)
        mine = reference.l1_objective(got.coef[:, k], got.intercept[k], X, sign, C, penalize_intercept=True)
        assert mine <= best * (1 + 1e-4)
        assert got.objective[k] == pytest.approx(mine, rel=1e-5)


@pytest.mark.parametrize("intercept", INTERCEPTS)
@pytest.mark.parametrize("n_classes", first_fast([3, 2]))
def test_equals_proximal_gradient_steps(problem_data, intercept, n_classes, rng):
    X, y = problem_data
    X, y = X[y < n_classes][:90, :12] - 2.0, y[y < n_classes][:90]
    weights = rng.uniform(0, 2, len(y))
    got = solve_l1(MemoryBlocks(X), one_vs_rest(y, weights), 0.3, intercept=intercept, tol=1e-8)
    assert got.converged.all()
    for k in range(got.coef.shape[1]):
        sign = np.where(y == (1 if n_classes == 2 else k), 1, -1)
        w, b = reference.l1_proximal_gradient(X, sign, 0.3, weights, intercept)
        np.testing.assert_allclose(got.coef[:, k], w, atol=1e-6)
        np.testing.assert_allclose(got.intercept[k], b, atol=1e-6)
        np.testing.assert_array_equal(got.coef[:, k] == 0, np.abs(w) < 1e-7)
    assert max(violations(got, X, y, 0.3, weights, intercept)) < 1e-7


def many_features(rng, n=300, D=600):
    """Correlated features, more than one working set holds at first and more than there are rows."""
    X = rng.normal(size=(n, 40)) @ rng.normal(size=(40, D)) / 6 + 0.3 * rng.normal(size=(n, D))
    y = (X[:, :3] + 0.5 * rng.normal(size=(n, 3))).argmax(axis=1)
    return X, y


@given(st.integers(0, 10**6), st.sampled_from(INTERCEPTS))
@settings(max_examples=25)
def test_no_condition_of_optimality_is_violated(seed, intercept):
    rng = np.random.default_rng(seed)
    n, d = int(rng.integers(4, 30)), int(rng.integers(1, 40))
    X, y, weights = rng.normal(size=(n, d)), np.arange(n) % 2, rng.uniform(0.2, 3, n)
    C = float(10 ** rng.uniform(-2, 1.5))
    got = solve_l1(MemoryBlocks(X), one_vs_rest(y, weights), C, intercept=intercept, tol=1e-9)
    assert max(violations(got, X, y, C, weights, intercept)) < 1e-6


@pytest.mark.parametrize("C", [0.01, 1.0])
def test_more_features_than_rows(rng, C):
    X, y = many_features(rng)
    got = solve_l1(MemoryBlocks(X), one_vs_rest(y), C, tol=1e-7)
    assert got.converged.all()
    assert X.shape[1] > 2 * FIRST_SET
    assert ((got.coef != 0).sum(axis=0) < len(X)).all()
    assert max(violations(got, X, y, C)) < 1e-6


def separable(kind, n, D):
    """Two classes that few of many features tell apart."""
    rng = np.random.default_rng(n)
    X = rng.normal(size=(n, D))
    if kind == "correlated":
        X = rng.normal(size=(n, 40)) @ rng.normal(size=(40, D)) / 6 + 0.3 * X
    score = X[:, :3] @ [1, -1, 0.5]
    return X, (score + 0.3 * rng.normal(size=n) > 0).astype(int)


SIZES = first_fast([(50, 500, 1), (50, 500, 100), (100, 1000, 100), (200, 500, 10)])  # n, D, C


@pytest.mark.parametrize("kind", ["independent", "correlated"])
@pytest.mark.parametrize("size", SIZES, ids=str)
@pytest.mark.filterwarnings("ignore:Liblinear failed to converge")  # at C = 100 it never does, and is still far off
def test_the_default_tolerance_is_enough_where_classes_are_separable(kind, size):
    n, D, C = size
    X, y = separable(kind, n, D)

    def objective(w, b):
        return reference.l1_objective(w, b, X, 2 * y - 1, C, penalize_intercept=True)

    theirs = LinearSVC(C=C, penalty="l1", dual=False, tol=1e-8, max_iter=20_000, random_state=0).fit(X, y)
    tight = solve_l1(MemoryBlocks(X), one_vs_rest(y), C, intercept="penalized", tol=1e-8)
    best = min(objective(theirs.coef_[0], theirs.intercept_[0]), objective(tight.coef[:, 0], tight.intercept[0]))
    for dtype in (np.float32, np.float64):
        got = solve_l1(MemoryBlocks(X.astype(dtype)), one_vs_rest(y), C, intercept="penalized")
        assert got.converged.all()
        mine = objective(got.coef[:, 0], got.intercept[0])
        assert mine <= best * (1 + 1e-3)
        assert mine * (1 - got.gap[0] - 1e-6) <= best  # the gap is a bound


@pytest.mark.parametrize("intercept", INTERCEPTS)
@pytest.mark.parametrize("C", first_fast([1.0, 0.01, 100.0]))
def test_the_gap_bounds_the_distance_to_the_optimum(problem_data, intercept, C):
    X, y = problem_data
    best = solve_l1(MemoryBlocks(X), one_vs_rest(y), C, intercept=intercept, tol=1e-10).objective
    for max_iter in range(1, 12):
        got = solve_l1(MemoryBlocks(X), one_vs_rest(y), C, intercept=intercept, max_iter=max_iter)
        assert (got.objective * (1 - got.gap) <= best * (1 + 1e-9)).all()
        np.testing.assert_array_equal(got.converged, got.gap <= 1e-3)


def test_little_memory_takes_more_passes_to_the_same_end(rng):
    X, y = many_features(rng, 150, 300)
    ample = solve_l1(MemoryBlocks(X), one_vs_rest(y), 1.0, tol=1e-6)
    for n_bytes in (8 * 301**2, 8 * 50**2):  # one column at a time; then a working set smaller than the solution
        tight = solve_l1(MemoryBlocks(X), one_vs_rest(y), 1.0, tol=1e-4, max_iter=1000, hessian_bytes=n_bytes)
        assert tight.converged.all()
        assert tight.n_passes > ample.n_passes
        np.testing.assert_allclose(tight.objective, ample.objective, rtol=2e-3)
        np.testing.assert_allclose(tight.margins, X @ tight.coef + tight.intercept, atol=1e-4)
    assert ((ample.coef != 0).sum(axis=0) > 50).all()


def test_a_path_of_c_from_warm_starts(rng):
    X, y = many_features(rng)
    start, n_passes, n_cold = None, 0, 0
    for C in (0.03, 0.1, 0.3, 1.0):
        warm = solve_l1(MemoryBlocks(X), one_vs_rest(y), C, start=start, tol=1e-6)
        cold = solve_l1(MemoryBlocks(X), one_vs_rest(y), C, tol=1e-6)
        np.testing.assert_allclose(warm.objective, cold.objective, rtol=1e-6)
        start, n_passes, n_cold = (warm.coef, warm.intercept), n_passes + warm.n_passes, n_cold + cold.n_passes
    assert n_passes < n_cold


def test_every_start_leads_to_the_same_end(problem_data, rng):
    X, y = problem_data
    X = X.copy()
    X[:, 4] = 0  # a weight that no row can pull back
    expected = solve_l1(MemoryBlocks(X), one_vs_rest(y), 0.1, tol=1e-8)
    start = 10 * rng.normal(size=(30, 3)), rng.normal(size=3)
    got = solve_l1(MemoryBlocks(X), one_vs_rest(y), 0.1, tol=1e-8, start=start)
    assert got.converged.all()
    assert (got.coef[4] == 0).all()
    np.testing.assert_allclose(got.coef, expected.coef, atol=1e-6)


@pytest.mark.parametrize("dtype", [np.float32, np.float64])
def test_a_small_c_leaves_nothing_wherever_it_starts(problem_data, dtype):
    X, y = problem_data
    blocks, problem = MemoryBlocks(X.astype(dtype)), one_vs_rest(y)
    dense = solve_l1(blocks, problem, 1.0)
    for start in (None, (dense.coef, dense.intercept)):
        got = solve_l1(blocks, problem, 1e-6, start=start)
        assert got.converged.all()
        assert (got.coef == 0).all()
        share = np.bincount(y) / len(y)
        np.testing.assert_allclose(got.intercept, 2 * share - 1, atol=1e-5)


@pytest.mark.parametrize("order", ["C", "F"])
def test_rows_and_columns_are_gathered_in_c_order(rng, order):
    from besvm.solver.l1_kernels import gathered

    X = np.asarray(rng.normal(size=(30, 20)).astype(np.float32), order=order)
    rows, columns = np.array([0, 3, 29]), np.array([19, 0, 5, 5])
    part = gathered(X, rows, columns)
    assert part.flags.c_contiguous
    assert np.array_equal(part, X[rows][:, columns])
