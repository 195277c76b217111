"""Features kept in half precision: what is lost is a share of how much they vary, in any store."""

import numpy as np
import pytest

from besvm import BESVMClassifier
from besvm._support.threads import workers
from besvm.blocks import DiskBlocks, MemoryBlocks
from besvm.blocks.half import HALF, HalfBlocks, Scale
from besvm.blocks.plan import plan_training
from besvm.similarities import Similarity

HALF_STEP = 2.0**-11  # what rounding to half precision may be off by, as a share of a number


def half(matrix, store="memory", folder=None, dtype=np.float32):
    inner = DiskBlocks(matrix.shape, HALF, folder) if store == "disk" else MemoryBlocks(np.empty(matrix.shape, HALF))
    blocks = HalfBlocks(inner, Scale.of(matrix[:256]), dtype)
    for start in range(0, len(matrix), 100):
        rows = slice(start, min(start + 100, len(matrix)))
        blocks.matrix[rows] = matrix[rows]
    return blocks


def whole(blocks):
    return np.concatenate(list(blocks.map(lambda rows, block: block)))


def test_every_half_precision_number_is_converted_exactly():
    numbers = np.arange(1 << 16, dtype=np.uint16).view(HALF)
    numbers = numbers[np.isfinite(numbers)].reshape(-1, 8)
    ones = np.ones(8, np.float32)
    np.testing.assert_array_equal(Scale(0.0 * ones, ones).decode(numbers, np.dtype("f4")), numbers.astype(np.float32))


SPREADS = [
    *((offset, size, dtype) for offset, size in [(0, 1), (1e4, 1), (3e7, 1e6), (0, 1e20)] for dtype in ("f4", "f8")),
    (-5, 1e-8, "f8"),  # single precision could not tell such rows apart
]


@pytest.mark.parametrize("store", ["memory", "disk"])
@pytest.mark.parametrize(("offset", "size", "dtype"), SPREADS)
def test_the_loss_is_relative_to_the_spread_of_a_column(store, dtype, offset, size, rng, tmp_path, monkeypatch):
    monkeypatch.setattr("besvm.blocks.stores.CACHE_BYTES", 1 << 12)
    monkeypatch.setattr("besvm.blocks.stores.DISK_BYTES", 1 << 12)
    matrix = offset + size * np.geomspace(0.1, 10, 7) * rng.normal(size=(1003, 7))
    single = np.finfo(dtype).eps * np.abs(matrix)  # which the blocks come in
    with workers(2), half(matrix, store, tmp_path, dtype) as blocks:
        got = whole(blocks)
        assert got.dtype == dtype
        assert (np.abs(got - matrix) <= HALF_STEP * np.abs(matrix - matrix[:256].mean(axis=0)) + 2 * single).all()
        mean, deviation = matrix.mean(axis=0), matrix.std(axis=0)
        blocks.update(lambda rows, block: (block - mean) / deviation)
        expected = (matrix - mean) / deviation
        lost = np.abs(whole(blocks) - expected) - 4 * single / deviation
        assert (lost <= 3 * HALF_STEP * (1 + np.abs(expected))).all()
        total, n = blocks.sum(lambda rows, block: (block.sum(axis=0), len(block)))
        np.testing.assert_allclose(total, whole(blocks).sum(axis=0, dtype=np.float64), rtol=1e-3, atol=1e-2)
        assert n == 1003


def test_columns_that_do_not_vary_on_the_first_rows_are_kept_too(rng):
    matrix = np.zeros((600, 3))
    matrix[:, 0] = rng.normal(size=600)
    matrix[300:, 1] = rng.normal(size=300)
    np.testing.assert_allclose(whole(half(matrix)), matrix, atol=2e-3)
    np.testing.assert_array_equal(whole(half(np.full((300, 2), 7.0))), 7)
    matrix[400, 2] = 1e6
    with pytest.raises(ValueError, match=r"needs features within 65504 standard deviations .* got 1e\+06 in column 2"):
        half(matrix)


@pytest.mark.parametrize("storage", ["memory", "disk", "recompute"])
def test_a_classifier_loses_hardly_anything(storage, digits):
    X, y = digits
    options = {"basis": 100, "C": 1.0, "random_state": 0, "storage": storage}
    exact = BESVMClassifier("rbf", **options).fit(X[:900], y[:900])
    rounded = BESVMClassifier("rbf", **options, storage_dtype="float16").fit(X[:900], y[:900])
    assert np.abs(exact.decision_function(X) - rounded.decision_function(X)).max() < 0.02
    assert rounded.score(X[900:], y[900:]) >= exact.score(X[900:], y[900:]) - 0.004


class Counted(Similarity):
    """The dot product, which counts its rows."""

    rows = 0

    def __call__(self, A, B):
        Counted.rows += len(A)
        return A @ B.T


def test_a_checkpoint_keeps_what_half_precision_is_made_of(digits, tmp_path):
    X, y = digits[0][:400], digits[1][:400]
    options = {"basis": 20, "C": 1.0, "random_state": 0, "checkpoint": tmp_path, "storage_dtype": "float16"}
    first = BESVMClassifier(Counted(), **options).fit(X, y)
    Counted.rows = 0
    again = BESVMClassifier(Counted(), **options).fit(X, y)
    assert Counted.rows < 400  # what the scale is settled on, and what tells the dtype
    np.testing.assert_array_equal(first.coef_, again.coef_)
    with pytest.raises(ValueError, match=r"storage_dtype \('float16' there, None here\)"):
        BESVMClassifier(Counted(), **options | {"storage_dtype": None}).fit(X, y)


def test_the_plan_counts_what_is_stored(digits):
    with workers(2):
        single, halved = (plan_training(10**5, 1000, 4, 10, memory_limit="4 GB", stored=s) for s in (None, 2))
    assert (single.features, halved.features) == (4 * 10**8, 2 * 10**8)
    assert halved.work > single.work
    with pytest.raises(ValueError, match="storage_dtype must be None or 'float16', got 'int8'"):
        BESVMClassifier(storage_dtype="int8").fit(digits[0][:50], digits[1][:50])
