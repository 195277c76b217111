"""Similarities of sets, however they come: as Python's sets, zeros and ones, sparse or not, or packed bits."""

from collections.abc import Callable, Set
from itertools import chain
from typing import Any, Self

import numpy as np
from scipy.sparse import issparse

from besvm._support.parameters import check_flag, shown
from besvm._support.rows import items, n_rows
from besvm._support.threads import slices, thread_map
from besvm.similarities.contract import Similarity, register
from besvm.similarities.counts import count_matrix, shared_with
from besvm.similarities.match import Match
from besvm.similarities.tiles import as_vectors, over_union, tanimoto_to
from besvm.similarities.vector import by_tiles, tile_rows

HOW_SETS_COME = "a list of sets, or an array or sparse matrix of zeros and ones with one row per set"

NAMED = 8  # elements that two sets share

Compare = Callable[[Any], np.ndarray]


@register("jaccard")
class Jaccard(Similarity):
    """The Jaccard similarity of sets, s(b, x) = ``|b ∩ x| / |b ∪ x|``; 1 for two empty sets.

    The sets come as a list of Python's sets, of anything that can be in a set, or as the rows of an array or a sparse
    matrix of zeros and ones. Rows of other numbers are refused; :class:`Tanimoto` compares these.

    Examples
    --------
    >>> from besvm.similarities import Jaccard
    >>> Jaccard()([{"salt", "egg"}, set()], [{"egg", "salt", "flour"}, {"rice"}, set()]).round(2)
    array([[0.67, 0.  , 0.  ],
           [0.  , 0.  , 1.  ]], dtype=float32)
    >>> Jaccard()([[1, 1, 0]], [[1, 0, 0], [1, 1, 0]])
    array([[0.5, 1. ]], dtype=float32)
    """

    symmetric = psd = True
    kind = "sets"

    def fit(self, X: Any) -> Self:
        """Check all sets, so that a message names the row."""
        if not are_sets(X):
            check_binary(as_matrix(X))
        return self

    def __call__(self, A: Any, B: Any) -> np.ndarray:
        return self.against(B)(A)

    def against(self, basis: Any) -> Compare:
        if are_sets(basis):
            return _with_sets(basis)
        if not n_rows(basis):
            return _with_nothing
        basis = check_binary(as_matrix(basis))
        if issparse(basis):
            with_sparse = _with_sparse(basis)
            return lambda A: with_sparse(check_binary(as_matrix(A, basis)))
        with_bits = _with_bits(pack(basis))

        def similarities(A: Any) -> np.ndarray:
            A = check_binary(as_matrix(A, basis))
            return with_bits(pack(A), _float_of(A))

        return similarities

    def show(self, x: Any, b: Any) -> Match:
        return Match(_shared(x, b))

    def bytes_a_row(self, sample: int, n_exemplars: int) -> int:
        return 4 * sample + 8 * n_exemplars


@register("tanimoto")
class Tanimoto(Similarity):
    """The Tanimoto similarity, s(b, x) = bᵀx / (‖b‖² + ‖x‖² - bᵀx); 1 for two zero vectors.

    On fingerprints of zeros and ones, and on sets, it is the size of the intersection over that of the union, the same
    as :class:`Jaccard`. It also compares vectors of any numbers, and is positive definite there too.

    Parameters
    ----------
    packed : bool, default=False
        Whether the samples are the rows of a uint8 array of packed bits, as ``np.packbits(fingerprints, axis=1)``
        makes them; otherwise they are lists of sets, or rows of numbers, sparse or not. Zeros and ones, of any type,
        are packed to be compared.

    Examples
    --------
    >>> import numpy as np
    >>> from besvm.similarities import Tanimoto
    >>> fingerprints = np.array([[1, 1, 0], [1, 0, 0]])
    >>> Tanimoto()(fingerprints, fingerprints)
    array([[1. , 0.5],
           [0.5, 1. ]], dtype=float32)
    >>> bits = np.packbits(fingerprints, axis=1)
    >>> Tanimoto(packed=True)(bits, bits)
    array([[1. , 0.5],
           [0.5, 1. ]], dtype=float32)
    >>> Tanimoto()([[2.0, 1.0]], [[1.0, 0.0]]).round(2)
    array([[0.5]])
    """

    symmetric = psd = True
    needs_scaling = True
    kind = "sets"

    def __init__(self, packed: bool = False) -> None:
        self.packed = packed

    @property
    def any_float(self) -> bool:  # type: ignore[override]
        return not self.packed

    def __call__(self, A: Any, B: Any) -> np.ndarray:
        return self.against(B)(A)

    def against(self, basis: Any) -> Compare:
        check_flag("packed", self.packed)
        if self.packed:
            bits = _packed(basis)
            compare = _with_bits(_words(bits))
            return lambda A: compare(_words(_packed(A, bits.shape[1])))
        if are_sets(basis):
            return _with_sets(basis)
        if not n_rows(basis):
            return _with_nothing
        basis = as_matrix(basis)
        if issparse(basis) or not is_binary(basis):
            compare = by_tiles(tanimoto_to, basis, sparse=True)
            return lambda A: compare(as_matrix(A, basis))
        with_bits = _with_bits(pack(basis))

        def similarities(A: Any) -> np.ndarray:
            A = as_matrix(A, basis)
            if not issparse(A) and is_binary(A):
                return with_bits(pack(A), _float_of(A))
            return by_tiles(tanimoto_to, basis)(A)

        return similarities

    def show(self, x: Any, b: Any) -> Match:
        return Match("" if self.packed else _shared(x, b))

    def bytes_a_row(self, sample: int, n_exemplars: int) -> int:
        return 4 * sample + 8 * n_exemplars


