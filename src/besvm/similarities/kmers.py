"""The spectrum similarity of sequences: how many pieces of k symbols they share."""

from collections.abc import Callable
from typing import Any, ClassVar, NamedTuple

import numpy as np
from scipy.sparse import csr_matrix

from besvm._support.parameters import check_count, check_flag
from besvm._support.threads import slices, thread_map
from besvm.similarities.contract import Similarity, register
from besvm.similarities.match import Match
from besvm.similarities.text_items import texts
from besvm.similarities.text_pieces import common_kmers
from besvm.similarities.tiles import TileFunction, dense, dot_with, is_thin

ROWS = 256  # sequences that a thread takes at a time
CHARACTER = 1 << 21  # more than any code point: three of them fit 64 bits
ODD = 0x9E3779B97F4A7C15  # 2⁶⁴ over the golden ratio: its powers spread what is multiplied by them over 64 bits


@register("kmers")
class KMers(Similarity):
    """How many k-mers, pieces of k symbols side by side, two sequences or texts have in common: the spectrum kernel.

    s(a, b) = Σ over k-mers w of n_w(a) n_w(b), with n_w(a) the number of times that w occurs in a. Any symbols will do;
    capital and small letters are different ones. A sequence shorter than k has no k-mers, and is like none, with s = 0.

    Parameters
    ----------
    k : int, default=3
        How many symbols a piece has. Up to 3, pieces are told apart as they are; longer ones by a hash of 64 bits.
    normalize : bool, default=True
        Whether the product is divided by the lengths of both vectors of counts: their cosine, between 0 and 1.

    Examples
    --------
    >>> from besvm.similarities import KMers
    >>> KMers(k=2, normalize=False)(["banana"], ["ana", "nab"])
    array([[4., 2.]], dtype=float32)
    >>> KMers(k=2)(["banana"], ["banana", "nab"]).round(2)
    array([[1.  , 0.47]], dtype=float32)
    """

    symmetric: ClassVar[bool] = True
    psd: ClassVar[bool] = True
    kind: ClassVar[str] = "sequences"

    def __init__(self, k: int = 3, *, normalize: bool = True) -> None:
        self.k = k
        self.normalize = normalize

    def __call__(self, A: Any, B: Any) -> np.ndarray:
        return self.against(B)(A)

    def against(self, basis: Any) -> Callable[[Any], np.ndarray]:
        k = check_count("k", self.k)
        check_flag("normalize", self.normalize)
        own = _counted(_sequences(basis), k)
        words = np.unique(own.words)
        exemplars = _matrix(own, words, self.normalize)
        fill = dot_with(exemplars) if is_thin(exemplars) else _dot_with_dense(exemplars)

        def similarities(A: Any) -> np.ndarray:
            samples = _sequences(A)
            out = np.empty((len(samples), exemplars.shape[0]), dtype=np.float32)

            def compare(rows: slice) -> None:
                fill(_matrix(_counted(samples[rows], k), words, self.normalize), out[rows])

            for _ in thread_map(compare, slices(len(samples), ROWS)):
                pass
            return out

        return similarities

    def show(self, x: str, b: str) -> Match:
        return Match(pieces=common_kmers(x, b, check_count("k", self.k)))

    def bytes_a_row(self, sample: int, n_exemplars: int) -> int:
        return 64 * sample + 16 * n_exemplars


class _Counted(NamedTuple):
    """The different k-mers of sequences, one sequence after the other, and how often each occurs there."""

    words: np.ndarray
    counts: np.ndarray
    ends: np.ndarray  # where the k-mers of each sequence begin, and the last one's end: (n + 1,)


def _dot_with_dense(exemplars: csr_matrix) -> TileFunction:
    """Fill the dot products of sparse rows with exemplars that have most of the words."""
    columns = np.ascontiguousarray(dense(exemplars).T)

    def fill(A: csr_matrix, out: np.ndarray) -> None:
        out[:] = A @ columns

    return fill


def _sequences(X: Any) -> list[str]:
    sequences = texts(X, "sequence")
    if "" in sequences:
        raise ValueError(f"sequences must not be empty, but sequence {sequences.index('')} is; remove it")
    return sequences


def _counted(sequences: list[str], k: int) -> _Counted:
    symbols = np.frombuffer("".join(sequences).encode("utf-32-le", "surrogatepass"), dtype="<u4").astype(np.uint64)
    lengths = np.fromiter(map(len, sequences), np.int64, len(sequences))
    n_words = np.maximum(lengths - (k - 1), 0)
    row = np.repeat(np.arange(len(sequences)), n_words)
    skipped = np.cumsum(lengths - n_words) - (lengths - n_words)  # symbols before a sequence where no k-mer begins
    place = np.arange(len(row)) + skipped[row]
    words = np.zeros(len(row), dtype=np.uint64)
    step = np.uint64(CHARACTER if k <= 3 else ODD)
    for offset in range(k if len(row) else 0):
        words *= step
        words += symbols[place + offset]
    order = np.lexsort((words, row))
    words, row = words[order], row[order]
    new = np.ones(len(row), dtype=bool)
    new[1:] = (words[1:] != words[:-1]) | (row[1:] != row[:-1])
    starts = np.flatnonzero(new)
    counts = np.diff(np.append(starts, len(row))).astype(np.float32)
    return _Counted(words[starts], counts, np.searchsorted(row[starts], np.arange(len(sequences) + 1)))


def _matrix(counted: _Counted, words: np.ndarray, normalize: bool) -> csr_matrix:
    """Return the counts of some words in every sequence; over the length of the vector of all its counts, if asked."""
    n = len(counted.ends) - 1
    row = np.repeat(np.arange(n), np.diff(counted.ends))
    counts = counted.counts
    if normalize:
        squares = np.bincount(row, weights=np.square(counts, dtype=np.float64), minlength=n)
        counts = (counts / np.sqrt(squares)[row]).astype(np.float32)
    column = np.searchsorted(words, counted.words)
    known = np.zeros(len(row), dtype=bool)
    inside = column < len(words)
    known[inside] = words[column[inside]] == counted.words[inside]
    ends = np.concatenate([[0], np.cumsum(np.bincount(row[known], minlength=n))])
    return csr_matrix((counts[known], column[known], ends), shape=(n, len(words)))
