"""What training and testing cost: table "complexity" of the paper, and the time and memory that a run takes."""

from __future__ import annotations

import contextlib
import ctypes
import gc
import os
import threading
from collections.abc import Callable
from dataclasses import dataclass, field, replace
from pathlib import Path
from time import perf_counter
from typing import Any, NamedTuple

from sklearn.base import clone

from besvm._support.parameters import check_count, check_positive
from besvm._support.rows import n_rows
from besvm._support.tables import table
from besvm._support.units import show_bytes

SAMPLE_EVERY = 0.002  # seconds: memory is taken at a few MB per millisecond at most


class Cost(NamedTuple):
    """One row of the table: memory in numbers, computation in operations; testing is per sample."""

    training_memory: float
    training_computation: float
    testing_memory: float
    testing_computation: float


@dataclass(frozen=True)
class Run:
    """What one run took.

    Attributes
    ----------
    fit_seconds, predict_seconds : float
    fit_bytes, predict_bytes : int or None
        The highest that the memory of this process rose above where it was before; None where the system does not tell.
    n_predicted : int
        How many samples were predicted.
    model : estimator
        The fitted model.

    Examples
    --------
    >>> from besvm.analysis import Run
    >>> print(Run(fit_seconds=2.0, predict_seconds=0.5, fit_bytes=300_000_000, predict_bytes=None, n_predicted=1000))
    fit: 2 s, 300 MB; predict: 0.5 ms a sample, memory unknown
    """

    fit_seconds: float
    predict_seconds: float
    fit_bytes: int | None
    predict_bytes: int | None
    n_predicted: int
    model: Any = field(default=None, repr=False)

    def cells(self) -> tuple[str, str, str, str]:
        """Return the four cells of the table: memory and time of training, and of testing per sample."""
        each = 1e3 * self.predict_seconds / max(1, self.n_predicted)
        fit, predict = ("memory unknown" if n is None else show_bytes(n) for n in (self.fit_bytes, self.predict_bytes))
        return fit, f"{self.fit_seconds:.3g} s", predict, f"{each:.3g} ms a sample"

    def __str__(self) -> str:
        fit_memory, fit_time, predict_memory, predict_time = self.cells()
        return f"fit: {fit_time}, {fit_memory}; predict: {predict_time}, {predict_memory}"


@dataclass(frozen=True)
class Complexity:
    """Table "complexity" of the paper, filled in.

    Attributes
    ----------
    kernel, besvm : Cost
        The bounds for a one-vs-one kernel SVM (with all n rows as support vectors) and a one-vs-rest BE-SVM:
        ``training_memory``, ``training_computation``, ``testing_memory``, ``testing_computation``. Memory is in
        numbers of 4 or 8 bytes, computation in operations, and testing is per sample.
    ratios : Cost
        How many times more the kernel SVM takes.
    runs : dict of str to Run
        What was measured, shown below the bounds; see :meth:`beside`.

    Examples
    --------
    >>> from besvm.analysis import complexity
    >>> complexity(10_000, 10, 1, 1000, 496).besvm.training_memory  # n d + n B
    14960000.0
    """

    kernel: Cost
    besvm: Cost
    runs: dict[str, Run] = field(default_factory=dict)

    @property
    def ratios(self) -> Cost:
        """How many times more the kernel SVM takes."""
        return Cost(*(kernel / besvm for kernel, besvm in zip(self.kernel, self.besvm, strict=True)))

    def beside(self, **runs: Run) -> Complexity:
        """Return the table with measured runs beside the bounds, each under the name it is given here.

        Examples
        --------
        >>> from besvm.analysis import Run, complexity
        >>> table = complexity(1000, 2, 1, 100, 20).beside(besvm=Run(0.5, 0.1, 10**7, 10**6, 100))
        >>> print(str(table).splitlines()[-1])
        besvm   10 MB          0.5 s        1.0 MB     1 ms a sample
        """
        for name, run in runs.items():
            if not isinstance(run, Run):
                raise TypeError(f"beside takes the results of profile(model, X, y), got {run!r} for {name}")
        return replace(self, runs={**self.runs, **runs})

    def __str__(self) -> str:
        heads = ("", "training", "", "testing", "")
        rows = [
            ("", "memory", "computation", "memory", "computation"),
            ("K SVM", *(f"{value:.2e}" for value in self.kernel)),
            ("BE-SVM", *(f"{value:.2e}" for value in self.besvm)),
            ("ratio", *(f"{value:.3g}" for value in self.ratios)),
            *((name, *run.cells()) for name, run in self.runs.items()),
        ]
        return table(heads, rows)


