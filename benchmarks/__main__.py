"""Run the benchmarks: `python -m benchmarks [PART ...] [--quick]`; tables on the screen, JSON in docs/benchmarks."""

from __future__ import annotations

import json
from pathlib import Path

from rich.console import Console

from benchmarks.runs import chosen, machine, show

PARTS = (
    *(
        "startup",
        "features",
        "linear",
        "kernel",
        "sparse",
        "scaling",
        "falling",
        "products",
        "rows",
        "cluster",
        "messages",
        "client",
        "at_scale",
    ),
    *("tolerance", "images", "grid"),
    *("greedy", "bases", "multiclass", "prior", "auto_c", "text", "text_speed", "pairs_speed"),
    *("pruning", "pruning_choices", "pruning_refits"),
    *("parts", "part_choices", "whole_choices", "recipes", "against_svc", "series", "series_scale", "series_speed"),
    "model_files",
    *("any_choices", "any_series", "any_text", "any_proteins", "any_graphs", "any_records", "any_scale"),
)
OUT = Path(__file__).parent.parent / "docs" / "benchmarks"


def main() -> None:
    """Run what is named, or everything."""
    parts, quick = chosen("benchmarks", __doc__, PARTS, "small sizes, nothing written: to see that it runs")
    console = Console(width=140)
    for part, module, title in parts:
        with console.status(f"{part}: {title}"):
            rows = module.benchmark(quick=quick)
        show(console, title, rows)
        console.print()
        if not quick:
            OUT.mkdir(parents=True, exist_ok=True)
            result = {"what": title, "command": f"python -m benchmarks {part}", "machine": machine(), "rows": rows}
            (OUT / f"{part}.json").write_text(json.dumps(result, indent=1) + "\n")
            if hasattr(module, "plot"):
                module.plot(rows, OUT)


if __name__ == "__main__":
    main()
