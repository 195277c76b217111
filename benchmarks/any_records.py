"""Records of numbers and categories with missing values: Gower's measure, gradient boosting and one-hot SVC.

Needs pandas. Four small sets, five folds, twice.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from sklearn.compose import make_column_selector, make_column_transformer
from sklearn.ensemble import HistGradientBoostingClassifier
from sklearn.impute import SimpleImputer
from sklearn.model_selection import RepeatedStratifiedKFold
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import OneHotEncoder, StandardScaler
from sklearn.svm import SVC
from threadpoolctl import threadpool_limits

from benchmarks.any_data import load
from benchmarks.any_data.folds import CS, Method, besvm, compared, nearest, searched
from besvm.similarities import Gower

BASIS = 500


def benchmark(quick: bool = False) -> list[dict[str, Any]]:
    """Return the accuracy of every method on every set."""
    rows = []
    for name in load.RECORDS:
        X, y = load.records(name)
        basis = min(BASIS, len(X) // 2)
        methods: dict[str, Method] = {
            "k-NN, gower": nearest("gower"),
            "BE-SVM, gower": besvm("gower", basis),
            "BE-SVM, gower in two forms": besvm(["gower", Gower(how="complement")], basis),
            "gradient boosting": _boosting,
            "one-hot, SVC": searched(_one_hot, svc__C=CS),
        }
        folds = list(RepeatedStratifiedKFold(n_splits=5, n_repeats=2, random_state=0).split(X, y))
        rows += compared(name, X, y, folds[:1] if quick else folds, methods)
    return rows


def _boosting(X: Any, y: np.ndarray, X_test: Any) -> np.ndarray:
    model = HistGradientBoostingClassifier(categorical_features="from_dtype", random_state=0)
    with threadpool_limits(1):  # of so few rows, several threads only wait for each other
        return np.asarray(model.fit(X, y).predict(X_test))


def _one_hot() -> Any:
    described = make_column_transformer(
        (make_pipeline(SimpleImputer(), StandardScaler()), make_column_selector(dtype_include=np.number)),
        (OneHotEncoder(handle_unknown="ignore"), make_column_selector(dtype_exclude=np.number)),
    )
    return make_pipeline(described, SVC())
