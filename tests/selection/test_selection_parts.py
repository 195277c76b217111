"""What a greedy selection is made of: features side by side on disk, and rows held out."""

import numpy as np
from hypothesis import given, settings
from hypothesis import strategies as st
from sklearn.model_selection import train_test_split

from besvm.blocks.joined import JoinedBlocks
from besvm.blocks.npy import NpyMatrix
from besvm.selection import GreedySelection


@settings(deadline=None, max_examples=30)
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


def test_the_split_is_that_of_scikit_learn_for_rare_classes_too(digits):
    X, y = digits[0][:60], np.array([0] * 30 + [1] * 29 + [2])
    greedy = GreedySelection(["linear"], basis=10, n_measures=3, random_state=0).fit(X, y)
    train, held_out = train_test_split(np.arange(60), test_size=0.2)
    assert greedy._sizes[:2] == (len(train), len(held_out))
    ten = np.arange(10) % 5
    assert GreedySelection(["linear"], basis=2, n_measures=3, validation=0.7, random_state=0).fit(
        X[:10], ten
    )._sizes == (3, 7, 1)
