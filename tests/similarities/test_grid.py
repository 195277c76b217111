"""Rigid and Deformable against the naive loops, and against what the formulas promise."""

from __future__ import annotations

import pickle
import tracemalloc
from itertools import pairwise

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from sklearn.base import clone

import reference_grid as reference
from besvm._support.threads import workers
from besvm.similarities import Deformable, Linear, Rigid, resolve
from variants import first_fast

DTYPES = ["float32", "float64", "float16", "int8", "uint8", "int64", "bool"]


def grids(n, h, w, d, dtype="float32", seed=0):
    numbers = np.random.default_rng(seed).normal(size=(n, h, w, d))
    return numbers.astype(dtype) if np.dtype(dtype).kind == "f" else (4 * np.abs(numbers)).astype(dtype)


def assert_close(got, wanted, A, B):
    """Equal up to the rounding of float32, relative to the size of the grids and not of their product."""
    size = [np.linalg.norm(np.asarray(X, np.float64).reshape(len(X), -1), axis=1) for X in (A, B)]
    tolerance = 1e-5 * (1 + np.outer(*size) + np.abs(wanted))
    assert got.dtype == np.float32
    assert got.shape == (len(A), len(B))
    assert (np.abs(got - wanted) <= tolerance).all()


@st.composite
def penalties(draw, radius):
    if draw(st.booleans()):
        return draw(st.sampled_from([0.0, 0.1, 1, 100.0]))
    return np.random.default_rng(draw(st.integers(0, 9))).normal(size=(2 * radius + 1, 2 * radius + 1))


@st.composite
def cases(draw):
    h, w = draw(st.integers(1, 5)), draw(st.integers(1, 5))
    d = draw(st.sampled_from([1, 2, 3, 8, 31, 32]))
    seed = draw(st.integers(0, 1000))
    A = grids(draw(st.integers(1, 8)), h, w, d, draw(st.sampled_from(DTYPES)), seed)
    B = grids(draw(st.integers(1, 3)), h, w, d, draw(st.sampled_from(DTYPES)), seed + 1)
    rigid, local = draw(st.integers(0, 3)), draw(st.integers(0, 2))
    moving = draw(st.sampled_from(["exemplar", "sample"]))
    return A, B, rigid, local, draw(penalties(rigid)), draw(penalties(local)), draw(st.booleans()), moving


@pytest.mark.parametrize("plain", ["", pytest.param("1", marks=pytest.mark.slow)], ids=["vectors", "plain"])
@settings(max_examples=60)
@given(case=cases())
def test_equal_to_the_naive_loops(plain, case):
    A, B, rigid, local, rigid_penalty, local_penalty, cosine, moving = case
    parameters = {"rigid": rigid, "local": local, "rigid_penalty": rigid_penalty, "local_penalty": local_penalty}
    parameters |= {"cosine": cosine, "moving": moving}
    wanted = reference.deformable(A, B, **parameters)
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("BESVM_PLAIN_KERNELS", plain)
        got = Deformable(**parameters)(A, B)
    if cosine:
        # Where a self-similarity is nearly zero the quotient is all rounding error.
        own = [
            np.abs([reference.deformable_pair(x, x, rigid, local, rigid_penalty, local_penalty) for x in X])
            for X in (A, B)
        ]
        sound = np.logical_and.outer(*(own_one > 0.1 for own_one in own))
        np.testing.assert_allclose(got[sound], wanted[sound], rtol=1e-2, atol=1e-3)
    else:
        assert_close(got, wanted, A, B)


@settings(max_examples=40)
@given(cases())
def test_rigid_equal_to_the_naive_loops(case):
    A, B, radius, _, penalty, *_ = case
    wanted = reference.deformable(A, B, rigid=radius, rigid_penalty=penalty)
    assert_close(Rigid(radius, rigid_penalty=penalty)(A, B), wanted, A, B)


MEASURES = [
    Rigid(0), Rigid(1), Rigid(2), Rigid(9), Deformable(), Deformable(1, 0), Deformable(1, 1),
    Deformable(2, 1), Deformable(0, 9), Deformable(3, 4), Rigid(1, rigid_penalty=0.3),
    Deformable(1, 1, local_penalty=0.2), Deformable(2, 1, cosine=True), Rigid(2, cosine=True),
    Deformable(1, 1, moving="sample"), Rigid(1, rigid_penalty=[[0, 1, 2], [0, 0, 0], [-1, 0, 0.5]]),
]  # fmt: skip
each_measure = pytest.mark.parametrize("measure", MEASURES, ids=str)


@each_measure
@pytest.mark.parametrize("shape", first_fast([(3, 6, 32), (1, 1, 1), (4, 4, 31), (1, 5, 3)], 2), ids=str)
def test_shapes(measure, shape):
    A, B = grids(7, *shape), grids(17, *shape, seed=1)[:2]
    parameters = measure.get_params()
    if isinstance(measure, Rigid):
        parameters["rigid"] = parameters.pop("radius")
    assert_close(measure(A, B), reference.deformable(A, B, **parameters), A, B)


