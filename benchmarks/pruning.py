"""Fewer exemplars: M2 trained on fold 1 of CIFAR-10 with 10 x 100 exemplars, pruned, beside as many drawn at random.

Exemplars are chosen and all is trained on fold 1 alone. "Held out" is a fifth of fold 1, which had no part in choosing
or training the models that it judges; the 10,000 test images are looked at once, at the end.
"""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np

from besvm import BESVMClassifier
from besvm.basis import IndexBasis
from besvm.blocks.fill import filled
from besvm.datasets import load_cifar10
from besvm.pruning import PruningCurve
from besvm.pruning.pruned import staged
from besvm.pruning.ranking import ranked
from besvm.pruning.sizes import measured

M2 = ["H8R", "H4(2,0)", "H4(0,1)", "H8(1,0)"]
TEST = 5  # the fold of the official test images


def benchmark(quick: bool = False) -> list[dict[str, Any]]:
    """Return a row for every number of exemplars: what besvm.prune does, on similarities that are computed once."""
    try:
        images, labels, fold = load_cifar10()
    except FileNotFoundError:
        return []
    some = slice(0, 300 if quick else None)
    (X, y), (X_test, y_test) = ((images[fold == number][some], labels[fold == number][some]) for number in (0, TEST))
    basis = IndexBasis(per_class=4 if quick else 100)
    model = BESVMClassifier(M2, basis=basis, C=1.0, probability=False, random_state=0).fit(X, y)
    stage, rng = staged(model, X, y, None), np.random.default_rng(0)
    models: list[list[Any]] = []
    with stage.opened():
        curve = measured(stage, "margins", None, None, 0, rng)
        margins = stage.margins(model)
        order = ranked(stage, margins, stage.weights, curve.sizes[-1])
        for size in curve.sizes:
            if size == stage.n_exemplars:
                models.append([(np.arange(size), model)] * 2)
                continue
            draws = [rng.choice(stage.n_exemplars, size, replace=False) for _ in range(1 if quick else 3)]
            drawn = [(draw, stage.refitted(draw, None, None)) for draw in draws]
            models.append([(order[:size], stage.refitted(order[:size], margins, None)), *drawn])
    raw = filled(model._map.expander, X_test).matrix

    def score(kept: np.ndarray, small: BESVMClassifier) -> float:
        features = small._map.normalizer(raw[:, np.isin(stage.owner, kept)])
        return float(((features @ small.coef_.T + small.intercept_).argmax(axis=1) == y_test).mean())

    rows: list[dict[str, Any]] = []
    for size, held_out, (ours, *others) in zip(curve.sizes, curve.accuracy, models, strict=True):
        test, random = score(*ours), [score(*other) for other in others]
        rows.append({"exemplars": size, "held out": held_out, "test": test, "test, random": float(np.mean(random))})
        rows[-1]["sd of random"] = float(np.std(random, ddof=1)) if len(random) > 1 else None
        rows[-1] |= {"loss": rows[0]["test"] - test, "loss, random": rows[0]["test"] - float(np.mean(random))}
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
