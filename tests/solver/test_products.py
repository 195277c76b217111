"""Products with few columns: the compiled loops against NumPy in float64, and the way out where they fail."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy.sparse import csr_array

from besvm import LinearSVMClassifier
from besvm.solver import product_kernels, products
from besvm.solver.products import FEW, MANY, NARROW, both_ways, pays, times, transposed_times

MANY_ROWS = 10**9


@pytest.fixture
def tried_anew():
    products._work.cache_clear()
    yield
    products._work.cache_clear()


@given(st.integers(1, 40), st.integers(NARROW, 200), st.integers(FEW, MANY), st.integers(0, 10**6))
@settings(max_examples=40)
def test_compiled_products_are_right_whatever_the_shape(n, size, width, seed):
    rng = np.random.default_rng(seed)
    block, weights, R = (rng.normal(size=shape).astype(np.float32) for shape in ((n, size), (size, width), (n, width)))
    assert pays(MANY_ROWS, weights.shape, block.dtype)
    forth, back = times(weights, MANY_ROWS)(block), transposed_times(block, np.asfortranarray(R), MANY_ROWS)
    assert forth.dtype == back.dtype == np.float32
    np.testing.assert_allclose(forth, block.astype(float) @ weights, rtol=1e-4, atol=1e-4)
    np.testing.assert_allclose(back, block.T.astype(float) @ R, rtol=1e-4, atol=1e-4)


@given(st.integers(1, 40), st.integers(NARROW, 200), st.integers(FEW, MANY), st.booleans(), st.integers(0, 10**6))
@settings(max_examples=40)
def test_both_ways_at_once_whatever_the_shape(n, size, width, compiled, seed):
    rng = np.random.default_rng(seed)
    block, weights, active = (
        rng.normal(size=shape).astype(np.float32) for shape in ((n, size), (size, width), (n, width))
    )
    active[rng.random(n) < 0.5] = 0
    offset = rng.normal(size=width).astype(np.float32)
    products, back, totals, squares = both_ways(weights, offset, MANY_ROWS if compiled else n)(block, active)
    assert products.dtype == back.dtype == np.float32
    expected = block.astype(float) @ weights + offset
    close = {"rtol": 1e-4, "atol": 1e-3}
    np.testing.assert_allclose(products, expected, **close)
    np.testing.assert_allclose(back, block.T.astype(float) @ (active * expected), **close)
    np.testing.assert_allclose(totals, (active * expected).sum(axis=0), **close)
    np.testing.assert_allclose(squares, (active * expected**2).sum(axis=0), **close)


def test_a_row_gives_the_same_bits_wherever_it_lies(rng):
    block, weights = rng.normal(size=(37, 131)).astype(np.float32), rng.normal(size=(131, 7)).astype(np.float32)
    multiply = times(weights, MANY_ROWS)
    alone = np.concatenate([multiply(block[i : i + 1]) for i in range(len(block))])
    np.testing.assert_array_equal(multiply(block), alone)


def test_rows_that_are_read_only_or_not_in_one_piece(rng):
    block, weights = rng.normal(size=(9, 260)).astype(np.float32), rng.normal(size=(130, 4)).astype(np.float32)
    block.flags.writeable = False
    some = block[:, ::2]
    np.testing.assert_allclose(times(weights, MANY_ROWS)(some), some @ weights, rtol=1e-4, atol=1e-4)
    R = rng.normal(size=(9, 4)).astype(np.float32)
    np.testing.assert_allclose(transposed_times(some, R, MANY_ROWS), some.T @ R, rtol=1e-4, atol=1e-4)
    products, back, *_ = both_ways(weights, np.zeros(4, np.float32), MANY_ROWS)(some, R)
    np.testing.assert_allclose(back, some.T @ (R * products), rtol=1e-4, atol=1e-3)


@pytest.mark.parametrize(
    ("n", "shape", "dtype"),
    [
        (1000, (100, 10), np.float32),  # too little to be worth it
        (MANY_ROWS, (100, 2), np.float32),
        (MANY_ROWS, (100, MANY + 1), np.float32),
        (MANY_ROWS, (NARROW - 1, 10), np.float32),
        (MANY_ROWS, (100, 10), np.float64),
    ],
)
def test_blas_does_what_it_is_good_at(n, shape, dtype, rng):
    assert not pays(n, shape, dtype)
    block, weights = rng.normal(size=(5, shape[0])).astype(dtype), rng.normal(size=shape).astype(dtype)
    np.testing.assert_allclose(times(weights, n)(block), block @ weights, rtol=1e-4, atol=1e-5)


def test_sparse_blocks_stay_sparse(rng):
    block = csr_array(rng.normal(size=(5, 100)) * (rng.random((5, 100)) < 0.1))
    weights = rng.normal(size=(100, 10))
    np.testing.assert_allclose(times(weights, MANY_ROWS)(block), block @ weights)
    R = rng.normal(size=(5, 10))
    np.testing.assert_allclose(transposed_times(block, R, MANY_ROWS), block.T @ R)
    products, back, totals, _ = both_ways(weights, np.ones(10), MANY_ROWS)(block, R)
    np.testing.assert_allclose(products, block @ weights + 1)
    np.testing.assert_allclose(back, block.T @ (R * products))
    np.testing.assert_allclose(totals, (R * products).sum(axis=0))


@pytest.mark.usefixtures("tried_anew")
def test_the_compiled_products_pass_their_trial_here():
    assert products._work()


def refused(*_):
    raise RuntimeError("no such instruction")


def wrong(*arguments):
    for array in arguments:
        array[:] = 1.0


@pytest.mark.usefixtures("tried_anew")
@pytest.mark.parametrize("name", ["multiply", "multiply_back", "multiply_both"])
@pytest.mark.parametrize(("broken", "reason"), [(refused, "no such instruction"), (wrong, "wrong numbers")])
def test_where_they_fail_blas_stands_in(name, broken, reason, rng, monkeypatch):
    monkeypatch.setattr(product_kernels, name, broken)
    block, weights = rng.normal(size=(9, 100)).astype(np.float32), rng.normal(size=(100, 10)).astype(np.float32)
    with pytest.warns(RuntimeWarning, match=f"kernels of the solver .*{reason}.* BLAS is used instead"):
        np.testing.assert_allclose(times(weights, MANY_ROWS)(block), block @ weights, rtol=1e-4, atol=1e-4)
    R = rng.normal(size=(9, 10)).astype(np.float32)
    np.testing.assert_allclose(transposed_times(block, R, MANY_ROWS), block.T @ R, rtol=1e-4, atol=1e-4)


def test_a_model_is_the_same_with_and_without_them(rng, monkeypatch):
    X = rng.normal(size=(600, 90)).astype(np.float32)
    y = np.argmax(X @ rng.normal(size=(90, 6)) + rng.normal(size=(600, 6)), axis=1)
    monkeypatch.setattr(products, "WORTH_COMPILING", 0)
    compiled = LinearSVMClassifier(C=0.1, tol=1e-6, probability=False).fit(X, y)
    monkeypatch.setenv("BESVM_PLAIN_KERNELS", "1")
    plain = LinearSVMClassifier(C=0.1, tol=1e-6, probability=False).fit(X, y)
    np.testing.assert_allclose(compiled.objective_, plain.objective_, rtol=1e-6)
    np.testing.assert_allclose(compiled.coef_, plain.coef_, atol=1e-3)
