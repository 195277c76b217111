"""The page: every figure and table beside what the paper says, in one HTML file that needs nothing else."""

from __future__ import annotations

import base64
from collections.abc import Iterable
from dataclasses import dataclass, field
from html import escape
from importlib.resources import files
from typing import Any

from besvm._support.units import show_seconds
from besvm.reproduction.base import FAILS, HOLDS, OURS, PAPER, VERDICTS, Claim, Table


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


def heading(section: Section) -> str:
    """Return the title with a capital letter."""
    return section.title[0].upper() + section.title[1:]


def took(section: Section) -> str:
    """Return how long an experiment took, if that is known."""
    return f"It took {show_seconds(section.seconds)}." if section.seconds else ""


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


def columns_of(table: Table) -> list[str]:
    """Return the columns that can be shown: those without lists in them."""
    return list(dict.fromkeys(name for row in table for name, entry in row.items() if not isinstance(entry, list)))


def html_page(title: str, about: str, sections: Iterable[Section], warning: str = "") -> str:
    """Return the whole page."""
    several = list(sections)
    style = files("besvm.reproduction").joinpath("page.css").read_text()
    parts = [
        "<!doctype html>",
        '<html lang="en"><head><meta charset="utf-8">',
        '<meta name="viewport" content="width=device-width, initial-scale=1">',
        '<link rel="icon" href="data:,">',
        f"<title>{escape(title)}</title><style>{style}</style></head><body>",
        f'<h1>{escape(title)}</h1><p class="about">{escape(about)}</p>',
        *([f'<p class="warning">{escape(warning)}</p>'] if warning else []),
        "<nav>" + "".join(f'<a href="#{escape(s.name)}">{escape(s.name)}</a> ' for s in several) + "</nav>",
        _claims(several),
    ]
    parts += [_section(section) for section in several]
    return "\n".join([*parts, "</body></html>"]) + "\n"


CLAIMS = {
    PAPER: ("claims", "What the paper claims, and what was measured"),
    OURS: ("aims", "What we claim beyond the paper, and what was measured"),
}


def claims_of(sections: Iterable[Section], origin: str) -> list[tuple[Section, Claim]]:
    """Return the claims of the paper, or ours, each with its section."""
    return [(section, claim) for section in sections for claim in section.claims if claim.origin == origin]


def tally(claims: Iterable[Claim]) -> str:
    """Return how many claims got each verdict, in words.

    Examples
    --------
    >>> tally([Claim("a", "a > b", "1 and 0", "holds"), Claim("b", "b > a", "0 and 1", "does not hold")])
    '2 sentences: 1 holds, 1 does not hold.'
    """
    verdicts = [claim.verdict for claim in claims]
    plural = {"holds": "hold", "does not hold": "do not hold"}
    counts = [(verdicts.count(word), word) for word in VERDICTS if word in verdicts]
    parts = ", ".join(f"{n} {word if n == 1 else plural.get(word, word)}" for n, word in counts)
    return f"{len(verdicts)} {'sentence' if len(verdicts) == 1 else 'sentences'}: {parts}."


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
    parts = [f'<h2 id="{escape(section.name)}">{escape(heading(section))}</h2>']
    parts.append(f"<blockquote><b>The paper:</b> {escape(section.paper)}</blockquote>")
    if section.note:
        parts.append(f'<p class="note">{escape(section.note)}</p>')
    for name, svg in section.figures.items():
        source = f"data:image/svg+xml;base64,{base64.b64encode(svg).decode()}"
        caption = section.captions.get(name, heading(section))
        parts.append(
            f'<figure><div class="scroll"><img src="{source}" alt="{escape(section.title)}: {escape(name)}"></div>'
            f"<figcaption>{escape(caption)}</figcaption></figure>"
        )
    if section.table:
        parts.append(_table(section.table))
        parts.append(
            f'<p class="note">Every row: <a href="tables/{section.name}.csv">{section.name}.csv</a>, '
            f'<a href="tables/{section.name}.json">{section.name}.json</a>. {took(section)}</p>'
        )
    parts += [f'<p class="note">Left out: {escape(text)}</p>' for text in section.left_out]
    return "\n".join(parts)


def _table(table: Table) -> str:
    columns = columns_of(table)
    head = "".join(f"<th>{escape(name.replace('_', ' '))}</th>" for name in columns)
    rows = ("<tr>" + "".join(f"<td>{escape(show(row.get(name)))}</td>" for name in columns) + "</tr>" for row in table)
    return f'<div class="scroll"><table><thead><tr>{head}</tr></thead><tbody>{"".join(rows)}</tbody></table></div>'


def markdown_page(title: str, about: str, sections: Iterable[Section], figures: str, warning: str = "") -> str:
    """Return the same in Markdown; ``figures`` is the folder of the PNG files, as seen from the page."""
    several = list(sections)
    lines = [f"# {title}", "", about, *(["", f"**{warning}**"] if warning else [])]
    for origin, (_, heading_of_claims) in CLAIMS.items():
        found = [claim for _, claim in claims_of(several, origin)]
        if found:
            said = tally(found) + (f" {noise(several)}" if origin == PAPER else "")
            rows = [
                {"claim": c.sentence, "measured": c.measured, "holds if": c.criterion, "verdict": c.verdict}
                for c in found
            ]
            lines += ["", f"## {heading_of_claims}", "", said, "", *_markdown_table(rows)]
    for section in several:
        lines += ["", f"## {heading(section)}", "", f"> The paper: {section.paper}", ""]
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
        lines += ["", took(section)] if section.table and section.seconds else []
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
