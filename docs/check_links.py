"""Follow every link of the built site: pages, anchors, pictures, scripts and styles.

    python docs/check_links.py site

What lies within the site must be there. What a page loads must lie within the site, so that it is whole without a
network. Links to elsewhere are not followed, but must be well-formed.
"""

from __future__ import annotations

import posixpath
import re
import sys
from dataclasses import dataclass, field
from html.parser import HTMLParser
from pathlib import Path
from urllib.parse import unquote, urlsplit

LOADED = {("img", "src"), ("script", "src"), ("source", "src"), ("video", "src"), ("iframe", "src"), ("object", "data")}
STYLES = re.compile(r"url\(\s*['\"]?([^'\")]+)")


@dataclass
class Page(HTMLParser):
    """What a page links to, what it loads, and the anchors that it has."""

    text: str
    links: list[str] = field(default_factory=list)
    loads: list[str] = field(default_factory=list)
    anchors: set[str] = field(default_factory=set)

    def __post_init__(self) -> None:
        super().__init__()
        self.feed(self.text)

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        """Take down one element."""
        given = {name: value or "" for name, value in attrs}
        self.anchors |= {given[name] for name in ("id", "name") if name in given}
        self.loads += [value for name, value in given.items() if (tag, name) in LOADED]
        for part in given.get("srcset", "").split(","):
            self.loads += part.split()[:1]
        if tag == "link" and given.get("rel") in ("stylesheet", "icon", "preload"):
            self.loads.append(given["href"])
        elif "href" in given:
            self.links.append(given["href"])


def problems(site: Path) -> tuple[list[str], set[str]]:
    """Return everything that is wrong, and the links that lead elsewhere."""
    files = {path.relative_to(site).as_posix() for path in site.rglob("*") if path.is_file()}
    pages = {name: Page((site / name).read_text()) for name in sorted(files) if name.endswith(".html")}
    wrong, elsewhere = [], set()
    for at, page in pages.items():
        wrong += [f"{at} loads {link} from elsewhere" for link in page.loads if urlsplit(link).netloc]
        for link in dict.fromkeys([*page.links, *page.loads]):
            parts = urlsplit(link)
            if parts.scheme in ("http", "https"):
                elsewhere.add(link)
            elif parts.scheme == "" and not parts.netloc:
                to = target(at, unquote(parts.path), files)
                if to not in files:
                    wrong.append(f"{at}: {link} leads to a file that is not there")
                elif parts.fragment and to in pages and unquote(parts.fragment) not in pages[to].anchors:
                    wrong.append(f"{at}: {link} leads to a place that is not on that page")
            elif parts.scheme not in ("mailto", "data"):
                wrong.append(f"{at}: {link} is no link")
    wrong += [f"{link} is no address" for link in sorted(elsewhere) if "." not in (urlsplit(link).hostname or "")]
    for name in sorted(name for name in files if name.endswith(".css")):
        loads = STYLES.findall((site / name).read_text())
        wrong += [f"{name} loads {link} from elsewhere" for link in loads if urlsplit(link).netloc]
    return wrong, elsewhere


def target(page: str, to: str, files: set[str]) -> str:
    """Return the file that a link of a page leads to, seen from the root of the site."""
    path = posixpath.normpath(posixpath.join("/" + posixpath.dirname(page), to)).lstrip("/") if to else page
    whole = posixpath.normpath(posixpath.join(posixpath.dirname(page), to))
    if whole.startswith(".."):
        return whole  # out of the site
    return path if path in files else posixpath.join(path, "index.html")


def main(site: Path) -> None:
    """Say what was found, and fail if anything is wrong."""
    wrong, elsewhere = problems(site.resolve())
    n = len(list(site.rglob("*.html")))
    if not n:
        sys.exit(f"there is no page in {site}")
    if wrong:
        sys.exit("\n".join([f"{len(wrong)} links lead nowhere:", *wrong]))
    print(
        f"{n} pages; every link within the site leads somewhere, {len(elsewhere)} lead elsewhere and were not followed"
    )


if __name__ == "__main__":
    main(Path(sys.argv[1]))
