"""Greedy selection of measures on CIFAR-10 fold 1 with 10 x 50 exemplars: what is chosen, and how long it takes."""

from __future__ import annotations

from pathlib import Path
from time import perf_counter
from typing import Any

import numpy as np

from besvm.basis import IndexBasis
from besvm.datasets import load_cifar10
from besvm.selection import GreedySelection

H8 = ["H8L", "H8R", "H8(0,1)", "H8(1,0)"]
H4 = ["H4L", "H4R", "H4(0,1)", "H4(1,0)", "H4(1,1)", "H4(2,0)", "H4(2,1)"]
TEST = 5  # the fold of the official test images
_done: dict[str, GreedySelection] = {}


def benchmark(quick: bool = False) -> list[dict[str, Any]]:
    """Return a row for every step: of all candidates and of the low-resolution ones, judged in three ways."""
    try:
        images, labels, fold = load_cifar10()
    except FileNotFoundError:
        return []
    some = slice(0, 400 if quick else None)
    folds = {number: (images[fold == number][some], labels[fold == number][some]) for number in (0, 1, TEST)}
    judges: dict[str, tuple[Any, ...]] = {"a fifth of fold 1": (), "fold 2": folds[1], "test fold": folds[TEST]}
    rows = []
    for name, candidates, n_measures in (("all", H8 + H4, 4), ("H8", H8, 3)):
        for judge, validation in list(judges.items())[: 1 if quick else None]:
            basis = IndexBasis(per_class=5 if quick else 50)
            greedy = GreedySelection(candidates, n_measures=n_measures, basis=basis, refit=False, random_state=0)
            start = perf_counter()
            greedy.fit(*folds[0], *validation)
            seconds = perf_counter() - start
            _done[f"{len(candidates)} candidates, judged by {judge}"] = greedy
            rows += _rows(name, judge, greedy, seconds)
    return rows


def _rows(name: str, judge: str, greedy: GreedySelection, seconds: float) -> list[dict[str, Any]]:
    rows = []
    for number, step in enumerate(greedy.trace_, start=1):
        others = sorted((accuracy for label, accuracy in step.accuracies.items() if label != step.chosen), reverse=True)
        rows.append(
            {
                "candidates": name,
                "judged by": judge,
                "step": number,
                "chosen": step.chosen,
                "accuracy": step.accuracy,
                "next best": others[0] if others else None,
                "median of the others": float(np.median(others)) if others else None,
                "seconds in all": seconds if number == len(greedy.trace_) else None,
            }
        )
    return rows


def plot(rows: list[dict[str, Any]], folder: Path) -> None:
    """Draw the traces with all candidates."""
    import matplotlib

    matplotlib.use("agg")
    import matplotlib.pyplot as plt

    shown = [(title, greedy) for title, greedy in _done.items() if title.startswith("11")]
    if not shown:
        return
    figure, axes = plt.subplots(1, len(shown), figsize=(4.4 * len(shown), 3.6), sharey=True, layout="constrained")
    for axis, (title, greedy) in zip(np.atleast_1d(axes), shown, strict=True):
        greedy.plot(axis)
        axis.set_title(title.split(", ")[1], fontsize=10)
    for axis in np.atleast_1d(axes)[1:]:
        axis.set_ylabel("")
    figure.savefig(folder / "greedy.png", dpi=120)
    plt.close(figure)
