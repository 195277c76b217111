"""Formulas, links and transcripts: what the pages are made with."""

import subprocess
import sys
from pathlib import Path

import pytest
import transcripts
from check_links import problems
from site_links import turned

DOCS = Path(__file__).parent.parent.parent / "docs"


@pytest.mark.parametrize(
    ("latex", "within"),
    [
        (r"\frac{1}{2}", "<mfrac>"),
        (r"\begin{aligned} a &= b \\ c &= d \end{aligned}", "text-align: right"),
        (r"a \\ b", "<mtr>"),
        (r"\boldsymbol{w}", "𝒘"),
        (r"\mathbf{K}", "𝐊"),
        (r"\operatorname*{arg\,max}_x f(x)", "<msub>"),
        (r"\lVert w \rVert^2 \tag{3}", "‖"),
        (r"\mathbb{E}[\tilde\varphi]", "𝔼"),
        (r"a < b", "&lt;"),
    ],
)
def test_formulas_become_mathml(latex, within):
    formula = pytest.importorskip("site_math").formula
    shown = formula(latex, "block")
    assert shown.startswith('<math xmlns="http://www.w3.org/1998/Math/MathML" display="block">')
    assert within in shown
    assert "(3)" not in shown  # the number stands beside it
    assert "mathvariant" not in shown or "normal" in shown


@pytest.mark.parametrize("latex", [r"\bogus x", r"\frac{1}{", r"a & b"])
def test_latex_that_cannot_be_shown_is_an_error(latex):
    site_math = pytest.importorskip("site_math")
    with pytest.raises(site_math.UnknownLaTeXError):
        site_math.formula(latex)


@pytest.mark.parametrize(
    ("folder", "link", "to"),
    [
        (DOCS, "[a](../examples/tutorials/first_steps.py)", "[a](tutorials/first_steps.rst)"),
        (DOCS, "[a](../examples/tutorials/)", "[a](tutorials/index.rst)"),
        (DOCS, "[a](guide.md#choosing-c)", "[a](guide.md#choosing-c)"),
        (DOCS, "[a](#here), [b](https://x.org/y)", "[a](#here), [b](https://x.org/y)"),
        (DOCS, "![a](parts.png)", "![a](parts.png)"),
        (DOCS.parent, "[a](docs/guide.md)", "[a](guide.md)"),
        (DOCS.parent, "[a](CHANGELOG.md)", "[a](changelog.md)"),
        (DOCS.parent, "[the license](LICENSE)", "the license (`LICENSE`)"),
        (DOCS.parent, "[`.ci/run`](.ci/run)", "`.ci/run`"),
    ],
)
def test_links_of_the_repository_lead_to_pages(folder, link, to):
    assert turned(link, folder, DOCS) == to


def test_dead_links_are_found(tmp_path):
    (tmp_path / "b.html").write_text('<p id="here">')
    (tmp_path / "a.html").write_text(
        '<a href="b.html#here"><a href="b.html#there"><a href="c.html"><a href="#top"><a href="https://x.org">'
        '<a href="http://nowhere"><img src="d.png"><script src="https://cdn.x.org/e.js"></script>'
        '<a href="../../out.html">'
    )
    wrong, elsewhere = problems(tmp_path)
    assert [line.split()[1] for line in wrong[:6]] == [
        *("loads", "b.html#there", "c.html", "#top", "../../out.html", "d.png")
    ]
    assert wrong[6] == "http://nowhere is no address"
    assert elsewhere == {"https://x.org", "http://nowhere", "https://cdn.x.org/e.js"}


@pytest.mark.slow
@pytest.mark.parametrize("page", transcripts.PAGES)
def test_what_pages_tell_readers_to_run_shows_what_they_say(page):
    command = [sys.executable, DOCS / "transcripts.py", "--check", page]
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
