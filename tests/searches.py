"""Greedy selections to test with, and the naive loop over classifiers that they are compared with."""

import numpy as np

from besvm import BESVMClassifier
from besvm.selection import GreedySelection

CANDIDATES = ["linear", "rbf", "laplacian", "sigmoid"]


def select(candidates=CANDIDATES, **params):
    usual = {"basis": np.arange(40), "n_measures": 3, "random_state": 0, "refit": False}
    return GreedySelection(candidates, **usual | params)


def naive(candidates, X, y, X_val, y_val, n_measures, basis):
    """The paper's procedure with a whole classifier for every trial."""
    chosen, trace = [], []
    while len(chosen) < n_measures:
        scores = {}
        for name in candidates:
            if name not in chosen:
                clf = BESVMClassifier([*chosen, name], basis=basis, C=1.0, probability=False)
                scores[name] = clf.fit(X, y).score(X_val, y_val)
        chosen.append(max(scores, key=scores.get))
        trace.append(scores)
    return chosen, trace


def story(greedy):
    return [(step.chosen, step.accuracies) for step in greedy.trace_]


def same(a, b):
    return story(a) == story(b)
