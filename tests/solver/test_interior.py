"""The interior-point method: columns that Newton steps cannot bring to an end."""

import numpy as np
import pytest

from besvm.blocks import MemoryBlocks
from besvm.solver.interior import Interior
from besvm.solver.l1 import solve_l1
from besvm.solver.problem import Problem


@pytest.mark.slow
@pytest.mark.parametrize("intercept", ["free", "penalized", "none"])
@pytest.mark.parametrize("dtype", [np.float32, np.float64])
def test_separable_rows_of_very_different_weights_converge(rng, intercept, dtype):
    X = rng.normal(size=(60, 50))
    labels = (X @ rng.normal(size=50) > 0).astype(int)
    problem = Problem(labels, np.array([1]), 10 ** rng.uniform(-3, 6, size=60))
    result = solve_l1(MemoryBlocks(X.astype(dtype)), problem, C=10.0, intercept=intercept)
    assert result.converged.all()
    assert (result.coef == 0).any()
    signs = np.where(labels == 1, 1, -1)
    slack = np.maximum(0, 1 - signs * (X.astype(dtype) @ result.coef[:, 0] + result.intercept))
    norm = np.abs(result.coef).sum() + (abs(result.intercept[0]) if intercept == "penalized" else 0)
    assert norm + 10 * problem.weights @ slack**2 == pytest.approx(result.objective[0], rel=1e-6)


@pytest.mark.parametrize("free", [False, True])
def test_the_bound_and_the_objective_meet_where_newton_steps_end(rng, free):
    X = rng.normal(size=(80, 12))
    labels = (X[:, 0] + rng.normal(size=80) > 0).astype(int)
    signs, penalty = np.where(labels == 1, 1, -1), np.ones(13)
    penalty[-1] = 0 if free else 1
    A = signs[:, None] * np.column_stack([X, np.ones(80)])
    problem = Problem(labels, np.array([1]), np.ones(80))
    steps = solve_l1(MemoryBlocks(X), problem, 0.5, intercept="free" if free else "penalized", tol=1e-9)
    found = Interior(A, np.full(80, 0.5), penalty, signs).solve(1e-6, 100)
    assert found.bound <= steps.objective[0] * (1 + 1e-9)
    assert found.objective == pytest.approx(steps.objective[0], rel=2e-6)
    assert np.array_equal(found.w[:-1] == 0, steps.coef[:, 0] == 0)