def are_sets(X: Any) -> bool:
    """Say whether items are sets; a few that are, among others that are not, are refused."""
    if issparse(X) or getattr(X, "ndim", 1) != 1 or not n_rows(X):
        return False
    wrong = [(number, item) for number, item in enumerate(items(X)) if not isinstance(item, Set)]
    if not wrong:
        return True
    number, item = wrong[0]
    if len(wrong) < n_rows(X) or item is None or isinstance(item, (str, bytes, dict)):
        raise TypeError(f"sets must be {HOW_SETS_COME}, but item {number} is {shown(item)}")
    return False


def as_matrix(X: Any, basis: Any = None) -> Any:
    """Return rows of numbers as an array, or a CSR matrix with no entry twice; as wide as the basis, if it is given."""
    if basis is not None and are_sets(X):
        raise TypeError("sets cannot be compared with rows of numbers; pass samples and exemplars in the same form")
    if not issparse(X):
        X = _as_array(X)
    else:
        X = X.tocsr()
        X = type(X)((X.data, X.indices, X.indptr), shape=X.shape)  # the user's would remember what it is asked next
        if not X.has_canonical_format:
            X = X.copy()
            X.sum_duplicates()
    vectors = as_vectors(X) if X.ndim < 2 else X.reshape(X.shape[0], int(np.prod(X.shape[1:])))
    if basis is not None and vectors.shape[1] != basis.shape[1]:
        raise ValueError(f"vectors must have {basis.shape[1]} numbers, as the exemplars do, got {vectors.shape[1]}")
    return vectors


def _as_array(X: Any) -> np.ndarray:
    """Return rows of numbers as an array; what holds anything else, or rows of different lengths, is refused."""
    try:
        array = np.asarray(X)
    except ValueError:
        raise TypeError(
            f"sets must be {HOW_SETS_COME}, got rows of different lengths, such as {shown(next(items(X)))}; make a set "
            "of each"
        ) from None
    if array.dtype.kind not in "buif":
        raise TypeError(
            f"sets must be {HOW_SETS_COME}, got items such as {', '.join(map(shown, array.ravel()[:1].tolist()))} in "
            f"an array of dtype {array.dtype}; make a set of each row, or give all columns one type of numbers"
        )
    return array


def is_binary(X: Any) -> bool:
    """Say whether a matrix holds nothing but zeros and ones."""
    values: np.ndarray = X.data if issparse(X) else X
    return X.dtype == bool or bool(((values == 0) | (values == 1)).all())


def check_binary(X: Any) -> Any:
    """Refuse a matrix that holds other numbers than 0 and 1; return it."""
    if not is_binary(X):
        row = next(row for row in range(X.shape[0]) if not is_binary(X[[row]]))
        values = X[[row]].data if issparse(X) else X[row]
        value = values[(values != 0) & (values != 1)][0]
        raise ValueError(
            f"sets must be rows of zeros and ones, but row {row} has {value}; use 'tanimoto' for other numbers"
        )
    return X


