"""Eigenvalues of similarity matrices, and the four ways to make an indefinite one positive semi-definite.

Section "Speeding up Kernelized SVM" of the paper, after Chen et al. (2009): clip the negative eigenvalues to zero, flip
their signs, shift all of them up, or square them.
"""

from contextlib import nullcontext
from typing import Any

import numpy as np
from scipy.linalg import LinAlgError, eigh, qr, solve_triangular
from scipy.sparse import issparse

from besvm._support.threads import one_blas_thread

SEVERAL_THREADS = 2000  # rows of a matrix, up to which more threads of BLAS make its eigenvectors slower, not faster
SPECTRA = ("clip", "flip", "shift", "square")


def check_matrix(K: Any, what: str = "the similarity matrix", square: bool = True) -> np.ndarray:
    """Return K as a real, finite matrix of float64, or say what is wrong with it."""
    if issparse(K):
        raise ValueError(f"{what} must be a dense array, got a sparse one of shape {K.shape}; pass K.toarray()")
    try:
        K = np.asarray(K)
    except ValueError:
        raise ValueError(f"{what} must be an array of numbers, got rows of different lengths") from None
    if K.ndim != 2 or (square and K.shape[0] != K.shape[1]) or 0 in K.shape:
        rule = "square: every item against every other" if square else "2-D: samples against exemplars"
        raise ValueError(f"{what} must be {rule}, got an array of shape {K.shape}")
    if K.dtype.kind == "c":
        raise ValueError(
            f"{what} must hold real numbers, got dtype {K.dtype}; pass its real part if that is what you mean"
        )
    if K.dtype.kind not in "fiub":
        raise ValueError(f"{what} must hold numbers, got dtype {K.dtype}")
    if not np.isfinite(K).all():
        i, j = np.argwhere(~np.isfinite(K))[0]
        raise ValueError(f"{what} must be finite, got {K[i, j]} in row {i}, column {j}")
    K = K.astype(np.float64)
    if np.isinf(frobenius(K)):  # which bounds the eigenvalues
        raise ValueError(f"{what} must have a finite norm, got entries of up to {np.abs(K).max():.3g}; scale it down")
    return K


def rounding(K: np.ndarray, dtype: Any) -> float:
    """Return the size below which an eigenvalue of a symmetric K is noise, if its entries were computed in ``dtype``.

    Entries that are each wrong by ε of their own size move eigenvalues by up to ε(‖K‖ + Σᵢ|Kᵢᵢ|), as a rule; the second
    term is for the diagonal, whose errors may all have one sign. To this comes the error of the eigenvalue solver.
    """
    eps = float(np.finfo(dtype if np.dtype(dtype).kind == "f" else np.float64).eps)
    small, exponent = _scaled(K)
    norm = np.linalg.norm(small)
    bound = eps * (norm + np.abs(np.diag(small)).sum()) + len(K) * np.finfo(np.float64).eps * norm
    return float(np.ldexp(bound, exponent))


def frobenius(K: np.ndarray) -> float:
    """Return ‖K‖, without the overflow and underflow of squares that NumPy's own norm has."""
    small, exponent = _scaled(K)
    with np.errstate(over="ignore"):
        return float(np.ldexp(np.linalg.norm(small), exponent))


def _scaled(K: np.ndarray) -> tuple[np.ndarray, int]:
    """Return K divided by a power of two, without rounding, so that its largest entry is near 1; and the exponent."""
    exponent = int(np.frexp(np.abs(K).max(initial=0))[1])
    return np.ldexp(K, -exponent), exponent


def eigenpairs(K: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Return the eigenvalues of a symmetric matrix in ascending order, and the eigenvectors as columns."""
    try:
        values, vectors = eigh(K, driver="evd")
    except LinAlgError as error:
        raise ValueError(
            f"the eigenvalues of the {len(K)} x {len(K)} similarity matrix could not be computed"
        ) from error
    return values, vectors


def made_psd(K: np.ndarray, spectrum: str, noise: float = 0.0) -> tuple[np.ndarray, np.ndarray | None]:
    """Return a symmetric K made positive semi-definite, and what does the same to the similarities of other samples.

    The second is a matrix P: the similarities k of a new sample to the rows of K become k @ P, so that training and
    test samples are treated alike. None leaves them as they are: K was definite already (no eigenvalue below
    ``-noise``), or was shifted, which only changes what an item has in common with itself.
    """
    if spectrum == "square":
        return K @ K, K
    values, vectors = eigenpairs(K)
    if values[0] >= -noise:
        return K, None
    if spectrum == "shift":
        return K - values[0] * np.eye(len(K)), None
    kept = np.sign(values) if spectrum == "flip" else (values > 0).astype(float)
    return (vectors * (kept * values)) @ vectors.T, (vectors * kept) @ vectors.T


def inverse_root(K: np.ndarray, spectrum: str, noise: float = 0.0) -> tuple[np.ndarray, int]:
    """Return N with N Nᵀ the inverse of K made positive semi-definite, and its rank; K_nm N are Nyström features.

    For equation 2 N is K^(-1/2), on the eigenvectors whose (fixed) eigenvalue exceeds ``noise``; others
    would only amplify rounding errors. "square" needs no eigenvectors: with K = QR, the inverse of KᵀK is R⁻¹R⁻ᵀ.
    K is empty where a measure has no exemplars left.
    """
    if not len(K):
        return K, 0
    with nullcontext() if len(K) > SEVERAL_THREADS else one_blas_thread():
        return _inverse_root(K, spectrum, noise)


def _inverse_root(K: np.ndarray, spectrum: str, noise: float) -> tuple[np.ndarray, int]:
    if spectrum == "square":
        R, order = qr(K, mode="r", pivoting=True)
        rank = int((np.abs(np.diag(R)) > noise).sum())  # columns that depend on those before them are left out
        inverse = np.zeros_like(K)
        if rank:  # SciPy before 1.14 refuses an empty triangle
            inverse[order[:rank], :rank] = solve_triangular(R[:rank, :rank], np.eye(rank))
        return inverse, rank
    values, vectors = eigenpairs(K)
    if spectrum == "flip":
        values = np.abs(values)
    elif spectrum == "shift":
        values = values - min(values[0], 0.0)
    kept = values > noise
    return (vectors[:, kept] / np.sqrt(values[kept])) @ vectors[:, kept].T, int(kept.sum())
