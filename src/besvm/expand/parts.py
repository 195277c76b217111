"""Which pieces of which rows become exemplars."""

from collections.abc import Callable
from typing import Any

import numpy as np
from sklearn.base import clone

from besvm._support.rows import n_rows, take
from besvm._support.sizes import bytes_of, large_one
from besvm._support.threads import slices
from besvm._support.validation import described
from besvm.basis.choose import Candidates, as_choice, choose_basis
from besvm.basis.contract import BasisSelector, RandomBasis
from besvm.expand.room import COPIES, rows_of_work
from besvm.similarities.contract import Similarity
from besvm.similarities.parts import PartSimilarity, Pieces

POOL = 20_000  # random pieces that a selector chooses from, if there is room for them


class AmongPieces(Similarity):
    """What a basis selector compares pieces by: their vectors, by the dot product."""

    vectors = True
    symmetric = True

    def __init__(self, similarity: PartSimilarity, pieces: Pieces, see: Callable[[np.ndarray], Any]) -> None:
        self.similarity = similarity
        self.pieces = pieces
        self.see = see

    @property
    def label(self) -> str:
        return self.similarity.label

    @property
    def columns_each(self) -> int:  # type: ignore[override]
        return self.similarity.columns_each

    def __call__(self, A: Any, B: Any) -> np.ndarray:
        return np.asarray(A @ np.asarray(B).T)

    def between_rows(self, X: Any, rows: np.ndarray, exemplars: np.ndarray) -> np.ndarray:
        """Compare the whole samples that some pieces come from with other pieces."""
        compare = self.similarity.against(self.pieces.items[exemplars])
        each = rows_of_work(self.similarity.bytes_a_row(bytes_of(self.see(self.pieces.samples[:1])), len(exemplars)))
        return np.concatenate([compare(self.see(self.pieces.samples[rows[part]])) for part in slices(len(rows), each)])


def choose_parts(
    basis: Any, similarity: PartSimilarity, features: Any, among: Candidates, rng: np.random.Generator
) -> Pieces | None:
    """Return the pieces that a user's ``basis`` means: so many of a pool of random ones, or one of each row named.

    A share of the rows means as many pieces. Their ``samples`` are rows of the training data. None: exemplars were
    given outright.
    """
    X, y, weights = among.X, among.y, among.weights

    def see(rows: np.ndarray) -> Any:
        some = take(X, rows)
        return some if features is None else described(features, some)

    named = as_choice(basis).named_rows(n_rows(X))
    if named is not None:
        return _drawn(similarity, see, named, 1, rng)
    one = similarity.draw(see(among.first()), 1, np.random.default_rng(0)).items
    each = max(one.nbytes, similarity.as_vectors(one).nbytes)
    size = POOL if among.room == np.inf else max(1, min(POOL, int(among.room // (2 * COPIES * each))))
    rows = among.some(size, rng)
    pool = _different(_drawn(similarity, see, rows, -(-size // len(rows)), rng))
    candidates = Candidates(
        similarity.as_vectors(pool.items),
        None if y is None else take(y, pool.samples),
        AmongPieces(similarity, pool, see),
        None if weights is None else take(weights, pool.samples),
        among.room,
    )
    chosen = choose_basis(_as_number(basis, among.n), candidates, rng)
    return None if chosen.rows is None else pool.take(chosen.rows)


def _as_number(basis: Any, n: int) -> Any:
    """Return a basis that is a share of the rows as that many pieces: a share of the pool would be thousands."""
    selector = RandomBasis(float(basis)) if isinstance(basis, (float, np.floating)) else basis
    share = getattr(selector, "n", None) if isinstance(selector, BasisSelector) else None
    if not isinstance(share, (float, np.floating)):
        return basis
    return clone(selector).set_params(n=max(1, round(share * n)))


def _drawn(
    similarity: PartSimilarity, see: Callable[[np.ndarray], Any], rows: np.ndarray, each: int, rng: np.random.Generator
) -> Pieces:
    """Return random pieces of some rows, which are looked at a few at a time."""
    at_once = rows_of_work(COPIES * bytes_of(large_one(see(rows[:1]))))
    drawn = [(part, similarity.draw(see(rows[part]), each, rng)) for part in slices(len(rows), at_once)]
    return Pieces(
        np.concatenate([pieces.items for _, pieces in drawn]),
        np.concatenate([rows[part][pieces.samples] for part, pieces in drawn]),
        np.concatenate([pieces.places for _, pieces in drawn]),
    )


def _different(pieces: Pieces) -> Pieces:
    """Return the pieces without copies."""
    first: dict[bytes, int] = {}
    for place, item in enumerate(pieces.items):
        first.setdefault(item.tobytes(), place)
    return pieces if len(first) == len(pieces) else pieces.take(np.array(list(first.values())))
