"""`besvm reproduce`: plan, run, draw, and write the page."""

import os
import platform
import sys
from contextlib import suppress
from dataclasses import asdict, replace
from pathlib import Path

import numpy as np
from rich.console import Console

from besvm._support.extras import optional
from besvm._support.figures import in_style, rendered
from besvm._support.files import as_folder, claim, sweep, write_bytes, write_text
from besvm._support.units import parse_bytes, show_bytes
from besvm.blocks.plan import limit_bytes
from besvm.reproduction.cache import MatrixCache
from besvm.reproduction.cells import Costs, Experiment
from besvm.reproduction.config import FULL, QUICK, Config
from besvm.reproduction.experiments import experiments
from besvm.reproduction.lab import Lab, Table
from besvm.reproduction.page import Page, cost, html_page, section_of, write_table
from besvm.reproduction.runner import Reason, Results, counted, make_plan, run, show_plan

DIGITS = "digits"
MARK = ".besvm-reproduction"  # in a folder that we made, and may replace files in


def reproduce(
    names: list[str] | None = None,
    *,
    data: str | None = None,
    out: str | os.PathLike[str] = "reproduction",
    quick: bool = False,
    thorough: bool = False,
    only_plan: bool = False,
    memory_limit: int | float | str | None = None,
    cache_limit: int | float | str = "25 GB",
) -> Path:
    """Run experiments of the paper and write tables, figures and a page; return the page.

    A cell that was finished before, in the same folder with the same data, sizes and code, is not run again. The
    command ``besvm reproduce`` describes the parameters. The folder must be new, empty or of an earlier reproduction:
    files of others are never replaced or removed.

    Examples
    --------
    >>> import tempfile
    >>> page = reproduce(["toy"], data="digits", quick=True, out=Path(tempfile.mkdtemp()))  # doctest: +ELLIPSIS
    experiment...
    >>> page.name
    'index.html'
    """
    optional("matplotlib", "drawing the figures")  # checked before hours of computing
    chosen = experiments(names)
    limit = limit_bytes(memory_limit)
    cache_bytes = parse_bytes(cache_limit, "cache_limit")
    out = as_folder("--out", out)
    console = Console(file=sys.stdout, width=None if sys.stdout.isatty() else 140)
    config = replace(QUICK if quick else FULL, thorough=thorough)
    lab = Lab(*load(data, config.rows_per_fold), MatrixCache(out / "cache", cache_bytes, verbose=1), limit)
    costs, results = Costs(lab), Results(out)
    plan = make_plan(chosen, config, lab, costs, results)
    show_plan(console, plan, lab, costs)
    page = out / "index.html"
    if only_plan:  # nothing was written or removed so far
        return page
    if any(planned.skipped for planned in plan) and not any(planned.cells for planned in plan):
        least = min(cell.memory for planned in plan for cell, _ in planned.skipped) + lab.base_memory
        raise MemoryError(
            f"nothing can be run within {show_bytes(limit)}, because the smallest cell needs {show_bytes(least)}; "
            "raise --memory-limit"
        )
    claim("--out", out, MARK)
    own = [out / name for name in ("cache", "cells", "figures", "tables")]
    sweep(out, *own, *(folder for parent in own for folder in parent.glob("*/")))
    failed = {planned.experiment.name: planned.failed for planned in plan}
    said = {"about": about(config, lab, data, None if memory_limit is None else limit), "warning": banner(config, data)}
    try:
        run(plan, results, console)
    except BaseException:  # interrupted or not, what is finished is shown; the first error is the one to report
        with suppress(Exception):
            _write(out, config, lab, results, failed, said)
        raise
    shown = _write(out, config, lab, results, failed, said)
    console.print(f"\nthe page: {page}", highlight=False, soft_wrap=True)
    missing = [_why_missing(experiment) for experiment in chosen if experiment.name not in shown]
    for sentence in missing:
        console.print(sentence, soft_wrap=True)
    if len(missing) == len(chosen):
        raise RuntimeError(f"nothing was run or drawn: {'; '.join(missing)}")
    n_failed = sum(map(len, failed.values()))
    if n_failed:
        raise RuntimeError(
            f"cells that failed: {n_failed}; the page says why, and running the same command again retries them"
        )
    return page


