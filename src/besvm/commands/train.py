"""`besvm train`: from a file or folder to a model file."""

from __future__ import annotations

from dataclasses import replace
from time import perf_counter
from typing import Any

from besvm._support.progress import say
from besvm._support.units import show_bytes, show_seconds
from besvm.commands.cluster import check_cluster_option, opened
from besvm.commands.measures import listed, not_installed
from besvm.commands.outputs import check_new, made
from besvm.commands.planning import make_plan
from besvm.commands.training import Check, Reading, Recipe, facts_of


def train(
    data: str,
    out: str,
    *,
    reading: Reading,
    recipe: Recipe,
    check: Check,
    force: bool = False,
    plan: bool = False,
    cluster: str | None = None,
) -> dict[str, Any]:
    """Train a model and save it; return what was done, or with ``plan`` what would be.

    The accuracy is measured on rows that are held out; then all rows are trained on. The workers of a ``cluster`` do
    the work, if one is named.
    """
    from besvm.files import save

    target = check_new(out, force)
    check_cluster_option(cluster)
    samples = reading.read(data, recipe.memory_limit)
    measures = recipe.chosen(samples)
    say(1, f"{samples.kind}: {listed(measures)}")
    missing = "" if recipe.measures else not_installed(samples)
    if missing:
        say(1, f"note: {missing}")
    if plan:
        return {"model": out, **make_plan(samples, measures, recipe, check)}
    assert samples.y is not None, "or it would have been refused"
    with opened(cluster) as client:
        recipe = replace(recipe, client=client)
        start = perf_counter()
        stages = check.stages(samples.y, recipe.seed)
        accuracy = check.accuracy(recipe, samples, measures, stages)
        stages.begin(f"training on all {len(samples):,} rows", len(samples))
        model = recipe.estimator(measures, len(samples), "all").fit(samples.X, samples.y)
        seconds = perf_counter() - start
    model.set_params(client=None, checkpoint=None)  # places of this machine are no part of the model
    labels = [measure.label for measure in measures]
    with made(target, force):
        save(model, target, facts=facts_of(samples, accuracy, model, seed=recipe.seed, measures=labels))
    return {
        "model": out,
        "kind": samples.kind,
        "rows": len(samples),
        "classes": model.classes_.tolist(),
        "measures": labels,
        "exemplars": model.n_basis_,
        "C": model.C_,
        "accuracy": None if accuracy is None else accuracy.facts(),
        "seconds": round(seconds, 3),
        "bytes": target.stat().st_size,
    }


def shown(done: dict[str, Any]) -> str:
    """Return what was done, for people."""
    from besvm.commands.scores import Accuracy

    known = done["accuracy"]
    accuracy = "not measured" if known is None else str(Accuracy(**known))
    size = f"{show_bytes(done['bytes'])}, {done['exemplars']:,} exemplars"
    return (
        f"accuracy  {accuracy}\n"
        f"trained   on all {done['rows']:,} rows, {len(done['classes'])} classes, in {show_seconds(done['seconds'])}\n"
        f"model     {done['model']} ({size})"
    )