@each_measure
def test_tiles_equal_the_whole(measure):
    A, B = grids(101, 4, 3, 7), grids(37, 4, 3, 7, seed=1)
    against = measure.against(B)
    whole = against(A)
    np.testing.assert_allclose(against(A[:50]), whole[:50], rtol=1e-5, atol=1e-4)
    np.testing.assert_allclose(against(A[50:51]), whole[50:51], rtol=1e-5, atol=1e-4)
    np.testing.assert_allclose(measure(A, B[5:20]), whole[:, 5:20], rtol=1e-5, atol=1e-4)


@each_measure
def test_one_thread_equals_two(measure):
    A, B = grids(130, 4, 4, 5), grids(40, 4, 4, 5, seed=1)
    with workers(1):
        alone = measure(A, B)
    with workers(2):
        np.testing.assert_array_equal(measure(A, B), alone)


@pytest.mark.parametrize("measure", [Rigid(0), Deformable(0, 0), Rigid(0, rigid_penalty=7)], ids=str)
def test_radius_zero_is_linear(measure):
    A, B = grids(60, 4, 5, 6), grids(9, 4, 5, 6, seed=1)
    np.testing.assert_allclose(measure(A, B), Linear()(A.reshape(60, -1), B.reshape(9, -1)), rtol=1e-5, atol=1e-4)


def test_rigid_is_the_deformable_without_local():
    A, B = grids(30, 5, 4, 6), grids(9, 5, 4, 6, seed=1)
    np.testing.assert_array_equal(Rigid(2)(A, B), Deformable(rigid=2, local=0)(A, B))


@pytest.mark.parametrize("table", [0.0, 0.4, [[1, 2, 3], [0, 5, 0], [3, 2, 1]]], ids=str)
def test_rigid_is_symmetric(table):
    A = grids(30, 4, 4, 6)
    measure = Rigid(1, rigid_penalty=table)
    assert measure.symmetric
    K = measure(A, A)
    np.testing.assert_allclose(K, K.T, rtol=1e-5, atol=1e-4)


def test_what_is_not_symmetric_says_so():
    A = grids(30, 4, 4, 6)
    for measure in (Rigid(1, rigid_penalty=np.arange(9).reshape(3, 3)), Deformable(0, 1)):
        K = measure(A, A)
        assert not measure.symmetric
        assert np.abs(K - K.T).max() > 0.1


def test_who_moves():
    """Every cell that stays may find the one strong cell of the grid that moves, and not the other way round."""
    flat, peak = np.ones((1, 1, 3, 1)), np.array([0.0, 5.0, 0.0]).reshape(1, 1, 3, 1)
    assert Deformable(0, 1)(flat, peak).item() == Deformable(0, 1, moving="sample")(peak, flat).item() == 15
    assert Deformable(0, 1)(peak, flat).item() == Deformable(0, 1, moving="sample")(flat, peak).item() == 5
    with pytest.raises(ValueError, match="moving must be 'exemplar' or 'sample', got 'both'"):
        Deformable(0, 1, moving="both")(flat, peak)


def test_monotone_in_the_radius():
    A, B = grids(40, 5, 5, 4), grids(20, 5, 5, 4, seed=1)
    for family in (Rigid, lambda r: Deformable(r, 1), lambda r: Deformable(1, r)):
        scores = [family(radius)(A, B) for radius in range(7)]
        for smaller, larger in pairwise(scores):
            assert (larger >= smaller - 1e-4).all()


@pytest.mark.parametrize("measure", [Rigid(1), Deformable(1, 0), Deformable(0, 1), Deformable(1, 1)], ids=str)
def test_a_shifted_copy_is_found(measure):
    """Nothing leaves the frame: the outer cells of both are empty."""
    x = np.zeros((1, 6, 6, 5), dtype=np.float32)
    x[:, 2:-2, 2:-2] = grids(1, 2, 2, 5)
    exact = Rigid(0)(x, x).item()
    for shift in reference.box(1):
        moved = np.roll(x, shift, axis=(1, 2))
        assert measure(moved, x).item() >= exact - 1e-4
        if isinstance(measure, Rigid):
            assert measure(moved, x).item() == pytest.approx(exact, rel=1e-5)
            assert measure.alignment(x[0], moved[0]).rigid == shift


def test_leaving_the_frame_is_worth_zero():
    """A single cell that disagrees may step outside, where the product is 0, only if the radius lets it."""
    x, y = np.ones((1, 1, 1, 1)), -np.ones((1, 1, 1, 1))
    assert Rigid(0)(y, x).item() == Deformable(0, 0)(y, x).item() == -1
    assert Rigid(1)(y, x).item() == Deformable(0, 1)(y, x).item() == Deformable(5, 3)(y, x).item() == 0
    assert Rigid(1, rigid_penalty=0.25)(y, x).item() == -0.25
    assert Deformable(0, 4, local_penalty=0.25)(y, x).item() == -0.25


