"""One look for all pages: the style that they share, and their own."""

from importlib.resources import files


def page_style(package: str, *names: str) -> str:
    """Return the style of a page: what all pages share, then the files ``names`` of ``package``."""
    own = files(package)
    parts = [files("besvm._support").joinpath("style.css"), *(own.joinpath(name) for name in names)]
    return "".join(part.read_text(encoding="utf-8") for part in parts)
