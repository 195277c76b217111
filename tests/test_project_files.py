"""The files about the project say what is true: citation, changelog, contributing, extras, templates."""

import datetime
import doctest
import re
import tomllib
from pathlib import Path

import pytest
import yaml

ROOT = Path(__file__).parent.parent
PROJECT = tomllib.loads((ROOT / "pyproject.toml").read_text())["project"]
EXTRAS = PROJECT["optional-dependencies"]
FOR_DEVELOPERS = {"test", "docs"}
OF_OTHERS = {"all", "tutorials"}  # made of other extras
PAGES = ("README.md", "CHANGELOG.md", "CONTRIBUTING.md", "SECURITY.md", "docs/installing.md")
CHANGES = ("Added", "Changed", "Deprecated", "Removed", "Fixed", "Security")  # in the order of Keep a Changelog


def packages(extra: str) -> list[str]:
    return [re.match(r"[\w-]+", line).group() for line in EXTRAS[extra]]


def test_the_extra_all_has_every_extra_for_users():
    (line,) = EXTRAS["all"]
    assert line == f"besvm[{','.join(sorted(set(EXTRAS) - FOR_DEVELOPERS - OF_OTHERS))}]"


def test_the_page_lists_every_extra_with_its_packages():
    rows = re.findall(r"^\| `(\w+)` \| (.+?) \| (.+?) \|$", (ROOT / "docs" / "installing.md").read_text(), flags=re.M)
    listed = {extra: inside.split(", ") for extra, inside, _ in rows}
    assert EXTRAS["tutorials"][0] == "besvm[all]"
    assert listed == {extra: packages(extra) for extra in EXTRAS if extra not in FOR_DEVELOPERS | OF_OTHERS} | {
        "all": ["all of the above"],
        "tutorials": ["all of the above", *packages("tutorials")[1:]],
    }


@pytest.mark.parametrize("page", sorted({*ROOT.glob("*.md"), *ROOT.glob("docs/*.md")}), ids=lambda path: path.name)
def test_extras_that_pages_mention_exist(page):
    named = re.findall(r"(?:besvm|\.)\[([\w,-]+)\]", page.read_text())
    assert {extra for names in named for extra in names.split(",")} <= set(EXTRAS)


def test_python_versions_are_the_same_everywhere():
    named = re.findall(r"Python :: (3\.\d+)", " ".join(PROJECT["classifiers"]))
    assert PROJECT["requires-python"] == f">={named[0]}"
    assert f"Python {', '.join(named[:-1])} and {named[-1]}" in (ROOT / "docs" / "installing.md").read_text()


@pytest.mark.parametrize("page", PAGES)
def test_links_lead_somewhere(page):
    path = ROOT / page
    for target in re.findall(r"\]\(([^)#]+)[^)]*\)", path.read_text()):
        assert "://" in target or (path.parent / target).exists(), target


def test_the_citation_has_what_its_format_asks_for():
    """The required fields of version 1.2.0 of the Citation File Format, of the software and of the paper."""
    cited = yaml.safe_load((ROOT / "CITATION.cff").read_text())
    assert set(cited) >= {"cff-version", "message", "title", "authors"}
    assert (cited["cff-version"], cited["type"]) == ("1.2.0", "software")
    assert cited["version"] == PROJECT["version"], "set both when you make a release"
    assert cited["license"] == PROJECT["license"]
    assert cited["authors"] == [{"name": author["name"]} for author in PROJECT["authors"]]
    (paper,) = cited["references"]
    assert set(paper) >= {"type", "title", "authors", "year"}
    assert [(who["given-names"], who["family-names"]) for who in paper["authors"]] == [
        ("Omid", "Aghazadeh"),
        ("Stefan", "Carlsson"),
    ]
    assert paper["identifiers"][0]["value"].removeprefix("arXiv:") in paper["url"]


def test_the_changelog_has_the_usual_form():
    text = (ROOT / "CHANGELOG.md").read_text()
    versions = re.findall(r"^## (.+)$", text, flags=re.M)
    assert versions[0] == "Unreleased"
    for version in versions[1:]:
        (date,) = re.fullmatch(r"\d+\.\d+\.\d+ - (\d{4}-\d\d-\d\d)", version).groups()
        assert datetime.date.fromisoformat(date)
    for part in re.split(r"^## .+$", text, flags=re.M)[1:]:
        kinds = re.findall(r"^### (.+)$", part, flags=re.M)
        assert kinds == [kind for kind in CHANGES if kind in kinds]
        entries = re.findall(r"^- (.+(?:\n  .+)*)", part, flags=re.M)
        assert len(set(entries)) == len(entries)
        assert all(entry.endswith((".", ").")) for entry in entries), "entries are sentences"


def test_the_similarity_of_the_page_for_contributors_works():
    from besvm.testing import check_similarity

    (code,) = re.findall(r"```python\n(.*?)```", (ROOT / "CONTRIBUTING.md").read_text(), flags=re.S)
    names: dict[str, object] = {}
    exec(re.sub(r"^   ", "", code, flags=re.M), names)
    check_similarity(names["SharedWords"](), ["a rose", "a nose", "two noses and a rose", "Rose"])
    for test in doctest.DocTestFinder().find(names["SharedWords"], "SharedWords", module=False, globs=names):
        assert doctest.DocTestRunner(optionflags=doctest.NORMALIZE_WHITESPACE).run(test).failed == 0


def test_every_make_target_that_pages_name_exists():
    targets = set(re.findall(r"^([\w-]+):", (ROOT / "Makefile").read_text(), flags=re.M))
    for page in PAGES:
        assert set(re.findall(r"`make ([\w-]+)", (ROOT / page).read_text())) <= targets


@pytest.mark.skipif(not (ROOT / ".github").exists(), reason="only in the repository, not in the sdist")
def test_the_issue_forms_have_what_their_format_asks_for():
    forms = sorted((ROOT / ".github" / "ISSUE_TEMPLATE").glob("*.yml"))
    assert [form.stem for form in forms] == ["bug_report", "config", "feature_request", "new_similarity"]
    for form in forms:
        content = yaml.safe_load(form.read_text())
        if form.stem == "config":
            continue
        assert set(content) == {"name", "description", "labels", "body"}
        ids = [field["id"] for field in content["body"] if field["type"] != "markdown"]
        assert len(set(ids)) == len(ids) > 0
        for field in content["body"]:
            assert field["type"] in {"markdown", "textarea", "input", "dropdown", "checkboxes"}
            assert ("value" if field["type"] == "markdown" else "label") in field["attributes"]
