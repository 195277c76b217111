"""A model trained and tested by the clock, and work in a process of its own, with its own peak of memory."""

from __future__ import annotations

import multiprocessing
import resource
import time
from collections.abc import Callable
from typing import Any, NamedTuple

import numpy as np


class Timed(NamedTuple):
    """What a model reached, and what that took."""

    accuracy: float
    training_seconds: float
    prediction_seconds: float  # of all test samples

    def each_ms(self, y_test: Any) -> float:
        """Return the milliseconds that predicting one of the test samples took."""
        return 1000 * self.prediction_seconds / len(y_test)


def timed(model: Any, X: Any, y: Any, X_test: Any, y_test: Any) -> Timed:
    """Train a model and test it."""
    start = time.perf_counter()
    model.fit(X, y)
    trained = time.perf_counter()
    accuracy = float(np.mean(model.predict(X_test) == y_test))
    return Timed(accuracy, trained - start, time.perf_counter() - trained)


def peak_gb() -> float:
    """Return the most memory that this process has had."""
    return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss * 1024 / 1e9


def alone(work: Callable[..., Any], *args: Any) -> Any:
    """Return what a function returns in a process of its own."""
    with multiprocessing.get_context("spawn").Pool(1) as process:
        return process.apply(work, args)
