"""The classes and weights of rows on a Dask cluster: checked where they are, and never gathered."""

from __future__ import annotations

from collections.abc import Sequence
from functools import partial
from itertools import pairwise
from typing import Any

import numpy as np
from sklearn.utils import column_or_1d
from sklearn.utils.multiclass import check_classification_targets

from besvm._support.parameters import LARGEST_C
from besvm._support.row_source import is_dask
from besvm._support.rows import n_rows
from besvm._support.validation import (
    check_classes,
    check_labels_present,
    check_sample_weight,
    class_weights,
    label_dtype,
    refuse_one_class,
    refuse_other_length,
    sound_weights,
)
from besvm.basis.contract import RowClasses
from besvm.blocks.cluster_tasks import gathered, named
from besvm.blocks.cluster_values import ClusterValues
from besvm.blocks.state import Values


class ClusterClasses(ClusterValues, RowClasses):
    """The classes of rows on a cluster, by their labels, and which rows of each there are that weigh anything.

    Parameters
    ----------
    numbers : ClusterValues
        The class number of every row.
    classes : (K,) array
        What the numbers stand for.
    weights : (n,) numbers
        What every row weighs.
    """

    def __init__(self, numbers: ClusterValues, classes: np.ndarray, weights: Values) -> None:
        super().__init__(numbers.client, numbers.parts, numbers.ends, classes.dtype)
        self.labels, self.weights = classes, weights
        self._beside = [weights] if isinstance(weights, ClusterValues) else []  # or else all weigh the same
        counts = numbers.of_parts(partial(_counted, len(classes)), *self._beside)
        self._counts = np.array(counts).reshape(len(numbers.parts), len(classes))
        self.sizes: Sequence[int] = self._counts.sum(axis=0).tolist()

    def read(self, first: int, stop: int) -> Any:
        return self.labels[super().read(first, stop)]

    def take(self, rows: Any) -> np.ndarray:
        return np.asarray(self.labels[super().take(rows)])

    def rows_at(self, ranks: Sequence[np.ndarray]) -> list[np.ndarray]:
        return self._found(self._counts, ranks, together=False)

    def together(self) -> RowClasses:
        return _Together(self)

    def _found(self, counts: np.ndarray, ranks: Sequence[np.ndarray], together: bool) -> list[np.ndarray]:
        """Return the rows at these ranks, found where the classes are: only their numbers travel."""
        before = np.vstack([np.zeros_like(counts[:1]), counts.cumsum(axis=0)])  # (parts + 1, classes)
        wanted = [np.sort(some) for some in ranks]
        cuts = [np.searchsorted(some, before[:, k]) for k, some in enumerate(wanted)]
        weights = self._beside[0].cut(self.rows) if self._beside else [None] * len(self.parts)
        found = []
        for p, (first, _) in enumerate(pairwise(self.ends)):
            here = {k: some[cuts[k][p] : cuts[k][p + 1]] - before[p, k] for k, some in enumerate(wanted)}
            here = {k: some for k, some in here.items() if len(some)}
            if here:
                task = partial(_rows_at, here, first, together)
                key = named("find in rows", self.rows[p])
                found.append(self.client.submit(task, self.parts[p], weights[p], key=key))
        parts = gathered(self.client, found)
        none = np.empty(0, np.intp)
        return [np.concatenate([none, *(part[k] for part in parts if k in part)]) for k in range(len(ranks))]


class _Together(RowClasses):
    """All rows of :class:`ClusterClasses` as one class."""

    labels = None

    def __init__(self, classes: ClusterClasses) -> None:
        self._classes = classes
        self.sizes = [sum(classes.sizes)]

    def rows_at(self, ranks: Sequence[np.ndarray]) -> list[np.ndarray]:
        return self._classes._found(self._classes._counts.sum(axis=1, keepdims=True), ranks, together=True)

    def together(self) -> RowClasses:
        return self


