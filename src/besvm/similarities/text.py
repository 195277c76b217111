"""Similarities of texts: edit distance, common subsequences, Jaro-Winkler, words, and best local matches.

The texts are strings, or lists of tokens (words, say, or numbers of symbols), which are compared as strings are, token
by token. All are computed by rapidfuzz, with as many threads as ``n_jobs`` says.
"""

from collections.abc import Callable
from typing import Any, ClassVar

import numpy as np

from besvm._support.extras import optional
from besvm._support.parameters import check_choice, check_flag, is_number, shown
from besvm._support.threads import n_workers
from besvm.similarities.contract import Similarity, register
from besvm.similarities.distance import Distances, DistanceSimilarity
from besvm.similarities.match import Match
from besvm.similarities.text_items import coded_like, texts
from besvm.similarities.text_pieces import best_place, common_pieces, common_words

TOKEN_RATIOS = {"set": "token_set_ratio", "sort": "token_sort_ratio", "best": "token_ratio"}


@register("edit")
class Edit(DistanceSimilarity):
    """How few insertions, deletions and substitutions turn one text into the other.

    Made of the Levenshtein distance; a similarity by ``how`` and ``scale``, as in :class:`FromDistance`.

    Parameters
    ----------
    normalized : bool, default=True
        Whether the number of edits is divided by the length of the longer text, for a distance between 0 and 1.
    transpositions : bool, default=False
        Whether exchanging two neighbors is one edit more to choose from: the Damerau-Levenshtein distance, in the form
        that is called optimal string alignment, where nothing is edited between the two that were exchanged.
    how : {"exponential", "gaussian", "inverse", "log", "negative"}, default="exponential"
        What makes a similarity of the distance; see :class:`FromDistance`.
    scale : float or "auto", default="auto"
        What the distance is divided by first; "auto" takes it from the training samples.

    Examples
    --------
    >>> from besvm.similarities import Edit
    >>> Edit(normalized=False, how="negative", scale=1)(["maria", "mairo"], ["mario"])
    array([[-1.],
           [-2.]], dtype=float32)
    >>> Edit(normalized=False, transpositions=True, how="negative", scale=1)(["mairo"], ["mario"])
    array([[-1.]], dtype=float32)
    """

    kind: ClassVar[str] = "text"
    extra: ClassVar[str | None] = "text"

    def __init__(
        self,
        normalized: bool = True,
        transpositions: bool = False,
        *,
        how: str = "exponential",
        scale: float | str = "auto",
    ) -> None:
        self.normalized = normalized
        self.transpositions = transpositions
        self.how = how
        self.scale = scale

    def distances_to(self, basis: Any) -> Distances:
        check_flag("transpositions", self.transpositions)
        return _distances_to(basis, "OSA" if self.transpositions else "Levenshtein", self.normalized)

    def show(self, x: Any, b: Any) -> Match:
        return Match(pieces=common_pieces(x, b))

    def bytes_a_row(self, sample: int, n_exemplars: int) -> int:
        return _bytes_a_row(sample, n_exemplars)


@register("lcs")
class CommonSubsequence(DistanceSimilarity):
    """How much of two texts is a subsequence of both.

    The distance is max(m, n) - l, for two texts of m and n characters with a longest common subsequence of l; a
    similarity by ``how`` and ``scale``, as in :class:`FromDistance`.

    Parameters
    ----------
    normalized : bool, default=True
        Whether the distance is divided by the length of the longer text: 1 - l / max(m, n).
    how : {"exponential", "gaussian", "inverse", "log", "negative"}, default="exponential"
        What makes a similarity of the distance; see :class:`FromDistance`.
    scale : float or "auto", default="auto"
        What the distance is divided by first; "auto" takes it from the training samples.

    Examples
    --------
    >>> from besvm.similarities import CommonSubsequence
    >>> CommonSubsequence(normalized=False, how="negative", scale=1)(["house", "horse"], ["hose"])
    array([[-1.],
           [-1.]], dtype=float32)
    """

    kind: ClassVar[str] = "text"
    extra: ClassVar[str | None] = "text"

    def __init__(self, normalized: bool = True, *, how: str = "exponential", scale: float | str = "auto") -> None:
        self.normalized = normalized
        self.how = how
        self.scale = scale

    def distances_to(self, basis: Any) -> Distances:
        return _distances_to(basis, "LCSseq", self.normalized)

    def show(self, x: Any, b: Any) -> Match:
        return Match(pieces=common_pieces(x, b, "LCSseq"))

    def bytes_a_row(self, sample: int, n_exemplars: int) -> int:
        return _bytes_a_row(sample, n_exemplars)


@register("jaro-winkler")
class JaroWinkler(Similarity):
    """The Jaro-Winkler similarity of short texts such as names: common characters near each other, and a common prefix.

    With j the Jaro similarity and l the length of the common prefix, up to 4: j + l * prefix_weight * (1 - j) where
    j > 0.7, and j elsewhere. It lies between 0 and 1.

    Parameters
    ----------
    prefix_weight : float, default=0.1
        Between 0 (the Jaro similarity) and 0.25.

    Examples
    --------
    >>> from besvm.similarities import JaroWinkler
    >>> JaroWinkler()(["martha"], ["marhta", "xyz"]).round(3)
    array([[0.961, 0.   ]], dtype=float32)
    """

    symmetric: ClassVar[bool] = True
    kind: ClassVar[str] = "text"
    extra: ClassVar[str | None] = "text"

    def __init__(self, prefix_weight: float = 0.1) -> None:
        self.prefix_weight = prefix_weight

    def __call__(self, A: Any, B: Any) -> np.ndarray:
        return self.against(B)(A)

    def against(self, basis: Any) -> Callable[[Any], np.ndarray]:
        weight = self.prefix_weight
        if not (is_number(weight) and 0 <= weight <= 0.25):
            raise ValueError(f"prefix_weight must be a number between 0 and 0.25, got {shown(weight)}")
        distance = optional("rapidfuzz.distance", "comparing texts")
        return _all_pairs(basis, distance.JaroWinkler.normalized_similarity, prefix_weight=float(weight))

    def show(self, x: Any, b: Any) -> Match:
        return Match(pieces=common_pieces(x, b, "LCSseq"))

    def bytes_a_row(self, sample: int, n_exemplars: int) -> int:
        return _bytes_a_row(sample, n_exemplars)


