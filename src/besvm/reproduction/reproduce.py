"""`besvm reproduce`: plan, run, draw, and write the page."""

from __future__ import annotations

import json
import os
import platform
from contextlib import suppress
from dataclasses import asdict, replace
from pathlib import Path
from typing import Any

import numpy as np

from besvm._support.extras import optional
from besvm._support.files import sweep, write_bytes, write_text
from besvm._support.units import parse_bytes, show_bytes, show_seconds
from besvm.blocks.plan import limit_bytes
from besvm.reproduction import MODULES, experiments
from besvm.reproduction.base import Experiment, Table
from besvm.reproduction.cache import MatrixCache
from besvm.reproduction.config import FULL, QUICK, Config
from besvm.reproduction.lab import Lab
from besvm.reproduction.results import Results, write_table
from besvm.reproduction.runner import (
    Step,
    console_for_people,
    context_of,
    counted,
    make_plan,
    output_folder,
    run,
    show_plan,
)
from besvm._support.figures import in_style, rendered
from besvm.reproduction.page import Section, html_page, markdown_page

DIGITS = "digits"
TITLE = "BE-SVM: the paper, reproduced"


def reproduce(
    names: list[str] | None = None,
    *,
    data: str | None = None,
    out: Path = Path("reproduction"),
    quick: bool = False,
    thorough: bool = False,
    only_plan: bool = False,
    memory_limit: int | float | str | None = None,
    cache_limit: int | float | str = "25 GB",
) -> Path:
    """Run experiments of the paper and write tables, figures and a page; return the page.

    Whatever was finished before, in the same folder with the same data and sizes, is not run again.

    Parameters
    ----------
    names : list of str, optional
        Which experiments; by default all.
    data : str, optional
        The folder of CIFAR-10's binary files, or "digits" for small images drawn from scikit-learn's digits.
    out : Path
    quick : bool
        A small version of everything, in a few minutes.
    thorough : bool
        Also what is slow for its own sake.
    only_plan : bool
        Show what would be run, and stop.
    memory_limit : int, float or str, optional
        Cells that need more are left out; by default 70 % of what is free.
    cache_limit : int, float or str
        How much disk the similarities may take.

    Examples
    --------
    >>> import tempfile
    >>> page = reproduce(["toy"], data="digits", quick=True, out=Path(tempfile.mkdtemp()))  # doctest: +ELLIPSIS
    experiment...
    >>> page.name
    'index.html'
    """
    optional("matplotlib", "drawing the figures")  # said before hours of computing
    chosen = experiments(names)
    limit = limit_bytes(memory_limit)
    cache_bytes = parse_bytes(cache_limit, "cache_limit")
    out = output_folder(out)
    sweep(out)
    console = console_for_people()
    config = replace(QUICK if quick else FULL, thorough=thorough)
    lab = Lab(*_load(data), config, MatrixCache(out / "cache", cache_bytes, verbose=1), limit)
    results = Results(out, context_of(lab))
    steps = make_plan(chosen, lab, results)
    show_plan(console, steps, lab)
    page = out / "index.html"
    if only_plan:
        return page
    words = about(lab, data, None if memory_limit is None else limit), banner(lab, data)
    try:
        run(steps, results, console)
    except BaseException:  # interrupted or not, what is finished is shown; the first error is the one to tell
        with suppress(Exception):
            _write(out, lab, results, steps, *words)
        raise
    shown = _write(out, lab, results, steps, *words)
    console.print(f"\nthe page: {page}", highlight=False, soft_wrap=True)
    for name in (one.name for one in chosen if one.name not in shown):
        needed = " and ".join(experiments([name])[0].uses)
        console.print(f"{name} is drawn from what {needed} found: run these first", soft_wrap=True)
    n_failed = sum(len(step.failed) for step in steps)
    if n_failed:
        raise RuntimeError(f"cells that failed: {n_failed}; the page says why, and the same command tries them again")
    return page


def _load(data: str | None) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    from besvm.datasets import load_cifar10
    from besvm.datasets import make_digit_images

    if data == DIGITS:
        images, labels = make_digit_images(6 * 300, random_state=0)
        return images, labels, np.repeat(np.arange(6), 300)
    images, labels, fold = load_cifar10(data)
    return images, labels, fold


def _write(out: Path, lab: Lab, results: Results, steps: list[Step], about_run: str, warning: str) -> list[str]:
    """Write tables, figures and the page of all that is finished, whenever it was run; return what it shows."""
    everything = make_plan(experiments(), lab, results)
    tables = {step.experiment.name: step.table for step in everything}
    failed = {step.experiment.name: step.failed for step in steps}
    sections = []
    for step in everything:
        experiment = step.experiment
        inputs = [tables[name] for name in (experiment.name, *experiment.uses)]
        if not (step.table or (not step.cells and any(inputs)) or failed.get(experiment.name)):
            continue
        figures = _drawn(out, experiment, lab.config, inputs)
        reasons = failed.get(experiment.name, [])
        waiting = [(cell, "not run yet") for _, cell in step.waiting if all(cell.key != one.key for one, _ in reasons)]
        left_out = counted([*step.skipped, *reasons, *waiting])
        kept = {
            "title": experiment.title,
            "about": about_run,
            "warning": warning,
            "figures": list(figures),
            "left_out": left_out,
            "config": asdict(lab.config),
            "seconds": round(step.spent.taken, 1),
            "peak_memory": step.spent.peak,
        }
        write_table(out, experiment.name, step.table, kept)
        sections.append(section_of(experiment, lab.config, tables, figures, kept))
    words = f"{about_run} {cost(sections)}"
    write_text(out / "index.html", html_page(TITLE, words, sections, warning))
    return [section.name for section in sections]


