"""Random linear SVMs against LinearSVC and SciPy's L-BFGS-B on the same objective: what says converged_ is optimal.

A problem is drawn from a seed: 10 to 1,500 rows and 1 to 600 columns (L1: 500 and 100), plain, scaled as a whole or
column by column from 1e-6 to 1e6, far from the origin or nearly of low rank; C from 1e-6 to 1e6, row weights from 1e-3
to 1e6, the intercept free, penalized or none, in float32 or float64. The best known objective is the lowest that any
solver reached, ours in float64 with tol=1e-6 (L2) among them; L-BFGS-B starts from the lowest of the others and works
in float64 on scaled columns.
"""

from __future__ import annotations

import os
import time
import warnings
from concurrent.futures import ProcessPoolExecutor, as_completed
from multiprocessing import get_context
from typing import Any, NamedTuple

import numpy as np
from scipy.optimize import minimize
from sklearn.svm import LinearSVC
from threadpoolctl import threadpool_limits

from besvm import LinearSVMClassifier
from besvm._support.progress import progress
from torture.outcome import Outcome

PROMISE = 1e-3  # the default tol: how far the objective may be above the best known, as a share of it
LARGEST = {"l2": (1500, 600), "l1": (500, 100)}  # rows, columns


class Problem(NamedTuple):
    """Rows, their signs and weights, and the parameters."""

    X: np.ndarray
    signs: np.ndarray
    weights: np.ndarray
    C: float
    penalty: str
    intercept: str


class Trial(NamedTuple):
    """How one problem ended."""

    seed: int
    penalty: str
    dtype: str
    converged: bool
    excess: float
    seconds: float
    error: str


