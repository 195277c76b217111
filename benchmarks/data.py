"""Features of the kind BE-SVM makes, from the real CIFAR-10 where it is at hand, else from made-up data."""

from __future__ import annotations

import numpy as np

from besvm.basis import IndexBasis
from besvm.blocks.fill import filled
from besvm.datasets import load_cifar10
from besvm.expand import fit_expander
from besvm.measures import as_measures
from besvm.normalize.affine import fit_mean_norm

SETS = {4: ["H8R", "H4(2,0)", "H4(0,1)", "H8(1,0)"], 2: ["H8R", "H8(1,0)"], 1: ["H8R"]}


def besvm_features(n: int, n_basis: int, n_measures: int, n_test: int = 0) -> tuple[np.ndarray, ...]:
    """Return (features, labels, test features, test labels); the data is named by :func:`source`."""
    try:
        images, labels, fold = load_cifar10()
        X, y = images[fold < 5][:n], labels[fold < 5][:n]
        X_test, y_test = images[fold == 5][:n_test], labels[fold == 5][:n_test]
        measures = as_measures(SETS[n_measures])
    except FileNotFoundError:
        X, y = mixture(n + n_test)
        X, X_test, y, y_test = X[:n], X[n:], y[:n], y[n:]
        measures = as_measures(["rbf", "linear", "manhattan", "sigmoid"][:n_measures])
    rng = np.random.default_rng(0)
    expander = fit_expander(X, y, measures, IndexBasis(n_basis), rng)
    blocks = filled(expander, X, "memory", 0)
    normalizer = fit_mean_norm(blocks, expander.groups)
    normalizer.apply(blocks)
    test = normalizer(expander(X_test)) if n_test else np.empty((0, expander.width), np.float32)
    return blocks.matrix, y, test, y_test


def source() -> str:
    """Say which data the features come from."""
    try:
        load_cifar10(verify=False)
        return "CIFAR-10"
    except FileNotFoundError:
        return "made-up mixture of Gaussians"


def mixture(n: int, n_features: int = 60, n_classes: int = 10) -> tuple[np.ndarray, np.ndarray]:
    """Return ten overlapping classes of eight Gaussians each."""
    rng = np.random.default_rng(0)
    centers = rng.normal(size=(n_classes, 8, n_features))
    y = rng.integers(0, n_classes, n)
    X = centers[y, rng.integers(0, 8, n)] + rng.normal(scale=1.6, size=(n, n_features))
    return X.astype(np.float32), y
