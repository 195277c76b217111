"""`besvm reproduce`: plan, run, draw, and write the page."""

from __future__ import annotations

import os
import platform
from dataclasses import replace
from pathlib import Path

import numpy as np

from besvm._machine import available_memory, parse_bytes
from besvm.experiments import experiments
from besvm.experiments.base import Table
from besvm.experiments.cache import MatrixCache
from besvm.experiments.config import FULL, QUICK
from besvm.experiments.lab import Lab
from besvm.experiments.results import Results, write_bytes, write_text
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
    sections = [_section(out, step, tables) for step in steps if step.table or step.experiment.uses]
    write_text(out / "index.html", html_page(TITLE, about_run, sections))
    write_text(out / "results.md", markdown_page(TITLE, about_run, sections, "figures"))


def _section(out: Path, step: Step, tables: dict[str, Table]) -> Section:
    experiment = step.experiment
    inputs = [step.table, *(tables[name] for name in experiment.uses)]
    if step.table:
        Results(out, "").write_table(experiment.name, step.table, {"title": experiment.title})
    svgs = {}
    with in_style():
        figures = experiment.figures(*inputs) if any(inputs) else {}
    for name, figure in figures.items():
        svgs[name] = rendered(figure, "svg")
        write_bytes(out / "figures" / f"{name}.svg", svgs[name])
        write_bytes(out / "figures" / f"{name}.png", rendered(figure, "png"))
    shown = experiment.summary(*inputs) if experiment.summary is not None and step.table else step.table
    reasons = dict.fromkeys(reason for _, reason in step.skipped)
    left_out = [f"{sum(why == reason for _, why in step.skipped)} cells, {reason}" for reason in reasons]
    claims = experiment.claims(*inputs) if any(inputs) else []
    return Section(experiment.name, experiment.title, experiment.paper, experiment.note, svgs, shown, claims, left_out)


def about(lab: Lab, quick: bool, names: list[str] | None) -> str:
    """Return what was run, and on what."""
    flags = Path("/proc/cpuinfo").read_text() if Path("/proc/cpuinfo").exists() else ""
    instructions = next((name for name in ("avx512f", "avx2", "avx") if name in flags), platform.machine())
    command = " ".join(["besvm reproduce", *(names or []), *(["--quick"] if quick else [])])
    version = f"{os.cpu_count()} cores, {instructions}"
    return f"{len(lab.images):,} images, {lab.n_classes} classes. Command: {command}. Machine: {version}."
