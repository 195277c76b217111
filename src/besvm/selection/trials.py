"""Try a set of measures: train on the training rows, score on those held out."""

from __future__ import annotations

import warnings
from dataclasses import dataclass, field
from time import perf_counter
from typing import Any

import numpy as np
from sklearn.exceptions import ConvergenceWarning

from besvm._support.progress import Progress
from besvm._support.rows import n_rows
from besvm._support.threads import threads_for
from besvm.blocks.joined import JoinedBlocks, Part
from besvm.selection.store import ScoreBook
from besvm.solver.newton import solve
from besvm.solver.problem import Problem


@dataclass(frozen=True)
class Data:
    """The rows to train on and those to judge by; labels are numbers of ``classes``, -1 for a class not among them."""

    X: Any
    X_val: Any
    classes: np.ndarray
    labels: np.ndarray
    val_labels: np.ndarray

    @property
    def positive(self) -> np.ndarray:
        """The class that is +1 in each one-vs-rest problem."""
        return np.array([1]) if len(self.classes) == 2 else np.arange(len(self.classes))

    @property
    def n_all(self) -> int:
        """The number of rows of both kinds."""
        return n_rows(self.X) + n_rows(self.X_val)

    @property
    def train(self) -> slice:
        """The rows to train on, among all."""
        return slice(0, n_rows(self.X))

    @property
    def held_out(self) -> slice:
        """The rows to judge by, among all."""
        return slice(n_rows(self.X), self.n_all)


@dataclass
class Trials:
    """Scores ordered sets of candidates, each set once."""

    data: Data
    parts: list[Part]  # the features of every candidate
    keys: list[str]
    labels: list[str]
    scores: ScoreBook
    options: dict[str, Any]  # of the solver
    unsettled: list[str] = field(default_factory=list)  # sets on which the solver did not converge

    @property
    def chance(self) -> float:
        """The accuracy of always naming the most frequent class."""
        return float((self.data.val_labels == np.bincount(self.data.labels).argmax()).mean())

    def score(self, candidates: list[int], shown: Progress) -> tuple[float, float]:
        """Return the held-out accuracy with these candidates, and the seconds that training took."""
        keys = tuple(self.keys[i] for i in candidates)
        labels = [self.labels[i] for i in candidates]
        found = self.scores.find(keys)
        if found is None:
            shown.note(f"training on {' + '.join(labels)}")
            start = perf_counter()
            accuracy = self._accuracy(candidates)
            found = accuracy, perf_counter() - start
            self.scores.enter(keys, labels, *found)
        shown.advance(1)
        return found

    def _accuracy(self, candidates: list[int]) -> float:
        data, parts = self.data, [self.parts[i] for i in candidates]
        features = JoinedBlocks(parts, data.train)
        problem = Problem(data.labels, data.positive, np.ones(len(data.labels)))
        n, width = features.shape
        with threads_for(4 * n * width * len(data.positive)):
            result = solve(features, problem, **self.options)
        if not result.converged.all():
            self.unsettled.append(" + ".join(self.labels[i] for i in candidates))
        coef = result.coef.astype(features.dtype)
        held_out = JoinedBlocks(parts, data.held_out)
        margins = np.concatenate(list(held_out.map(lambda rows, block: block @ coef + result.intercept)))
        predicted = (margins[:, 0] > 0).astype(int) if len(data.classes) == 2 else margins.argmax(axis=1)
        return float((predicted == data.val_labels).mean())

    def warn(self) -> None:
        """Say once on which sets the solver did not converge."""
        if self.unsettled:
            warnings.warn(
                f"the solver did not reach tol={self.options['tol']:g} on {len(self.unsettled)} of the sets tried, "
                f"the first being {self.unsettled[0]}; raise tol or lower C",
                ConvergenceWarning,
                stacklevel=5,
            )