@register("token-ratio")
class TokenRatio(Similarity):
    """How alike the words of two texts are, whatever their order.

    The texts are cut into words at white space. The words of both are put in order, and the results compared by
    1 - d / (m + n): d insertions and deletions turn one, of m characters, into the other, of n. It lies between 0 and
    1, and is 0 if only one text has words. The texts must be strings.

    Parameters
    ----------
    of : {"set", "sort", "best"}, default="set"
        "sort" compares all words; "set" puts those that both texts have against these and the rest of each text, and
        takes the best, so that a text whose words the other one has all is as good as equal; "best" is the larger of
        both.

    Examples
    --------
    >>> from besvm.similarities import TokenRatio
    >>> TokenRatio()(["new york mets", "mets of new york"], ["york new mets", "mets"]).round(2)
    array([[1., 1.],
           [1., 1.]], dtype=float32)
    >>> TokenRatio("sort")(["new york mets", "mets of new york"], ["york new mets", "mets"]).round(2)
    array([[1.  , 0.47],
           [0.9 , 0.4 ]], dtype=float32)
    """

    symmetric: ClassVar[bool] = True
    kind: ClassVar[str] = "text"
    extra: ClassVar[str | None] = "text"

    def __init__(self, of: str = "set") -> None:
        self.of = of

    def __call__(self, A: Any, B: Any) -> np.ndarray:
        return self.against(B)(A)

    def against(self, basis: Any) -> Callable[[Any], np.ndarray]:
        check_choice("of", self.of, tuple(TOKEN_RATIOS))
        fuzz = optional("rapidfuzz.fuzz", "comparing texts")
        return _ratios_to(texts(basis), getattr(fuzz, TOKEN_RATIOS[self.of]))

    def show(self, x: str, b: str) -> Match:
        return Match(pieces=common_words(x, b))

    def bytes_a_row(self, sample: int, n_exemplars: int) -> int:
        return _bytes_a_row(sample, n_exemplars)


@register("partial-ratio")
class PartialRatio(Similarity):
    """How well the shorter of two texts matches the best place of the longer.

    The best of 1 - d / (m + n) over all pieces of the longer text that are as long as the shorter, or, at its ends,
    shorter still: d insertions and deletions turn the text of m characters into the piece of n. It lies between 0
    and 1.

    Examples
    --------
    >>> from besvm.similarities import PartialRatio
    >>> PartialRatio()(["a rose is a rose", "nose"], ["rose", "is"]).round(2)
    array([[1.  , 1.  ],
           [0.86, 0.5 ]], dtype=float32)
    """

    symmetric: ClassVar[bool] = True
    kind: ClassVar[str] = "text"
    extra: ClassVar[str | None] = "text"

    def __call__(self, A: Any, B: Any) -> np.ndarray:
        return self.against(B)(A)

    def against(self, basis: Any) -> Callable[[Any], np.ndarray]:
        return _ratios_to(basis, optional("rapidfuzz.fuzz", "comparing texts").partial_ratio)

    def locate(self, x: str, b: str) -> int:
        """Return where in x the piece begins that b matches best."""
        found = optional("rapidfuzz.fuzz", "comparing texts").partial_ratio_alignment(b, x)
        return int(found.dest_start)

    def show(self, x: Any, b: Any) -> Match:
        return Match(pieces=best_place(x, b))

    def bytes_a_row(self, sample: int, n_exemplars: int) -> int:
        return _bytes_a_row(sample, n_exemplars)


def _distances_to(basis: Any, name: str, normalized: Any) -> Distances:
    check_flag("normalized", normalized)
    module = getattr(optional("rapidfuzz.distance", "comparing texts"), name)
    return _all_pairs(basis, module.normalized_distance if normalized else module.distance)


def _ratios_to(basis: Any, scorer: Any) -> Callable[[Any], np.ndarray]:
    percent = _all_pairs(basis, scorer)

    def ratios(A: Any) -> np.ndarray:
        out = percent(A)
        out /= np.float32(100)
        return out

    return ratios


def _all_pairs(basis: Any, scorer: Any, **parameters: float) -> Callable[[Any], np.ndarray]:
    """Return the function that compares samples with the exemplars by one of rapidfuzz's measures."""
    process = optional("rapidfuzz.process", "comparing texts")
    exemplars, coded = coded_like(basis)

    def compare(A: Any) -> np.ndarray:
        return process.cdist(
            coded(A), exemplars, scorer=scorer, scorer_kwargs=parameters, dtype=np.float32, workers=n_workers()
        )

    return compare


def _bytes_a_row(sample: int, n_exemplars: int) -> int:
    return 2 * sample + 64 + 8 * n_exemplars
