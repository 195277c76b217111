"""One class against the rest: all problems solved at once."""

import numpy as np

from besvm._support.progress import progress, say
from besvm._support.threads import threads_for
from besvm.blocks import RowBlocks
from besvm.blocks.state import Values
from besvm.solver.calibration import deal_folds, held_out_scores, n_folds_for
from besvm.solver.problem import Problem
from besvm.solver.training import Ending, LinearModel, Training


def fit_linear(
    blocks: RowBlocks,
    labels: Values,
    n_classes: int,
    weights: Values,
    training: Training,
    *,
    probability: bool,
    verbose: int = 0,
    start: tuple[np.ndarray, np.ndarray] | None = None,
) -> LinearModel:
    """Train one-vs-rest (one column for two classes), and settle the slope of the probabilities on held-out rows."""
    positive = np.array([1]) if n_classes == 2 else np.arange(n_classes)
    problem = Problem(labels, positive, weights)
    n, D = blocks.shape
    hold_out = probability or training.C == "auto"
    folds = deal_folds(blocks, problem, n_classes) if hold_out else None
    with threads_for(4 * n * D * n_columns(n, n_classes, hold_out)), progress("training", verbose=verbose) as shown:
        trained = training(blocks, problem, folds, n_classes, start, shown.note)
    result, held_out = trained.result, trained.held_out
    ending = Ending.of([result])
    say(
        verbose,
        f"trained {len(positive)} problems in {ending.n_iter} Newton steps and {ending.n_passes} passes, "
        f"with a relative duality gap of {ending.gap.max():.1e}" + (", in part in float64" if ending.precise else ""),
    )
    training.warn_unless_converged(ending)
    slope = None
    if probability and held_out is not None and folds is not None:
        slope = held_out_scores(held_out.margins, folds, n_classes)[0]
    return LinearModel(result.coef.T, result.intercept, slope, ending, trained.path)


def n_columns(n: int, n_classes: int, hold_out: bool) -> int:
    """Return how many columns are ever solved at once."""
    one_vs_rest = 1 if n_classes == 2 else n_classes
    return one_vs_rest * (n_folds_for(n) if hold_out else 1)
