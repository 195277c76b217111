"""What a greedy selection is made of: features side by side on disk, and rows held out."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from sklearn.model_selection import train_test_split

from besvm.blocks.npy import NpyMatrix
from besvm.blocks.stores import JoinedBlocks
from besvm.measures import as_measures
from besvm.selection.split import hold_out


@settings(max_examples=30)
@given(st.lists(st.integers(1, 5), min_size=1, max_size=4), st.integers(1, 40), st.data())
def test_side_by_side_is_hstack(tmp_path_factory, widths, n, data):
    rng = np.random.default_rng(0)
    arrays = [rng.normal(size=(n, width)).astype(np.float32) for width in widths]
    parts = []
    for place, array in enumerate(arrays):
        if place % 2:
            part = NpyMatrix.create(tmp_path_factory.mktemp("part") / "a.npy", array.shape, array.dtype)
            part[slice(0, n)] = array
        else:
            part = array.copy()
        parts.append(part)
    start = data.draw(st.integers(0, n - 1))
    rows = slice(start, data.draw(st.integers(start + 1, n)))
    blocks = JoinedBlocks(parts, rows)
    expected = np.hstack(arrays)
    np.testing.assert_array_equal(np.concatenate(list(blocks.map(lambda rows, block: block.copy()))), expected[rows])
    blocks.update(lambda rows, block: 2 * block)
    expected[rows] *= 2
    everything = JoinedBlocks(parts, slice(0, n))
    np.testing.assert_array_equal(np.concatenate(list(everything.map(lambda rows, block: block.copy()))), expected)


@pytest.mark.parametrize(
    ("y", "share", "stratified"),
    [
        (np.arange(60) % 3, 0.2, True),
        (np.array([0] * 30 + [1] * 29 + [2]), 0.2, False),  # a class of one row cannot be on both sides
        (np.arange(60) % 20, 0.7, False),  # nor can all of 20 classes among 18 rows
    ],
)
def test_the_rows_held_out_are_those_of_scikit_learn(y, share, stratified):
    X = np.arange(60.0)[:, None]
    split = hold_out(X, np.unique(y), y, share, as_measures("linear"), 10, np.random.default_rng(7))
    seed = int(np.random.default_rng(7).integers(2**31))
    options = {"test_size": share, "random_state": seed, "stratify": y if stratified else None}
    train, held_out = train_test_split(np.arange(60), **options)
    np.testing.assert_array_equal(split.X[:, 0], np.sort(train))
    np.testing.assert_array_equal(split.X_val[:, 0], np.sort(held_out))
    assert split.classes[split.labels].tolist() == y[np.sort(train)].tolist()
