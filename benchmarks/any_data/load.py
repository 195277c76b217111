"""The data sets by name, in the form that they are compared in."""

from __future__ import annotations

from typing import Any

import numpy as np

from benchmarks.any_data import parse
from benchmarks.fetch import content

SERIES = (
    *("ACSF1", "ArrowHead", "BasicMotions", "Coffee", "GunPoint", "ItalyPowerDemand"),
    *("JapaneseVowels", "OSULeaf", "PickupGestureWiimoteZ", "Trace"),
)
RECORDS = {  # each with its class, and columns that name the row rather than describe it
    "cars": ("Origin", ("Name", "Year")),
    "heart": ("diameter narrowing", ()),
    "penguins": ("sex", ()),
    "titanic": ("survived", ()),
}


def series(name: str) -> tuple[Any, np.ndarray, Any, np.ndarray]:
    """Return (X, y, X_test, y_test) of the set's own split; X (n, channels, moments), a list if the lengths differ."""
    parts = []
    for part in ("train", "test"):
        if name == "Trace":
            X, y = parse.npz(content(name), part)
        elif name == "Coffee":
            X, y = parse.columns(_text(name, f"Coffee_{part.upper()}.txt"))
        else:
            X, y = parse.ts(_text(name, f"{name}_{part.upper()}.ts"))
        parts += [X, y]
    X, y, X_test, y_test = parts
    if len({one.shape for one in X + X_test}) == 1:
        X, X_test = np.stack(X), np.stack(X_test)
    return X, y, X_test, y_test


def names() -> tuple[list[str], np.ndarray]:
    """Return first names that are given to women or to men, not to both, with 1 for women."""
    women, men = ({name.strip() for name in _text(f"{who}-names").split("\n")} - {""} for who in ("female", "male"))
    found = sorted(women ^ men)
    return found, np.array([int(name in women) for name in found])


def news() -> tuple[list[str], np.ndarray, list[str], np.ndarray]:
    """Return (texts, topics, test texts, test topics) of Reuters' eight most frequent topics, in their own split."""
    parts: list[Any] = []
    for part in ("train", "test"):
        rows = parse.tab(_text("reuters-r8", f"reuters-r8-{part}.tab"))
        parts += [[row["Text"] for row in rows], np.array([row["Category"] for row in rows])]
    return tuple(parts)  # type: ignore[return-value]


def peptides(name: str) -> tuple[list[str], np.ndarray]:
    """Return sequences of amino acids, every one once, and 1 for those that act against microbes or cancer.

    A sequence that is there twice, as 558 of the antimicrobial ones are, would be trained on and tested as well.
    """
    sequences, labels = parse.peptides(_text(name))
    known = dict(zip(sequences, labels, strict=True))
    unsure = {sequence for sequence, label in zip(sequences, labels, strict=True) if known[sequence] != label}
    found = [sequence for sequence in known if sequence not in unsure]
    return found, np.array([known[sequence] for sequence in found])


def mutag() -> tuple[list[parse.Graph], np.ndarray]:
    """Return 188 molecules as graphs, and whether each is mutagenic."""
    parts = ("A", "graph_indicator", "graph_labels", "node_labels")
    return parse.graphs(*(_text("mutag", f"MUTAG_{part}.txt") for part in parts))


def records(name: str) -> tuple[Any, np.ndarray]:
    """Return a DataFrame of numbers and categories with gaps, and the classes."""
    text = _text(name)
    read = {"cars": parse.json_rows, "penguins": parse.comma_separated}.get(name, parse.tab)
    return parse.records(read(text), *RECORDS[name])


def _text(name: str, file: str | None = None) -> str:
    return content(name, file).decode("utf-8")
