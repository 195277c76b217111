"""`besvm reproduce`: plan, run, draw, and write the page."""

from __future__ import annotations

import json
import os
import platform
from collections import Counter
from dataclasses import replace
from pathlib import Path

import numpy as np

from besvm._machine import available_memory, parse_bytes
from besvm.experiments import experiments
from besvm.experiments.base import Experiment, Table
from besvm.experiments.cache import MatrixCache
from besvm.experiments.config import FULL, QUICK
from besvm.experiments.lab import Lab
from besvm.experiments.results import Results, write_bytes, write_table, write_text
from besvm.experiments.runner import Step, console_for_people, context_of, make_plan, output_folder, run, show_plan
from besvm.report.figures import in_style, rendered
from besvm.report.page import Section, html_page, markdown_page

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
    chosen = experiments(names)
    limit = int(0.7 * available_memory()) if memory_limit is None else parse_bytes(memory_limit)
    out = output_folder(out)
    console = console_for_people()
    config = replace(QUICK if quick else FULL, thorough=thorough)
    lab = Lab(*_load(data), config, MatrixCache(out / "cache", parse_bytes(cache_limit)))
    results = Results(out, context_of(lab))
    steps = make_plan(chosen, lab, results, limit)
    show_plan(console, steps, limit, lab)
    page = out / "index.html"
    if only_plan:
        return page
    try:
        run(steps, results, console)
    finally:  # interrupted or not, what is finished is shown
        _write(out, steps, _all_tables(lab, results, steps, limit), about(lab, quick, names))
    console.print(f"\nthe page: {page}", highlight=False, soft_wrap=True)
    return page


def _load(data: str | None) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    from besvm.datasets import load_cifar10, make_digit_images

    if data == DIGITS:
        images, labels = make_digit_images(6 * 300, random_state=0)
        return images, labels, np.repeat(np.arange(6), 300)
    images, labels, fold = load_cifar10(data)
    return images, labels, fold


def _all_tables(lab: Lab, results: Results, steps: list[Step], limit: int) -> dict[str, Table]:
    """Return the finished rows of every experiment, also of those not asked for now."""
    tables = {step.experiment.name: step.table for step in steps}
    used = {name for step in steps for name in step.experiment.uses if name not in tables}
    for step in make_plan(experiments(sorted(used)), lab, results, limit) if used else []:
        tables[step.experiment.name] = step.table
    return tables


def _write(out: Path, steps: list[Step], tables: dict[str, Table], about_run: str) -> None:
    """Write tables, figures and the page of what is finished."""
    sections = []
    for step in steps:
        experiment = step.experiment
        inputs = [tables[name] for name in (experiment.name, *experiment.uses)]
        if not any(inputs):
            continue
        with in_style():
            figures = experiment.figures(*inputs)
        svgs = {name: rendered(figure, "svg") for name, figure in figures.items()}
        for name, figure in figures.items():
            write_bytes(out / "figures" / f"{name}.svg", svgs[name])
            write_bytes(out / "figures" / f"{name}.png", rendered(figure, "png"))
        reasons = Counter(reason for _, reason in step.skipped)
        left_out = [f"{count} cells, {reason}" for reason, count in reasons.items()]
        known = {"title": experiment.title, "about": about_run, "figures": list(figures), "left_out": left_out}
        write_table(out, experiment.name, step.table, known)
        sections.append(section_of(experiment, tables, svgs, left_out))
    write_text(out / "index.html", html_page(TITLE, about_run, sections))


def section_of(
    experiment: Experiment, tables: dict[str, Table], figures: dict[str, bytes], left_out: list[str]
) -> Section:
    """Return what a page shows of an experiment."""
    inputs = [tables.get(name, []) for name in (experiment.name, *experiment.uses)]
    table = experiment.summary(*inputs) if experiment.summary is not None and inputs[0] else inputs[0]
    return Section(
        name=experiment.name,
        title=experiment.title,
        paper=experiment.paper,
        note=experiment.note,
        figures=figures,
        table=table,
        claims=experiment.claims(*inputs),
        left_out=left_out,
    )


def markdown_of(folder: Path, figures: str) -> str:
    """Return the page in Markdown, from the tables that a reproduction has written into ``folder``."""
    kept = {path.stem: json.loads(path.read_text()) for path in (folder / "tables").glob("*.json")}
    tables = {name: entry["rows"] for name, entry in kept.items()}
    sections = [
        section_of(one, tables, dict.fromkeys(kept[one.name]["figures"], b""), kept[one.name]["left_out"])
        for one in experiments()
        if one.name in kept
    ]
    about_runs = dict.fromkeys(kept[section.name]["about"] for section in sections)
    return markdown_page(TITLE, " ".join(about_runs), sections, figures)


def about(lab: Lab, quick: bool, names: list[str] | None) -> str:
    """Return what was run, and on what."""
    flags = Path("/proc/cpuinfo").read_text() if Path("/proc/cpuinfo").exists() else ""
    instructions = next((name for name in ("avx512f", "avx2", "avx") if name in flags), platform.machine())
    command = " ".join(["besvm reproduce", *(names or []), *(["--quick"] if quick else [])])
    version = f"{os.cpu_count()} cores, {instructions}"
    return f"{len(lab.images):,} images, {lab.n_classes} classes. Command: {command}. Machine: {version}."
