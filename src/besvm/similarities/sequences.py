"""Similarities of biological sequences: scores of alignments, with substitution matrices and affine gaps."""

from collections.abc import Callable, Mapping
from difflib import get_close_matches
from operator import attrgetter
from string import ascii_uppercase
from typing import Any, ClassVar, NamedTuple

import numpy as np

from besvm._support.extras import optional
from besvm._support.parameters import is_whole, shown
from besvm._support.threads import slices, thread_map
from besvm.similarities.contract import Similarity, register
from besvm.similarities.match import Match, Piece
from besvm.similarities.text_items import texts

ROWS = 8  # sequences that a thread takes at a time
LETTERS = ascii_uppercase  # what symbols are called in pyopal, which knows no others
LARGEST = 1 << 20  # a score or a gap beyond which sums of a few thousand would not fit 32 bits

_score = attrgetter("score")


class AlignmentScore(Similarity):
    """Abstract: the score of the best alignment of two sequences, computed by pyopal on all threads.

    A subclass says which alignments there are.
    """

    kind: ClassVar[str] = "sequences"
    extra: ClassVar[str | None] = "bio"
    algorithm: ClassVar[str]  # as pyopal calls it

    matrix: Any
    gap_open: Any
    gap_extend: Any
    normalize: Any

    @property
    def symmetric(self) -> bool:  # type: ignore[override]
        """Whether s(a, b) = s(b, a): unless the score is divided by that of the exemplar alone."""
        return not isinstance(self.normalize, str)

    def __call__(self, A: Any, B: Any) -> np.ndarray:
        return self.against(B)(A)

    def against(self, basis: Any) -> Callable[[Any], np.ndarray]:
        if not (isinstance(self.normalize, bool) or self.normalize == "exemplar"):
            raise ValueError(f"normalize must be True, False or 'exemplar', got {shown(self.normalize)}")
        aligner = _Aligner(self)
        exemplars = aligner.coded(basis)
        database = aligner.database(exemplars)
        own = aligner.self_scores(exemplars) if self.normalize else np.ones(len(exemplars), np.float32)

        def scores(A: Any) -> np.ndarray:
            samples = aligner.coded(A)
            out = np.empty((len(samples), len(exemplars)), np.float32)

            def fill(rows: slice) -> None:
                for row in range(rows.start, rows.stop):
                    out[row] = aligner.scores(samples[row], database)
                if self.normalize is True:
                    out[rows] /= np.sqrt(aligner.self_scores(samples[rows])[:, None] * own)
                else:
                    out[rows] /= own

            if len(exemplars):
                for _ in thread_map(fill, slices(len(samples), ROWS)):
                    pass
            return out

        return scores

    def show(self, x: str, b: str) -> Match:
        return Match(pieces=_Aligner(self).pieces(x, b))

    def bytes_a_row(self, sample: int, n_exemplars: int) -> int:
        return 4 * sample + 16 * n_exemplars + 100 * n_exemplars // ROWS  # pyopal gives an object for every score


@register("align-global")
class GlobalAlignment(AlignmentScore):
    """The score of the best alignment of two whole sequences (Needleman-Wunsch, with affine gaps).

    Parameters
    ----------
    matrix : str, (match, mismatch) or dict, default="BLOSUM62"
        What aligning two symbols scores, in whole numbers: the name of a matrix ("BLOSUM62", "PAM250", "NUC.4.4" for
        DNA with ambiguous bases, and others that the package scoring-matrices has); two numbers, for letters that are
        equal and that are not; or a dict with a score for every pair of symbols, in either order:
        ``{("A", "A"): 4, ...}``.
        Lower-case letters are taken for upper-case ones, unless the dict has them.
    gap_open : int, default=11
        What the first symbol that is left out costs.
    gap_extend : int, default=1
        What every further one next to it costs, at most ``gap_open``: a gap of n symbols costs
        gap_open + (n - 1) gap_extend. (Where a gap costs open + n · extend, as in BLAST, give the sum of both as
        ``gap_open``.)
    normalize : bool or "exemplar", default=True
        True: s(a, b) is divided by √(s(a, a) s(b, b)); "exemplar": by the exemplar's s(b, b) alone. A score with itself
        below 1, as of a sequence of unknown residues, counts as 1.

    Examples
    --------
    >>> from besvm.similarities import GlobalAlignment
    >>> GlobalAlignment(normalize=False)(["HEAGAWGHEE", "PAWHEAE"], ["PAWHEAE"])
    array([[ 2.],
           [44.]], dtype=float32)
    >>> GlobalAlignment((1, -1), gap_open=2)(["ACGT", "ACT"], ["ACGT"]).round(2)
    array([[1.  ],
           [0.29]], dtype=float32)
    """

    algorithm: ClassVar[str] = "nw"

    def __init__(
        self, matrix: Any = "BLOSUM62", gap_open: int = 11, gap_extend: int = 1, *, normalize: bool | str = True
    ) -> None:
        self.matrix = matrix
        self.gap_open = gap_open
        self.gap_extend = gap_extend
        self.normalize = normalize