@each_measure
def test_alignment_explains_the_score(measure):
    X = grids(4, 4, 3, 5)
    rigid_radius = measure.get_params().get("radius", measure.get_params().get("rigid"))
    for x in X[:2]:
        for y in X:
            found = measure.alignment(x, y)
            assert found.score == pytest.approx(measure([x], [y]).item(), rel=1e-4, abs=1e-4)
            assert found.local.shape == (4, 3, 2)
            total = found.contribution.sum() + reference.regularization(
                measure.rigid_penalty, rigid_radius, found.rigid
            )
            if not measure.cosine:
                assert total == pytest.approx(found.score)
            pair = (y, x) if measure.moving == "sample" else (x, y)
            products = reference.cell_products(*pair)
            for c in np.ndindex(4, 3):
                to = tuple(np.add(c, found.rigid) + found.local[c])
                cost = reference.regularization(getattr(measure, "local_penalty", 0.0), 1, found.local[c])
                assert found.contribution[c] == pytest.approx(products.get((c, to), 0.0) + cost, abs=1e-5)


def test_alignment_prefers_the_smallest_move():
    flat = np.zeros((3, 3, 2))
    found = Deformable(2, 2).alignment(flat, flat)
    assert found.rigid == (0, 0)
    assert not found.local.any()
    x, y = np.zeros((2, 3, 3, 1))
    x[1, 1] = y[0, 1] = y[1, 0] = y[1, 2] = y[2, 1] = 1
    assert Rigid(1).alignment(x, y).rigid == (-1, 0)


def test_cosine_of_itself_is_one_and_of_nothing_zero():
    A = grids(20, 4, 4, 3)
    A[3] = 0
    K = Rigid(2, cosine=True)(A, A)
    np.testing.assert_allclose(np.delete(K.diagonal(), 3), 1, rtol=1e-5)
    assert (K[3] == 0).all()
    assert (K[:, 3] == 0).all()
    assert K.max() <= 1 + 1e-5


@each_measure
def test_nothing_to_compare(measure):
    A = grids(3, 4, 4, 2)
    assert measure(A[:0], A).shape == (0, 3)
    assert measure(A, A[:0]).shape == (3, 0)


def test_input_is_left_alone_and_may_be_strided():
    A, B = grids(9, 4, 4, 6), grids(5, 4, 4, 6, seed=1)
    before = A.copy()
    strided = np.asfortranarray(A)[::2, ::-1]
    for measure in (Rigid(1), Deformable(1, 1)):
        np.testing.assert_array_equal(measure(strided, B), measure(A[::2, ::-1].copy(), B))
    np.testing.assert_array_equal(A, before)


@pytest.mark.parametrize("measure", [Rigid(2), Deformable(1, 1)], ids=str)
def test_memory_does_not_grow_with_the_samples(measure):
    A, B = grids(1, 4, 4, 31), grids(64, 4, 4, 31)
    many = np.broadcast_to(A.astype(np.float64), (20000, 4, 4, 31))
    against = measure.against(B)
    against(A)
    tracemalloc.start()
    out = against(many)
    peak = tracemalloc.get_traced_memory()[1] - out.nbytes
    tracemalloc.stop()
    assert peak < 30e6


def test_names_clones_and_pickles():
    assert resolve("rigid").get_params() == Rigid().get_params()
    assert resolve("deformable").get_params() == Deformable(rigid=0, local=1).get_params()
    A = grids(5, 3, 3, 2)
    measure = Deformable(1, 1, local_penalty=np.eye(3))
    for copy in (clone(measure), pickle.loads(pickle.dumps(measure))):
        np.testing.assert_array_equal(copy(A, A), measure(A, A))


ONES = np.ones((1, 2, 2, 1))


@pytest.mark.parametrize(
    ("measure", "A", "B", "message"),
    [
        (Rigid(), np.ones((2, 3, 4)), ONES, r"\(items, height, width, descriptor\), got float64 of shape"),
        (Rigid(), np.full((1, 2, 2, 1), "a"), ONES, "real numbers .* got <U1"),
        (Rigid(), ONES, ONES[:, :0], r"got float64 of shape \(1, 0, 2, 1\)"),
        (Rigid(), ONES[..., [0, 0]], ONES, r"shape \(2, 2, 1\) .* got \(2, 2, 2\); compute"),
        (Rigid(), ONES * np.nan, ONES, "finite float32 numbers, got NaN"),
        (Deformable(), ONES, ONES * np.nan, "finite float32 numbers, got NaN"),
        (Deformable(), ONES * 1e39, ONES, "finite float32 numbers, got NaN or infinity"),
        (Deformable(), ONES * 1e30, ONES, r"small enough to square in float32, got 1e\+30; scale them down"),
        (Rigid(-1), ONES, ONES, "radius must be a whole number .* got -1"),
        (Deformable(1.5), ONES, ONES, r"rigid must be a whole number .* got 1\.5"),
        (Deformable(0, True), ONES, ONES, "local must be .* got True"),
        (Rigid(1, rigid_penalty=-1.0), ONES, ONES, "rigid_penalty .* got -1.0"),
        (
            Deformable(local_penalty=np.ones((5, 5))),
            ONES,
            ONES,
            r"table of shape \(3, 3\), got shape \(5, 5\)",
        ),
    ],
)
def test_errors_say_the_rule_and_the_value(measure, A, B, message):
    with pytest.raises(ValueError, match=message):
        measure(A, B)
