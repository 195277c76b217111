"""What runs of several parts have in common: which of them to run, the machine they ran on, and tables of rows."""

from __future__ import annotations

import argparse
import os
import platform
from collections.abc import Iterator, Sequence
from importlib import import_module
from pathlib import Path
from typing import Any

from rich.console import Console
from rich.table import Table

from besvm._support.threads import n_workers


def chosen(package: str, about: str | None, parts: Sequence[str], quick: str) -> tuple[Iterator[tuple[Any, ...]], bool]:
    """Read the command line: return the parts named there, or all (name, module, title), and whether to be quick."""
    parser = argparse.ArgumentParser(prog=f"python -m {package}", description=about)
    parser.add_argument("parts", nargs="*", metavar="PART", help=", ".join(parts))
    parser.add_argument("--quick", action="store_true", help=quick)
    args = parser.parse_args()
    unknown = set(args.parts) - set(parts)
    if unknown:
        parser.error(f"no part is called {unknown.pop()!r}; there are {', '.join(parts)}")
    modules = ((part, import_module(f"{package}.{part}")) for part in args.parts or parts)
    return ((part, one, (one.__doc__ or part).strip().split("\n")[0]) for part, one in modules), args.quick


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