def complexity(
    n: int, n_classes: int, n_measures: int, n_basis: int, d_phi: float, d_K: float | None = None
) -> Complexity:
    """Fill in table "complexity" of the paper: memory and computation of kernel SVM and BE-SVM.

    In training, a kernel SVM takes n M d_φ + n²/C numbers and n² M d_K + n³/C operations, a BE-SVM n M d_φ + n M B and
    n C B M d_K; in testing, per sample, a kernel SVM n M d_φ and n C M d_K, a BE-SVM B M d_φ and B C M d_K.

    These are upper bounds with n rows as support vectors and classes of equal size. BE-SVM as implemented here compares
    a sample with every exemplar once, not once for every class: the bound is C times too high for costly measures.

    Parameters
    ----------
    n, n_classes, n_measures, n_basis : int
        Training rows n, classes C, measures M and exemplars B.
    d_phi : float
        The mean number of numbers that represent a sample for one measure.
    d_K : float, optional
        The mean cost of comparing two samples by one measure; by default ``d_phi``, as for an inner product.

    Returns
    -------
    Complexity
        The numbers and operations of both, in training and in testing.

    Examples
    --------
    >>> from besvm.analysis import complexity
    >>> print(complexity(50_000, 10, 1, 2500, 496))
            training               testing
            memory    computation  memory    computation
    K SVM   2.75e+08  1.37e+13     2.48e+07  2.48e+08
    BE-SVM  1.50e+08  6.20e+11     1.24e+06  1.24e+07
    ratio   1.83      22.2         20        20
    """
    counts = {"n": n, "n_classes": n_classes, "n_measures": n_measures, "n_basis": n_basis}
    n, C, M, B = (check_count(name, value) for name, value in counts.items())
    Md_phi = M * check_positive("d_phi", d_phi)
    Md_K = M * check_positive("d_K", d_phi if d_K is None else d_K)
    kernel = Cost(n * Md_phi + n**2 / C, n**2 * Md_K + n**3 / C, n * Md_phi, n * C * Md_K)
    besvm = Cost(n * Md_phi + n * M * B, n * C * B * Md_K, B * Md_phi, B * C * Md_K)
    return Complexity(kernel, besvm)


def profile(model: Any, X: Any, y: Any, X_test: Any = None) -> Run:
    """Train a copy of the model, predict with it, and return the time and memory both took.

    Memory is that of the whole process, above where it was at the start, sampled every 2 ms: it counts what NumPy,
    LIBSVM and compiled loops take, but not what processes started for a Python function do. Below a few megabytes it
    tells little, since some memory of earlier work is always used again. What is compiled or imported on first use is
    in the figures of the first run: for a comparison run each model once before.

    Parameters
    ----------
    model : estimator
        Not fitted itself: a clone is.
    X : samples
        The training rows.
    y : array of shape (n,)
        Their classes.
    X_test : optional
        The samples to predict; by default X.

    Returns
    -------
    Run
        Seconds and bytes of training and of predicting.

    Examples
    --------
    >>> from besvm import BESVMClassifier
    >>> from besvm.analysis import profile
    >>> from sklearn.datasets import load_iris
    >>> X, y = load_iris(return_X_y=True)
    >>> run = profile(BESVMClassifier(basis=20), X, y)
    >>> run.fit_seconds > 0, run.n_predicted
    (True, 150)
    """
    X_test = X if X_test is None else X_test
    fresh = clone(model)
    fit_seconds, fit_bytes = _watched(lambda: fresh.fit(X, y))
    predict_seconds, predict_bytes = _watched(lambda: fresh.predict(X_test))
    return Run(fit_seconds, predict_seconds, fit_bytes, predict_bytes, n_rows(X_test), fresh)


def _watched(work: Callable[[], object]) -> tuple[float, int | None]:
    """Return the seconds that the work takes, and how far the memory of this process rises above where it was."""
    gc.collect()
    with contextlib.suppress(AttributeError, OSError, TypeError):  # only the C library of GNU has this
        ctypes.CDLL(None).malloc_trim(0)  # gives freed memory back, or its use would go unseen
    before, done = _resident(), threading.Event()
    highest = before or 0

    def sample() -> None:
        nonlocal highest
        ended = False
        while not ended:  # once more after the end
            ended = done.wait(SAMPLE_EVERY)
            highest = max(highest, _resident() or 0)

    thread = threading.Thread(target=sample, name="besvm-memory", daemon=True)
    thread.start()
    start = perf_counter()
    try:
        work()
        seconds = perf_counter() - start
    finally:
        done.set()
        thread.join()
    return seconds, None if before is None else highest - before


def _resident() -> int | None:
    """Return the bytes of memory this process holds now, where the system tells."""
    try:
        return int(Path("/proc/self/statm").read_text().split()[1]) * os.sysconf("SC_PAGE_SIZE")
    except (OSError, IndexError, ValueError):
        return None