def pack(X: Any) -> np.ndarray:
    """Return rows of zeros and ones, some at a time if they are sparse, as words of 64 bits."""
    if not issparse(X):
        return _words(np.packbits(X if X.dtype in (bool, np.uint8) else X.astype(np.uint8), axis=1))
    parts = [pack(X[rows].toarray()) for rows in slices(X.shape[0], tile_rows(X.shape[1]))]
    return np.concatenate([np.empty((0, -(-X.shape[1] // 64)), np.uint64), *parts])


def _words(packed: np.ndarray) -> np.ndarray:
    n, n_bytes = packed.shape
    out = np.zeros((n, -(-n_bytes // 8) * 8), np.uint8)
    out[:, :n_bytes] = packed
    return out.view(np.uint64)


def _packed(X: Any, n_bytes: int | None = None) -> np.ndarray:
    X = np.asarray(X)
    if X.ndim != 2 or X.dtype != np.uint8:
        raise ValueError(
            "packed bits must be a 2-D array of uint8, as np.packbits(X, axis=1) makes it, got "
            f"{X.ndim} dimensions of {X.dtype}"
        )
    if n_bytes is not None and X.shape[1] != n_bytes:
        raise ValueError(f"packed bits must have {n_bytes} bytes, as the exemplars do, got {X.shape[1]}")
    return X


def _shared(x: Any, b: Any) -> str:
    """Say what two sets have in common; of rows of numbers, in how many places both have any."""
    if isinstance(x, Set) and isinstance(b, Set):
        common = sorted(map(str, x & b))
        names = ", ".join(common[:NAMED]) + (", ..." if len(common) > NAMED else "")
        return f"{len(common)} of {len(x | b)} shared" + (f": {names}" if common else "")
    here, there = (np.ravel(one.toarray() if issparse(one) else one) != 0 for one in (x, b))
    return f"{int((here & there).sum())} of {int((here | there).sum())} shared"


def _with_nothing(A: Any) -> np.ndarray:
    return np.empty((n_rows(A), 0), np.float32)


def _float_of(A: Any) -> Any:
    return A.dtype if A.dtype == np.float64 else np.float32


def _with_bits(basis: np.ndarray) -> Callable[..., np.ndarray]:
    """Compare with rows of words by counting the bits they share: nine times as fast as a product in float32."""
    basis_sizes = np.bitwise_count(basis).sum(axis=1, dtype=np.int64)
    rows_each = tile_rows(max(basis.shape))

    def similarities(A: np.ndarray, dtype: Any = np.float32) -> np.ndarray:
        from besvm.similarities.count_kernels import bits_over_union

        sizes = np.bitwise_count(A).sum(axis=1, dtype=np.int64)
        out = np.empty((len(A), len(basis)), dtype=dtype)
        for _ in thread_map(
            lambda rows: bits_over_union(A[rows], sizes[rows], basis, basis_sizes, out[rows]),
            slices(len(A), rows_each),
        ):
            pass
        return out

    return similarities


def _with_sparse(basis: Any) -> Compare:
    """Compare with the rows of a CSR matrix of zeros and ones."""
    shared = shared_with(basis.astype(np.float32), "dot")
    basis_sizes = _sizes(basis)

    def similarities(A: Any) -> np.ndarray:
        if not issparse(A):
            A = type(basis)(A)
        out = shared(A.astype(np.float32))
        over_union(out, _sizes(A), basis_sizes)
        return out

    return similarities


def _sizes(X: Any) -> np.ndarray:
    return np.asarray(X.sum(axis=1, dtype=np.float32)).ravel()


def _with_sets(basis: Any) -> Compare:
    """Compare with Python's sets, by the numbers that the elements of all exemplars get."""
    number_of = {element: number for number, element in enumerate(dict.fromkeys(chain.from_iterable(items(basis))))}

    def matrix(X: Any) -> tuple[Any, np.ndarray]:
        sizes = np.fromiter(map(len, items(X)), np.int64, n_rows(X))
        known = (number_of.get(element, -1) for element in chain.from_iterable(items(X)))
        columns = np.fromiter(known, np.int64, int(sizes.sum()))
        ones = np.ones(len(columns), np.float32)
        return count_matrix(ones, columns, np.cumsum(sizes), len(number_of)), sizes.astype(np.float32)

    packed, basis_sizes = matrix(basis)
    shared = shared_with(packed, "dot")

    def similarities(A: Any) -> np.ndarray:
        if n_rows(A) and not are_sets(A):
            raise TypeError("rows of numbers cannot be compared with sets; pass samples and exemplars in the same form")
        samples, sizes = matrix(A)
        out = shared(samples)
        over_union(out, sizes, basis_sizes)
        return out

    return similarities
