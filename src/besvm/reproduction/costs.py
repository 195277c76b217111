"""Estimates of the time and memory that cells take, which the plan adds up."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

from besvm._support.threads import n_workers
from besvm.blocks.estimates import last_rank, newton_bytes, pair_bytes, pairs_bytes
from besvm.reproduction.lab import TEST_FOLD, Basis, Lab

IMAGES = 60_000  # with which fixed costs were measured
TRAIN_SECONDS = 4e-8  # for every feature of every row
KERNEL_SECONDS = {8: 2.7e-8, 4: 6e-8}  # of a kernel SVM, for every pair of rows, by the size of the cells
PAIR_SECONDS = {  # for every pair of images, on two cores
    "H8L": 1e-8,
    "H8R": 2e-8,
    "H8(0,1)": 8e-8,
    "H8(1,0)": 8e-8,
    "H4L": 3e-8,
    "H4R": 4e-8,
    "H4(0,1)": 2.4e-7,
    "H4(1,0)": 1.6e-7,
    "H4(1,1)": 5.5e-7,
    "H4(2,0)": 2.4e-7,
    "H4(2,1)": 9e-7,
}


class Costs:
    """Estimates for the data of one reproduction, in seconds on two cores and in bytes."""

    def __init__(self, lab: Lab) -> None:
        self.lab = lab
        self._planned: set[Path] = set()
        self.planned_bytes = 0  # of similarities that have still to be computed

    def fixed(self, seconds: float) -> float:
        """Return the time of what takes ``seconds`` with all of CIFAR-10, for as many images as there are."""
        return seconds * len(self.lab.images) / IMAGES

    def fit(self, labels: Sequence[str], n_folds: int, basis: Basis, norm: str | None = "mean-norm") -> float:
        """Return the seconds of :meth:`Lab.fit`, with those of similarities that are neither kept nor planned yet."""
        width = sum(map(len, basis)) * len(labels)
        training = self.fixed(0.2) + self.train(len(self.lab.train_rows(n_folds)), width)
        return training + self.similarities(labels, n_folds, basis, norm)

    def similarities(self, labels: Sequence[str], n_folds: int, basis: Basis, norm: str | None = "mean-norm") -> float:
        """Return the seconds of :meth:`Lab.expansion`; similarities that are kept or planned already cost nothing."""
        lab, total = self.lab, 0.0
        for label in labels:
            for fold in (*range(n_folds), TEST_FOLD):
                rows = lab.rows_of(fold)
                for exemplars in basis:
                    path = lab.cache.path(lab.recipe(label, rows, exemplars, norm))
                    if path not in self._planned and not path.exists():
                        self._planned.add(path)
                        self.planned_bytes += 4 * len(rows) * len(exemplars)
                        total += PAIR_SECONDS.get(label, 5e-7) * len(rows) * len(exemplars)
        return total

    def fit_memory(self, n_measures: int, n_folds: int, width: int, n_columns: int | None = None) -> int:
        """Return the bytes of :meth:`Lab.fit` at its peak."""
        n, D = len(self.lab.train_rows(n_folds)), width * n_measures
        columns = n_columns or self.lab.n_classes
        training = newton_bytes(n, D, columns, 4, "memory", n_workers(), last_rank(D + 1))
        return 4 * (n + len(self.lab.test_rows)) * D + training

    @staticmethod
    def train(rows: int, width: int) -> float:
        """Return the seconds of a linear SVM."""
        return TRAIN_SECONDS * rows * width

    @staticmethod
    def kernel(rows: int, cell: int = 8) -> float:
        """Return the seconds of a kernel SVM."""
        return KERNEL_SECONDS[cell] * rows**2

    def kernel_memory(self, rows: int) -> int:
        """Return the bytes of a kernel SVM: two pairs of classes at a time, and the blocks that pairs share."""
        sizes = [rows // self.lab.n_classes] * self.lab.n_classes
        return pairs_bytes(sizes, 4, pair_bytes(2 * sizes[0], None, trusted=True), jobs=2, keep=True)
