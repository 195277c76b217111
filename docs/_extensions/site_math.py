"""Show formulas as MathML, made of their LaTeX while the site is built: readers need no program and no network.

``$...$`` and ``$$...$$`` in Markdown, ``:math:`` and ``.. math::`` in docstrings and tutorials. A block with a label
(``$$ ... $$ (name)``) is numbered; one with ``\\tag{7}`` shows that number, as a formula of a paper has it. LaTeX that
latex2mathml does not know is an error of the build.
"""

from __future__ import annotations

import re
import unicodedata
from typing import Any
from xml.etree import ElementTree

from docutils import nodes
from latex2mathml.converter import convert
from sphinx.application import Sphinx
from sphinx.util import logging
from sphinx.util.math import get_node_equation_number

LOG = logging.getLogger(__name__)
NAMESPACE = "http://www.w3.org/1998/Math/MathML"
TAG = re.compile(r"\\tag\{([^{}]*)\}")
OPERATOR = re.compile(r"\\operatorname\*?\{([^{}]*)\}")
BOLD = {"bold": "BOLD", "bold-italic": "BOLD ITALIC"}
LETTERS = "LATIN", "GREEK"
ACCENTS = {"~": "\u02dc", "^": "\u02c6"}  # those of the keyboard would strike through the letter


class UnknownLaTeXError(ValueError):
    """LaTeX that cannot be shown, with what is wrong."""


def formula(latex: str, display: str = "inline") -> str:
    """Return LaTeX as MathML; ``display`` is "inline" or "block".

    Examples
    --------
    >>> "<mfrac>" in formula(r"\\frac{1}{2}")
    True
    """
    latex = TAG.sub("", latex).strip()
    latex = re.sub(r"\\(begin|end)\{(aligned|split|gathered)\}", r"\\\1{align*}", latex)
    latex = OPERATOR.sub(lambda found: r"\mathrm{" + found[1].replace(r"\,", r"\;") + "}", latex)
    if r"\\" in latex and r"\begin" not in latex:
        latex = rf"\begin{{align*}}{latex}\end{{align*}}"
    try:
        text = convert(latex, display=display)
        root = ElementTree.fromstring(text)
    except Exception as error:
        raise UnknownLaTeXError(f"{type(error).__name__} in {latex!r}") from error
    for element in root.iter():
        _as_browsers_know(element, latex)
    ElementTree.register_namespace("", NAMESPACE)
    return ElementTree.tostring(root, encoding="unicode")


def _as_browsers_know(element: ElementTree.Element, latex: str) -> None:
    """Replace what MathML Core, and so a browser, leaves out; refuse what was not understood."""
    if element.text and ("\\" in element.text or element.text == "&"):
        raise UnknownLaTeXError(f"{element.text} in {latex!r}")
    if element.tag.endswith("mspace") and element.get("linebreak"):
        raise UnknownLaTeXError(rf"a line break (\\) outside of an environment in {latex!r}")
    align = element.attrib.pop("columnalign", None)
    if align and element.tag.endswith("mtd"):
        element.set("style", f"text-align: {align}")
    element.attrib.pop("columnspacing", None)
    element.attrib.pop("rowspacing", None)
    if element.tag.endswith("mover") and len(element) == 2:
        element.set("accent", "true")
        element[1].text = ACCENTS.get(element[1].text or "", element[1].text)
    variant = BOLD.get(element.get("mathvariant", ""))
    if variant and element.text and len(element.text) == 1:
        element.text = _letter(element.text, variant)
        del element.attrib["mathvariant"]


def _letter(character: str, variant: str) -> str:
    """Return a letter in its mathematical form, such as bold; any other character as it is."""
    words = unicodedata.name(character, "").split()
    if len(words) < 4 or words[0] not in LETTERS or words[2] != "LETTER":
        return character
    size = {"CAPITAL": "CAPITAL", "SMALL": "SMALL"}.get(words[1], "")
    try:
        return unicodedata.lookup(f"MATHEMATICAL {variant} {size} {' '.join(words[3:])}")
    except KeyError:
        return character


def _shown(node: nodes.Element, display: str) -> str:
    """Return the formula of a node, or its LaTeX with a warning."""
    latex = node.astext()
    try:
        return formula(latex, display)
    except UnknownLaTeXError as error:
        LOG.warning("this formula cannot be shown: %s", error, location=node, type="math")
        return f"<code>{latex.replace('&', '&amp;').replace('<', '&lt;')}</code>"


def visit_math(self: Any, node: nodes.math) -> None:
    """Write a formula within a line."""
    self.body.append(self.starttag(node, "span", "", CLASS="math notranslate nohighlight"))
    self.body.append(_shown(node, "inline") + "</span>")
    raise nodes.SkipNode


def visit_math_block(self: Any, node: nodes.math_block) -> None:
    """Write a formula on lines of its own, with its number if it has one."""
    self.body.append(self.starttag(node, "div", CLASS="math notranslate nohighlight"))
    tag = TAG.search(node.astext())
    number = tag[1] if tag else get_node_equation_number(self, node) if node.get("number") else None
    self.body.append(f'<div class="formula">{_shown(node, "block")}</div>')
    if number:
        self.body.append(f'<span class="eqno">({number})')
        if node.get("ids"):
            self.add_permalink_ref(node, "Link to this equation")
        self.body.append("</span>")
    self.body.append("</div>\n")
    raise nodes.SkipNode


def setup(app: Sphinx) -> dict[str, Any]:
    """Make it the renderer named "mathml"."""
    app.add_html_math_renderer("mathml", (visit_math, None), (visit_math_block, None))
    return {"parallel_read_safe": True, "parallel_write_safe": True}
