"""More exemplars of one class than of another: what that does to the boundary, and how balanced=True corrects it."""

from __future__ import annotations

from typing import Any

import numpy as np

from besvm import BESVMClassifier
from besvm.datasets import load_cifar10
from besvm.normalize import MeanNorm, Unscaled
from besvm.similarities import RBF


def benchmark(quick: bool = False) -> list[dict[str, Any]]:
    """Return the shift of the boundary on mirrored data, then recalls on CIFAR-10 with an uneven basis."""
    n_draws = 5 if quick else 40
    rows = [shift(None, C, n_draws) for C in (0.0001, 0.0003, 0.001, 0.01)]
    rows += [shift("mean-norm", C, n_draws) for C in (0.01, 0.1, 1.0, 10.0)]
    return rows + uneven_cifar10(500 if quick else 10_000, 1 if quick else 10)


def shift(normalize: str | None, C: float, n_draws: int) -> dict[str, Any]:
    """Return where the boundary lies between two classes that mirror each other, 45 exemplars left and 5 right of 0.

    Raw features come without an intercept, as in the paper's analysis.
    """
    row: dict[str, Any] = {"data": "mirrored classes, 45 and 5 exemplars", "normalize": str(normalize), "C": C}
    intercept = normalize is not None
    kind = Unscaled if normalize is None else MeanNorm
    for name, balanced in (("plain", False), ("balanced", True)):
        found = []
        for seed in range(n_draws):
            rng = np.random.default_rng(seed)
            right = rng.normal(1, 0.7, size=(200, 1))
            X, y = np.concatenate([-right, right]), np.repeat([0, 1], 200)
            basis = np.concatenate([rng.permutation(200)[:45], 200 + rng.permutation(200)[:5]])
            options: dict[str, Any] = {"fit_intercept": intercept, "normalize": kind(balanced)}
            clf = BESVMClassifier(RBF(gamma=0.5), basis=basis, C=C, probability=False, **options).fit(X, y)
            line = np.linspace(-2, 2, 4001)
            found.append(line[np.argmax(clf.decision_function(line[:, None]) > 0)])
        error = np.std(found, ddof=1) / np.sqrt(n_draws)
        row[f"boundary, {name}"] = f"{np.mean(found):+.3f} ± {error:.3f}"
    return row


def uneven_cifar10(n: int, step: int) -> list[dict[str, Any]]:
    """Return recalls of the classes with the fewest and the most exemplars: 10, 30, ..., 190 of the ten classes."""
    images, labels, fold = load_cifar10()
    train, test = slice(0, n), fold == 5
    rng = np.random.default_rng(0)
    order = rng.permutation(10)
    counts = step * (1 + 2 * np.arange(10))
    basis = np.concatenate([np.flatnonzero(labels[train] == c)[:count] for c, count in zip(order, counts, strict=True)])
    rows = []
    for balanced in (False, True):
        clf = BESVMClassifier("H8R", basis=np.sort(basis), normalize=MeanNorm(balanced), C=1.0, probability=False)
        predicted = clf.fit(images[train], labels[train]).predict(images[test])
        right = predicted == labels[test]
        recall = [float(right[labels[test] == c].mean()) for c in order]
        rows.append(
            {
                "data": f"CIFAR-10 fold 1, {counts[0]} to {counts[-1]} exemplars a class, "
                + ("balanced" if balanced else "plain"),
                "normalize": "mean-norm",
                "C": 1.0,
                "accuracy": float(right.mean()),
                "recall, 5 classes with fewest": float(np.mean(recall[:5])),
                "recall, 5 classes with most": float(np.mean(recall[5:])),
            }
        )
    return rows
