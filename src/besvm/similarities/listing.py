"""The list of similarities that can be called by name, by the kind of data they compare."""

from __future__ import annotations

from difflib import get_close_matches
from importlib.util import find_spec
from typing import Any

from besvm._support.extras import EXTRA_OF
from besvm._support.parameters import shown
from besvm.similarities.contract import Similarity, registered

EXAMPLES = {  # kinds in the order they are shown, each with a line that runs
    "vectors": 'BESVMClassifier("rbf").fit(X, y)',
    "images": 'BESVMClassifier(["H8R", "P6"]).fit(images, y)',
    "series": 'BESVMClassifier("dtw").fit(series, y)',
    "text": 'BESVMClassifier("edit").fit(texts, y)',
    "sequences": 'BESVMClassifier("align-local").fit(proteins, y)',
    "sets": 'BESVMClassifier("jaccard").fit(sets, y)',
    "graphs": 'BESVMClassifier("weisfeiler-lehman").fit(graphs, y)',
    "distributions": 'BESVMClassifier("sliced-wasserstein").fit(clouds, y)',
    "records": 'BESVMClassifier("gower").fit(frame, y)',
    "anything": "BESVMClassifier(lambda a, b: -abs(a - b)).fit(X, y)",
}


def listed(kind: str | None = None) -> list[dict[str, Any]]:
    """Return what is known of every registered similarity, or of those of one kind, kind after kind."""
    found = sorted(registered().items(), key=lambda pair: (_rank(pair[1].kind), pair[0]))
    kinds = list(dict.fromkeys(cls.kind for _, cls in found))
    if kind is not None and kind not in kinds:
        near = get_close_matches(kind.lower(), kinds, n=1, cutoff=0.5)
        hint = f"did you mean {near[0]!r}?" if near else f"there are {', '.join(kinds)}"
        raise ValueError(f"no similarity compares {shown(kind)}; {hint}")
    return [_described(name, cls) for name, cls in found if kind in (None, cls.kind)]


def _rank(kind: str) -> tuple[int, str]:
    """Return where a kind stands: the user's own kinds come after ours, and what compares anything at the end."""
    known = list(EXAMPLES)
    return (known.index(kind) if kind in known and kind != "anything" else len(known) + (kind == "anything")), kind


def _described(name: str, cls: type[Similarity]) -> dict[str, Any]:
    similarity = cls()  # flags may be properties, which follow from the parameters
    return {
        "name": name,
        "kind": cls.kind,
        "summary": (cls.__doc__ or "").strip().split("\n")[0].replace("``", ""),
        "symmetric": bool(similarity.symmetric),
        "positive_definite": bool(similarity.psd),
        "extra": cls.extra,
        "installed": _installed(cls.extra),
    }


def _installed(extra: str | None) -> bool:
    """Say whether all that an extra brings can be imported."""
    return all(find_spec(module) is not None for module, of in EXTRA_OF.items() if of == extra)


def print_list(kind: str | None = None) -> None:
    """Print the list as one table for each kind of data, with an example and the extra that it needs."""
    from rich.console import Console
    from rich.table import Table
    from rich.text import Text

    console = Console()
    rows = listed(kind)
    width = max(len(row["name"]) for row in rows)
    for one in dict.fromkeys(row["kind"] for row in rows):
        here = [row for row in rows if row["kind"] == one]
        console.print(Text(one), style="bold")
        if one in EXAMPLES:
            console.print(Text(f"  {EXAMPLES[one]}"), style="dim", soft_wrap=True)
        table = Table(show_header=False, box=None, padding=(0, 1, 0, 2))
        table.add_column(min_width=width, no_wrap=True)
        table.add_column(no_wrap=True)
        for row in here:
            table.add_row(Text(row["name"]), Text(_flags(row)), Text(f"{row['summary']}{_extra(row)}"))
        console.print(table)
        console.print()
    console.print(Text("s: symmetric, p: positive semi-definite; any of them may be used"), style="dim")


def _flags(row: dict[str, Any]) -> str:
    return f"{'s' if row['symmetric'] else ' '}{'p' if row['positive_definite'] else ' '}"


def _extra(row: dict[str, Any]) -> str:
    if row["extra"] is None:
        return ""
    return f" (extra {row['extra']!r}{'' if row['installed'] else ', to be installed'})"
