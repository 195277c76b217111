"""Test accuracy by how the exemplars were chosen: by the data or at random; mean and spread over seeds."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from time import perf_counter
from typing import Any

import numpy as np

from besvm import BESVMClassifier
from besvm.basis import FarthestBasis, GradientBasis, IndexBasis, KMedoidsBasis, PivotedBasis, RandomBasis
from besvm.datasets import load_cifar10
from besvm.similarities import RBF

Maker = Callable[[int], Any]
EVEN: dict[str, Maker] = {
    "random": lambda n: RandomBasis(n),
    "first rows": lambda n: IndexBasis(n),
    "k-medoids": lambda n: KMedoidsBasis(n),
    "pivoted": lambda n: PivotedBasis(n),
    "farthest": lambda n: FarthestBasis(n),
    "gradient": lambda n: GradientBasis(n),
}
UNEVEN = EVEN | {
    "random, any class": lambda n: RandomBasis(n, balanced=False),
    "pivoted, any class": lambda n: PivotedBasis(n, balanced=False),
    "farthest, any class": lambda n: FarthestBasis(n, balanced=False),
}
SEEDS = {"first rows": 1, "random": 5}  # of the others, three


@dataclass
class Task:
    """A data set with one measure, and the size of the basis."""

    name: str
    measure: Any
    train: tuple[Any, np.ndarray]
    test: tuple[Any, np.ndarray]
    n_basis: int
    makers: dict[str, Maker]


class Timed:
    """A selector that says how long it took."""

    def __init__(self, selector: Any) -> None:
        self.selector = selector
        self.seconds = 0.0

    def __call__(self, *args: Any) -> np.ndarray:
        """Return the selector's rows."""
        start = perf_counter()
        rows: np.ndarray = self.selector(*args)
        self.seconds = perf_counter() - start
        return rows


def benchmark(quick: bool = False) -> list[dict[str, Any]]:
    """Return a row for every task and selector."""
    return [
        _measure(task, name, maker, SEEDS.get(name, 3)) for task in _tasks(quick) for name, maker in task.makers.items()
    ]


def _measure(task: Task, name: str, maker: Maker, n_seeds: int) -> dict[str, Any]:
    accuracies, balanced, seconds = [], [], []
    for seed in range(n_seeds):
        basis = Timed(maker(task.n_basis))
        clf = BESVMClassifier(task.measure, basis=basis, C=1.0, probability=False, random_state=seed).fit(*task.train)
        accuracies.append(clf.score(*task.test))
        seconds.append(basis.seconds)
        if task.makers is UNEVEN:
            clf.set_params(class_weight="balanced", basis=clf.basis_rows_[0]).fit(*task.train)
            balanced.append(clf.score(*task.test))
    return {
        "data": task.name,
        "exemplars": task.n_basis,
        "basis": name,
        "seeds": n_seeds,
        "accuracy": float(np.mean(accuracies)),
        "sd": float(np.std(accuracies, ddof=1)) if n_seeds > 1 else None,
        "accuracy, class_weight balanced": float(np.mean(balanced)) if balanced else None,
        "selection_seconds": float(np.median(seconds)),
    }


def _tasks(quick: bool) -> Iterator[Task]:
    yield _clusters(20 if quick else 80)
    try:
        images, labels, fold = load_cifar10()
    except FileNotFoundError:
        return
    some = slice(0, 500) if quick else slice(None)
    X, y = images[fold == 0][some], labels[fold == 0][some]
    test = images[fold == 5][some], labels[fold == 5][some]
    rows = _uneven_rows(y, 30 if quick else 1000, 10 if quick else 20)
    yield Task("CIFAR-10 uneven, H8R", "H8R", (X[rows], y[rows]), test, 20 if quick else 250, UNEVEN)
    for measure in ["H8R"] if quick else ["H8R", "H4(2,0)"]:
        for n_basis in [20] if quick else [250, 1000]:
            yield Task(f"CIFAR-10 fold 1, {measure}", measure, (X, y), test, n_basis, EVEN)


def _uneven_rows(y: np.ndarray, largest: int, smallest: int) -> np.ndarray:
    """Return rows of which the classes have from ``largest`` down to ``smallest``, in equal ratios."""
    classes = np.unique(y)
    sizes = np.geomspace(largest, smallest, len(classes)).round().astype(int)
    return np.sort(np.concatenate([np.flatnonzero(y == k)[:size] for k, size in zip(classes, sizes, strict=True)]))


def _clusters(n_basis: int) -> Task:
    """Return three classes of Gaussian clusters, whose sizes fall from 1,500 to 5; the test has as many of each."""
    rng = np.random.default_rng(0)
    centers = rng.normal(scale=2.0, size=(60, 8))
    label = rng.integers(0, 3, len(centers))
    sizes = np.geomspace(1500, 5, len(centers)).round().astype(int)

    def draw(counts: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        cluster = np.repeat(np.arange(len(centers)), counts)
        return centers[cluster] + rng.normal(scale=0.8, size=(len(cluster), 8)), label[cluster]

    test = draw(np.full(len(centers), 100))
    return Task("uneven clusters, RBF", RBF(), draw(sizes), test, n_basis, UNEVEN)
