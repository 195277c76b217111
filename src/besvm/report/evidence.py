"""What pulled every decision: one pass over the samples gives scores, the exemplars that count most, and the curve."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

from besvm._support.rows import evenly_spaced, n_rows
from besvm.explanations.exemplars import leading
from besvm.explanations.models import Block, Reading
from besvm.report.basis import Basis

PILOT = 1000  # samples that tell how much an exemplar carries, before the pass over all of them
FOR, AGAINST = 4, 2  # exemplars that are shown of those that pull towards a class, and away from it
SHOWN = FOR + AGAINST  # in that order
SIZES = 14  # on the curve of accuracy against the number of exemplars
COPIES = 4  # of a block's features while it is looked at


@dataclass(frozen=True)
class Evidence:
    """What the pass found.

    Attributes
    ----------
    scores : ndarray of shape (n, classes)
        A score for every class, the largest of the predicted one.
    rival : ndarray of shape (n,)
        The class that the predicted one is compared with: the true one, where it is another, or else the runner-up.
    chosen : ndarray of shape (n, 2, SHOWN)
        The exemplars that pull most, first towards, then away from the predicted class (0) and its rival (1); -1: none.
    pulls : ndarray of shape (n, 2, SHOWN, measures)
        What each adds to the class's score, by measure.
    columns : ndarray of shape (n, 2, SHOWN)
        Which of its columns leads, in the measure that counts most: of a part, a region in which it was looked for.
    nearer : ndarray of shape (n, 2, SHOWN)
        1 where the sample is more similar to it than usual, in that column, -1 where it is less, 0 where neither.
    totals : ndarray of shape (n, 2)
        What all exemplars and the constant add up to.
    carries : ndarray of shape (exemplars,)
        The share of each in what the scores vary by.
    leans : ndarray of shape (exemplars, classes)
        What being similar to it weighs for every class, all measures together.
    curve : list of (int, float)
        The accuracy with those exemplars alone that carry most, as they are; empty where none can be left out.
    """

    scores: np.ndarray
    rival: np.ndarray
    chosen: np.ndarray
    pulls: np.ndarray
    columns: np.ndarray
    nearer: np.ndarray
    totals: np.ndarray
    carries: np.ndarray
    leans: np.ndarray
    curve: list[tuple[int, float]]

    @property
    def predicted(self) -> np.ndarray:
        """The number of the predicted class of every sample."""
        return np.asarray(self.scores.argmax(axis=1))


def gather(reading: Reading, basis: Basis, X: Any, truth: np.ndarray) -> Evidence:
    """Pass the samples X, whose classes have the numbers ``truth``, through the model once."""
    X = reading.prepared(X)
    carries = what_they_carry(reading, basis, evenly_spaced(X, PILOT))
    work = _Pass(reading, basis, truth, carries)
    for block in reading.blocks(X, COPIES):
        work.look(block)
    leans = by_exemplar(basis, reading.weights.T)[0].T
    curve = [(int(size), right / n_rows(X)) for size, right in zip(work.sizes, work.right.tolist(), strict=True)]
    kept = ("scores", "rival", "chosen", "pulls", "columns", "nearer", "totals")
    return Evidence(**{name: getattr(work, name) for name in kept}, carries=carries, leans=leans, curve=curve)


def by_exemplar(basis: Basis, columns: np.ndarray) -> tuple[np.ndarray, list[np.ndarray]]:
    """Add the columns of each exemplar up: (n, D) to (n, exemplars), and for every measure to (n, its exemplars)."""
    n, parts = len(columns), []
    total = np.zeros((n, len(basis)), dtype=columns.dtype)
    for measure, group, numbers in zip(basis.expander.measures, basis.expander.groups, basis.of_measure, strict=True):
        parts.append(columns[:, group].reshape(n, len(numbers), measure.similarity.columns_each).sum(axis=2))
        total[:, numbers] += parts[-1]
    return total, parts


def what_they_carry(reading: Reading, basis: Basis, X: Any) -> np.ndarray:
    """Return the share of every exemplar in what the scores vary by over the samples X.

    That is the standard deviation of what it adds, over all classes, as in :func:`besvm.explanations.carriers`; an
    exemplar of several measures counts once.
    """
    classes = reading.weights.T[1:] if len(reading.classes) == 2 else reading.weights.T  # the other is its negative
    sums, squares = np.zeros((2, len(classes), len(basis)))
    for block in reading.blocks(X, COPIES):
        for c, weights in enumerate(classes):
            added, _ = by_exemplar(basis, block.terms * weights)
            sums[c] += added.sum(axis=0)
            squares[c] += np.square(added).sum(axis=0)
    variance = squares / n_rows(X) - np.square(sums / n_rows(X))
    carried = np.sqrt(np.maximum(variance, 0).sum(axis=0))
    return np.asarray(carried / (carried.sum() or 1))


class _Pass:
    """What is kept of the samples, block by block."""

    def __init__(self, reading: Reading, basis: Basis, truth: np.ndarray, carries: np.ndarray) -> None:
        n, n_classes, measures = len(truth), len(reading.classes), reading.map.expander.measures
        self.basis, self.truth, self.reading = basis, truth, reading
        self.weights = reading.weights.astype(reading.map.expander.dtype)
        self.place = [np.full(len(basis), -1) for _ in measures]  # of an exemplar in its measure; -1: it has it not
        for place, numbers in zip(self.place, basis.of_measure, strict=True):
            place[numbers] = np.arange(len(numbers))
        self.scores = np.empty((n, n_classes))
        self.rival = np.empty(n, dtype=np.intp)
        self.chosen = np.full((n, 2, SHOWN), -1, dtype=np.int32)
        self.pulls = np.zeros((n, 2, SHOWN, len(measures)), dtype=np.float32)
        self.columns = np.zeros((n, 2, SHOWN), dtype=np.int32)
        self.nearer = np.zeros((n, 2, SHOWN), dtype=np.int8)
        self.totals = np.empty((n, 2))
        rank = np.empty(len(carries), dtype=np.intp)
        rank[np.argsort(-carries, kind="stable")] = np.arange(len(carries))
        column_rank = rank[basis.of_column]
        self.order = np.argsort(column_rank, kind="stable")  # of the columns
        self.sizes = curve_sizes(0 if reading.map.normalizer.mixes else len(carries))
        self.ends = np.searchsorted(column_rank[self.order], self.sizes)
        self.right = np.zeros(len(self.sizes))

    def look(self, block: Block) -> None:
        """Take some samples in."""
        rows, truth = block.rows, self.truth[block.rows]
        self.scores[rows] = block.decision
        others, every = block.decision.copy(), np.arange(len(truth))
        predicted = others.argmax(axis=1)
        others[every, predicted] = -np.inf
        wrong = (truth != predicted) & (truth < others.shape[1])  # of a class that the model knows
        self.rival[rows] = np.where(wrong, truth, others.argmax(axis=1))
        for side, classes in enumerate((predicted, self.rival[rows])):
            self.totals[rows, side] = block.confidence[every, classes]
            self._choose(block.terms, self.weights.T[classes], rows, side)
        self._keep_fewer(block, truth)

    def _keep_fewer(self, block: Block, truth: np.ndarray) -> None:
        """Count how many would be right with the heaviest exemplars alone."""
        total = np.tile(self.reading.constant, (len(truth), 1)).astype(np.float64)
        start = 0
        for k, end in enumerate(self.ends):
            columns, start = self.order[start:end], end
            total += block.terms[:, columns] @ self.weights[columns]
            whole = k == len(self.ends) - 1  # then as the model decides it, by votes if it does
            self.right[k] += ((block.decision if whole else total).argmax(axis=1) == truth).sum()

    def _choose(self, terms: np.ndarray, weights: np.ndarray, rows: slice, side: int) -> None:
        """Keep the exemplars that add the most and the least to a class, which every column has a weight for."""
        added = terms * weights
        total, parts = by_exemplar(self.basis, added)
        for most, sign, first in ((FOR, -1, 0), (AGAINST, 1, FOR)):
            found = smallest(sign * total, min(most, len(self.basis)))
            found = np.where(sign * np.take_along_axis(total, found, axis=1) < 0, found, -1)
            there = slice(first, first + found.shape[1])
            self.chosen[rows, side, there] = found
            most_of_it = np.zeros(found.shape)
            for m, part in enumerate(parts):
                place = np.where(found < 0, -1, self.place[m][found])
                if part.shape[1]:
                    value = np.where(place < 0, 0, np.take_along_axis(part, np.maximum(place, 0), axis=1))
                    self.pulls[rows, side, there, m] = value
                    counts = np.abs(value) > most_of_it  # more than by the measures before
                    most_of_it[counts] = np.abs(value[counts])
                    column, nearer = self._leading(terms, added, m, np.maximum(place, 0))
                    self.columns[rows, side, there][counts] = column[counts]
                    self.nearer[rows, side, there][counts] = nearer[counts]

    def _leading(
        self, terms: np.ndarray, added: np.ndarray, m: int, place: np.ndarray
    ) -> tuple[np.ndarray, np.ndarray]:
        """Return which columns lead of the exemplars of measure m at ``place``, and the signs of their terms."""
        expander = self.basis.expander
        group, each = expander.groups[m], expander.measures[m].similarity.columns_each
        columns = np.zeros_like(place)
        if each > 1:
            own = added[:, group].reshape(len(added), -1, each)
            columns = leading(np.take_along_axis(own, place[:, :, None], axis=1))
        return columns, np.sign(np.take_along_axis(terms, group.start + place * each + columns, axis=1))


def smallest(values: np.ndarray, count: int) -> np.ndarray:
    """Return the places of the ``count`` smallest values of every row, the smallest first.

    Examples
    --------
    >>> smallest(np.array([[3.0, 1.0, 2.0]]), 2)
    array([[1, 2]])
    """
    if 0 < count < values.shape[1]:
        found = np.argpartition(values, count - 1, axis=1)[:, :count]
    else:
        found = np.tile(np.arange(count), (len(values), 1))
    order = np.argsort(np.take_along_axis(values, found, axis=1), axis=1, kind="stable")
    return np.take_along_axis(found, order, axis=1)


def curve_sizes(n: int) -> np.ndarray:
    """Return numbers of exemplars to try, evenly spaced by their ratio, up to all of them.

    Examples
    --------
    >>> curve_sizes(5)
    array([1, 2, 3, 4, 5])
    """
    return np.unique(np.geomspace(1, n, SIZES).round().astype(int)) if n else np.zeros(0, dtype=int)
