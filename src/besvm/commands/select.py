"""`besvm select`: which measures to use, chosen greedily by held-out accuracy."""

from __future__ import annotations

import shlex
from dataclasses import asdict
from math import ceil
from typing import Any

from besvm._support.progress import say
from besvm.commands.measures import candidates, listed, shared_basis, with_basis
from besvm.commands.outputs import check_new, made
from besvm.commands.scores import Accuracy
from besvm.commands.training import Check, Reading, Recipe, facts_of


def select(
    data: str,
    out: str | None = None,
    *,
    reading: Reading,
    recipe: Recipe,
    check: Check,
    n_measures: int = 4,
    min_gain: float | None = None,
    folder: str | None = None,
    force: bool = False,
) -> tuple[str, dict[str, Any]]:
    """Choose measures, and save a model of them if asked; return the table, and all as plain data."""
    from besvm.files import save
    from besvm.selection import GreedySelection

    if isinstance(recipe.C, str):
        raise ValueError(f"--C must be a number to choose measures, got {recipe.C!r}; the default is 1")
    target = None if out is None else check_new(out, force)
    samples = reading.read(data, recipe.memory_limit)
    several = candidates(samples, recipe.measures)
    say(1, f"{samples.kind}: choosing among {listed(several)}")
    n_train = len(samples) - ceil(check.holdout * len(samples))
    search = GreedySelection(
        with_basis(several, recipe.basis, n_train),
        n_measures=n_measures,
        basis=shared_basis(recipe.basis, n_train),
        C=recipe.C,
        validation=check.holdout,
        min_gain=min_gain,
        folder=folder,
        refit=target is not None,
        memory_limit=recipe.memory_limit,
        n_jobs=recipe.jobs,
        random_state=recipe.seed,
    ).fit(samples.X, samples.y)
    best, tested = search.trace_[-1].accuracy, search._sizes[1]
    accuracy = Accuracy.of(round(best * tested), tested, "held out, and used to choose")
    if target is not None:
        best_model = search.best_estimator_
        facts = facts_of(samples, accuracy, best_model, seed=recipe.seed, measures=search.names_)
        with made(target, force):
            save(best_model, target, facts=facts)
    plain = {
        "measures": search.names_,
        "C": recipe.C,
        "accuracy": accuracy.facts(),
        "steps": [asdict(step) for step in search.trace_],
        "rejected": None if search.rejected_ is None else asdict(search.rejected_),
        "model": out,
    }
    return search.report(), plain


def shown(report: str, plain: dict[str, Any], data: str, reading: Reading) -> str:
    """Return what was chosen, for people, and how to train with it."""
    if plain["model"] is not None:
        return f"{report}\nmodel     {plain['model']}"
    options = [("--measure", name) for name in plain["measures"]] + [("--C", f"{plain['C']:g}")] + reading.options()
    words = [shlex.quote(str(word)) for pair in options for word in pair]
    return f"{report}\nbesvm train {shlex.quote(data)} {' '.join(words)} -o MODEL"
