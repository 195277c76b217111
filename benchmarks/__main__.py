"""Run the benchmarks: `python -m benchmarks [NAME ...] [--quick]`; tables on the screen, JSON in docs/benchmarks."""

from __future__ import annotations

import argparse
import json
import os
import platform
from importlib import import_module
from pathlib import Path

from rich.console import Console
from rich.table import Table

from besvm._support.threads import n_workers

NAMES = (
    *("startup", "features", "linear", "kernel", "sparse", "scaling", "tolerance", "images", "grid"),
    *("greedy", "bases", "multiclass", "prior", "auto_c", "text"),
)
OUT = Path(__file__).parent.parent / "docs" / "benchmarks"


def machine() -> dict[str, object]:
    """Describe the machine in general terms."""
    import numpy as np
    import scipy
    import sklearn

    flags = Path("/proc/cpuinfo").read_text() if Path("/proc/cpuinfo").exists() else ""
    instructions = next((name for name in ("avx512f", "avx2", "avx") if name in flags), platform.machine())
    versions = {module.__name__: module.__version__ for module in (np, scipy, sklearn)}
    return {"cores": os.cpu_count(), "instructions": instructions, "blas_threads": n_workers(), **versions}


def show(console: Console, title: str, rows: list[dict[str, object]]) -> None:
    """Print rows of plain values as a table."""
    columns = list(dict.fromkeys(key for row in rows for key in row))
    table = Table(*columns, title=title, title_justify="left", box=None)
    for row in rows:
        table.add_row(
            *(
                "" if row.get(c) is None else f"{row[c]:.4g}" if isinstance(row[c], float) else str(row[c])
                for c in columns
            )
        )
    console.print(table)


def main() -> None:
    """Run what is named, or everything."""
    parser = argparse.ArgumentParser(prog="python -m benchmarks", description=__doc__)
    parser.add_argument("names", nargs="*", metavar="NAME", help=", ".join(NAMES))
    parser.add_argument("--quick", action="store_true", help="small sizes, nothing written: to see that it runs")
    args = parser.parse_args()
    unknown = set(args.names) - set(NAMES)
    if unknown:
        parser.error(f"no benchmark is called {unknown.pop()!r}; there are {', '.join(NAMES)}")
    console = Console(width=140)
    for name in args.names or NAMES:
        module = import_module(f"benchmarks.{name}")
        title = (module.__doc__ or name).strip().split("\n")[0]
        with console.status(f"{name}: {title}"):
            rows = module.benchmark(quick=args.quick)
        show(console, title, rows)
        console.print()
        if not args.quick:
            OUT.mkdir(parents=True, exist_ok=True)
            result = {"what": title, "command": f"python -m benchmarks {name}", "machine": machine(), "rows": rows}
            (OUT / f"{name}.json").write_text(json.dumps(result, indent=1) + "\n")
            if hasattr(module, "plot"):
                module.plot(rows, OUT)


if __name__ == "__main__":
    main()