def _why_missing(experiment: Experiment) -> str:
    if experiment.uses:
        return f"{experiment.name} is drawn from what {' and '.join(experiment.uses)} found: run these first"
    return f"nothing of {experiment.name} could be run: the plan above says why"


def load(data: str | None, rows_per_fold: int) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Return the images, labels and folds: of every fold the first ``rows_per_fold`` rows, one fold after the other."""
    from besvm.datasets import load_cifar10, make_digit_images

    if data == DIGITS:
        images, labels = make_digit_images(6 * 300, random_state=0)
        fold = np.repeat(np.arange(6), 300)
    else:
        images, labels, fold = load_cifar10(data)
    rows = np.concatenate([np.flatnonzero(fold == k)[:rows_per_fold] for k in range(6)])
    return images[rows], labels[rows], fold[rows]


def _write(
    out: Path, config: Config, lab: Lab, results: Results, failed: dict[str, list[Reason]], said: dict[str, str]
) -> list[str]:
    """Write tables, figures and the page of all that is finished, whenever it was run; return what it shows."""
    everything = make_plan(experiments(), config, lab, Costs(lab), results)
    tables = {planned.experiment.name: planned.table for planned in everything}
    sections = []
    for planned in everything:
        experiment = planned.experiment
        inputs = [tables[name] for name in (experiment.name, *experiment.uses)]
        reasons = failed.get(experiment.name, [])
        if not (planned.table or (not planned.cells and any(inputs)) or reasons):
            continue
        figures = _drawn(out, experiment, config, inputs)
        tried = [cell.key for cell, _ in reasons]
        waiting = [(cell, "not run yet") for _, cell in planned.waiting if cell.key not in tried]
        kept = {
            **said,
            "title": experiment.title,
            "figures": list(figures),
            "left_out": counted([*planned.skipped, *reasons, *waiting]),
            "config": asdict(config),
            "seconds": round(planned.spent.taken, 1),
            "peak_memory": planned.spent.peak,
        }
        write_table(out, experiment.name, planned.table, kept)
        sections.append(section_of(experiment, config, tables, figures, kept))
    page = Page(sections, f"{said['about']} {cost(sections)}", said["warning"])
    write_text(out / "index.html", html_page(page))
    return [section.experiment.name for section in sections]


def _drawn(out: Path, experiment: Experiment, config: Config, inputs: list[Table]) -> dict[str, bytes]:
    """Write the figures of an experiment, and return them as SVG."""
    with in_style():
        figures = dict(experiment.drawn(config, *inputs))
    found = {name: rendered(figure, "svg") for name, figure in figures.items()}
    for name, figure in figures.items():
        write_bytes(out / "figures" / f"{name}.svg", found[name])
        write_bytes(out / "figures" / f"{name}.png", rendered(figure, "png"))
    return found


def about(config: Config, lab: Lab, data: str | None, memory_limit: int | None = None) -> str:
    """Return what was run, and on what; ``memory_limit`` is what the user asked for."""
    flags = Path("/proc/cpuinfo").read_text("utf-8", "replace") if Path("/proc/cpuinfo").exists() else ""
    instructions = next((name for name in ("avx512f", "avx2", "avx") if name in flags), platform.machine())
    options = {
        "--quick": config.rows_per_fold != FULL.rows_per_fold,
        "--thorough": config.thorough,
        "--data digits": data == DIGITS,
        f"--memory-limit '{show_bytes(memory_limit or 0)}'": memory_limit is not None,
    }
    command = " ".join(["besvm reproduce", *(name for name, given in options.items() if given)])
    source = "images drawn from scikit-learn's digits" if data == DIGITS else "CIFAR-10"
    folds = f"{config.n_folds} x {len(lab.train_rows()):,} images for training, {len(lab.test_rows):,} for testing"
    machine = f"{os.cpu_count()} cores, {instructions}"
    return f"Data: {source}, {folds}, {lab.n_classes} classes. Command: {command}. Machine: {machine}."


def banner(config: Config, data: str | None) -> str:
    """Return a warning where the sizes or the data are not the paper's; an empty text where they are."""
    if data == DIGITS or config.rows_per_fold != FULL.rows_per_fold:
        return "A small version, to try the program out: the verdicts below say nothing about the paper."
    return ""
