"""The SVMs that BE-SVM is compared with, and how a model of any kind is trained and measured."""

from time import perf_counter
from typing import Any

import numpy as np
from sklearn.pipeline import Pipeline

from besvm.analysis import model_size
from besvm.baselines import KernelSVMClassifier
from besvm.linear import LinearSVMClassifier
from besvm.reproduction.lab import Lab, Row
from besvm.similarities import RBF


def plain_svm(lab: Lab, kernel: bool) -> Any:
    """Return the paper's kernel SVM, or its linear one."""
    if kernel:
        return KernelSVMClassifier(RBF(gamma=1.0), C=2.0, memory_limit=lab.model_limit)
    return LinearSVMClassifier(C=1.0, probability=False)


def trained(lab: Lab, model: Any, inputs: np.ndarray, rows: np.ndarray) -> Row:
    """Train a model on some rows of what it is given; return how it does on the test fold, its size and its times."""
    start = perf_counter()
    model.fit(inputs[rows], lab.labels[rows])
    fitted = perf_counter()
    right = model.predict(inputs[lab.test_rows]) == lab.labels[lab.test_rows]
    done = perf_counter()
    return {
        "accuracy": float(right.mean()),
        "exemplars": model_size(model[-1] if isinstance(model, Pipeline) else model).exemplars,
        "train_seconds": round(fitted - start, 2),
        "predict_ms_per_image": round(1000 * (done - fitted) / len(right), 4),
    }
