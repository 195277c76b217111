"""The page: every figure and table beside what the paper says, in one HTML file that needs nothing else."""

import base64
import csv
import io
import json
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field
from html import escape
from pathlib import Path
from typing import Any

from besvm._support.files import write_text
from besvm._support.style import page_style
from besvm._support.units import show_bytes, show_seconds
from besvm.reproduction.cells import FAILS, HOLDS, OURS, PAPER, Claim, Experiment, columns_of, tally
from besvm.reproduction.config import Config
from besvm.reproduction.lab import Table

TITLE = "BE-SVM: the paper, reproduced"


@dataclass
class Section:
    """What the page shows of one experiment."""

    experiment: Experiment
    note: str = ""
    figures: dict[str, bytes] = field(default_factory=dict)  # SVG
    table: Table = field(default_factory=list)
    claims: list[Claim] = field(default_factory=list)
    left_out: list[str] = field(default_factory=list)
    n_test: int = 0  # images that an accuracy was measured with
    seconds: float = 0.0  # that all cells took
    peak_memory: int = 0  # bytes

    @property
    def took(self) -> str:
        """How long the experiment took, if that is known."""
        return f"It took {show_seconds(self.seconds)}." if self.seconds else ""


def section_of(
    experiment: Experiment, config: Config, tables: dict[str, Table], figures: dict[str, bytes], kept: dict[str, Any]
) -> Section:
    """Return what a page shows of an experiment; ``kept`` is what is written beside its table."""
    inputs = [tables.get(name, []) for name in (experiment.name, *experiment.uses)]
    return Section(
        experiment,
        experiment.note.format(config=config),
        figures,
        table=list(experiment.summary(inputs[0])) if inputs[0] else [],
        claims=list(experiment.claims(config, *inputs)),
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


def cost(sections: list[Section]) -> str:
    """Return what all that is shown took, whether it was run in one go or in parts."""
    seconds = sum(section.seconds for section in sections)
    peak = max((section.peak_memory for section in sections), default=0)
    memory = f" and at most {show_bytes(peak)} of memory" if peak else ""
    return f"All cells took {show_seconds(seconds)}{memory}, in one go or in parts."


def write_table(folder: Path, experiment: str, table: Table, about: dict[str, Any]) -> None:
    """Write a table as CSV and as JSON."""
    write_text(folder / "tables" / f"{experiment}.csv", as_csv(table))
    write_text(folder / "tables" / f"{experiment}.json", json.dumps({**about, "rows": table}) + "\n")


def as_csv(table: Table) -> str:
    """Return a table as comma-separated values, without what is itself a list."""
    out = io.StringIO()
    writer = csv.DictWriter(out, columns_of(table), extrasaction="ignore", lineterminator="\n")
    writer.writeheader()
    writer.writerows(table)
    return out.getvalue()


def show(entry: Any) -> str:
    """Return an entry of a table for people."""
    if entry is None or entry != entry:  # NaN
        return ""
    if isinstance(entry, bool):
        return "yes" if entry else "no"
    if isinstance(entry, int):
        return f"{entry:,}"
    if isinstance(entry, float):
        text = f"{entry:.3f}" if abs(entry) < 10 else f"{entry:,.1f}"
        return text if abs(entry) < 1 and entry else text.rstrip("0").rstrip(".")
    return str(entry)


def html_page(page: Page) -> str:
    """Return the page in HTML."""
    style = page_style("besvm.reproduction", "page.css")
    names = [escape(section.experiment.name) for section in page.sections]
    parts = [
        "<!doctype html>",
        '<html lang="en"><head><meta charset="utf-8">',
        '<meta name="viewport" content="width=device-width, initial-scale=1">',
        '<link rel="icon" href="data:,">',
        f"<title>{TITLE}</title><style>{style}</style></head><body>",
        f'<h1>{TITLE}</h1><p class="about">{escape(page.about)}</p>',
        *([f'<p class="warning">{escape(page.warning)}</p>'] if page.warning else []),
        "<nav>" + "".join(f'<a href="#{name}">{name}</a> ' for name in names) + "</nav>",
        *_html_claims(page.sections),
        *(line for section in page.sections for line in _html_section(section)),
    ]
    return "\n".join([*parts, "</body></html>"]) + "\n"


def claims_of(sections: Iterable[Section], origin: str) -> list[tuple[Section, Claim]]:
    """Return the claims of the paper, or ours, each with its section."""
    return [(section, claim) for section in sections for claim in section.claims if claim.origin == origin]


def both_claims(sections: list[Section]) -> Iterator[tuple[str, str, str, list[tuple[Section, Claim]]]]:
    """Yield the paper's claims and ours, if there are any: a name, a title, how many hold, and the claims."""
    for origin, name, title in (
        (PAPER, "claims", "What the paper claims, and what was measured"),
        (OURS, "aims", "What we claim beyond the paper, and what was measured"),
    ):
        if found := claims_of(sections, origin):
            said = tally(claim for _, claim in found) + (f" {noise(sections)}" if origin == PAPER else "")
            yield name, title, said, found


def noise(sections: Iterable[Section]) -> str:
    """Return how far apart two accuracies have to be for the difference to mean something."""
    n = max((section.n_test for section in sections), default=0)
    if not n:
        return ""
    error = (0.7 * 0.3 / n) ** 0.5  # of an accuracy near .7
    return (
        f"An accuracy on {n:,} test images has a standard error of about {error:.1%}: two independent ones may differ "
        f"by {2 * 2**0.5 * error:.1%} by chance (two standard errors of the difference), whatever the verdict."
    )


def _html_claims(sections: list[Section]) -> Iterator[str]:
    for anchor, title, said, found in both_claims(sections):
        yield f'<h2 id="{anchor}">{title}</h2><p>{escape(said)}</p><table class="claims">'
        yield "<thead><tr><th>claim</th><th>measured</th><th>verdict</th></tr></thead><tbody>"
        for section, claim in found:
            name, look = escape(section.experiment.name), {HOLDS: "holds", FAILS: "fails"}.get(claim.verdict, "note")
            yield f'<tr><td>{escape(claim.sentence)} <a href="#{name}">{name}</a></td><td>{escape(claim.measured)}'
            yield f'<span class="criterion">Holds if {escape(claim.criterion)}.</span></td>'
            yield f'<td class="{look}">{claim.verdict}</td></tr>'
        yield "</tbody></table>"


def _html_section(section: Section) -> Iterator[str]:
    name, title = escape(section.experiment.name), escape(section.experiment.title)
    yield f'<h2 id="{name}">{title}</h2>'
    yield f"<blockquote><b>The paper:</b> {escape(section.experiment.paper)}</blockquote>"
    if section.note:
        yield f'<p class="note">{escape(section.note)}</p>'
    for figure, svg in section.figures.items():
        source = f"data:image/svg+xml;base64,{base64.b64encode(svg).decode()}"
        caption = escape(section.experiment.captions.get(figure, section.experiment.title))
        yield f'<figure><div class="scroll"><img src="{source}" alt="{title}: {escape(figure)}"></div>'
        yield f"<figcaption>{caption}</figcaption></figure>"
    if section.table:
        yield _html_table(section.table)
        files = ", ".join(f'<a href="tables/{name}.{kind}">{name}.{kind}</a>' for kind in ("csv", "json"))
        yield f'<p class="note">Every row: {files}. {section.took}</p>'
    yield from (f'<p class="note">Left out: {escape(text)}</p>' for text in section.left_out)


def _html_table(table: Table) -> str:
    columns = columns_of(table)
    head = "".join(f"<th>{escape(name.replace('_', ' '))}</th>" for name in columns)
    rows = ("<tr>" + "".join(f"<td>{escape(show(row.get(name)))}</td>" for name in columns) + "</tr>" for row in table)
    return f'<div class="scroll"><table><thead><tr>{head}</tr></thead><tbody>{"".join(rows)}</tbody></table></div>'
