"""C picked on held-out rows, along a path that shares features, preconditioner and warm starts."""

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np

from besvm.solver.calibration import held_out_scores
from besvm.solver.problem import Problem, Result

FIRST, FACTOR = 1.0, 10.0
LOWEST, HIGHEST = 1e-4, 1e4
WORTH = 0.01  # the share by which the log loss must fall for the next C to be worth trying


@dataclass(frozen=True)
class Path:
    """What was tried, from the smallest C to the largest, and which C was best."""

    best: float
    tried: dict[str, list[float]]  # "C", "accuracy" and "log_loss", on rows held out


def pick_c(
    solve_at: Callable[[float, Result | None], Result], problem: Problem, fold: np.ndarray, n_folds: int, n_classes: int
) -> tuple[Path, Result]:
    """Return the C with the least log loss on held-out rows, and the solution there that leaves the folds out.

    C goes up from 1 by factors of ten as long as that helps and, if the first step does not, down: as the loss has one
    valley, three or four solves are usual, each from the solution of the last. ``solve_at(C, last)`` solves the columns
    that leave the folds out.
    """
    found: dict[float, tuple[float, float, Result]] = {}

    def loss_at(C: float, last: Result | None) -> float:
        result = solve_at(C, last)
        _, accuracy, loss = held_out_scores(result.margins, fold, n_folds, problem, n_classes)
        found[C] = accuracy, loss, result
        return loss

    C, best = FIRST, loss_at(FIRST, None)
    for factor in (FACTOR, 1 / FACTOR):
        while LOWEST < C < HIGHEST:
            loss = loss_at(C * factor, found[C][2])
            if not loss < (1 - WORTH) * best:
                break
            C, best = C * factor, loss
        if C != FIRST:
            break
    tried = sorted(found)
    curves = {"accuracy": [found[one][0] for one in tried], "log_loss": [found[one][1] for one in tried]}
    return Path(C, {"C": tried, **curves}), found[C][2]
