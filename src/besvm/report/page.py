"""The page: every figure and table beside what the paper says, in one HTML file that needs nothing else."""

from __future__ import annotations

import base64
from collections.abc import Iterable
from dataclasses import dataclass, field
from html import escape
from importlib.resources import files
from typing import Any

from besvm.experiments.base import Claim, Table


@dataclass
class Section:
    """What the page shows of one experiment."""

    name: str
    title: str
    paper: str
    note: str = ""
    figures: dict[str, bytes] = field(default_factory=dict)  # SVG
    table: Table = field(default_factory=list)
    claims: list[Claim] = field(default_factory=list)
    left_out: list[str] = field(default_factory=list)


def heading(section: Section) -> str:
    """Return the title with a capital letter."""
    return section.title[0].upper() + section.title[1:]


def show(entry: Any) -> str:
    """Return an entry of a table for people.

    Examples
    --------
    >>> show(0.61234), show(12345), show(None), show(True)
    ('0.612', '12,345', '', 'yes')
    """
    if entry is None:
        return ""
    if isinstance(entry, bool):
        return "yes" if entry else "no"
    if isinstance(entry, int):
        return f"{entry:,}"
    if isinstance(entry, float):
        return f"{entry:.3f}" if abs(entry) < 10 else f"{entry:,.1f}"
    return str(entry)


def columns_of(table: Table) -> list[str]:
    """Return the columns that can be shown: those without lists in them."""
    return list(dict.fromkeys(name for row in table for name, entry in row.items() if not isinstance(entry, list)))


def verdict(claim: Claim) -> str:
    """Return whether a claim holds, in words."""
    return {True: "holds", False: "does not hold", None: "not measured"}[claim.holds]


def html_page(title: str, about: str, sections: Iterable[Section]) -> str:
    """Return the whole page."""
    several = list(sections)
    style = files("besvm.report").joinpath("page.css").read_text()
    parts = [
        "<!doctype html>",
        '<html lang="en"><head><meta charset="utf-8">',
        '<meta name="viewport" content="width=device-width, initial-scale=1">',
        '<link rel="icon" href="data:,">',
        f"<title>{escape(title)}</title><style>{style}</style></head><body>",
        f'<h1>{escape(title)}</h1><p class="about">{escape(about)}</p>',
        "<nav>" + "".join(f'<a href="#{escape(s.name)}">{escape(s.name)}</a> ' for s in several) + "</nav>",
        _claims([claim for section in several for claim in section.claims]),
    ]
    parts += [_section(section) for section in several]
    return "\n".join([*parts, "</body></html>"]) + "\n"


def _claims(claims: list[Claim]) -> str:
    if not claims:
        return ""
    counts = {
        word: sum(verdict(claim) == word for claim in claims) for word in ("holds", "does not hold", "not measured")
    }
    line = ", ".join(f"{count} {word}" for word, count in counts.items() if count)
    rows = []
    for claim in claims:
        look = {True: "holds", False: "fails", None: "note"}[claim.holds]
        rows.append(
            f"<tr><td>{escape(claim.sentence)}</td><td>{escape(claim.measured)}</td>"
            f'<td class="{look}">{verdict(claim)}</td></tr>'
        )
    return (
        f'<h2 id="claims">What the paper claims, and what was measured</h2><p>{len(claims)} sentences: {line}.</p>'
        '<table class="claims"><thead><tr><th>claim</th><th>measured</th><th>verdict</th></tr></thead><tbody>'
        + "".join(rows)
        + "</tbody></table>"
    )


def _section(section: Section) -> str:
    parts = [f'<h2 id="{escape(section.name)}">{escape(heading(section))}</h2>']
    parts.append(f"<blockquote><b>The paper:</b> {escape(section.paper)}</blockquote>")
    if section.note:
        parts.append(f'<p class="note">{escape(section.note)}</p>')
    for name, svg in section.figures.items():
        source = f"data:image/svg+xml;base64,{base64.b64encode(svg).decode()}"
        parts.append(f'<figure><img src="{source}" alt="{escape(section.title)}: {escape(name)}"></figure>')
    if section.table:
        parts.append(_table(section.table))
        parts.append(
            f'<p class="note">Every row: <a href="tables/{section.name}.csv">{section.name}.csv</a>, '
            f'<a href="tables/{section.name}.json">{section.name}.json</a></p>'
        )
    parts += [f'<p class="note">Left out: {escape(text)}</p>' for text in section.left_out]
    return "\n".join(parts)


def _table(table: Table) -> str:
    columns = columns_of(table)
    head = "".join(f"<th>{escape(name.replace('_', ' '))}</th>" for name in columns)
    rows = ("<tr>" + "".join(f"<td>{escape(show(row.get(name)))}</td>" for name in columns) + "</tr>" for row in table)
    return f'<div class="scroll"><table><thead><tr>{head}</tr></thead><tbody>{"".join(rows)}</tbody></table></div>'


def markdown_page(title: str, about: str, sections: Iterable[Section], figures: str) -> str:
    """Return the same in Markdown; ``figures`` is the folder of the PNG files, as seen from the page."""
    several = list(sections)
    claims = [claim for section in several for claim in section.claims]
    lines = [f"# {title}", "", about, "", "## What the paper claims, and what was measured", ""]
    lines += _markdown_table([{"claim": c.sentence, "measured": c.measured, "": verdict(c)} for c in claims])
    for section in several:
        lines += ["", f"## {heading(section)}", "", f"> The paper: {section.paper}", ""]
        if section.note:
            lines += [section.note, ""]
        for name in section.figures:
            lines += [f"![{section.title}: {name}]({figures}/{name}.png)", ""]
        lines += _markdown_table(section.table)
        for text in section.left_out:
            lines += ["", f"Left out: {text}"]
    return "\n".join(lines) + "\n"


def _markdown_table(table: Table) -> list[str]:
    if not table:
        return []
    columns = columns_of(table)
    lines = ["| " + " | ".join(name.replace("_", " ") for name in columns) + " |", "|" + " --- |" * len(columns)]
    for row in table:
        lines.append("| " + " | ".join(show(row.get(name)).replace("|", "\\|") for name in columns) + " |")
    return lines