@register("align-local")
class LocalAlignment(AlignmentScore):
    """The score of the best alignment of a piece of one sequence with a piece of another (Smith-Waterman, affine gaps).

    It is 0 where nothing aligned scores more.

    Parameters
    ----------
    matrix : str, (match, mismatch) or dict, default="BLOSUM62"
        What aligning two symbols scores, as in :class:`GlobalAlignment`.
    gap_open : int, default=11
        What the first symbol that is left out costs.
    gap_extend : int, default=1
        What every further one next to it costs, at most ``gap_open``.
    normalize : bool or "exemplar", default=True
        What the score is divided by, as in :class:`GlobalAlignment`.

    Examples
    --------
    >>> from besvm.similarities import LocalAlignment
    >>> LocalAlignment(normalize=False)(["HEAGAWGHEE", "PAWHEAE"], ["PAWHEAE"])
    array([[17.],
           [44.]], dtype=float32)
    """

    algorithm: ClassVar[str] = "sw"

    def __init__(
        self, matrix: Any = "BLOSUM62", gap_open: int = 11, gap_extend: int = 1, *, normalize: bool | str = True
    ) -> None:
        self.matrix = matrix
        self.gap_open = gap_open
        self.gap_extend = gap_extend
        self.normalize = normalize

    def locate(self, x: str, b: str) -> int:
        """Return where in x the piece begins that aligns best with a piece of b; 0 if none does."""
        aligner = _Aligner(self)
        (piece,), database = aligner.coded([b]), aligner.database(aligner.coded([x]))
        (found,) = aligner.aligner.align(piece, database, mode="full", algorithm=self.algorithm)
        return int(found.target_start) if found.score > 0 else 0


class _Aligner:
    """One of pyopal's aligners, and what our sequences are called there: letters from A on, whatever the symbols."""

    def __init__(self, similarity: AlignmentScore) -> None:
        for name in ("gap_open", "gap_extend"):
            value = getattr(similarity, name)
            if not (is_whole(value, 0) and value <= LARGEST):
                raise ValueError(f"{name} must be a whole number from 0 to {LARGEST:,}, got {shown(value)}")
        if similarity.gap_extend > similarity.gap_open:
            raise ValueError(
                "gap_extend must be at most gap_open, otherwise several short gaps would cost less than one long gap, "
                f"got {similarity.gap_extend} and {similarity.gap_open}"
            )
        self.pyopal = optional("pyopal", "aligning sequences")
        matrices = optional("scoring_matrices", "aligning sequences")
        table = _substitutions(similarity.matrix, matrices.ScoringMatrix)
        self.symbols = table.symbols
        self.letters = {ord(symbol): letter for symbol, letter in zip(table.symbols, LETTERS, strict=False)}
        self.letters |= {
            ord(symbol.lower()): self.letters[ord(symbol)]
            for symbol in table.symbols
            if symbol.isupper() and symbol.lower() not in table.symbols
        }
        self.known = set(map(chr, self.letters))
        scores = matrices.ScoringMatrix(table.scores.tolist(), alphabet=LETTERS[: len(table.symbols)])
        self.aligner = self.pyopal.Aligner(scores, int(similarity.gap_open), int(similarity.gap_extend))
        self.algorithm = similarity.algorithm

    def coded(self, X: Any) -> list[str]:
        """Return sequences, checked, in letters from A on."""
        sequences = texts(X, "sequence")
        for number, sequence in enumerate(sequences):
            if not sequence:
                raise ValueError(f"sequences must not be empty, but sequence {number} is; remove it")
            unknown = set(sequence) - self.known
            if unknown:
                place, symbol = next((i, one) for i, one in enumerate(sequence) if one in unknown)
                raise ValueError(
                    f"sequences must be made of the symbols of the matrix, {self.symbols}, but sequence {number} has "
                    f"{symbol!r} at position {place}; use another matrix, or replace the symbol"
                )
        return [sequence.translate(self.letters) for sequence in sequences]

    def database(self, coded: list[str]) -> Any:
        return self.pyopal.Database(coded, alphabet=self.aligner.alphabet)

    def scores(self, one: str, database: Any) -> np.ndarray:
        found = self.aligner.align(one, database, mode="score", algorithm=self.algorithm)
        return np.fromiter(map(_score, found), np.float32, len(found))

    def pieces(self, x: str, b: str) -> list[Piece]:
        """Return the pieces of x and b that the best alignment lays over each other with the same symbols."""
        sample, exemplar = self.coded([x, b])
        (found,) = self.aligner.align(sample, self.database([exemplar]), mode="full", algorithm=self.algorithm)
        pieces: list[Piece] = []
        i, j = found.query_start, found.target_start
        for step in found.alignment if found.score > 0 or self.algorithm == "nw" else "":
            if step == "M":
                new = not (pieces and pieces[-1][1] == i and pieces[-1][3] == j)
                p, _, r, _ = (i, i, j, j) if new else pieces.pop()
                pieces.append((p, i + 1, r, j + 1))
            i, j = i + (step != "I"), j + (step != "D")  # which are gaps in x, and in b
        return pieces

    def self_scores(self, coded: list[str]) -> np.ndarray:
        """Return the score of every sequence with itself, at least 1."""
        own = [self.scores(one, self.database([one]))[0] for one in coded]
        return np.maximum(np.array(own, np.float32), 1)


