"""Bytes flipped, cut and added in the files of a reproduction and of GreedySelection: the numbers stay the clean ones.

A round damages one to five random files (matrices, cells, scores), and for the reproduction also takes away half of the
cells, so that the matrices are read; then the same call is made again.
"""

from __future__ import annotations

import io
import json
from collections.abc import Callable
from contextlib import redirect_stderr, redirect_stdout
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

import numpy as np
from sklearn.datasets import load_digits

from besvm._support.progress import progress
from besvm.reproduction.reproduce import reproduce
from besvm.selection import GreedySelection
from torture.outcome import Outcome

MEASURED = ("seconds", "peak_memory")  # differ from run to run, as they may


def reproduction(out: Path, name: str = "eigs") -> Any:
    """Return the rows of an experiment, computed in ``out`` or found there."""
    with redirect_stdout(io.StringIO()), redirect_stderr(io.StringIO()):
        reproduce([name], data="digits", quick=True, out=out)
    return rows_of(out, name)


def rows_of(out: Path, name: str) -> Any:
    """Return the rows that a reproduction wrote, without what was measured by the clock."""
    rows = json.loads((out / "tables" / f"{name}.json").read_text())["rows"]
    return [{key: value for key, value in row.items() if key not in MEASURED} for row in rows]


def selection(folder: Path) -> Any:
    """Return all accuracies of a greedy selection that keeps its files in ``folder``."""
    X, y = load_digits(return_X_y=True)
    search = GreedySelection(
        ["linear", "rbf", "laplacian"], n_measures=2, basis=20, refit=False, random_state=0, folder=folder
    )
    return [(step.chosen, step.accuracies) for step in search.fit(X[:300], y[:300]).trace_]


def damage(path: Path, rng: np.random.Generator) -> str:
    """Damage a file, and say how."""
    content = bytearray(path.read_bytes())
    kind = str(rng.choice(["flip", "flip", "sign", "cut", "longer"])) if content else "longer"
    if kind == "flip":
        for at in rng.integers(len(content), size=rng.integers(1, 9)):
            content[at] ^= 1 << int(rng.integers(8))
    elif kind == "sign":  # of whole numbers of four bytes, as they lie at the end of a matrix
        content[-1 - 4 * int(rng.integers(max(1, len(content) // 8)))] ^= 0x80
    elif kind == "cut":
        del content[int(rng.integers(len(content))) :]
    else:
        content += rng.bytes(int(rng.integers(1, 99)))
    path.write_bytes(content)
    return f"{kind} {path.name}"


def torture(quick: bool = False) -> Outcome:
    """Damage both 40 times, a few times if quick."""
    rounds = {"selection": 4} if quick else {"selection": 40, "reproduction": 40}
    calls: dict[str, Callable[[Path], Any]] = {"selection": selection, "reproduction": reproduction}
    rows, failures = [], []
    for name, n in rounds.items():
        files = survived = 0
        with TemporaryDirectory() as folder, progress(f"caches of a {name}", n, verbose=1) as shown:
            out = Path(folder) / "out"
            clean = calls[name](out)
            for seed in range(n):
                done, same = _round(calls[name], out, clean, np.random.default_rng(seed))
                files, survived = files + len(done), survived + same
                if not same:
                    failures.append(f"caches, {name}, round {seed}: other numbers or an error after {', '.join(done)}")
                shown.advance(1)
        rows.append({"files of": name, "rounds": n, "damaged files": files, "rounds with the clean numbers": survived})
    return Outcome(rows, failures)


def _round(call: Callable[[Path], Any], out: Path, clean: Any, rng: np.random.Generator) -> tuple[list[str], bool]:
    for cell in sorted(out.glob("cells/*/*.json")):
        if rng.random() < 0.5:
            cell.unlink()
    files = sorted(path for kind in ("*.npy", "*.json") for path in out.rglob(kind) if "tables" not in path.parts)
    chosen = rng.choice(len(files), min(len(files), int(rng.integers(1, 6))), replace=False)
    done = [damage(files[i], rng) for i in chosen]
    try:
        return done, call(out) == clean
    except Exception as error:
        return [*done, f"({type(error).__name__}: {error})"], False
