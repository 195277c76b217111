"""What the page shows of every experiment, from the rows of the tables and what is kept beside them."""

from __future__ import annotations

import json
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from besvm._support.units import show_bytes, show_seconds
from besvm.reproduction.cells import Experiment
from besvm.reproduction.claims import Claim
from besvm.reproduction.config import Config
from besvm.reproduction.experiments import MODULES, experiments
from besvm.reproduction.tables import Table


@dataclass
class Section:
    """What the page shows of one experiment."""

    name: str
    title: str
    paper: str
    note: str = ""
    figures: dict[str, bytes] = field(default_factory=dict)  # SVG
    captions: dict[str, str] = field(default_factory=dict)
    table: Table = field(default_factory=list)
    claims: list[Claim] = field(default_factory=list)
    left_out: list[str] = field(default_factory=list)
    n_test: int = 0  # images that an accuracy was measured with
    seconds: float = 0.0  # that all cells took
    peak_memory: int = 0  # bytes

    @property
    def heading(self) -> str:
        """The title with a capital letter."""
        return self.title[0].upper() + self.title[1:]

    @property
    def took(self) -> str:
        """How long the experiment took, if that is known."""
        return f"It took {show_seconds(self.seconds)}." if self.seconds else ""


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


@dataclass
class Page:
    """All that the page says."""

    sections: list[Section]
    about: str  # what was run, and on what
    warning: str = ""


def read_page(folder: Path) -> Page:
    """Return the page of the tables that a reproduction has written into ``folder``; without the figures themselves."""
    kept = {path.stem: json.loads(path.read_text()) for path in (folder / "tables").glob("*.json")}
    tables = {name: entry["rows"] for name, entry in kept.items()}
    sections = []
    for one in experiments():
        if one.name in kept:
            entry = kept[one.name]
            config = Config(**{name: _frozen(value) for name, value in entry["config"].items()})
            sections.append(section_of(one, config, tables, dict.fromkeys(entry["figures"], b""), entry))
    about = [*dict.fromkeys(kept[section.name]["about"] for section in sections), cost(sections)]
    missing = [name for name in MODULES if name not in kept]
    if missing:
        about.append(f"Not run yet, and so not on this page: {', '.join(missing)}.")
    warnings = dict.fromkeys(kept[section.name]["warning"] for section in sections)
    return Page(sections, " ".join(about), " ".join(warnings).strip())


def _frozen(value: Any) -> Any:
    return tuple(value) if isinstance(value, list) else value


def cost(sections: list[Section]) -> str:
    """Return what all that is shown took, whether it was run in one go or in parts."""
    seconds = sum(section.seconds for section in sections)
    peak = max((section.peak_memory for section in sections), default=0)
    memory = f" and at most {show_bytes(peak)} of memory" if peak else ""
    return f"All cells took {show_seconds(seconds)}{memory}, in one go or in parts."
