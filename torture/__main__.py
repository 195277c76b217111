"""Torture besvm: `python -m torture [PART ...] [--quick]`; tables on the screen, figures in docs/reliability.json."""

from __future__ import annotations

import json
import sys
from pathlib import Path

from benchmarks.runs import chosen, machine, show
from rich.console import Console

from besvm._support.files import write_text

PARTS = ("problems", "kills", "caches", "memory", "input", "model_files")
OUT = Path(__file__).parent.parent / "docs" / "reliability.json"


def main() -> None:
    """Run what is named, or everything; exit 1 if a promise was broken."""
    parts, quick = chosen("torture", __doc__, PARTS, "a small sample, nothing written")
    console, broken = Console(width=160), 0
    for part, module, title in parts:
        outcome = module.torture(quick=quick)
        console.print(f"{part}: {title}", markup=False)
        show(console, "", outcome.rows)
        for failure in outcome.failures:
            console.print(f"FAILED {failure}", markup=False, style="red")
        console.print()
        broken += len(outcome.failures)
        if not quick:
            keep(part, {"what": title, "machine": machine(), **outcome._asdict()})
    sys.exit(1 if broken else 0)


def keep(part: str, result: dict[str, object]) -> None:
    """Put the result of a part in the place of its last one."""
    kept = json.loads(OUT.read_text()) if OUT.exists() else {}
    write_text(OUT, json.dumps({**kept, part: result}, indent=1) + "\n")


if __name__ == "__main__":
    main()
