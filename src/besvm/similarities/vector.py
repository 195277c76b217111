"""Similarities of vectors: the usual kernels, and others that are not kernels at all."""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Callable
from typing import Any, ClassVar

import numpy as np
from scipy.sparse import issparse

from besvm._support.threads import slices, thread_map
from besvm.similarities.contract import Similarity
from besvm.similarities.registry import register
from besvm.similarities.tiles import (
    TileFunction,
    dot_with,
    exp_of_nonpositive,
    manhattan_to,
    squared_distance_to,
    squares,
    unit_rows,
)

TILE_ITEMS = 1 << 20  # entries of one output tile: four megabytes of float32, so a second look finds it in cache


class VectorSimilarity(Similarity):
    """Abstract: a similarity of the rows of two matrices, computed tile by tile on all threads.

    A subclass says in ``tile(basis)`` how one tile is filled. float32 stays float32 and float64 stays float64.
    """

    vectors: ClassVar[bool] = True
    any_float: ClassVar[bool] = True

    @abstractmethod
    def tile(self, basis: np.ndarray) -> TileFunction:
        """Pack ``basis`` and return the function that fills ``out`` with the similarities of some rows."""

    def __call__(self, A: Any, B: Any) -> np.ndarray:
        """Return the similarity of every row of A (sample) to every row of B (exemplar)."""
        return self.against(B)(A)

    def against(self, basis: Any) -> Callable[[Any], np.ndarray]:
        """Return the function A -> self(A, basis), with the basis packed once."""
        basis = _nan_for_infinity(_as_vectors(basis))
        fill = self.tile(basis)
        rows_each = max(16, TILE_ITEMS // max(1, len(basis)) // 16 * 16)

        def similarities(A: Any) -> np.ndarray:
            A = _as_vectors(A, basis)
            out = np.empty((len(A), len(basis)), dtype=A.dtype)
            for _ in thread_map(lambda rows: fill(_nan_for_infinity(A[rows]), out[rows]), slices(len(A), rows_each)):
                pass
            return out

        return similarities


def _as_vectors(A: Any, basis: np.ndarray | None = None) -> np.ndarray:
    if issparse(A):
        A = A.toarray()  # one block of rows, or the basis: small by construction
    A = np.asarray(A)
    if A.ndim < 2:
        raise ValueError(f"vectors must come as a 2-D array (items, numbers), got {A.ndim} dimensions")
    A = A.reshape(len(A), int(np.prod(A.shape[1:])))  # a grid of descriptors is a vector too
    if basis is None:
        return A if A.dtype in (np.float32, np.float64) else A.astype(np.float64)
    if A.shape[1] != basis.shape[1]:
        raise ValueError(f"vectors must have {basis.shape[1]} numbers like the exemplars, got {A.shape[1]}")
    return A if A.dtype == basis.dtype else A.astype(basis.dtype)


def _nan_for_infinity(A: np.ndarray) -> np.ndarray:
    """Return A with NaN for infinite numbers: exp(-inf) and tanh(inf) would pass for similarities."""
    with np.errstate(over="ignore", invalid="ignore"):
        total = A.sum()  # three times as fast as np.isfinite(A).all()
    return A if np.isfinite(total) else np.where(np.isinf(A), A.dtype.type(np.nan), A)


@register
class Linear(VectorSimilarity):
    """The dot product, s(b, x) = bᵀx.

    Examples
    --------
    >>> from besvm.similarities import Linear
    >>> Linear()([[1.0, 2.0]], [[3.0, 0.0], [1.0, 1.0]])
    array([[3., 3.]])
    """

    symmetric = True
    psd = True

    def tile(self, basis: np.ndarray) -> TileFunction:
        """Pack the basis transposed."""
        return dot_with(basis)


@register
class RBF(VectorSimilarity):
    """The Gaussian kernel, s(b, x) = exp(-γ ‖b - x‖²).

    Parameters
    ----------
    gamma : float, "scale" or "median", default="scale"
        "scale" is 1 / (d · var(X)), as in scikit-learn's SVC; "median" is 1 / the median squared distance
        between training rows (of at most 1,000 of them, evenly spaced).

    Examples
    --------
    >>> from besvm.similarities import RBF
    >>> RBF(gamma=0.5)([[0.0, 0.0]], [[1.0, 1.0]]).round(4)
    array([[0.3679]])
    """

    symmetric = True
    psd = True

    def __init__(self, gamma: float | str = "scale") -> None:
        self.gamma = gamma

    def fit(self, X: Any) -> RBF:
        """Settle gamma on the training rows."""
        self.gamma_ = _settle_gamma(self.gamma, X)
        return self

    def tile(self, basis: np.ndarray) -> TileFunction:
        """Pack the basis so that one matrix product gives the whole exponent."""
        exponent = squared_distance_to(basis, factor=-_gamma(self))
        exp = exp_of_nonpositive(basis.dtype)

        def fill(A: np.ndarray, out: np.ndarray) -> None:
            exponent(A, out)
            exp(out)

        return fill


@register
class Laplacian(VectorSimilarity):
    """The Laplacian kernel, s(b, x) = exp(-γ ‖b - x‖₁).

    Parameters
    ----------
    gamma : float, "scale" or "median", default="scale"
        "scale" is 1 / (d · std(X)); "median" is 1 / the median distance between training rows.

    Examples
    --------
    >>> from besvm.similarities import Laplacian
    >>> Laplacian(gamma=0.5)([[0.0, 0.0]], [[1.0, -1.0]]).round(4)
    array([[0.3679]])
    """

    symmetric = True
    psd = True

    def __init__(self, gamma: float | str = "scale") -> None:
        self.gamma = gamma

    def fit(self, X: Any) -> Laplacian:
        """Settle gamma on the training rows."""
        self.gamma_ = _settle_gamma(self.gamma, X, order=1)
        return self

    def tile(self, basis: np.ndarray) -> TileFunction:
        """Use the compiled city-block loop."""
        distance = manhattan_to(basis)
        gamma = _gamma(self)
        exp = exp_of_nonpositive(basis.dtype)

        def fill(A: np.ndarray, out: np.ndarray) -> None:
            distance(A, out)
            out *= -gamma
            exp(out)

        return fill


@register
class Polynomial(VectorSimilarity):
    """The polynomial kernel, s(b, x) = (γ bᵀx + coef0)^degree.

    Parameters
    ----------
    degree : int, default=3
    gamma : float or "scale", default="scale"
        "scale" is 1 / (d · var(X)).
    coef0 : float, default=1.0

    Examples
    --------
    >>> from besvm.similarities import Polynomial
    >>> Polynomial(degree=2, gamma=1.0)([[1.0, 2.0]], [[1.0, 1.0]])
    array([[16.]])
    """

    symmetric = True

    def __init__(self, degree: int = 3, gamma: float | str = "scale", coef0: float = 1.0) -> None:
        self.degree = degree
        self.gamma = gamma
        self.coef0 = coef0

    def fit(self, X: Any) -> Polynomial:
        """Settle gamma on the training rows."""
        self.gamma_ = _settle_gamma(self.gamma, X, choices=("scale",))
        return self

    def tile(self, basis: np.ndarray) -> TileFunction:
        """Pack gamma into the basis."""
        if self.degree != int(self.degree) or self.degree < 1:
            raise ValueError(f"degree must be a whole number of at least 1, got {self.degree!r}")
        dot = dot_with(basis * basis.dtype.type(_gamma(self)))

        def fill(A: np.ndarray, out: np.ndarray) -> None:
            dot(A, out)
            out += self.coef0
            base = out.copy()
            for _ in range(int(self.degree) - 1):  # np.power is thirty times slower
                out *= base

        return fill


@register
class Sigmoid(VectorSimilarity):
    """The sigmoid similarity, s(b, x) = tanh(γ bᵀx + coef0): widely used, and not positive definite.

    Parameters
    ----------
    gamma : float or "scale", default="scale"
        "scale" is 1 / (d · var(X)).
    coef0 : float, default=0.0

    Examples
    --------
    >>> from besvm.similarities import Sigmoid
    >>> Sigmoid(gamma=0.5)([[1.0, 1.0]], [[1.0, 0.0]]).round(4)
    array([[0.4621]])
    """

    symmetric = True

    def __init__(self, gamma: float | str = "scale", coef0: float = 0.0) -> None:
        self.gamma = gamma
        self.coef0 = coef0

    def fit(self, X: Any) -> Sigmoid:
        """Settle gamma on the training rows."""
        self.gamma_ = _settle_gamma(self.gamma, X, choices=("scale",))
        return self

    def tile(self, basis: np.ndarray) -> TileFunction:
        """Pack gamma into the basis."""
        dot = dot_with(basis * basis.dtype.type(_gamma(self)))

        def fill(A: np.ndarray, out: np.ndarray) -> None:
            dot(A, out)
            out += self.coef0
            np.tanh(out, out=out)

        return fill


@register
class Cosine(VectorSimilarity):
    """The cosine of the angle, s(b, x) = bᵀx / (‖b‖ ‖x‖); a zero vector is similar to nothing (0).

    Examples
    --------
    >>> from besvm.similarities import Cosine
    >>> Cosine()([[2.0, 0.0]], [[1.0, 0.0], [0.0, 3.0]])
    array([[1., 0.]])
    """

    symmetric = True
    psd = True

    def tile(self, basis: np.ndarray) -> TileFunction:
        """Pack the basis with rows of length one."""
        dot = dot_with(unit_rows(basis))

        def fill(A: np.ndarray, out: np.ndarray) -> None:
            dot(unit_rows(A), out)

        return fill


@register
class Tanimoto(VectorSimilarity):
    """The Tanimoto (Jaccard) similarity, s(b, x) = bᵀx / (‖b‖² + ‖x‖² - bᵀx); 1 for two zero vectors.

    On fingerprints of zeros and ones it is the size of the intersection over that of the union.

    Examples
    --------
    >>> from besvm.similarities import Tanimoto
    >>> Tanimoto()([[1.0, 1.0, 0.0]], [[1.0, 0.0, 0.0], [1.0, 1.0, 0.0]])
    array([[0.5, 1. ]])
    """

    symmetric = True

    def tile(self, basis: np.ndarray) -> TileFunction:
        """Pack the basis transposed, with its squared norms."""
        dot = dot_with(basis)
        basissquares = squares(basis)

        def fill(A: np.ndarray, out: np.ndarray) -> None:
            dot(A, out)
            union = squares(A)[:, None] + basissquares
            union -= out
            empty = union <= 0
            union[empty] = 1
            out[empty] = 1
            out /= union

        return fill


# --- gamma, from the data where it is not given ---


def _settle_gamma(gamma: float | str, X: Any, order: int = 2, choices: tuple[str, ...] = ("scale", "median")) -> float:
    """Return gamma as a number; ``order`` is the power of a difference that gamma multiplies."""
    if isinstance(gamma, str):
        if gamma not in choices:
            raise ValueError(f"gamma must be a positive number or {' or '.join(map(repr, choices))}, got {gamma!r}")
        X = X if issparse(X) else _as_vectors(X)
        if gamma == "scale":
            spread = _spread(X) ** order * X.shape[1]
        else:
            from scipy.spatial.distance import pdist

            some = X[np.linspace(0, X.shape[0] - 1, min(1000, X.shape[0])).astype(int)]
            some = some.toarray() if issparse(some) else np.asarray(some)
            distances = pdist(some, "cityblock" if order == 1 else "sqeuclidean")
            spread = float(np.median(distances)) if len(distances) else 0.0
        return 1.0 / spread if spread > 0 else 1.0
    number = isinstance(gamma, (int, float, np.number)) and not isinstance(gamma, bool)
    if not (number and np.isfinite(gamma) and gamma > 0):
        raise ValueError(f"gamma must be a positive number or {' or '.join(map(repr, choices))}, got {gamma!r}")
    return float(gamma)


def _spread(X: Any) -> float:
    if issparse(X):
        return float(np.sqrt(max(0.0, X.multiply(X).mean() - X.mean() ** 2)))
    total = squares = 0.0
    for rows in slices(len(X), max(1, TILE_ITEMS // max(1, X.shape[1]))):  # np.std would copy X, in float64
        block = np.asarray(X[rows], dtype=np.float64) - X[0, 0]
        total += block.sum()
        squares += float(np.vdot(block, block))
    return float(np.sqrt(max(0.0, squares / X.size - (total / X.size) ** 2)))


def _gamma(similarity: Any) -> float:
    if isinstance(similarity.gamma, str):
        if not hasattr(similarity, "gamma_"):
            raise ValueError(
                f"{type(similarity).__name__}(gamma={similarity.gamma!r}) takes gamma from the training rows; "
                "call fit(X) first or give gamma a number"
            )
        return float(similarity.gamma_)
    return _settle_gamma(similarity.gamma, None)
