"""Counts of things, of which two items share few: sparse rows compared by products or by minima."""

from collections.abc import Callable
from typing import Any

import numpy as np
from scipy.sparse import csr_matrix

from besvm._support.threads import slices, thread_map

ROWS_EACH = 256  # that a thread compares at a time

Counts = Callable[[Any], np.ndarray]  # a CSR matrix of samples -> what they share with the exemplars


def shared_with(basis: Any, compare: str) -> Counts:
    """Pack a CSR matrix of exemplars; return what gives Σ_k a_k b_k ("dot") or Σ_k min(a_k, b_k) ("intersection").

    No value of the matrices may be negative, and both must have the same columns. The work is that of the columns that
    two rows share.
    """
    from besvm.similarities import count_kernels

    kernel = {"dot": count_kernels.products, "intersection": count_kernels.minima}[compare]
    columns = basis.tocsc()

    def shared(A: Any) -> np.ndarray:
        out = np.empty((A.shape[0], basis.shape[0]), dtype=columns.dtype)

        def work(rows: slice) -> None:
            starts = A.indptr[rows.start : rows.stop + 1]
            kernel(A.data, A.indices, starts, columns.data, columns.indices, columns.indptr, out[rows])

        for _ in thread_map(work, slices(A.shape[0], ROWS_EACH)):
            pass
        return out

    return shared


def count_matrix(values: np.ndarray, columns: np.ndarray, ends: np.ndarray, n_columns: int) -> Any:
    """Return the CSR matrix whose rows end at ``ends``; a column below 0 is one that the exemplars do not have."""
    known = columns >= 0
    starts = np.concatenate([[0], np.concatenate([[0], np.cumsum(known)])[ends]])
    return csr_matrix((values[known], columns[known], starts), shape=(len(ends), n_columns))
