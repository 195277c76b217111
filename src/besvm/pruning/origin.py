"""Whether rows are those that a model's exemplars come from."""

from typing import Any

import numpy as np
from scipy.sparse import issparse

from besvm._support.rows import items, n_rows, take
from besvm._support.validation import described
from besvm.expand import Expander, FittedMeasure


def are_rows_of(expander: Expander, X: Any) -> bool:
    """Say whether the exemplars are rows of X, by the numbers that they have; of parts, only whether these exist."""
    return all(_come_from(measure, expander, X) for measure in expander.measures)


def _come_from(measure: FittedMeasure, expander: Expander, X: Any) -> bool:
    if measure.rows is None or measure.rows.max(initial=0) >= n_rows(X):
        return False
    similarity = measure.similarity
    if similarity.of_parts or similarity.precomputed:
        return True
    rows = take(X, measure.rows)
    if measure.transformer is not None and not similarity.raw_exemplars:
        rows = described(expander.transformers[measure.transformer], rows)
    return _alike(rows, measure.exemplars)


def _alike(A: Any, B: Any) -> bool:
    """Say whether samples are the same, but for rounding."""
    A, B = (one.toarray() if issparse(one) else one for one in (A, B))
    if all(isinstance(one, np.ndarray) and one.dtype.kind in "fiub" for one in (A, B)):
        return A.shape == B.shape and np.allclose(A, B, rtol=1e-4, atol=1e-6, equal_nan=True)
    return all(np.array_equal(np.asarray(a), np.asarray(b)) for a, b in zip(items(A), items(B), strict=True))
