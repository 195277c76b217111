"""Parts of texts and sequences: substrings, found wherever they match best."""

from collections.abc import Callable
from typing import Any, ClassVar

import numpy as np

from besvm._support.parameters import is_whole, shown
from besvm.similarities.contract import register
from besvm.similarities.lookup import resolve
from besvm.similarities.parts.contract import PartSimilarity, Pieces, Placement, cut
from besvm.similarities.text import PartialRatio
from besvm.similarities.text_items import texts

COLUMNS = 256  # of the vectors by which a selector compares pieces: one for several pairs of characters


@register("text-parts")
class TextParts(PartSimilarity):
    """How well a piece of one text matches the best place of another.

    The exemplar b is ``length`` characters of a training text, and s(b, x) its best local match in x (equation 7 of
    the paper, with the place as the latent variable): that of :class:`PartialRatio`, between 0 and 1. A text that is
    shorter is a piece as a whole.

    Parameters
    ----------
    length : int, default=5
        How many characters a piece has.
    regions : int, default=1
        The places of a piece are cut into so many regions, one after the other; every region gives a column.
    similarity : Similarity, name or None, default=None
        Another local match: "align-local" for biological sequences, or
        ``LocalAlignment(normalize="exemplar")``, which does not depend on how long the sequences are.

    Examples
    --------
    >>> import numpy as np
    >>> from besvm.similarities import TextParts
    >>> parts = TextParts(length=4)
    >>> pieces = parts.draw(["a rose is a rose"], 2, np.random.default_rng(0))
    >>> pieces.items
    array(['s a ', 'ose '], dtype='<U4')
    >>> parts(["a rose is a rose", "an iris"], pieces.items).round(2)
    array([[1.  , 1.  ],
           [0.57, 0.4 ]], dtype=float32)
    >>> parts.alignment("a rose is a rose", "is a").place
    array([[7]])
    """

    kind: ClassVar[str] = "text"
    extra: ClassVar[str | None] = "text"

    def __init__(self, length: int = 5, regions: int = 1, *, similarity: Any = None) -> None:
        self.length = length
        self.regions = regions
        self.similarity = similarity

    def draw(self, samples: Any, each: int, rng: np.random.Generator) -> Pieces:
        self._check()
        samples = texts(samples)
        numbers = np.repeat(np.arange(len(samples)), each)
        n_places = np.array([self._n_places(text) for text in samples], dtype=np.intp)
        places = (rng.random(len(numbers)) * n_places[numbers]).astype(np.intp)
        items = [samples[number][place : place + self.length] for number, place in zip(numbers, places, strict=True)]
        return Pieces(np.array(items, dtype=f"<U{self.length}"), numbers, places[:, None])

    def as_vectors(self, pieces: Any) -> np.ndarray:
        """Return how often each pair of neighbors, ends included, occurs in a piece, scaled to length one."""
        out = np.zeros((len(pieces), COLUMNS), dtype=np.float32)
        for counts, piece in zip(out, texts(pieces), strict=True):
            codes = np.array([0, *map(ord, piece), 0])
            np.add.at(counts, (codes[:-1] * 31 + codes[1:]) % COLUMNS, 1)
            counts /= np.linalg.norm(counts)
        return out

    def against(self, basis: Any) -> Callable[[Any], np.ndarray]:
        self._check()
        pieces, each = texts(basis), self.n_regions
        compare = self._inner().against(pieces)

        def similarities(A: Any) -> np.ndarray:
            samples = texts(A)
            out = np.empty((len(samples), len(pieces), each), dtype=np.float32)
            for region in range(each):
                out[:, :, region] = compare([self._region(text, region)[0] for text in samples])
            return out.reshape(len(samples), len(pieces) * each)

        return similarities

    def alignment(self, x: str, b: str) -> Placement:
        self._check()
        (sample,), (piece,), inner = texts([x]), texts([b]), self._inner()
        found = [self._region(sample, region) for region in range(self.n_regions)]
        score = inner([part for part, _ in found], [piece])[:, 0]
        place = np.array([[start + inner.locate(part, piece)] for part, start in found])
        return Placement(score, place, np.zeros(len(found), dtype=bool))

    def extent(self, x: str, b: str) -> dict[str, Any]:
        return {"size": (len(b),)}

    @property
    def n_regions(self) -> int:
        return int(self.regions)

    def bytes_a_row(self, sample: int, n_exemplars: int) -> int:
        own = self._inner().bytes_a_row(sample, n_exemplars) or 0
        return own + 2 * sample + 4 * n_exemplars * self.columns_each

    def _n_places(self, text: str) -> int:
        return max(1, len(text) - self.length + 1)

    def _region(self, text: str, region: int) -> tuple[str, int]:
        """Return the part of a text in which the pieces of a region lie, and where it begins."""
        places = cut(self._n_places(text), self.n_regions)[region]
        return text[places.start : places.stop - 1 + self.length], places.start

    def _inner(self) -> Any:
        inner = PartialRatio() if self.similarity is None else resolve(self.similarity)
        if not hasattr(inner, "locate"):
            raise ValueError(
                "the similarity of parts of texts must be 'partial-ratio' or 'align-local', "
                f"got {shown(self.similarity)}"
            )
        return inner

    def _check(self) -> None:
        for name in ("length", "regions"):
            if not is_whole(getattr(self, name), 1):
                raise ValueError(f"{name} must be a whole number of at least 1, got {shown(getattr(self, name))}")
        self._inner()
