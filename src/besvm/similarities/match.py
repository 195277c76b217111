"""What there is to see when a sample and an exemplar are compared."""

from __future__ import annotations

from dataclasses import dataclass, fields, replace
from typing import Any

import numpy as np

Piece = tuple[int, int, int, int]


@dataclass(frozen=True, eq=False)
class Match:
    """How a sample and an exemplar match, for people to look at: what :meth:`Similarity.show` returns.

    All of it may be left out: a similarity says what it can. Explanations draw what is there, over an image, a series
    or a text.

    Attributes
    ----------
    caption : str
        What to say about it, in a few words.
    cells : ndarray of shape (h, w)
        Of grids of cells: what each cell adds to the similarity.
    moves : ndarray of shape (h, w, 2)
        How far from its own place, (dy, dx), each of these cells found its match in the other grid.
    rigid : tuple of int
        How far all of them moved together, (dy, dx).
    on : {"sample", "exemplar"}
        Whose cells these are; the other's moved.
    grid : tuple of int
        (h, w) of the grid that was compared, by which cells and places become pixels.
    places : ndarray of shape (regions, axes)
        Of parts: where in the sample the part was found, region by region: row and column, the time point, the
        character.
    scores : ndarray of shape (regions,)
        How well it fits there.
    mirrored : ndarray of shape (regions,)
        Whether it was found in the mirror.
    region : int
        Of parts: the region to look at, the place among ``places``; that where it fits best, or says most.
    size : tuple of int
        The size of the part: (rows, columns), (moments,) or (characters,).
    step : int
        How far apart the time points of a part are.
    pairs : ndarray of shape (k, 2)
        Of series: which time points of the sample were paired with which of the exemplar.
    pieces : list of (from, to, from, to)
        Of texts and sequences: what stands in the sample from one place up to another, and what it matches in the
        exemplar; of lists of tokens, places count tokens.
    values : list of (name, of the sample, of the exemplar, similarity)
        Of records: how alike each column is.
    sample, exemplar : object
        The variants that were compared, where they are others than the sample and the exemplar themselves.

    Examples
    --------
    >>> import numpy as np
    >>> from besvm.similarities import Match, Similarity
    >>> class SameStart(Similarity):
    ...     "How many characters two texts begin with alike."
    ...     def __call__(self, A, B):
    ...         return np.array([[self.length(a, b) for b in B] for a in A], dtype=float)
    ...     def length(self, a, b):
    ...         return next((k for k, (p, q) in enumerate(zip(a, b)) if p != q), min(len(a), len(b)))
    ...     def show(self, x, b):
    ...         n = self.length(x, b)
    ...         return Match(f"{n} characters alike", pieces=[(0, n, 0, n)])
    >>> SameStart().show("cart", "cats").to_dict()
    {'caption': '2 characters alike', 'pieces': [[0, 2, 0, 2]]}
    """

    caption: str = ""
    cells: np.ndarray | None = None
    moves: np.ndarray | None = None
    rigid: tuple[int, int] | None = None
    on: str = "sample"
    grid: tuple[int, int] | None = None
    places: np.ndarray | None = None
    scores: np.ndarray | None = None
    mirrored: np.ndarray | None = None
    region: int = 0
    size: tuple[int, ...] | None = None
    step: int = 1
    pairs: np.ndarray | None = None
    pieces: list[Piece] | None = None
    values: list[tuple[Any, Any, Any, float]] | None = None
    sample: Any = None
    exemplar: Any = None

    @property
    def in_mirror(self) -> bool:
        """Whether a part was found in the mirror, in the region to look at."""
        return self.mirrored is not None and bool(self.mirrored[self.region])

    @property
    def words(self) -> str:
        """What to say about it: the caption, and that a part was found in the mirror."""
        return ", ".join(filter(None, [self.caption, "in the mirror" if self.in_mirror else ""]))

    def of_column(self, column: int) -> Match:
        """Return the match in the region of one of an exemplar's columns, which go through all regions in turn."""
        return self if self.places is None else replace(self, region=column % len(self.places))

    def to_dict(self) -> dict[str, Any]:
        """Return what there is as plain values that JSON can hold; the variants themselves are left out."""
        out: dict[str, Any] = {}
        for field in fields(self):
            value = getattr(self, field.name)
            if field.name in ("sample", "exemplar") or value is None or value is field.default:
                continue
            if isinstance(value, np.ndarray):
                value = value.tolist()
            elif field.name == "values":
                value = [[str(name), str(x), str(b), float(similarity)] for name, x, b, similarity in value]
            elif isinstance(value, (list, tuple)):
                value = [list(map(int, one)) if isinstance(one, tuple) else int(one) for one in value]
            out[field.name] = value
        if self.words:
            out["caption"] = self.words
        if "cells" in out:
            out["on"] = self.on
        return out


def moved(what: str, dy: int, dx: int, unit: str = "cell") -> str:
    """Say how far something moved down and to the right; nothing if it did not."""
    parts = [
        f"{abs(by)} {unit}{'s' if abs(by) > 1 else ''} {after if by > 0 else before}"
        for by, before, after in ((dy, "up", "down"), (dx, "left", "right"))
        if by
    ]
    return f"{what} moved {' and '.join(parts)}" if parts else ""
