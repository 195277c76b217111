"""Fewer exemplars: M2 on fold 1 of CIFAR-10 with 10 x 100 exemplars, pruned, next to as many random ones.

Exemplars are chosen and all is trained on fold 1 alone. "Held out" is a fifth of fold 1, which had no part in choosing
or training the models that it judges; the 10,000 test images are looked at once, at the end.
"""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np

from benchmarks.pruning_data import Case, case_of
from besvm.pruning import PruningCurve
from besvm.pruning.ranking import ranked
from besvm.pruning.sizes import measured

TEST = 5  # the fold of the official test images


def benchmark(quick: bool = False) -> list[dict[str, Any]]:
    """Return a row for every number of exemplars: what besvm.prune does, on similarities that are computed once."""
    with case_of(0, (TEST,), quick) as case:
        return [] if case is None else _rows(case, 1 if quick else 3)


def _rows(case: Case, n_draws: int) -> list[dict[str, Any]]:
    stage, rng, every = case.stage, np.random.default_rng(0), case.whole()
    curve = measured(stage, "both", None, None, 0, rng)
    order = ranked(stage, case.margins, stage.weights, curve.sizes[-1])
    targets = stage.targets(case.margins, "both")
    rows: list[dict[str, Any]] = []
    for size, held_out in zip(curve.sizes, curve.accuracy, strict=True):
        test, random = every, [every]
        if size < case.n:
            test = case.accuracy(order[:size], stage.refitted(order[:size], targets, None))
            draws = [rng.choice(case.n, size, replace=False) for _ in range(n_draws)]
            random = [case.accuracy(draw, stage.refitted(draw, None, None)) for draw in draws]
        rows.append({"exemplars": size, "held out": held_out, "test": test, "test, random": float(np.mean(random))})
        rows[-1]["sd of random"] = float(np.std(random, ddof=1)) if len(random) > 1 else None
        rows[-1] |= {"loss": every - test, "loss, random": every - float(np.mean(random))}
    return rows


def plot(rows: list[dict[str, Any]], folder: Path) -> None:
    """Draw the accuracy of the test images against the number of exemplars."""
    import matplotlib

    matplotlib.use("agg")
    import matplotlib.pyplot as plt

    if not rows:
        return
    figure, ax = plt.subplots(figsize=(5.6, 3.4), layout="constrained")
    columns = {name: [row[name] for row in rows] for name in ("exemplars", "test", "test, random")}
    PruningCurve(*columns.values(), n_rows=10_000).plot(ax)
    ax.set_ylabel("accuracy on the 10,000 test images")
    figure.savefig(folder / "pruning.png", dpi=120)
    plt.close(figure)
