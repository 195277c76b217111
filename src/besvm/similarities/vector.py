"""Similarities of vectors: the usual kernels, and others that are not kernels at all."""

from abc import abstractmethod
from collections.abc import Callable
from typing import Any, ClassVar, Self

import numpy as np

from besvm._support.parameters import check_common
from besvm._support.threads import slices, thread_map
from besvm.similarities.contract import Similarity, register
from besvm.similarities.gamma import settle_gamma
from besvm.similarities.tiles import (
    TileFunction,
    as_vectors,
    dense,
    dot_with,
    exp_of_nonpositive,
    is_thin,
    manhattan_to,
    nan_for_infinity,
    squared_distance_to,
    then,
    unit_rows,
)

TILE_ITEMS = 1 << 20  # numbers of one tile: four megabytes of float32, so a second look finds it in cache
COPIES = 4  # of a sample, that one way or another are made to compare it


class VectorSimilarity(Similarity):
    """Abstract: a similarity of the rows of two matrices, computed tile by tile on all threads.

    A subclass says in ``tile(basis)`` how one tile is filled. float32 stays float32 and float64 stays float64.

    Attributes
    ----------
    sparse : bool
        Whether ``tile``, and the function that it returns, take CSR matrices too. Those of other similarities become
        arrays, a tile at a time.
    """

    kind: ClassVar[str] = "vectors"
    vectors: ClassVar[bool] = True
    any_float: ClassVar[bool] = True
    needs_scaling: ClassVar[bool] = True
    sparse: ClassVar[bool] = False

    @abstractmethod
    def tile(self, basis: Any) -> TileFunction:
        """Pack ``basis`` and return the function that fills ``out`` with the similarities of some rows."""

    def bytes_a_row(self, sample: int, n_exemplars: int) -> int:
        return COPIES * sample + 8 * n_exemplars

    def __call__(self, A: Any, B: Any) -> np.ndarray:
        return self.against(B)(A)

    def against(self, basis: Any) -> Callable[[Any], np.ndarray]:
        check_common(self)
        return by_tiles(self.tile, basis, self.sparse)


def by_tiles(tile: Callable[[Any], TileFunction], basis: Any, sparse: bool = False) -> Callable[[Any], np.ndarray]:
    """Return what compares the rows of matrices with those of ``basis``, tile by tile on all threads.

    ``tile(basis)`` packs the basis and returns the function that fills a tile; ``sparse`` says whether both take CSR
    matrices too.
    """
    basis = nan_for_infinity(as_vectors(basis))
    n_basis, d = basis.shape
    thin = is_thin(basis)
    if thin and not sparse:
        return _by_pieces(tile, basis)
    fill = tile(basis if thin else dense(basis))
    rows_each = tile_rows(n_basis if thin else max(n_basis, d))

    def similarities(A: Any) -> np.ndarray:
        A = as_vectors(A, basis)
        out = np.empty((A.shape[0], n_basis), dtype=A.dtype)

        def work(rows: slice) -> None:
            some = nan_for_infinity(A[rows])
            with np.errstate(over="ignore", invalid="ignore"):  # what is not finite is refused by name later
                fill(some if thin else dense(some), out[rows])

        for _ in thread_map(work, slices(A.shape[0], rows_each)):
            pass
        return out

    return similarities


def _by_pieces(tile: Callable[[Any], TileFunction], basis: Any) -> Callable[[Any], np.ndarray]:
    """Make an array of some exemplars at a time: one of all could be a thousand times as large."""
    pieces = slices(basis.shape[0], tile_rows(basis.shape[1]))
    return lambda A: np.hstack([by_tiles(tile, basis[piece].toarray())(A) for piece in pieces])


def tile_rows(width: int) -> int:
    """Return how many rows of so many numbers make a tile."""
    return max(16, TILE_ITEMS // max(1, width) // 16 * 16)


class GammaSimilarity(VectorSimilarity):
    """Abstract: a similarity of vectors whose gamma is a number, or taken from the training rows."""

    settles_on_sources: ClassVar[bool] = True
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
                f"{type(self).__name__}(gamma={self.gamma!r}) needs the training rows to choose gamma; "
                "call fit(X) first, or set gamma to a number"
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

    symmetric = psd = sparse = True

    def tile(self, basis: Any) -> TileFunction:
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

    symmetric = psd = sparse = True
    gamma_choices = ("scale", "median")

    def tile(self, basis: Any) -> TileFunction:
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

    def tile(self, basis: Any) -> TileFunction:
        gamma, exp = self.settled_gamma(), exp_of_nonpositive(basis.dtype)
        return then(manhattan_to(basis), lambda out: exp(np.multiply(out, -gamma, out=out)))


@register
class Polynomial(GammaSimilarity):
    """The polynomial kernel, s(b, x) = (γ bᵀx + coef0)^degree.

    Parameters
    ----------
    degree : int, default=3
        The power.
    gamma : float or "scale", default="scale"
        "scale" is 1 / (d · var(X)).
    coef0 : float, default=1.0
        What is added before the power is taken.

    Examples
    --------
    >>> from besvm.similarities import Polynomial
    >>> Polynomial(degree=2, gamma=1.0)([[1.0, 2.0]], [[1.0, 1.0]])
    array([[16.]])
    """

    symmetric = sparse = True

    def __init__(self, degree: int = 3, gamma: float | str = "scale", coef0: float = 1.0) -> None:
        super().__init__(gamma)
        self.degree = degree
        self.coef0 = coef0

    def tile(self, basis: Any) -> TileFunction:

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
        What is added within the tanh.

    Examples
    --------
    >>> from besvm.similarities import Sigmoid
    >>> Sigmoid(gamma=0.5)([[1.0, 1.0]], [[1.0, 0.0]]).round(4)
    array([[0.4621]])
    """

    symmetric = sparse = True

    def __init__(self, gamma: float | str = "scale", coef0: float = 0.0) -> None:
        super().__init__(gamma)
        self.coef0 = coef0

    def tile(self, basis: Any) -> TileFunction:
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

    symmetric = psd = sparse = True

    def tile(self, basis: Any) -> TileFunction:
        dot = dot_with(unit_rows(basis))
        return lambda A, out: dot(unit_rows(A), out)
