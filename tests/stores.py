"""A matrix in every kind of store, and one-vs-rest problems: what several tests are run over."""

import numpy as np
from scipy.sparse import csr_matrix

from besvm.blocks import ComputedBlocks, DiskBlocks, JoinedBlocks, MemoryBlocks
from besvm.solver.problem import Problem

STORES = ["memory", "disk", "recompute", "sparse"]


def make(store, matrix, folder=None):
    if store == "memory":
        return MemoryBlocks(matrix.copy())
    if store == "sparse":
        return MemoryBlocks(csr_matrix(matrix))
    if store == "recompute":
        return ComputedBlocks(matrix.shape, lambda rows: matrix[rows].copy(), matrix.dtype, rows_each=64)
    if store == "joined":
        return JoinedBlocks([part.copy() for part in np.array_split(matrix, 2, axis=1)], slice(0, len(matrix)))
    disk = DiskBlocks(matrix.shape, matrix.dtype, folder)
    for start in range(0, len(matrix), 100):
        rows = slice(start, min(start + 100, len(matrix)))
        disk.matrix[rows] = matrix[rows]
    return disk


def one_vs_rest(y, weights=None):
    classes = np.unique(y)
    positive = np.array([1]) if len(classes) == 2 else np.arange(len(classes))
    weights = np.ones(len(y)) if weights is None else weights
    return Problem(np.searchsorted(classes, y), positive, weights)
