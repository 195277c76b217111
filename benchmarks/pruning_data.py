"""The models that the benchmarks of pruning begin with, and images that judge what is left of them."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from typing import Any

import numpy as np

from besvm import BESVMClassifier
from besvm.basis import IndexBasis
from besvm.blocks.fill import filled
from besvm.datasets import load_cifar10
from besvm.pruning.pruned import staged
from besvm.pruning.stage import Stage

M2 = ["H8R", "H4(2,0)", "H4(0,1)", "H8(1,0)"]
PER_CLASS, FEW = 100, 4  # exemplars, and those of a quick run
QUICK_ROWS = 300


@dataclass
class Case:
    """A model with all of its exemplars, its training rows, and the similarities of the rows that judge."""

    model: BESVMClassifier
    stage: Stage
    margins: np.ndarray  # of the training rows, (n, 10)
    judge: np.ndarray  # raw similarities
    judge_labels: np.ndarray

    @property
    def n(self) -> int:
        """How many exemplars there are."""
        return self.stage.n_exemplars

    def accuracy(self, kept: np.ndarray, small: Any) -> float:
        """Return the accuracy of a model with these exemplars on the rows that judge."""
        features = small._map.normalizer(self.judge[:, np.isin(self.stage.owner, kept)])
        return self.score(features @ small.coef_.T + small.intercept_)

    def score(self, margins: np.ndarray) -> float:
        """Return the accuracy of margins of the rows that judge."""
        return float((margins.argmax(axis=1) == self.judge_labels).mean())

    def whole(self) -> float:
        """Return the accuracy with all exemplars."""
        return self.accuracy(np.arange(self.n), self.model)


@contextmanager
def case_of(own: int, judges: tuple[int, ...], quick: bool) -> Iterator[Case | None]:
    """Train M2 with C = 1 and 10 x 100 exemplars on a fold of CIFAR-10, to be judged by others; None without data."""
    try:
        images, labels, fold = load_cifar10()
    except FileNotFoundError:
        yield None
        return
    some = slice(0, QUICK_ROWS if quick else None)
    (X, y), (X_judge, y_judge) = (
        (images[np.isin(fold, which)][some], labels[np.isin(fold, which)][some].astype(int))
        for which in ((own,), judges)
    )
    basis = IndexBasis(per_class=FEW if quick else PER_CLASS)
    model = BESVMClassifier(M2, basis=basis, C=1.0, probability=False, random_state=0).fit(X, y)
    stage = staged(model, X, y, None)
    with stage.opened():
        yield Case(model, stage, stage.margins(model), filled(model._map.expander, X_judge).matrix, y_judge)
