"""The page: every figure and table beside what the paper says, in one HTML file that needs nothing else."""

from __future__ import annotations

import base64
from collections.abc import Iterable
from html import escape
from importlib.resources import files
from typing import Any

from besvm.reproduction.claims import FAILS, HOLDS, OURS, PAPER, Claim, tally
from besvm.reproduction.sections import Page, Section
from besvm.reproduction.tables import Table, columns_of

TITLE = "BE-SVM: the paper, reproduced"


def show(entry: Any) -> str:
    """Return an entry of a table for people.

    Examples
    --------
    >>> show(0.61234), show(12345), show(None), show(True)
    ('0.612', '12,345', '', 'yes')
    >>> show(2.2), show(12.5), show(0.0)
    ('2.2', '12.5', '0')
    """
    if entry is None:
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
    style = files("besvm.reproduction").joinpath("page.css").read_text()
    parts = [
        "<!doctype html>",
        '<html lang="en"><head><meta charset="utf-8">',
        '<meta name="viewport" content="width=device-width, initial-scale=1">',
        '<link rel="icon" href="data:,">',
        f"<title>{TITLE}</title><style>{style}</style></head><body>",
        f'<h1>{TITLE}</h1><p class="about">{escape(page.about)}</p>',
        *([f'<p class="warning">{escape(page.warning)}</p>'] if page.warning else []),
        "<nav>" + "".join(f'<a href="#{escape(s.name)}">{escape(s.name)}</a> ' for s in page.sections) + "</nav>",
        _claims(page.sections),
    ]
    parts += [_section(section) for section in page.sections]
    return "\n".join([*parts, "</body></html>"]) + "\n"


CLAIMS = {
    PAPER: ("claims", "What the paper claims, and what was measured"),
    OURS: ("aims", "What we claim beyond the paper, and what was measured"),
}


def claims_of(sections: Iterable[Section], origin: str) -> list[tuple[Section, Claim]]:
    """Return the claims of the paper, or ours, each with its section."""
    return [(section, claim) for section in sections for claim in section.claims if claim.origin == origin]


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


def _claims(sections: list[Section]) -> str:
    parts = []
    for origin, (name, title) in CLAIMS.items():
        found = claims_of(sections, origin)
        if not found:
            continue
        rows = []
        for section, claim in found:
            look = {HOLDS: "holds", FAILS: "fails"}.get(claim.verdict, "note")
            rows.append(
                f'<tr><td>{escape(claim.sentence)} <a href="#{escape(section.name)}">{escape(section.name)}</a></td>'
                f"<td>{escape(claim.measured)}"
                f'<span class="criterion">Holds if {escape(claim.criterion)}.</span></td>'
                f'<td class="{look}">{claim.verdict}</td></tr>'
            )
        said = tally(claim for _, claim in found) + (f" {noise(sections)}" if origin == PAPER else "")
        parts.append(
            f'<h2 id="{name}">{title}</h2><p>{escape(said)}</p>'
            '<table class="claims"><thead><tr><th>claim</th><th>measured</th><th>verdict</th></tr></thead><tbody>'
            + "".join(rows)
            + "</tbody></table>"
        )
    return "\n".join(parts)


def _section(section: Section) -> str:
    parts = [f'<h2 id="{escape(section.name)}">{escape(section.heading)}</h2>']
    parts.append(f"<blockquote><b>The paper:</b> {escape(section.paper)}</blockquote>")
    if section.note:
        parts.append(f'<p class="note">{escape(section.note)}</p>')
    for name, svg in section.figures.items():
        source = f"data:image/svg+xml;base64,{base64.b64encode(svg).decode()}"
        caption = section.captions.get(name, section.heading)
        parts.append(
            f'<figure><div class="scroll"><img src="{source}" alt="{escape(section.title)}: {escape(name)}"></div>'
            f"<figcaption>{escape(caption)}</figcaption></figure>"
        )
    if section.table:
        parts.append(_table(section.table))
        parts.append(
            f'<p class="note">Every row: <a href="tables/{section.name}.csv">{section.name}.csv</a>, '
            f'<a href="tables/{section.name}.json">{section.name}.json</a>. {section.took}</p>'
        )
    parts += [f'<p class="note">Left out: {escape(text)}</p>' for text in section.left_out]
    return "\n".join(parts)


def _table(table: Table) -> str:
    columns = columns_of(table)
    head = "".join(f"<th>{escape(name.replace('_', ' '))}</th>" for name in columns)
    rows = ("<tr>" + "".join(f"<td>{escape(show(row.get(name)))}</td>" for name in columns) + "</tr>" for row in table)
    return f'<div class="scroll"><table><thead><tr>{head}</tr></thead><tbody>{"".join(rows)}</tbody></table></div>'


def markdown_page(page: Page, figures: str) -> str:
    """Return the page in Markdown; ``figures`` is the folder of the PNG files, as seen from the page."""
    lines = [f"# {TITLE}", "", page.about, *(["", f"**{page.warning}**"] if page.warning else [])]
    for origin, (_, heading_of_claims) in CLAIMS.items():
        found = [claim for _, claim in claims_of(page.sections, origin)]
        if found:
            said = tally(found) + (f" {noise(page.sections)}" if origin == PAPER else "")
            rows = [
                {"claim": c.sentence, "measured": c.measured, "holds if": c.criterion, "verdict": c.verdict}
                for c in found
            ]
            lines += ["", f"## {heading_of_claims}", "", said, "", *_markdown_table(rows)]
    for section in page.sections:
        lines += ["", f"## {section.heading}", "", f"> The paper: {section.paper}", ""]
        if section.note:
            lines += [section.note, ""]
        for name in section.figures:
            caption = section.captions.get(name)
            lines += [
                f"![{section.title}: {name}]({figures}/{name}.png)",
                "",
                *([f"*{caption}*", ""] if caption else []),
            ]
        lines += _markdown_table(section.table)
        lines += ["", section.took] if section.table and section.seconds else []
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