def classes_on(client: Any, X: Any, y: Any) -> tuple[np.ndarray, ClusterValues]:
    """Return the classes and every row's class number, as ``check_classes`` does; those of a collection stay there."""
    if not is_dask(y):
        classes, numbers = check_classes(X, y)
        return classes, ClusterValues.of_array(client, numbers, "class numbers")
    if getattr(y, "ndim", 1) > 1:
        columns = ", ".join(map(str, y.shape[1:]))
        if columns != "1":
            raise ValueError(
                f"y must be one label for each row, got an array of shape (n, {columns}); select one column"
            )
        column_or_1d(np.zeros((1, 1)), warn=True)  # says what it thinks of a column
    labels = ClusterValues.of_collection(client, y, _labels, "classes")
    refuse_other_length(n_rows(X), len(labels))
    found = labels.of_parts(np.unique)
    check_labels_present([label for some in found for label in some])  # that they are of one kind
    classes = np.unique(np.concatenate(found))
    check_classification_targets(np.repeat(classes, 3))  # as often as makes no number of classes look odd
    refuse_one_class(classes)
    dtype = label_dtype(len(classes))
    return classes, labels.map(partial(_numbered, classes, dtype), "class numbers", dtype)


def weights_on(
    client: Any, X: Any, classes: np.ndarray, numbers: ClusterValues, class_weight: Any, sample_weight: Any
) -> Values:
    """Return what every row weighs: where the rows are or, if all weigh the same, an array that takes no room."""
    n = n_rows(X)
    weights: Values
    if is_dask(sample_weight):
        weights = ClusterValues.of_collection(client, sample_weight, _weights, "weights")
        weights.dtype = np.dtype(np.float64)
        if len(weights) != n:
            raise ValueError(f"sample_weight must hold a weight for each of the {n} rows, got {len(weights)}")
        largest = max(weights.of_parts(np.max))
    elif np.ndim(sample_weight) == 0:
        weights = np.broadcast_to(check_sample_weight(sample_weight, 1, np.float64)[0], n)
        largest = float(weights[0])
    else:
        given = check_sample_weight(sample_weight, n, np.float64)
        largest = float(given.max())
        same = bool((given == given[0]).all())
        weights = np.broadcast_to(given[0], n) if same else ClusterValues.of_array(client, given, "weights")
    if not largest > 0:
        raise ValueError("sample_weight must be above zero for some rows, got only zeros")
    if largest > LARGEST_C:
        raise ValueError(f"sample_weight must be at most {LARGEST_C:g}, got {largest:g}; scale all weights down")
    if class_weight is None:
        return weights
    counts = np.sum(numbers.of_parts(partial(_counted, len(classes))), axis=0)
    own = class_weights(class_weight, classes, counts)
    if isinstance(weights, ClusterValues):
        return numbers.map(partial(_weighted, own), "weights", np.float64, weights)
    return numbers.map(partial(_weighted, own * weights[0]), "weights", np.float64)


def _labels(part: Any, first: int) -> np.ndarray:
    check_labels_present(part, first)
    return np.asarray(column_or_1d(part))


def _numbered(classes: np.ndarray, dtype: Any, labels: np.ndarray) -> np.ndarray:
    return np.searchsorted(classes, labels).astype(dtype)


def _weights(part: Any, first: int) -> np.ndarray:
    return sound_weights(part, np.float64, first)


def _weighted(own: np.ndarray, numbers: np.ndarray, weights: Any = 1.0) -> np.ndarray:
    return np.asarray(own[numbers] * weights)


def _counted(n_classes: int, numbers: np.ndarray, weights: np.ndarray | None = None) -> np.ndarray:
    return np.bincount(numbers if weights is None else numbers[weights > 0], minlength=n_classes)


def _rows_at(
    ranks: dict[int, np.ndarray], first: int, together: bool, numbers: np.ndarray, weights: np.ndarray | None
) -> dict[int, np.ndarray]:
    """Return the rows of a part at some ranks among those of each class that weigh anything, or among all of them."""
    weighs = np.ones(len(numbers), dtype=bool) if weights is None else weights > 0
    rows = {k: np.flatnonzero(weighs if together else weighs & (numbers == k)) for k in ranks}
    return {k: first + rows[k][some] for k, some in ranks.items()}
