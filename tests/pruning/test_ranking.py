"""Which exemplars go first: against loops that solve every smaller problem."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from sklearn.base import clone

import reference_pruning
from besvm import BESVMClassifier
from besvm.blocks import DiskBlocks, MemoryBlocks
from besvm.blocks.fill import columns_of
from besvm.pruning.ranking import eliminated, ranked
from besvm.pruning.sizes import grid
from besvm.pruning.stage import Stage


@settings(max_examples=40)
@given(st.integers(0, 10**6), st.integers(2, 8), st.integers(1, 3), st.integers(1, 3))
def test_drops_what_the_rest_can_best_do_without(seed, n, most, n_classes):
    rng = np.random.default_rng(seed)
    owner = rng.permutation(np.repeat(np.arange(n), rng.integers(1, most + 1, n)))  # columns in any order
    A = rng.normal(size=(30, len(owner)))
    H, linear = A.T @ A / 30 + 0.1 * np.eye(len(owner)), rng.normal(size=(len(owner), n_classes))
    W = np.linalg.solve(H, linear)
    found = eliminated(np.linalg.inv(H), W, owner, n - 1, at_once=0.0)
    assert found.tolist() == reference_pruning.eliminated(H, linear, owner, n - 1)


def test_dropping_several_at_once_drops_those_that_were_cheapest(rng):
    A = rng.normal(size=(200, 40))
    H, W = A.T @ A + np.eye(40), rng.normal(size=(40, 2))
    costs = (W**2).sum(axis=1) / np.diag(np.linalg.inv(H))
    found = eliminated(np.linalg.inv(H), W, np.arange(40), 10, at_once=0.25)
    assert found.tolist() == np.argsort(costs)[:10].tolist()


def stage_of(X, y, **options):
    model = BESVMClassifier("rbf", **{"basis": 30, "C": 1.0, "probability": False, "random_state": 0} | options)
    model.fit(X, y)
    ones = np.ones(len(y))
    labels = np.searchsorted(model.classes_, y)
    stage = Stage(clone(model), model._map.expander, X, model.classes_, labels, ones, ones)
    return stage, model._margins(X)


@pytest.fixture(scope="module")
def data():
    rng = np.random.default_rng(0)
    X = rng.normal(size=(200, 4))
    return X, (X[:, 0] * X[:, 1] > 0).astype(int)


def test_a_ranking_holds_every_exemplar_once_and_is_the_same_from_every_store(data):
    stage, margins = stage_of(*data)
    with stage.opened():
        assert stage.raw is not None
        order = ranked(stage, margins, stage.weights)
    np.testing.assert_array_equal(np.sort(order), np.arange(30))
    for storage in ("disk", "recompute"):
        other, margins = stage_of(*data, storage=storage)
        with other.opened():
            assert (other.raw is None) == (storage == "recompute")
            np.testing.assert_array_equal(ranked(other, margins, other.weights), order)


def test_the_first_so_many_are_those_of_the_whole_ranking(data):
    stage, margins = stage_of(*data)
    with stage.opened():
        whole = ranked(stage, margins, stage.weights)
        some = ranked(stage, margins, stage.weights, down_to=21)
    assert set(some[:21]) == set(whole[:21])
    np.testing.assert_array_equal(some[21:], whole[21:])


def test_without_room_for_second_order_weights_times_spread_decide(data, monkeypatch):
    stage, margins = stage_of(*data)
    monkeypatch.setattr(Stage, "has_room", lambda stage, width: False)
    model = clone(stage.params).fit(*data)
    worth = (model.coef_[0] * model.transform(data[0]).std(axis=0)) ** 2
    with stage.opened():
        order = ranked(stage, margins, stage.weights, down_to=15)
        np.testing.assert_array_equal(order[15:], np.argsort(worth)[:15][::-1])
        kept = stage.refitted(order[:15], margins, None)  # which is then trained on labels
    same = clone(model).set_params(basis=kept.basis_rows_[0]).fit(*data)
    np.testing.assert_allclose(kept.coef_, same.coef_, rtol=1e-6, atol=1e-9)


def test_sizes_go_down_by_the_root_of_two():
    assert grid(1000, 10, None) == [1000, 707, 500, 354, 250, 177, 125, 88, 62, 44, 31, 22, 16]
    assert grid(1000, 10, 300)[3:5] == [354, 300]
    assert grid(3, 10, None) == [3]
    assert grid(1, 2, 1) == [1]
    for n in (2, 5, 17, 64, 5000):
        sizes = grid(n, 3, None)
        assert sizes[0] == n
        assert sizes == sorted(set(sizes), reverse=True)


@pytest.mark.parametrize("storage", ["memory", "disk"])
def test_columns_of_a_matrix_are_a_store_of_their_own(storage, rng):
    matrix = rng.normal(size=(500, 20))
    original = matrix.copy()
    columns = np.array([3, 0, 19])
    with columns_of(MemoryBlocks(matrix), columns, storage) as own:
        assert isinstance(own, DiskBlocks if storage == "disk" else MemoryBlocks)
        own.update(lambda rows, block: block * 2)
        np.testing.assert_array_equal(np.concatenate(list(own.map(lambda rows, block: block))), 2 * matrix[:, columns])
    np.testing.assert_array_equal(matrix, original)