def problem(seed: int) -> Problem:
    """Draw a problem: of ten seeds, seven have the L2 penalty and three the L1 penalty."""
    rng = np.random.default_rng(seed)
    penalty = "l2" if seed % 10 < 7 else "l1"
    most_rows, most_columns = LARGEST[penalty]
    n = int(np.exp(rng.uniform(np.log(10), np.log(most_rows))))
    d = int(np.exp(rng.uniform(0, np.log(most_columns))))
    X = rng.normal(size=(n, d))
    kind = rng.choice(["plain", "scaled", "uneven", "offset", "spectrum"], p=[2 / 6, 1 / 6, 1 / 6, 1 / 6, 1 / 6])
    if kind == "scaled":
        X *= 10 ** rng.uniform(-6, 6)
    elif kind == "uneven":
        X *= np.geomspace(1, 10 ** rng.uniform(0, 6), d)
    elif kind == "offset":
        X += 10 ** rng.uniform(-1, 4)
    elif kind == "spectrum":
        X = X @ (rng.normal(size=(d, d)) * np.arange(1, d + 1)[:, None] ** -rng.uniform(0.3, 2))
    margins = X @ rng.normal(size=d)
    margins -= np.median(margins)
    margins /= margins.std() + 1e-300
    signs = np.where(margins + rng.choice([0, 0.3, 1]) * rng.normal(size=n) > 0, 1, -1)
    if abs(signs.sum()) == n:
        signs[0] = -signs[0]
    weights, luck = np.ones(n), rng.random()
    if luck < 0.3:
        weights = 10 ** rng.uniform(-3, 6, size=n)
    elif luck < 0.45:
        weights[: max(1, n // 100)] = 1e6
    C = 10 ** (rng.uniform(-6, 6) if rng.random() < 0.5 else rng.uniform(-2, 2))
    dtype = np.float32 if rng.random() < 0.5 else np.float64
    intercept = str(rng.choice(["free", "penalized", "none"]))
    return Problem(X.astype(dtype), signs, weights, C, penalty, intercept)


class Objective:
    """The objective in float64, as a function of the weights with the intercept at the end; written independently."""

    def __init__(self, p: Problem) -> None:
        X = p.X.astype(np.float64)
        self.signed = p.signs[:, None] * (X if p.intercept == "none" else np.column_stack([X, np.ones(len(X))]))
        self.penalized = np.ones(self.signed.shape[1])
        if p.intercept == "free":
            self.penalized[-1] = 0
        self.loss = p.C * p.weights
        self.l1 = p.penalty == "l1"

    def __call__(self, w: np.ndarray) -> float:
        """Return the objective."""
        slack = np.maximum(0, 1 - self.signed @ w)
        norm = np.abs(w) if self.l1 else 0.5 * w * w
        return float(self.penalized @ norm + self.loss @ (slack * slack))

    def polished(self, w: np.ndarray) -> float:
        """Return what L-BFGS-B reaches from ``w``: with L1 as a smooth problem in positive and negative parts."""
        scale = np.sqrt(self.penalized + 2 * self.loss @ self.signed**2)
        A, penalized, d = self.signed / scale, self.penalized / (scale if self.l1 else scale**2), len(w)

        def smooth(z: np.ndarray) -> tuple[float, np.ndarray]:
            slack = np.maximum(0, 1 - A @ z)
            return float(self.loss @ (slack * slack)), -2 * A.T @ (self.loss * slack)

        def l2(z: np.ndarray) -> tuple[float, np.ndarray]:
            loss, slope = smooth(z)
            return loss + 0.5 * penalized @ (z * z), slope + penalized * z

        def l1(parts: np.ndarray) -> tuple[float, np.ndarray]:
            loss, slope = smooth(parts[:d] - parts[d:])
            return loss + np.tile(penalized, 2) @ parts, np.r_[penalized + slope, penalized - slope]

        z = w * scale
        start, bounds = (np.r_[np.maximum(z, 0), np.maximum(-z, 0)], [(0, None)] * 2 * d) if self.l1 else (z, None)
        options = {"maxiter": 500, "ftol": 1e-15, "gtol": 1e-12}
        return float(
            minimize(l1 if self.l1 else l2, start, jac=True, method="L-BFGS-B", bounds=bounds, options=options).fun
        )


def trial(seed: int) -> Trial:
    """Solve one problem by all solvers, on one thread."""
    p = problem(seed)
    with warnings.catch_warnings(), threadpool_limits(1):
        warnings.simplefilter("ignore")  # those that have not converged are counted
        start, error, model = time.perf_counter(), "", _ours(p)
        try:
            model.fit(p.X, p.signs, sample_weight=p.weights)
        except Exception as raised:
            error = f"{type(raised).__name__}: {raised}"
        seconds = time.perf_counter() - start
        excess = float("nan") if error else _excess(p, model)
    return Trial(seed, p.penalty, p.X.dtype.name, not error and model.converged_, excess, seconds, error)


def _ours(p: Problem) -> LinearSVMClassifier:
    fits, penalized = p.intercept != "none", p.intercept == "penalized"
    options = {"fit_intercept": fits, "penalize_intercept": penalized, "probability": False, "n_jobs": 1}
    return LinearSVMClassifier(C=p.C, penalty=p.penalty, **options)


def _excess(p: Problem, model: LinearSVMClassifier) -> float:
    """Return how far our objective is above the best known, as a share of that."""
    objective, points = Objective(p), [_point(p, model)]
    if p.intercept != "free":  # LinearSVC has no such thing
        for dual in (True, False) if p.penalty == "l2" else (False,):
            options: dict[str, Any] = {"penalty": p.penalty, "fit_intercept": p.intercept == "penalized"}
            other = LinearSVC(C=p.C, dual=dual, tol=1e-7, max_iter=3000, random_state=0, **options)
            points.append(_point(p, other.fit(p.X, p.signs, sample_weight=p.weights)))
    if p.penalty == "l2":  # LinearSVC has no free intercept, and L-BFGS-B gives up where scales differ much
        points.append(_point(p, _ours(p).set_params(tol=1e-6).fit(p.X.astype(np.float64), p.signs, p.weights)))
    reached = [objective(point) for point in points]
    best = min(*reached, objective.polished(points[int(np.argmin(reached))]))
    return reached[0] / best - 1 if best > 0 else 0.0


def _point(p: Problem, model: Any) -> np.ndarray:
    coef = model.coef_[0].astype(np.float64)
    return coef if p.intercept == "none" else np.append(coef, model.intercept_[0])


def torture(quick: bool = False) -> Outcome:
    """Try a thousand problems, 20 if quick."""
    seeds, trials = range(110, 130) if quick else range(1000), []  # none of the quick ones takes long
    with progress("problems", len(seeds), verbose=1) as shown:
        if quick:
            for seed in seeds:
                trials.append(trial(seed))
                shown.advance(1)
        else:
            with ProcessPoolExecutor(os.cpu_count(), mp_context=get_context("spawn")) as pool:
                for done in as_completed([pool.submit(trial, seed) for seed in seeds]):
                    trials.append(done.result())
                    shown.advance(1)
    return Outcome(_summary(trials), [_failure(t) for t in sorted(trials) if _failed(t)])


def _failed(t: Trial) -> bool:
    return bool(t.error) or (t.converged and not t.excess <= PROMISE)


def _failure(t: Trial) -> str:
    said = t.error or f"converged_=True, {t.excess:.1e} above the best known"
    return f"torture.problems.trial({t.seed}): {said}"


def _summary(trials: list[Trial]) -> list[dict[str, Any]]:
    rows = []
    for penalty, dtype in sorted({(t.penalty, t.dtype) for t in trials}, reverse=True):
        own = [t for t in trials if (t.penalty, t.dtype) == (penalty, dtype)]
        converged, others = [t for t in own if t.converged], [t for t in own if not t.converged and not t.error]
        rows.append(
            {
                "penalty": penalty,
                "dtype": dtype,
                "problems": len(own),
                "converged": len(converged),
                "worst excess of these": max((t.excess for t in converged), default=None),
                "not converged, and said so": len(others),
                "worst excess of those": max((t.excess for t in others), default=None),
                "errors": len(own) - len(converged) - len(others),
                "longest fit, s": max(t.seconds for t in own),
            }
        )
    return rows
