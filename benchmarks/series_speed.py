"""Distances of time series of length 150: pairs per second, against aeon's in the same run, on one and all threads.

Needs aeon (pip install aeon). Both compare the same samples with the same exemplars; the best of several turns.
"""

from __future__ import annotations

from collections.abc import Callable
from time import perf_counter
from typing import Any

import numpy as np

from besvm._support.threads import workers
from besvm.similarities import resolve

LENGTH = 150
TURN = 0.2  # seconds at least, for the fast to have as good a chance of a quiet moment as the slow
WARPING = ("dtw", "ddtw", "wdtw", "erp", "msm", "twe", "lcss", "edr")
OTHERS = {"sbd": "sbd", "series-euclidean": "euclidean"}  # with aeon's names


def benchmark(quick: bool = False) -> list[dict[str, Any]]:
    """Time every measure, where it has a window with none and with a tenth of the length."""
    import aeon.distances

    n_samples, n_exemplars, turns = (8, 32, 1) if quick else (64, 128, 5)
    rng = np.random.default_rng(0)
    A, B = (rng.normal(size=(n, 1, LENGTH)).cumsum(axis=2) / 5 for n in (n_samples, n_exemplars))
    cases = [(name, name, {"window": window}) for name in WARPING for window in (None, 0.1)]
    rows = []
    for name, theirs, params in [*cases, *((ours, theirs, {}) for ours, theirs in OTHERS.items())]:
        pairwise = getattr(aeon.distances, f"{theirs}_pairwise_distance")
        ours = resolve(name).set_params(**params).distances_to(B)
        for threads, n_jobs in (("one", 1), ("all", -1)):
            with workers(n_jobs):
                best = _best(
                    [lambda: ours(A), lambda: pairwise(A, B, n_jobs=n_jobs, **params)],  # noqa: B023
                    turns,
                )
            pairs = [len(A) * len(B) / seconds for seconds in best]
            rows.append(
                {
                    "name": name,
                    "window": params.get("window"),
                    "threads": threads,
                    "besvm_pairs_per_second": pairs[0],
                    "aeon_pairs_per_second": pairs[1],
                    "ratio": pairs[0] / pairs[1],
                }
            )
    return rows


def _best(contestants: list[Callable[[], np.ndarray]], turns: int) -> list[float]:
    """Return the seconds of each in its best turn; they take turns, so that each sees the machine as busy."""
    results = [run() for run in contestants]  # compile, and see that it is the same work
    # aeon's matrix of "ddtw", other than its function of two series, has a band one moment wider
    assert np.isclose(*results, rtol=1e-4, atol=1e-5).mean() > 0.5
    seconds = [np.inf] * len(contestants)
    for _ in range(turns):
        for k, run in enumerate(contestants):
            until = perf_counter() + TURN
            while (start := perf_counter()) < until:
                run()
                seconds[k] = min(seconds[k], perf_counter() - start)
    return seconds
