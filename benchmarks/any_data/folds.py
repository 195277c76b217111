"""Methods side by side on the same folds, each with its choices made on the training rows of the fold."""

from __future__ import annotations

import time
import warnings
from collections.abc import Callable, Iterable
from typing import Any

import numpy as np
from sklearn.base import clone
from sklearn.model_selection import GridSearchCV

from besvm import BESVMClassifier
from besvm._support.rows import n_rows, take
from besvm.similarities import resolve

Method = Callable[[Any, np.ndarray, Any], np.ndarray]  # training samples, their classes, test samples -> predictions
Fold = tuple[np.ndarray, np.ndarray]
NEIGHBORS = (1, 3, 5, 9, 15, 25)
CS = (0.1, 1.0, 10.0, 100.0)
CHOOSING = 1000  # training rows that the number of neighbors is chosen on, at most
CHUNK = 500  # samples whose neighbors are looked for at once


def compared(
    data: str, X: Any, y: np.ndarray, folds: Iterable[Fold], methods: dict[str, Method]
) -> list[dict[str, Any]]:
    """Return a row for every method: the mean accuracy over the folds, its deviation, and the seconds a fold."""
    folds, rows = list(folds), []
    for name, method in methods.items():
        found, start = [], time.perf_counter()
        for train, test in folds:
            with warnings.catch_warnings():
                warnings.simplefilter("ignore")  # of the peers
                found.append(float(np.mean(method(take(X, train), y[train], take(X, test)) == y[test])))
        seconds = (time.perf_counter() - start) / len(folds)
        spread = float(np.std(found)) if len(found) > 1 else None
        row = {"data": data, "method": name, "accuracy": float(np.mean(found)), "deviation": spread}
        rows.append(row | {"seconds_a_fold": seconds})
    return rows


def trained(make: Callable[[], Any]) -> Method:
    """Return the method of an estimator: fit, then predict."""
    return lambda X, y, X_test: np.asarray(make().fit(X, y).predict(X_test))


def besvm(measures: Any, basis: Any = 1.0) -> Method:
    """Return the method of a BE-SVM, with C="auto"."""
    return trained(lambda: BESVMClassifier(measures, basis=basis, probability=False, random_state=0))


def searched(make: Callable[[], Any], **grid: Any) -> Method:
    """Return the method of an estimator whose parameters are searched on the training rows, by cross-validation."""
    return trained(lambda: GridSearchCV(make(), {name: list(values) for name, values in grid.items()}, cv=3))


def nearest(similarity: Any) -> Method:
    """Return the method of the nearest neighbors by a similarity, as many as do best on training rows, one left out."""

    def predict(X: Any, y: np.ndarray, X_test: Any) -> np.ndarray:
        order = np.random.default_rng(0).permutation(n_rows(X))  # so that chance decides between equally near ones
        X, y = take(X, order), y[order]
        fitted = clone(resolve(similarity)).fit(X)
        classes, codes = np.unique(y, return_inverse=True)
        tried = np.linspace(0, n_rows(X) - 1, min(n_rows(X), CHOOSING)).astype(int)
        among, found = _neighbors(fitted, X, X, tried), _neighbors(fitted, X_test, X)
        k = max(NEIGHBORS, key=lambda k: (np.mean(vote(codes[among], k) == codes[tried]), -k))
        return np.asarray(classes[vote(codes[found], k)])

    return predict


def vote(codes: np.ndarray, k: int) -> np.ndarray:
    """Return the most frequent of the first k codes in every row; of equally frequent ones, the first."""
    codes = codes[:, :k]
    counts = (codes[:, :, None] == codes[:, None, :]).sum(axis=2)  # how often the code of each neighbor occurs
    return np.asarray(np.take_along_axis(codes, counts.argmax(axis=1)[:, None], axis=1)[:, 0])


def _neighbors(similarity: Any, X: Any, X_train: Any, own: np.ndarray | None = None) -> np.ndarray:
    """Return the training rows that are most alike, nearest first; of the rows ``own`` themselves, without them."""
    compare, found = similarity.against(X_train), []
    rows = np.arange(n_rows(X)) if own is None else own
    most = min(max(NEIGHBORS), n_rows(X_train) - 1)
    for start in range(0, len(rows), CHUNK):
        these = rows[start : start + CHUNK]
        S = np.array(compare(take(X, these)))
        if own is not None:
            S[np.arange(len(these)), these] = -np.inf
        top = np.argpartition(-S, most - 1, axis=1)[:, :most]
        order = np.argsort(-np.take_along_axis(S, top, axis=1), axis=1, kind="stable")
        found.append(np.take_along_axis(top, order, axis=1))
    return np.concatenate(found)
