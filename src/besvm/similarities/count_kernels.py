"""The numba loops over counts, bits and graphs. Import this module only inside the function that needs it."""

import numpy as np
from numba import njit
from numba.extending import intrinsic


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
def steps_between(starts, targets, first, out):
    """out[i, j] = the fewest steps from node first + i to node j, and -1 where no path leads.

    The arrows of node i lead to the targets from starts[i] to starts[i + 1].
    """
    queue = np.empty(out.shape[1], np.int64)
    for i in range(out.shape[0]):
        steps = out[i]
        steps[:] = -1
        steps[first + i] = 0
        queue[0] = first + i
        begin, end = 0, 1
        while begin < end:
            node = queue[begin]
            begin += 1
            for p in range(starts[node], starts[node + 1]):
                near = targets[p]
                if steps[near] < 0:
                    steps[near] = steps[node] + 1
                    queue[end] = near
                    end += 1
