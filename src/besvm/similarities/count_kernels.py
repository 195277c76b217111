"""The numba loops over counts, bits and graphs. Import this module only inside the function that needs it."""

import numpy as np
from numba.extending import intrinsic

from besvm._support.compiled import njit

_LENGTH, _FIRST, _SECOND = np.uint64(0x8CB92BA72F3D8DD7), np.uint64(0xBF58476D1CE4E5B9), np.uint64(0x94D049BB133111EB)
_30, _27, _31 = np.uint64(30), np.uint64(27), np.uint64(31)  # as in the finish of splitmix64


@intrinsic
def _ones(typing_context, word):
    """How many bits of a word are 1, by the processor's own instruction."""
    return word(word), lambda context, builder, signature, args: builder.ctpop(args[0])


@njit(cache=True, nogil=True)
def products(values, columns, starts, basis_values, basis_rows, basis_starts, out):
    """out[i, j] = sum over the columns that row i and exemplar j share of the product of their values.

    The rows are those of a CSR matrix; the exemplars come column by column (CSC), so that only what is shared is met.
    """
    for i in range(out.shape[0]):
        out[i] = 0
        for p in range(starts[i], starts[i + 1]):
            value, column = values[p], columns[p]
            for q in range(basis_starts[column], basis_starts[column + 1]):
                out[i, basis_rows[q]] += value * basis_values[q]


@njit(cache=True, nogil=True)
def minima(values, columns, starts, basis_values, basis_rows, basis_starts, out):
    """out[i, j] = sum over the columns that row i and exemplar j share of the smaller of their values."""
    for i in range(out.shape[0]):
        out[i] = 0
        for p in range(starts[i], starts[i + 1]):
            value, column = values[p], columns[p]
            for q in range(basis_starts[column], basis_starts[column + 1]):
                out[i, basis_rows[q]] += min(value, basis_values[q])


@njit(cache=True, nogil=True)
def bits_over_union(A, sizes, B, basis_sizes, out):
    """out[i, j] = the bits that are 1 in both row i of A and row j of B, over those in either; 1 if there are none.

    Rows are words of 64 bits, and the sizes say how many of their bits are 1.
    """
    for i in range(A.shape[0]):
        for j in range(B.shape[0]):
            shared = np.uint64(0)
            for k in range(A.shape[1]):
                shared += _ones(A[i, k] & B[j, k])
            union = sizes[i] + basis_sizes[j] - np.int64(shared)
            out[i, j] = np.int64(shared) / union if union > 0 else 1.0


@njit(cache=True, nogil=True)
def path_keys(arrow_starts, targets, owners, begins, ends, first, last, keys, key_owners):
    """Look for the shortest paths from the nodes first, ..., last - 1; return how many there are.

    Each gets a number that stands for its length and the hashes of the nodes at its beginning and end, and the graph
    that it is in. The arrows of node i lead to the targets from arrow_starts[i] to arrow_starts[i + 1].
    """
    steps = np.full(len(owners), -1, np.int64)
    queue = np.empty(len(owners), np.int64)
    found = 0
    for start in range(first, last):
        steps[start] = 0
        queue[0] = start
        place, end = 0, 1
        while place < end:
            node = queue[place]
            place += 1
            for p in range(arrow_starts[node], arrow_starts[node + 1]):
                near = targets[p]
                if steps[near] < 0:
                    steps[near] = steps[node] + 1
                    queue[end] = near
                    end += 1
        for place in range(1, end):
            node = queue[place]
            x = begins[start] + ends[node] + np.uint64(steps[node]) * _LENGTH
            x = (x ^ (x >> _30)) * _FIRST
            x = (x ^ (x >> _27)) * _SECOND
            keys[found] = x ^ (x >> _31)
            key_owners[found] = owners[start]
            found += 1
        for place in range(end):
            steps[queue[place]] = -1
    return found
