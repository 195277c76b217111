"""`besvm evaluate`: how well a model does on samples whose classes are known."""

from __future__ import annotations

from typing import Any

from besvm._support.threads import workers
from besvm.commands.models import as_known, classes_of, load_model, samples_for
from besvm.commands.predict import judged
from besvm.commands.scores import Accuracy, Confusion


def evaluate(
    model: str,
    data: str,
    *,
    label: str | None = None,
    labels: str | None = None,
    skip_unreadable: bool = False,
    jobs: int | None = None,
) -> tuple[Accuracy, Confusion, dict[str, Any]]:
    """Return the accuracy, who was taken for whom, and both as plain data."""
    loaded = load_model(model)
    samples = samples_for(loaded, model, data, label=label, labels=labels, skip=skip_unreadable)
    without = (
        f"{samples.name} must have a class for every sample to evaluate on, but has none; name their column "
        "with --label, or use `besvm predict` if they are unknown"
    )
    confusion = Confusion()
    with workers(jobs):
        for block in judged(samples):
            confusion.add(as_known(classes_of(block, without), loaded.classes_), loaded.predict(block.X))
    if not confusion.rows:
        raise ValueError(f"{samples.name} must have at least one sample, but it is empty")
    known = {str(name) for name in loaded.classes_}
    unknown = {name: n for name, n in _true(confusion).items() if name not in known}
    accuracy = Accuracy.of(confusion.right, confusion.rows, samples.name)
    plain = {
        "accuracy": accuracy.facts(),
        "classes": confusion.by_class(),
        "confusion": {"classes": confusion.classes, "counts": confusion.matrix()},
        "unknown": unknown,
        "trained": loaded.facts_.get("accuracy"),
    }
    return accuracy, confusion, plain


def shown(accuracy: Accuracy, confusion: Confusion, plain: dict[str, Any]) -> str:
    """Return how well it does, for people."""
    lines = [f"accuracy  {accuracy}"]
    before = Accuracy.known(plain["trained"])
    if before is not None:
        lines.append(f"expected  {before}")
    if plain["unknown"]:
        n = sum(plain["unknown"].values())
        names = ", ".join(map(repr, list(plain["unknown"])[:5]))
        lines.append(f"note      {n:,} rows have classes that the model does not know: {names}")
    return "\n".join([*lines, "", str(confusion)])


def _true(confusion: Confusion) -> dict[str, int]:
    out: dict[str, int] = {}
    for (true, _), n in confusion.counts.items():
        out[true] = out.get(true, 0) + n
    return out
