"""C picked on held-out rows, along a path that shares features, preconditioner and warm starts."""

from collections.abc import Callable
from dataclasses import dataclass

from besvm.solver.calibration import Folds, held_out_scores
from besvm.solver.result import Result

FIRST, FACTOR = 1.0, 10.0
LOWEST, HIGHEST = 1e-4, 1e4
WORTH = 0.01  # the share by which the log loss must fall for the next C to be worth trying


@dataclass(frozen=True)
class Path:
    """What was tried, from the smallest C to the largest, and which C was best."""

    best: float
    tried: dict[str, list[float]]  # "C", "accuracy" and "log_loss", on rows held out


def pick_c(solve_at: Callable[[float, Result | None], Result], folds: Folds, n_classes: int) -> tuple[Path, Result]:
    """Return the C with the least log loss on held-out rows, and the solution there that leaves the folds out.

    C goes up from 1 by factors of ten as long as that helps and, if the first step does not, down: as the loss has one
    valley, three or four solves are usual, each from the solution of the last. ``solve_at(C, last)`` solves the columns
    that leave the folds out.
    """
    scores: dict[float, list[float]] = {}  # accuracy and log loss

    def tried(C: float, last: Result | None) -> tuple[float, Result]:
        result = solve_at(C, last)
        _, *scores[C] = held_out_scores(result.margins, folds, n_classes)
        return scores[C][1], result

    C, (least, best) = FIRST, tried(FIRST, None)
    for factor in (FACTOR, 1 / FACTOR):
        while LOWEST < C < HIGHEST:
            loss, result = tried(C * factor, best)
            if not loss < (1 - WORTH) * least:
                break
            C, least, best = C * factor, loss, result
        if C != FIRST:
            break
    Cs = sorted(scores)
    return Path(C, {"C": Cs, "accuracy": [scores[C][0] for C in Cs], "log_loss": [scores[C][1] for C in Cs]}), best
