import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra.numpy import arrays

import reference
from besvm import BasisExpansion, MeanNormScaler
from besvm.blocks import MemoryBlocks
from besvm.normalize import Normalization
from besvm.normalize.affine import Affine, fit_mean_norm
from besvm.similarities import Rigid

matrices = arrays(np.float64, st.tuples(st.integers(2, 9), st.integers(1, 6)), elements=st.integers(-9, 9).map(float))


@given(matrices)
def test_equals_the_formula(X):
    if (X[0] == X).all():
        X[0] += 1
    np.testing.assert_allclose(MeanNormScaler().fit_transform(X), reference.mean_norm(X), atol=1e-12)


def test_grids_of_descriptors_are_scaled_as_one_vector(rng):
    X = rng.normal(3, 2, size=(50, 4, 4, 7)).astype(np.float32)
    got = MeanNormScaler().fit_transform(X)
    assert got.shape == X.shape
    assert got.dtype == np.float32
    np.testing.assert_allclose(got.reshape(50, -1), reference.mean_norm(X.reshape(50, -1)), atol=1e-5)
    assert np.linalg.norm(got.reshape(50, -1), axis=1).mean() == pytest.approx(1, rel=1e-5)


def test_equal_rows_become_zero():
    assert not MeanNormScaler().fit_transform(np.full((4, 3), 7.0)).any()


def test_inverse_and_weights(rng):
    X = rng.normal(size=(30, 4))
    scaler = MeanNormScaler().fit(X)
    np.testing.assert_allclose(scaler.inverse_transform(scaler.transform(X)), X)
    counts = rng.integers(0, 4, 30)
    weighted, repeated = (
        MeanNormScaler().fit(X, sample_weight=counts),
        MeanNormScaler().fit(np.repeat(X, counts, axis=0)),
    )
    np.testing.assert_allclose(weighted.mean_, repeated.mean_)
    assert weighted.scale_ == pytest.approx(repeated.scale_)


def test_another_shape_is_refused(rng):
    scaler = MeanNormScaler().fit(rng.normal(size=(5, 2, 3)))
    with pytest.raises(ValueError, match=r"must have the shape \(2, 3\) of the training rows, got \(2, 4\)"):
        scaler.transform(rng.normal(size=(5, 2, 4)))


def test_samples_of_different_shapes_are_refused(rng):
    ragged = [rng.normal(size=(2, 2)), rng.normal(size=(3, 2))]
    with pytest.raises(ValueError, match=r"samples must all have one shape here, got \(2, 2\) and \(3, 2\)"):
        MeanNormScaler().fit(ragged)
    with pytest.raises(ValueError, match="grids must all have one shape"):
        Rigid(1)([np.ones((2, 2, 1)), np.ones((3, 2, 1))], np.ones((1, 2, 2, 1)))


def test_every_group_is_normalized_for_itself(rng):
    F = rng.normal(size=(40, 7)) * np.array([1, 1, 1, 50, 50, 50, 50]) + 5
    groups = [slice(0, 3), slice(3, 7)]
    got = fit_mean_norm(MemoryBlocks(F), groups)(F.copy())
    for group in groups:
        np.testing.assert_allclose(got[:, group], reference.mean_norm(F[:, group]), atol=1e-12)


def test_z_score_is_that_of_the_formula(rng):
    F = rng.normal(2, 3, size=(40, 5))
    got = BasisExpansion("precomputed", normalize="z-score").fit_transform(F)
    np.testing.assert_allclose(got, (F - F.mean(axis=0)) / F.std(axis=0))


class Halved(Normalization):
    """A normalization of a user's own: the similarities divided by two."""

    def learn(self, raw):
        D = raw.blocks.shape[1]
        return Affine(np.zeros(D, raw.blocks.dtype), np.full(D, 2, raw.blocks.dtype))


def test_a_normalization_is_a_name_or_an_object_that_keeps_the_contract(rng):
    X = rng.normal(size=(20, 3))
    raw = BasisExpansion("linear", basis=[1, 2], normalize=None).fit_transform(X)
    np.testing.assert_allclose(raw, X @ X[[1, 2]].T, rtol=1e-6)
    halved = BasisExpansion("linear", basis=[1, 2], normalize=Halved()).fit(X)
    np.testing.assert_allclose(halved.transform(X), raw / 2, rtol=1e-6)
    for wrong in ("minmax", Halved, 3, MeanNormScaler()):
        with pytest.raises(ValueError, match="normalize must be 'mean-norm', 'z-score', None, a Nystrom instance or"):
            BasisExpansion("linear", normalize=wrong).fit(X)


@pytest.mark.parametrize(("dtype", "sizes"), [(np.float32, (1e25, 7e37, 1e-30)), (np.float64, (1e200, 1e-200))])
def test_numbers_of_any_size(dtype, sizes, rng):
    X = rng.uniform(-1, 1, size=(50, 4))
    expected = reference.mean_norm(X)
    for size in sizes:
        np.testing.assert_allclose(MeanNormScaler().fit_transform((size * X).astype(dtype)), expected, atol=1e-5)


def test_float32_rows_are_scaled_by_what_float64_rows_have_taught(rng):
    X = rng.normal(size=(50, 4))
    scaler = MeanNormScaler().fit(1e100 * (1 + X))
    scaled = scaler.transform(X.astype(np.float32))
    assert scaled.dtype == np.float32
    np.testing.assert_allclose(scaled, scaler.transform(X), rtol=1e-6)


def test_rows_whose_norm_no_number_holds_are_refused(rng):
    X = rng.choice([-1.0, 1.0], size=(50, 100)) * 1.2e38
    with pytest.raises(
        ValueError, match=r"small enough for their norm to be a finite float32, got 1\.\d+e\+39; divide"
    ):
        MeanNormScaler().fit(X.astype(np.float32))


def test_weights_of_any_size(rng):
    X, weights = rng.normal(size=(50, 4)).astype(np.float32), rng.uniform(1, 2, size=50)
    expected = MeanNormScaler().fit(X, sample_weight=weights)
    huge = MeanNormScaler().fit(X, sample_weight=1e38 * weights)
    np.testing.assert_allclose(huge.mean_, expected.mean_, rtol=1e-5)
    assert huge.scale_ == pytest.approx(expected.scale_)
