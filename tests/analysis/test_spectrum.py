"""The eigenvalues of similarity matrices against their definitions, in dense float64 algebra."""

import builtins

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy.sparse import csr_matrix

from besvm import FHOG, Measure
from besvm.analysis import measure_spectrum, spectrum
from besvm.similarities import RBF, Deformable, KMers, Linear


@given(n=st.integers(1, 15), seed=st.integers(0, 1000))
def test_spectrum_is_its_definition(n, seed):
    K = np.random.default_rng(seed).normal(size=(n, n))
    found = spectrum(K)
    values = np.linalg.eigvalsh((K + K.T) / 2)
    np.testing.assert_allclose(found.eigenvalues, values[::-1], atol=1e-10)
    assert found.negative_ratio == sum(value < 0 for value in values) / n
    below, above = sum(-v for v in values if v < 0), sum(v for v in values if v > 0)
    assert found.negative_energy == pytest.approx(below / above if above else np.inf)
    assert found.asymmetry == pytest.approx(np.sqrt(((K - K.T) ** 2).sum()) / (2 * np.sqrt((K**2).sum())))
    assert 0 <= found.asymmetry <= 1


@pytest.mark.parametrize("dtype", [np.float32, np.float64])
@pytest.mark.parametrize("similarity", [Linear(), RBF(gamma=1e-4)])
def test_rounding_errors_are_not_negative_eigenvalues(dtype, similarity, rng):
    X = np.repeat(rng.normal(size=(60, 3)) + 5, 4, axis=0).astype(dtype)  # rank 60 at most, of 240
    K = similarity(X, X)
    assert K.dtype == dtype
    assert np.linalg.eigvalsh(K.astype(float))[0] < 0
    found = spectrum(K)
    assert (found.negative_ratio, found.negative_energy) == (0, 0)
    assert not np.signbit(found.negative_energy)  # "-0.0" looks odd in a table
    assert str(found).startswith("positive semi-definite: 0 of 240")


def test_small_negative_eigenvalues_are_not_rounding_errors(rng):
    """A bound as loose as n ε ‖K‖ would drop a tenth of those that table "eigs" counts."""
    rotation = np.linalg.qr(rng.normal(size=(500, 500)))[0]
    values = np.concatenate([[300.0], np.linspace(2, 0.002, 349), np.linspace(-0.002, -0.3, 150)])
    K = ((rotation * values) @ rotation.T).astype(np.float32)
    assert spectrum(K).negative_ratio == 150 / 500


def test_extreme_matrices():
    zero = spectrum(np.zeros((3, 3)))
    assert (zero.negative_ratio, zero.negative_energy, zero.asymmetry) == (0, 0, 0)
    assert spectrum([[0, 1], [-1, 0]]).asymmetry == 1
    assert spectrum(-np.eye(2)).negative_energy == np.inf
    text = str(spectrum([[1.0, 2.0], [2.0, 1.0]]))
    assert "indefinite: 1 of 2 eigenvalues are negative (NgRat 0.500), with 0.3333 times the energy" in text


@pytest.mark.parametrize("scale", [1e-300, 1e-160, 1e160, 1e300, 1e308])
def test_spectrum_does_not_depend_on_the_unit(rng, scale):
    K = rng.normal(size=(9, 9))
    K /= np.linalg.norm(K)
    plain, scaled = spectrum(K), spectrum(scale * K)
    np.testing.assert_allclose(scaled.eigenvalues / scale, plain.eigenvalues, rtol=1e-9)
    assert scaled.noise / scale == pytest.approx(plain.noise)
    assert scaled.asymmetry == pytest.approx(plain.asymmetry)
    assert scaled.negative_ratio == plain.negative_ratio > 0
    assert scaled.negative_energy == pytest.approx(plain.negative_energy)


@pytest.mark.parametrize(
    ("K", "says"),
    [
        (np.zeros((2, 3)), "must be square"),
        (np.array([[1.0, np.nan], [np.nan, 1.0]]), "must be finite, got nan in row 0, column 1"),
        (np.eye(2) * 1j, "must hold real numbers, got dtype complex128"),
        ([[1.0, 2.0], [3.0]], "must be an array of numbers, got rows of different lengths"),
        (csr_matrix(np.eye(3)), r"must be a dense array, got a sparse one of shape \(3, 3\); pass K.toarray\(\)"),
        (1.7e308 * np.eye(3), r"must have a finite norm, got entries of up to 1.7e\+308; scale it down"),
    ],
)
def test_what_has_no_spectrum(K, says):
    with pytest.raises(ValueError, match=says):
        spectrum(K)


def test_spectrum_of_a_measure_is_that_of_its_bases(rng):
    images = rng.integers(0, 256, (40, 16, 16, 3), dtype=np.uint8)
    measure = Measure(Deformable(rigid=1, local=1), features=FHOG(cell=4))
    cells = FHOG(cell=4).fit_transform(images)[[3, 30, 9, 17]]
    K = Deformable(rigid=1, local=1)(cells, cells)
    np.testing.assert_allclose(
        measure_spectrum(measure, images, basis=[3, 30, 9, 17]).eigenvalues, spectrum(K).eigenvalues, rtol=1e-5
    )
    X, y = rng.normal(size=(50, 4)), np.arange(50) % 5
    assert len(measure_spectrum("rbf", X, y, basis=20, random_state=0).eigenvalues) == 20
    S = rng.normal(size=(9, 9))
    picked = measure_spectrum("precomputed", S, basis=[1, 5, 6])
    np.testing.assert_allclose(picked.eigenvalues, spectrum(S[np.ix_([1, 5, 6], [1, 5, 6])]).eigenvalues)
    words = measure_spectrum(lambda a, b: len(set(a) & set(b)), ["ham", "spam", "eggs"], basis=[0, 1, 2])
    assert words.negative_ratio == 0
    with pytest.raises(ValueError, match="NaN"):
        measure_spectrum("rbf", np.full((3, 2), np.nan))


def test_spectrum_plot_shows_every_eigenvalue(axes):
    K = np.diag([4.0, 2.0, 1.0, -0.5, 0.0])
    assert spectrum(K).plot(axes) is axes
    drawn = np.concatenate([line.get_ydata() for line in axes.lines])
    np.testing.assert_allclose(drawn, [4, 2, 1, 0.5])
    assert [text.get_text() for text in axes.get_legend().get_texts()] == ["3 positive", "1 negative"]
    axes.clear()
    spectrum(np.zeros((2, 2))).plot(axes)


def test_plotting_without_matplotlib(monkeypatch):
    original = builtins.__import__

    def without(name, *args, **kwargs):
        if name.startswith("matplotlib"):
            raise ImportError(name)
        return original(name, *args, **kwargs)

    monkeypatch.setattr("besvm._support.extras.import_module", without)
    with pytest.raises(ImportError, match="drawing a spectrum needs matplotlib; install besvm with the extra 'plots'"):
        spectrum(np.eye(2)).plot()


def test_the_rounding_is_that_of_the_similarity(rng):
    """K-mers are counted and compared in float32; what that rounds must not pass for negative eigenvalues."""
    texts = ["".join(rng.choice(list("ab"), 30)) for _ in range(80)]
    assert measure_spectrum(KMers(2), texts, basis=80).negative_ratio == 0
