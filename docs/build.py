"""Write docs/benchmarks.md from the measured JSON and docs/api.md from the docstrings, and check every link."""

from __future__ import annotations

import inspect
import json
import re
import sys
from pathlib import Path
from typing import Any

import besvm
import besvm.basis
import besvm.datasets
import besvm.similarities
import besvm.testing

DOCS = Path(__file__).parent
ORDER = ("linear", "scaling", "tolerance", "features", "grid", "images", "startup")
MODULES = {
    "besvm": besvm.__all__,
    "besvm.similarities": besvm.similarities.__all__,
    "besvm.basis": ["RandomBasis", "IndexBasis", "KMedoidsBasis", "Exemplars"],
    "besvm.datasets": ["load_cifar10", "fetch_cifar10", "load_images", "make_toy"],
    "besvm.testing": ["check_similarity"],
}


def benchmarks() -> str:
    """Return the page of everything that was measured."""
    parts = [
        "# Benchmarks",
        "Written by `make docs` from the JSON beside this page, which `make bench` writes.",
        "Both sides of every comparison ran in one go, with nothing else running. Compare the ratios, not the seconds.",
    ]
    for name in ORDER:
        path = DOCS / "benchmarks" / f"{name}.json"
        if not path.exists():
            continue
        result = json.loads(path.read_text())
        machine = ", ".join(f"{key} {value}" for key, value in result["machine"].items())
        parts += [f"## {name}", result["what"], f"`{result['command']}` on: {machine}.", table(result["rows"])]
        if (DOCS / "benchmarks" / f"{name}.png").exists():
            parts.append(f"![{name}](benchmarks/{name}.png)")
        note = DOCS / "benchmarks" / f"{name}.md"
        if note.exists():
            parts.append(note.read_text().strip())
    return "\n\n".join(parts) + "\n"


def table(rows: list[dict[str, Any]]) -> str:
    """Return rows of plain values as a Markdown table."""
    columns = list(dict.fromkeys(key for row in rows for key in row))
    lines = ["| " + " | ".join(columns) + " |", "|" + "---|" * len(columns)]
    lines += ["| " + " | ".join(cell(row.get(column)) for column in columns) + " |" for row in rows]
    return "\n".join(lines)


def cell(value: Any) -> str:
    """Return a value as text, floats to three digits."""
    if value is None:
        return ""
    return f"{value:.3g}" if isinstance(value, float) else str(value)


def api() -> str:
    """Return the page of public names, each with its first sentence."""
    parts = ["# Public names", "Written by `make docs`. `help(name)` shows the whole docstring, with an example."]
    for module, names in MODULES.items():
        rows = []
        for name in names:
            thing = getattr(sys.modules[module], name)
            first = (inspect.getdoc(thing) or "").split("\n\n")[0].replace("\n", " ").replace("|", "\\|")
            rows.append({"name": f"`{name}`", "what it is": first})
        parts += [f"## {module}", table(rows)]
    return "\n\n".join(parts) + "\n"


def broken_links() -> list[str]:
    """Return every relative link, in the README and the docs, that leads nowhere."""
    found = []
    for page in [DOCS.parent / "README.md", DOCS.parent / "CHANGELOG.md", *DOCS.glob("*.md")]:
        for target in re.findall(r"\]\(([^)#]+)[^)]*\)", page.read_text()):
            if "://" not in target and not (page.parent / target).exists():
                found.append(f"{page.name}: {target}")
    return found


def main() -> None:
    """Write the pages, then check the links."""
    (DOCS / "benchmarks.md").write_text(benchmarks())
    (DOCS / "api.md").write_text(api())
    broken = broken_links()
    if broken:
        sys.exit("links that lead nowhere:\n" + "\n".join(broken))
    print("wrote docs/benchmarks.md and docs/api.md; every link leads somewhere")


if __name__ == "__main__":
    main()
