"""`besvm train --plan`: what it would do, about how long it would take, and how much memory."""

from __future__ import annotations

from time import perf_counter
from typing import Any, NamedTuple

import numpy as np

from besvm._support.parameters import make_rng
from besvm._support.sizes import bytes_of
from besvm._support.threads import workers
from besvm._support.units import show_bytes, show_seconds
from besvm.basis.choose import AUTO_SIZE
from besvm.blocks.plan import plan_training
from besvm.commands.training import Check, Recipe
from besvm.expand.precision import SMALL
from besvm.inputs import Data
from besvm.measures import Measure
from besvm.solver.one_vs_rest import n_columns

TRIALS = (60, 60, 250, 1000)  # rows; the first one compiles, and is not counted
ENOUGH = 3.0  # seconds that a trial may take before the next, larger one is left out


class Trial(NamedTuple):
    """A fit on some rows, and a prediction of them."""

    rows: int
    width: int  # features
    fit: float  # seconds
    predict: float


def make_plan(data: Data, measures: list[Measure], recipe: Recipe, check: Check) -> dict[str, Any]:
    """Return what training would do and take; small trials are timed for it."""
    assert data.y is not None, "samples to train on have classes"
    n, k = len(data), len(np.unique(data.y))
    trials, model = _timed(data, measures, recipe)
    widths = {label: _wanted(one, measure, recipe, n) for label, one, measure in _paired(model, measures)}
    width = sum(columns for _, columns in widths.values())
    fits = [(n, 0)]
    if check.wanted:
        fits += [(len(train), len(test)) for train, test in check.splits(data.y, recipe.seed)]
    seconds = sum(_seconds(trials, rows, tested, width * rows // n) for rows, tested in fits)
    expander = model._map.expander
    itemsize = 8 if n * width <= SMALL else 4
    with workers(recipe.jobs):
        memory = plan_training(
            n,
            width,
            itemsize,
            n_columns(n, k, True),
            beside=expander.exemplar_bytes * width // max(1, expander.width),
            row=expander.row_bytes * width // max(1, expander.width),
            memory_limit=recipe.memory_limit,
            row_files=True,
        )
    samples = bytes_of(data.X)
    held = memory.features if memory.storage == "memory" else 0
    return {
        "kind": data.kind,
        "rows": n,
        "classes": k,
        "measures": {label: {"exemplars": count, "features": columns} for label, (count, columns) in widths.items()},
        "features": width,
        "check": None
        if not check.wanted
        else f"{check.how(n)}: {' + '.join(f'{test:,}' for _, test in fits[1:])} rows",
        "seconds": round(seconds, 1),
        "bytes": samples + held + memory.work,
        "storage": str(memory),
    }


def shown(plan: dict[str, Any]) -> str:
    """Return the plan, for people."""
    several = [f"{label} ({one['exemplars']:,})" for label, one in plan["measures"].items()]
    return (
        f"compare   {', '.join(several)}: {plan['features']:,} features of {plan['rows']:,} rows, "
        f"{plan['classes']} classes\n"
        f"check     {plan['check'] or 'nothing'}\n"
        f"time      about {show_seconds(plan['seconds'])}, estimated from small trials\n"
        f"memory    about {show_bytes(plan['bytes'])}; {plan['storage']}\n"
        f"write     {plan['model']}\n"
        "nothing was written; remove --plan to train"
    )


def _timed(data: Data, measures: list[Measure], recipe: Recipe) -> tuple[list[Trial], Any]:
    """Train on ever more rows, until it takes long enough to judge by."""
    trials: list[Trial] = []
    model: Any = None
    for rows in (min(rows, len(data)) for rows in TRIALS):
        some = data.take(_some(data, rows))
        start = perf_counter()
        model = recipe.estimator(measures, rows).fit(some.X, some.y)
        fitted = perf_counter()
        model.predict(some.X)
        trials.append(Trial(rows, model._map.expander.width, fitted - start, perf_counter() - fitted))
        if len(trials) > 1 and (trials[-1].fit > ENOUGH or rows == len(data)):
            break
    return trials[1:], model


def _some(data: Data, n: int) -> np.ndarray:
    """Return n rows at random, two of them of two classes."""
    rng = make_rng(0)
    rows = rng.permutation(len(data))
    assert data.y is not None, "samples to train on have classes"
    other = rows[data.y[rows] != data.y[rows[0]]][:1]
    chosen = np.concatenate([rows[:1], other, rows[(rows != rows[0]) & (rows != other[0])]])
    return np.sort(chosen[:n])


def _seconds(trials: list[Trial], rows: int, tested: int, width: int) -> float:
    """Return about how long a fit and a prediction take: a part that is always there, and one for each number."""
    last = trials[-1]
    first = trials[-2] if len(trials) > 1 and trials[-2].rows < last.rows else Trial(0, 0, 0.0, 0.0)
    numbers = last.rows * last.width - first.rows * first.width
    slope = max(0.0, last.fit - first.fit) / max(1, numbers)
    fit = max(last.fit if rows >= last.rows else 0.0, last.fit + slope * (rows * width - last.rows * last.width))
    predict = last.predict * tested * width / max(1, last.rows * last.width)
    return fit + predict


def _paired(model: Any, measures: list[Measure]) -> list[tuple[str, Any, Measure]]:
    fitted = model._map.expander.measures
    return [(measure.label, one, measure) for one, measure in zip(fitted, measures, strict=True)]


def _wanted(fitted: Any, measure: Measure, recipe: Recipe, n: int) -> tuple[int, int]:
    """Return how many exemplars a measure would have, trained on n rows, and how many columns they give."""
    if fitted.similarity.precomputed:
        return fitted.n_exemplars, fitted.width
    basis: Any = recipe.basis if recipe.basis is not None else getattr(measure.basis, "n", None) or AUTO_SIZE
    count = max(1, round(basis * n)) if isinstance(basis, float) else int(basis)
    count = count if fitted.similarity.of_parts else min(count, n)
    return count, count * fitted.similarity.columns_each