def _drawn(out: Path, experiment: Experiment, config: Config, inputs: list[Table]) -> dict[str, bytes]:
    """Write the figures of an experiment, and return them as SVG."""
    with in_style():
        figures = experiment.figures(config, *inputs)
    found = {name: rendered(figure, "svg") for name, figure in figures.items()}
    for name, figure in figures.items():
        write_bytes(out / "figures" / f"{name}.svg", found[name])
        write_bytes(out / "figures" / f"{name}.png", rendered(figure, "png"))
    return found


def section_of(
    experiment: Experiment, config: Config, tables: dict[str, Table], figures: dict[str, bytes], kept: dict[str, Any]
) -> Section:
    """Return what a page shows of an experiment; ``kept`` is what is written beside its table."""
    inputs = [tables.get(name, []) for name in (experiment.name, *experiment.uses)]
    table = experiment.summary(inputs[0]) if experiment.summary is not None and inputs[0] else inputs[0]
    return Section(
        name=experiment.name,
        title=experiment.title,
        paper=experiment.paper,
        note=experiment.note(config),
        figures=figures,
        captions=experiment.captions,
        table=table,
        claims=experiment.claims(config, *inputs),
        left_out=kept["left_out"],
        n_test=config.rows_per_fold,
        seconds=kept["seconds"],
        peak_memory=kept["peak_memory"],
    )


def cost(sections: list[Section]) -> str:
    """Return what all that is shown took, whether it was run in one go or in parts."""
    seconds = sum(section.seconds for section in sections)
    peak = max((section.peak_memory for section in sections), default=0)
    memory = f" and at most {show_bytes(peak)} of memory" if peak else ""
    return f"All cells took {show_seconds(seconds)}{memory}, in one go or in parts."


def sections_of(folder: Path) -> list[Section]:
    """Return what a page shows, from the tables that a reproduction has written into ``folder``."""
    kept = _kept(folder)
    tables = {name: entry["rows"] for name, entry in kept.items()}
    sections = []
    for one in experiments():
        if one.name in kept:
            entry = kept[one.name]
            config = Config(**{name: _frozen(value) for name, value in entry["config"].items()})
            sections.append(section_of(one, config, tables, dict.fromkeys(entry["figures"], b""), entry))
    return sections


def markdown_of(folder: Path, figures: str) -> str:
    """Return the page in Markdown, from the tables that a reproduction has written into ``folder``."""
    kept, sections = _kept(folder), sections_of(folder)
    about_runs = [*dict.fromkeys(kept[section.name]["about"] for section in sections), cost(sections)]
    missing = [name for name in MODULES if name not in kept]
    if missing:
        about_runs.append(f"Not run yet, and so not on this page: {', '.join(missing)}.")
    warnings = dict.fromkeys(kept[section.name]["warning"] for section in sections)
    return markdown_page(TITLE, " ".join(about_runs), sections, figures, " ".join(warnings).strip())


def _kept(folder: Path) -> dict[str, Any]:
    return {path.stem: json.loads(path.read_text()) for path in (folder / "tables").glob("*.json")}


def _frozen(value: Any) -> Any:
    return tuple(value) if isinstance(value, list) else value


def about(lab: Lab, data: str | None, memory_limit: int | None = None) -> str:
    """Return what was run, and on what; ``memory_limit`` is what the user asked for."""
    flags = Path("/proc/cpuinfo").read_text() if Path("/proc/cpuinfo").exists() else ""
    instructions = next((name for name in ("avx512f", "avx2", "avx") if name in flags), platform.machine())
    options = {
        "--quick": lab.config.rows_per_fold != FULL.rows_per_fold,
        "--thorough": lab.config.thorough,
        "--data digits": data == DIGITS,
        f"--memory-limit '{show_bytes(memory_limit or 0)}'": memory_limit is not None,
    }
    command = " ".join(["besvm reproduce", *(name for name, given in options.items() if given)])
    source = "images drawn from scikit-learn's digits" if data == DIGITS else "CIFAR-10"
    folds = f"{lab.config.n_folds} x {len(lab.train_rows()):,} images for training, {len(lab.test_rows):,} for testing"
    machine = f"{os.cpu_count()} cores, {instructions}"
    return f"Data: {source}, {folds}, {lab.n_classes} classes. Command: {command}. Machine: {machine}."


def banner(lab: Lab, data: str | None) -> str:
    """Return a warning where the sizes or the data are not the paper's; an empty text where they are."""
    if data == DIGITS or lab.config.rows_per_fold != FULL.rows_per_fold:
        return "A small version, to try the programme out: the verdicts below say nothing about the paper."
    return ""
