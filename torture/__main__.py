"""Torture besvm: `python -m torture [PART ...] [--quick]`; tables on the screen, figures in docs/reliability.json."""

from __future__ import annotations

import argparse
import json
import sys
from importlib import import_module
from pathlib import Path

from benchmarks.__main__ import machine, show
from rich.console import Console

from besvm._support.files import write_text

PARTS = ("problems", "kills", "caches", "memory", "input")
OUT = Path(__file__).parent.parent / "docs" / "reliability.json"


def main() -> None:
    """Run what is named, or everything; exit 1 if a promise was broken."""
    parser = argparse.ArgumentParser(prog="python -m torture", description=__doc__)
    parser.add_argument("parts", nargs="*", metavar="PART", help=", ".join(PARTS))
    parser.add_argument("--quick", action="store_true", help="a small sample, nothing written")
    args = parser.parse_args()
    unknown = set(args.parts) - set(PARTS)
    if unknown:
        parser.error(f"no part is called {unknown.pop()!r}; there are {', '.join(PARTS)}")
    console, broken = Console(width=160), 0
    for part in args.parts or PARTS:
        module = import_module(f"torture.{part}")
        title = (module.__doc__ or part).strip().split("\n")[0]
        outcome = module.torture(quick=args.quick)
        console.print(f"{part}: {title}", markup=False)
        show(console, "", outcome.rows)
        for failure in outcome.failures:
            console.print(f"FAILED {failure}", markup=False, style="red")
        console.print()
        broken += len(outcome.failures)
        if not args.quick:
            keep(part, {"what": title, "machine": machine(), **outcome._asdict()})
    sys.exit(1 if broken else 0)


def keep(part: str, result: dict[str, object]) -> None:
    """Put the result of a part in the place of its last one."""
    kept = json.loads(OUT.read_text()) if OUT.exists() else {}
    write_text(OUT, json.dumps({**kept, part: result}, indent=1) + "\n")


if __name__ == "__main__":
    main()
