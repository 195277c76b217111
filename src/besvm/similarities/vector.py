"""Similarities of vectors: the usual kernels, and others that are not kernels at all."""

from abc import abstractmethod
from collections.abc import Callable
from typing import Any, ClassVar, Self

import numpy as np

from besvm._support.threads import slices, thread_map
from besvm._support.validation import check_common
from besvm.similarities.contract import Similarity, register
from besvm.similarities.gamma import settle_gamma
from besvm.similarities.tiles import (
    TileFunction,
    as_vectors,
    dot_with,
    exp_of_nonpositive,
    manhattan_to,
    nan_for_infinity,
    squared_distance_to,
    squares,
    then,
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
        return self.against(B)(A)

    def against(self, basis: Any) -> Callable[[Any], np.ndarray]:
        check_common(self)
        basis = nan_for_infinity(as_vectors(basis))
        fill = self.tile(basis)
        rows_each = max(16, TILE_ITEMS // max(1, len(basis)) // 16 * 16)

        def similarities(A: Any) -> np.ndarray:
            A = as_vectors(A, basis)
            out = np.empty((len(A), len(basis)), dtype=A.dtype)
            for _ in thread_map(lambda rows: fill(nan_for_infinity(A[rows]), out[rows]), slices(len(A), rows_each)):
                pass
            return out

        return similarities


class GammaSimilarity(VectorSimilarity):
    """Abstract: a similarity of vectors whose gamma is a number, or taken from the training rows."""

    gamma_choices: ClassVar[tuple[str, ...]] = ("scale",)
    gamma_order: ClassVar[int] = 2  # the power of a difference that gamma multiplies

    def __init__(self, gamma: float | str = "scale") -> None:
        self.gamma = gamma

    def fit(self, X: Any, sample_weight: Any = None) -> Self:
        """Settle gamma on the training rows; a row of weight 2 counts as two, one of weight 0 not at all."""
        self.gamma_ = settle_gamma(self.gamma, self.gamma_choices, X, sample_weight, self.gamma_order)
        return self

    def settled_gamma(self) -> float:
        """Return the gamma that was given as a number, or else the one that was fitted."""
        if not isinstance(self.gamma, str):
            return settle_gamma(self.gamma, self.gamma_choices)
        if not hasattr(self, "gamma_"):
            raise ValueError(
                f"{type(self).__name__}(gamma={self.gamma!r}) takes gamma from the training rows; "
                "call fit(X) first or give gamma a number"
            )
        return self.gamma_


@register
class Linear(VectorSimilarity):
    """The dot product, s(b, x) = bᵀx.

    Examples
    --------
    >>> from besvm.similarities import Linear
    >>> Linear()([[1.0, 2.0]], [[3.0, 0.0], [1.0, 1.0]])
    array([[3., 3.]])
    """

    symmetric = psd = True

    def tile(self, basis: np.ndarray) -> TileFunction:
        return dot_with(basis)


@register
class RBF(GammaSimilarity):
    """The Gaussian kernel, s(b, x) = exp(-γ ‖b - x‖²).

    Parameters
    ----------
    gamma : float, "scale" or "median", default="scale"
        "scale" is 1 / (d · var(X)), as in scikit-learn's SVC; "median" is 1 / the median squared distance
        between training rows (of at most 1,000 of them, evenly spaced, where a row of weight w counts as w rows).

    Examples
    --------
    >>> from besvm.similarities import RBF
    >>> RBF(gamma=0.5)([[0.0, 0.0]], [[1.0, 1.0]]).round(4)
    array([[0.3679]])
    """

    symmetric = psd = True
    gamma_choices = ("scale", "median")

    def tile(self, basis: np.ndarray) -> TileFunction:
        exponent = squared_distance_to(basis, factor=-self.settled_gamma())
        return then(exponent, exp_of_nonpositive(basis.dtype))


@register
class Laplacian(GammaSimilarity):
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

    symmetric = psd = True
    gamma_choices = ("scale", "median")
    gamma_order = 1

    def tile(self, basis: np.ndarray) -> TileFunction:
        gamma, exp = self.settled_gamma(), exp_of_nonpositive(basis.dtype)
        return then(manhattan_to(basis), lambda out: exp(np.multiply(out, -gamma, out=out)))


@register
class Polynomial(GammaSimilarity):
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
        super().__init__(gamma)
        self.degree = degree
        self.coef0 = coef0

    def tile(self, basis: np.ndarray) -> TileFunction:

        def power(out: np.ndarray) -> None:
            out += self.coef0
            base = out.copy()
            for _ in range(int(self.degree) - 1):  # np.power is thirty times slower
                out *= base

        return then(dot_with(basis * basis.dtype.type(self.settled_gamma())), power)


@register
class Sigmoid(GammaSimilarity):
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
        super().__init__(gamma)
        self.coef0 = coef0

    def tile(self, basis: np.ndarray) -> TileFunction:
        dot = dot_with(basis * basis.dtype.type(self.settled_gamma()))
        return then(dot, lambda out: np.tanh(np.add(out, self.coef0, out=out), out=out))


@register
class Cosine(VectorSimilarity):
    """The cosine of the angle, s(b, x) = bᵀx / (‖b‖ ‖x‖); a zero vector is similar to nothing (0).

    Examples
    --------
    >>> from besvm.similarities import Cosine
    >>> Cosine()([[2.0, 0.0]], [[1.0, 0.0], [0.0, 3.0]])
    array([[1., 0.]])
    """

    symmetric = psd = True

    def tile(self, basis: np.ndarray) -> TileFunction:
        dot = dot_with(unit_rows(basis))
        return lambda A, out: dot(unit_rows(A), out)


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
        dot, basis_squares = dot_with(basis), squares(basis)

        def fill(A: np.ndarray, out: np.ndarray) -> None:
            dot(A, out)
            union = squares(A)[:, None] + basis_squares
            union -= out
            empty = union <= 0
            union[empty] = 1
            out[empty] = 1
            out /= union

        return fill
