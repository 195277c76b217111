"""The greedy search: train with every candidate in turn, and keep the one that the held-out rows speak for."""

import warnings
from dataclasses import dataclass, field
from time import perf_counter
from typing import Any

import numpy as np
from sklearn.exceptions import ConvergenceWarning

from besvm._support.progress import Progress, progress, say
from besvm._support.threads import threads_for
from besvm.blocks.stores import JoinedBlocks, Part
from besvm.selection.split import Split
from besvm.selection.store import ScoreBook
from besvm.selection.trace import SelectionStep, stopped
from besvm.solver.newton import solve
from besvm.solver.problem import Problem


@dataclass
class Trials:
    """Scores ordered sets of candidates, each set once."""

    split: Split
    parts: list[Part]  # the features of every candidate
    keys: list[str]
    names: list[str]
    scores: ScoreBook
    options: dict[str, Any]  # of the solver
    unsettled: list[str] = field(default_factory=list)  # sets on which the solver did not converge

    def score(self, candidates: list[int], shown: Progress) -> tuple[float, float]:
        """Return the held-out accuracy with these candidates, and the seconds that training took."""
        keys = tuple(self.keys[i] for i in candidates)
        names = [self.names[i] for i in candidates]
        found = self.scores.find(keys)
        if found is None:
            shown.note(f"training on {' + '.join(names)}")
            start = perf_counter()
            accuracy = self._accuracy(candidates)
            found = accuracy, perf_counter() - start
            self.scores.enter(keys, names, *found)
        shown.advance(1)
        return found

    def _accuracy(self, candidates: list[int]) -> float:
        split, parts = self.split, [self.parts[i] for i in candidates]
        n_classes = len(split.classes)
        features = JoinedBlocks(parts, split.train)
        positive = np.array([1]) if n_classes == 2 else np.arange(n_classes)
        n, width = features.shape
        with threads_for(4 * n * width * len(positive)):
            result = solve(features, Problem(split.labels, positive, np.ones(n)), **self.options)
        if not result.converged.all():
            self.unsettled.append(" + ".join(self.names[i] for i in candidates))
        coef = result.coef.astype(features.dtype)
        held_out = JoinedBlocks(parts, split.held_out)
        margins = np.concatenate(list(held_out.map(lambda rows, block: block @ coef + result.intercept)))
        predicted = (margins[:, 0] > 0).astype(int) if n_classes == 2 else margins.argmax(axis=1)
        return float((predicted == split.val_labels).mean())


def choose(
    trials: Trials, most: int, min_gain: float | None, verbose: int
) -> tuple[list[int], list[SelectionStep], SelectionStep | None]:
    """Return the candidates in the order of their choice, the steps, and the step that ``min_gain`` forbade, if any."""
    order: list[int] = []
    trace: list[SelectionStep] = []
    rejected: SelectionStep | None = None
    n, names, last = len(trials.names), trials.names, trials.split.chance
    with progress("choosing", sum(n - i for i in range(most)), verbose) as shown:
        while len(order) < most:
            left = [i for i in range(n) if i not in order]
            results = {i: trials.score([*order, i], shown) for i in left}
            best = max(left, key=lambda i: results[i][0])  # the first of equals
            accuracy = results[best][0]
            accuracies = {names[i]: results[i][0] for i in left}
            seconds = sum(took for _, took in results.values())
            step = SelectionStep(names[best], accuracy, accuracy - last, accuracies, seconds)
            if trace and min_gain is not None and step.gain < min_gain:
                rejected = step
                say(verbose, stopped(step))
                break
            trace.append(step)
            say(verbose, f"step {len(trace)}: {step.chosen}, accuracy {accuracy:.4f}")
            order.append(best)
            last = accuracy
    if trials.unsettled:
        warnings.warn(
            f"the solver did not reach tol={trials.options['tol']:g} for {len(trials.unsettled)} sets of measures, the "
            f"first being {trials.unsettled[0]}; raise tol or lower C",
            ConvergenceWarning,
            stacklevel=5,
        )
    return order, trace, rejected
