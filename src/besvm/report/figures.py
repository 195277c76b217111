"""How good a model is: its accuracy with an interval, its confusions, its classes, and its probabilities."""

from dataclasses import dataclass
from typing import Any

import numpy as np

from besvm.inputs.contract import as_label

BINS = 10  # of the reliability diagram


def confusion(truth: np.ndarray, predicted: np.ndarray, n_classes: int) -> np.ndarray:
    """Return how many samples of every class (rows) were taken for every class (columns)."""
    pairs = np.asarray(truth, np.int64) * n_classes + predicted
    return np.bincount(pairs, minlength=n_classes**2).reshape(n_classes, n_classes)


@dataclass(frozen=True)
class ClassRow:
    """What the page says of one class; a share of nothing is None."""

    number: int
    name: str
    count: int
    predicted: int
    precision: float | None
    recall: float | None

    @property
    def f1(self) -> float | None:
        """The harmonic mean of precision and recall."""
        if self.precision is None or self.recall is None:
            return None
        total = self.precision + self.recall
        return 2 * self.precision * self.recall / total if total else 0.0


def per_class(matrix: np.ndarray, names: list[str]) -> list[ClassRow]:
    """Return precision, recall and counts of every class, from the confusion matrix."""
    rows = []
    for k, name in enumerate(names):
        right, count, predicted = int(matrix[k, k]), int(matrix[k].sum()), int(matrix[:, k].sum())
        precision = right / predicted if predicted else None
        rows.append(ClassRow(k, name, count, predicted, precision, right / count if count else None))
    return rows


def worst_pairs(matrix: np.ndarray, at_most: int) -> list[tuple[int, int, int]]:
    """Return the pairs of classes that are confused most: (true class, predicted class, how often).

    Examples
    --------
    >>> worst_pairs(np.array([[5, 2], [7, 0]]), 1)
    [(1, 0, 7)]
    """
    off = matrix.copy()
    np.fill_diagonal(off, 0)
    order = np.argsort(-off, axis=None, kind="stable")[:at_most]
    pairs = np.column_stack(np.unravel_index(order, off.shape))
    return [(int(a), int(b), int(off[a, b])) for a, b in pairs if off[a, b]]


@dataclass(frozen=True)
class Bin:
    """The samples whose predicted class has a probability in some range."""

    low: float
    high: float
    count: int
    confidence: float  # mean probability of the predicted class
    accuracy: float


@dataclass(frozen=True)
class Calibration:
    """Whether probabilities mean what they say.

    ``error`` is the expected calibration error: the mean of |accuracy - confidence| over bins, each by its samples.
    """

    bins: list[Bin]
    error: float
    confidence: float

    @property
    def sure(self) -> str:
        """In a word, whether the model is too sure."""
        gap = sum(b.count * (b.confidence - b.accuracy) for b in self.bins) / sum(b.count for b in self.bins)
        if abs(gap) < 0.01:
            return "about as sure as it should be"
        return "too sure of itself" if gap > 0 else "less sure than it could be"


def calibration(confidence: np.ndarray, right: np.ndarray) -> Calibration:
    """Return the reliability of probabilities: ``confidence`` of the predicted class, and whether it was ``right``.

    Examples
    --------
    >>> found = calibration(np.array([0.95, 0.95, 0.55, 0.55]), np.array([True, True, True, False]))
    >>> [(one.count, one.accuracy) for one in found.bins], round(found.error, 3)
    ([(2, 0.5), (2, 1.0)], 0.05)
    """
    place = np.clip((confidence * BINS).astype(int), 0, BINS - 1)
    bins, error = [], 0.0
    for k in range(BINS):
        inside = place == k
        if inside.any():
            sure, accuracy = float(confidence[inside].mean()), float(right[inside].mean())
            bins.append(Bin(k / BINS, (k + 1) / BINS, int(inside.sum()), sure, accuracy))
            error += inside.mean() * abs(sure - accuracy)
    return Calibration(bins, float(error), float(confidence.mean()))


def joint_classes(known: np.ndarray, y: np.ndarray) -> tuple[list[str], np.ndarray]:
    """Return the names of all classes, those of the model first, and the number of every sample's class among them.

    Labels that were read from a file are compared with the model's classes as a file would have these.
    """
    places = _places(known.tolist(), y.tolist())
    if not (places >= 0).any():
        places = _places([as_label(one) for one in known.tolist()], [as_label(one) for one in y.tolist()])
    if not (places >= 0).any():
        raise ValueError(
            f"data must have classes that the model knows, {_some(known)}, got {_some(np.unique(y))}; "
            "is this the label column that it was trained with?"
        )
    others: dict[str, int] = {}
    for row in np.flatnonzero(places < 0):
        places[row] = others.setdefault(str(y[row]), len(known) + len(others))
    return [*(str(one) for one in known.tolist()), *others], places


def _places(known: list[Any], labels: list[Any]) -> np.ndarray:
    number = {label: k for k, label in enumerate(known)}
    return np.array([number.get(label, -1) for label in labels], dtype=np.int64)


def _some(labels: np.ndarray) -> str:
    first = ", ".join(str(label)[:30] for label in labels[:3].tolist())
    return first + (", ..." if len(labels) > 3 else "")
