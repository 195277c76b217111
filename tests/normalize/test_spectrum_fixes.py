"""The spectrum fixes against their definitions, in dense float64 algebra."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from besvm.normalize.spectrum import SPECTRA, check_matrix, inverse_root, made_psd, rounding


def indefinite(n: int, seed: int = 0) -> np.ndarray:
    K = np.random.default_rng(seed).normal(size=(n, n))
    return (K + K.T) / 2


FIXED_EIGENVALUES = {
    "clip": lambda v: np.maximum(v, 0),
    "flip": np.abs,
    "shift": lambda v: v - min(v.min(), 0),
    "square": lambda v: v**2,
}


@pytest.mark.parametrize("spectrum", SPECTRA)
@given(n=st.integers(1, 12), seed=st.integers(0, 1000))
def test_fix_changes_eigenvalues_alone(spectrum: str, n: int, seed: int) -> None:
    K = indefinite(n, seed)
    fixed, _ = made_psd(K, spectrum)
    expected = np.sort(FIXED_EIGENVALUES[spectrum](np.linalg.eigvalsh(K)))
    assert np.linalg.eigvalsh(fixed) == pytest.approx(expected, abs=1e-9)
    assert fixed @ K == pytest.approx(K @ fixed, abs=1e-8)  # the eigenvectors are the same


@pytest.mark.parametrize("spectrum", ["clip", "flip", "square"])
def test_new_samples_are_treated_like_training_rows(spectrum: str) -> None:
    K = indefinite(9)
    fixed, carry = made_psd(K, spectrum)
    assert carry is not None
    assert carry @ K == pytest.approx(fixed)


@pytest.mark.parametrize("spectrum", ["clip", "flip", "shift"])
def test_definite_matrix_is_left_alone(spectrum: str) -> None:
    root = indefinite(6)
    K = root @ root.T
    fixed, carry = made_psd(K, spectrum, rounding(K, np.float64))
    assert carry is None
    assert fixed is K


@pytest.mark.parametrize("spectrum", SPECTRA)
@given(n=st.integers(1, 12), seed=st.integers(0, 1000))
def test_inverse_root(spectrum: str, n: int, seed: int) -> None:
    K = indefinite(n, seed)
    noise = rounding(K, np.float64)
    N, rank = inverse_root(K, spectrum, noise)
    assert rank == np.linalg.matrix_rank(N)
    values, vectors = np.linalg.eigh(K)
    fixed = FIXED_EIGENVALUES[spectrum](values)
    inverse = np.where(fixed > noise, 1 / np.where(fixed > noise, fixed, 1), 0)
    scale = np.abs(inverse).max(initial=1)
    assert N @ N.T / scale == pytest.approx((vectors * inverse) @ vectors.T / scale, abs=1e-6)


@pytest.mark.parametrize("spectrum", SPECTRA)
def test_copies_of_an_exemplar_change_nothing(spectrum: str) -> None:
    """Rank-deficient K_mm: the features give the inner products of the matrix without the copy."""
    values = np.array([5.0, 3.0, 2.0, 1.0])
    rotation = np.linalg.qr(indefinite(4, 3))[0]
    whole = (rotation * values) @ rotation.T
    twice = np.array([0, 1, 2, 2])
    once = np.array([0, 1, 2])
    K_n = whole[:, twice]
    N, _ = inverse_root(whole[np.ix_(twice, twice)], spectrum, 1e-9)
    assert np.isfinite(N).all()
    if spectrum in ("clip", "flip"):  # squaring and shifting count the copy twice, by definition
        direct = whole[:, once] @ inverse_root(whole[np.ix_(once, once)], spectrum)[0]
        assert (K_n @ N) @ (K_n @ N).T == pytest.approx(direct @ direct.T)


@pytest.mark.parametrize(
    ("K", "says"),
    [
        (np.zeros((2, 3)), r"must be square: every item against every other, got an array of shape \(2, 3\)"),
        (np.zeros(3), r"must be square"),
        (np.zeros((0, 0)), r"must be square"),
        (np.array([[1.0, np.nan], [0.0, 1.0]]), "must be finite, got nan in row 0, column 1"),
        (np.eye(2, dtype=complex), "must hold real numbers, got dtype complex128"),
        (np.array([["a"]]), "must hold numbers"),
    ],
)
def test_what_is_no_similarity_matrix(K: np.ndarray, says: str) -> None:
    with pytest.raises(ValueError, match=says):
        check_matrix(K)


@pytest.mark.parametrize("scale", [1e-300, 1.0, 1e300])
def test_rounding_grows_with_the_matrix_and_does_not_overflow(rng, scale):
    K = rng.normal(size=(20, 20))
    assert rounding(scale * K, np.float32) == pytest.approx(scale * rounding(K, np.float32), rel=1e-12)
    eps, eps64 = np.finfo(np.float32).eps, np.finfo(np.float64).eps
    expected = eps * (np.linalg.norm(K) + np.abs(np.diag(K)).sum()) + 20 * eps64 * np.linalg.norm(K)
    assert rounding(K, np.float32) == pytest.approx(expected)


@pytest.mark.parametrize("spectrum", SPECTRA)
def test_root_of_nothing_is_nothing(spectrum: str) -> None:
    root, rank = inverse_root(np.empty((0, 0)), spectrum)
    assert (root.shape, rank) == ((0, 0), 0)
