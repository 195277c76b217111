"""Graphs: MUTAG, BE-SVM over Weisfeiler-Lehman and shortest paths against GraKeL's kernels with SVC, ten folds.

Needs grakel.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from sklearn.model_selection import GridSearchCV, StratifiedKFold
from sklearn.svm import SVC

from benchmarks.any_data import load
from benchmarks.any_data.folds import CS, Method, besvm, compared, nearest
from besvm.similarities import WeisfeilerLehman

ASSIGNMENT = WeisfeilerLehman(compare="intersection")


def benchmark(quick: bool = False) -> list[dict[str, Any]]:
    """Return the accuracy of every method, and how it varies over the folds."""
    X, y = load.mutag()
    methods: dict[str, Method] = {
        "k-NN, weisfeiler-lehman": nearest("weisfeiler-lehman"),
        "BE-SVM, weisfeiler-lehman": besvm("weisfeiler-lehman"),
        "BE-SVM, weisfeiler-lehman by intersection": besvm(ASSIGNMENT),
        "BE-SVM, shortest-path": besvm("shortest-path"),
        "BE-SVM, all three": besvm(["weisfeiler-lehman", ASSIGNMENT, "shortest-path"]),
        "GraKeL's Weisfeiler-Lehman, SVC": _grakel("weisfeiler-lehman"),
        "GraKeL's shortest path, SVC": _grakel("shortest-path"),
    }
    folds = list(StratifiedKFold(10, shuffle=True, random_state=0).split(X, y))
    return compared("MUTAG", X, y, folds[:1] if quick else folds, methods)


def _grakel(kernel: str) -> Method:
    def predict(X: Any, y: np.ndarray, X_test: Any) -> np.ndarray:
        from grakel import Graph
        from grakel.kernels import ShortestPath, VertexHistogram
        from grakel.kernels import WeisfeilerLehman as Subtree

        train, test = (
            [Graph({(u, v) for u, v in edges.tolist()}, node_labels=dict(enumerate(labels))) for edges, labels in part]
            for part in (X, X_test)
        )
        if kernel == "shortest-path":
            compare = ShortestPath(normalize=True)
        else:
            compare = Subtree(n_iter=5, base_graph_kernel=VertexHistogram, normalize=True)
        S, S_test = compare.fit_transform(train), compare.transform(test)
        return np.asarray(GridSearchCV(SVC(kernel="precomputed"), {"C": list(CS)}, cv=5).fit(S, y).predict(S_test))

    return predict