class _Substitutions(NamedTuple):
    symbols: str
    scores: np.ndarray  # (symbols, symbols)


def _substitutions(matrix: Any, known: Any) -> _Substitutions:
    """Return the symbols and scores that a user's ``matrix`` means; ``known`` has those that go by a name."""
    if isinstance(matrix, str):
        return _by_name(matrix, known)
    if isinstance(matrix, Mapping):
        return _by_pair(matrix)
    if isinstance(matrix, (tuple, list)) and len(matrix) == 2:
        match, mismatch = (_whole(score, "matrix") for score in matrix)
        same = np.eye(len(LETTERS), dtype=bool)
        return _Substitutions(LETTERS, np.where(same, match, mismatch))
    raise ValueError(
        "matrix must be the name of a substitution matrix, two scores (match, mismatch), or a dict, "
        f"got {shown(matrix)}"
    )


def _by_name(name: str, known: Any) -> _Substitutions:
    if name.upper() not in known.BUILTIN_MATRICES:
        near = get_close_matches(name.upper(), known.BUILTIN_MATRICES, n=1, cutoff=0.5)
        hint = f"did you mean {near[0]!r}?" if near else "there are BLOSUM62, PAM250, NUC.4.4 and others"
        raise ValueError(f"matrix must be a known name, got {shown(name)}; {hint}")
    table = known.from_name(name.upper())
    if not table.is_integer():
        raise ValueError(
            f"matrix must hold whole numbers, but {name} does not; multiply and round them, and pass a dict"
        )
    return _Substitutions(table.alphabet, np.array([list(row) for row in table], dtype=np.int64))


def _by_pair(matrix: Mapping[Any, Any]) -> _Substitutions:
    symbols: dict[str, int] = {}
    for pair in matrix:
        both = isinstance(pair, (tuple, str)) and len(pair) == 2 and all(isinstance(one, str) for one in pair)
        if not (both and all(len(one) == 1 for one in pair)):
            raise ValueError(f"matrix must have pairs of single characters as keys, got {shown(pair)}")
        for one in pair:
            symbols.setdefault(one, len(symbols))
    if not 1 <= len(symbols) <= len(LETTERS):
        raise ValueError(f"matrix must have from 1 to {len(LETTERS)} symbols, got {len(symbols)}")
    scores = np.empty((len(symbols), len(symbols)), dtype=np.int64)
    for (a, i), (b, j) in ((one, other) for one in symbols.items() for other in symbols.items()):
        given = [matrix[pair] for pair in ((a, b), (b, a), a + b, b + a) if pair in matrix]
        if not given:
            raise ValueError(f"matrix must have a score for every pair of symbols, but has none for {a!r} and {b!r}")
        if len(set(given)) > 1:
            raise ValueError(f"matrix must be symmetric, but {a!r} and {b!r} have {given[0]} and {given[1]}")
        scores[i, j] = _whole(given[0], "matrix")
    return _Substitutions("".join(symbols), scores)


def _whole(score: Any, name: str) -> int:
    if not (is_whole(score) and abs(score) <= LARGEST):
        raise ValueError(f"{name} must hold whole numbers from -{LARGEST:,} to {LARGEST:,}, got {shown(score)}")
    return int(score)
