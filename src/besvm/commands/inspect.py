"""`besvm inspect`: what a model file holds."""

from __future__ import annotations

import re
from pathlib import Path
from typing import Any

from besvm._support.parameters import is_whole
from besvm._support.parameters import shown as brief
from besvm._support.tables import table
from besvm._support.units import show_bytes
from besvm.commands.models import load_model
from besvm.commands.scores import Accuracy
from besvm.inputs.contract import PLURAL

MANY = 12  # classes, or columns, that are named
WIDEST = 80  # characters of a similarity
FUNCTION = re.compile(r"<function (\w+) at 0x[0-9a-f]+>")
OWN = (  # facts that are shown in words
    *("kind", "columns", "label", "size", "source", "rows", "accuracy", "classes", "measures", "seed"),
    *("besvm", "sklearn", "names"),
)


def inspect(path: str) -> dict[str, Any]:
    """Return what a file says of itself, and the measures of the model in it."""
    from besvm.files import describe

    model = load_model(path, classifies=False)
    found = describe(Path(path).expanduser())
    last = model[-1] if hasattr(model, "steps") else model
    return {
        "file": path,
        **found,
        "measures": [_measure(one) for one in _fitted(last)],
        "exemplars": getattr(last, "n_basis_", None),
        "C": getattr(last, "C_", None),
        "probabilities": hasattr(last, "probability_slope_"),
    }


def shown(found: dict[str, Any]) -> str:
    """Return what a file holds, for people."""
    facts = found["facts"]
    columns = facts["columns"] if isinstance(facts.get("columns"), dict) else {}
    lines = {
        "file": f"{found['file']} ({show_bytes(found['bytes'])}, {found['arrays']} arrays, by {found.get('writer')})",
        "model": found["class"] + ("" if found["C"] is None else f", C = {found['C']:g}"),
        "kind": facts.get("kind"),
        "trained": _trained(facts),
        "accuracy": Accuracy.known(facts.get("accuracy")),
        "classes": _named(facts.get("classes")),
        **{several: _named([name for name, own in columns.items() if own == kind]) for kind, several in PLURAL.items()},
        "images": _pixels(facts.get("size")),
        "exemplars": f"{found['exemplars']:,}, training samples or parts of them" if found["exemplars"] else None,
        **{name: brief(value) for name, value in facts.items() if name not in OWN},
    }
    text = "\n".join(f"{name:<12}{value}" for name, value in lines.items() if value)
    if not found["measures"]:
        return text
    rows = [
        [one["name"], one["similarity"], f"{one['exemplars']:,}", f"{one['features']:,}"] for one in found["measures"]
    ]
    return f"{text}\n\n{table(['measure', 'similarity', 'exemplars', 'features'], rows, right=(2, 3))}"


def _trained(facts: dict[str, Any]) -> str:
    rows = f"on {facts['rows']:,} rows" if is_whole(facts.get("rows")) else ""
    source = f"of {facts['source']}" if "source" in facts else ""
    label = f"(classes in {facts['label']!r})" if facts.get("label") and facts.get("columns") else ""
    seed = f"with seed {facts['seed']}" if "seed" in facts else ""
    return " ".join(part for part in (rows, source, label, seed) if part)


def _pixels(size: Any) -> str:
    return " x ".join(map(brief, size)) + " pixels" if isinstance(size, list) else ""


def _named(names: Any) -> str:
    if not (isinstance(names, list) and names):
        return ""
    several = ", ".join(map(str, names[:MANY]))
    return f"{len(names)}: {several}{', ...' if len(names) > MANY else ''}"


def _fitted(model: Any) -> list[Any]:
    expander = getattr(getattr(model, "_map", None), "expander", None)
    return [] if expander is None else expander.measures


def _readable(similarity: Any) -> str:
    """Return a similarity as code, in which functions go by their names."""
    text = FUNCTION.sub(r"\1", " ".join(repr(similarity).split()))
    return text if len(text) <= WIDEST else f"{text[: WIDEST - 3]}..."


def _measure(fitted: Any) -> dict[str, Any]:
    return {
        "name": fitted.label,
        "similarity": _readable(fitted.similarity),
        "exemplars": fitted.n_exemplars,
        "features": fitted.width,
    }
