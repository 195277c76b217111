"""What every similarity of parts does: cut pieces out of samples, and look for them in others."""

from abc import abstractmethod
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import Any, ClassVar, NamedTuple

import numpy as np
from sklearn.base import clone
from sklearn.utils.validation import check_is_fitted

from besvm._support.parameters import check_flag, shown
from besvm._support.rows import n_rows, take
from besvm._support.threads import slices, thread_map
from besvm.similarities.contract import Similarity
from besvm.similarities.lookup import resolve
from besvm.similarities.match import Match
from besvm.similarities.parts.pooling import POOLS, WIDTH, Compared, Products, in_tiles, room_to_work

ROWS = 8  # samples that a thread takes at a time


@dataclass(frozen=True)
class Pieces:
    """Parts of samples, cut out.

    Attributes
    ----------
    items : ndarray of shape (n, ...)
        The pieces: what an exemplar is.
    samples : ndarray of shape (n,)
        Which sample each comes from.
    places : ndarray of shape (n, axes)
        Where in that sample it begins: row and column in a grid, the first time point in a series.
    """

    items: np.ndarray
    samples: np.ndarray
    places: np.ndarray

    def __len__(self) -> int:
        return len(self.items)

    def take(self, which: np.ndarray) -> "Pieces":
        """Return some of them."""
        return Pieces(self.items[which], self.samples[which], self.places[which])


@dataclass(frozen=True, eq=False)
class Placement:
    """Where a part was found in a sample.

    Attributes
    ----------
    score : ndarray of shape (regions,)
        The similarity at the best place of each region.
    place : ndarray of shape (regions, axes)
        Where the piece that was found there begins: row and column in a grid, the first time point in a series.
    mirrored : ndarray of shape (regions,)
        Whether it was found in the mirror image: ``place`` is then in the region on the other side.

    Examples
    --------
    >>> import numpy as np
    >>> from besvm.similarities import SeriesParts
    >>> series = np.sin(np.arange(60) ** 1.5)
    >>> SeriesParts(length=8).fit([series]).alignment(series, series[20:28]).place
    array([[20]])
    """

    score: np.ndarray
    place: np.ndarray
    mirrored: np.ndarray


class Vectors(NamedTuple):
    """The pieces at all places of some samples of one size, as vectors."""

    values: np.ndarray  # (samples x places, k)
    bounds: np.ndarray  # (samples x regions, 2): from which to which of the vectors each region has
    places: np.ndarray  # (places, axes), of one sample


def cut(n: int, regions: int) -> list[slice]:
    """Cut n places into regions that are alike from either end, if need be with a place in two of them."""
    return [slice(r * n // regions, -(-(r + 1) * n // regions)) for r in range(regions)]


class PartSimilarity(Similarity):
    """Abstract: the exemplar is a piece of a sample, and s(b, x) tells how well it fits the best place of another.

    That is equation 7 of the paper, with the place as the latent variable. An exemplar gives ``columns_each``
    columns side by side: one for each region of the sample that the piece is looked for in, and each way to pool.

    A subclass says how pieces are cut (:meth:`draw`) and looked for (``against``, :meth:`alignment`).
    """

    of_parts: ClassVar[bool] = True
    regions: Any

    @abstractmethod
    def draw(self, samples: Any, each: int, rng: np.random.Generator) -> Pieces:
        """Cut ``each`` pieces out of every sample, at random places."""

    @abstractmethod
    def as_vectors(self, pieces: Any) -> np.ndarray:
        """Return pieces as vectors of one kind, for a selector to compare by their dot product."""

    @abstractmethod
    def alignment(self, x: Any, b: Any) -> Placement:
        """Return where the part b lies in the sample x: the best place of each region."""

    @property
    @abstractmethod
    def n_regions(self) -> int:
        """How many regions a sample is cut into."""

    @property
    def pools(self) -> tuple[str, ...]:
        """The ways to pool."""
        return ("max",)

    @property
    def columns_each(self) -> int:  # type: ignore[override]
        """How many columns an exemplar gives."""
        return self.n_regions * len(self.pools)

    @property
    def column_names(self) -> list[str]:
        """What the columns of an exemplar are called, if there are several."""
        return [f"r{region}{'' if pool == 'max' else pool}" for pool in self.pools for region in range(self.n_regions)]

    @abstractmethod
    def bytes_a_row(self, sample: int, n_exemplars: int) -> int:
        """Return the bytes that looking for the exemplars in a sample of so many bytes takes for a while."""

    def show(self, x: Any, b: Any) -> Match:
        found = self.alignment(x, b)
        best = int(found.score.argmax())
        extent = self.extent(x, b)
        return Match(places=found.place, scores=found.score, mirrored=found.mirrored, region=best, **extent)

    def extent(self, x: Any, b: Any) -> dict[str, Any]:
        """Return what a :class:`Match` says of the size of a part: ``size``, and maybe ``grid`` or ``step``."""
        return {}

    def __call__(self, A: Any, B: Any) -> np.ndarray:
        return self.against(B)(A)


class VectorParts(PartSimilarity):
    """Abstract: pieces are vectors, and compared with the vectors at every place of a sample.

    s_r(b, x) = max over the places z in region r of k(b, x_z). A subclass says which pieces are compared alike
    (:meth:`kinds`), and what the vectors of exemplars and places are.
    """

    pool: Any
    similarity: Any = None  # k of the vectors; None: their dot product, in one go with the maximum
    mirror: bool = False
    mean_factor: ClassVar[float] = 2.5  # what the mean is worth beside the maximum

    @abstractmethod
    def exemplar_vectors(self, pieces: np.ndarray, kind: Any, mirrored: bool = False) -> np.ndarray:
        """Return pieces of one kind as vectors whose similarity to those of :meth:`at_places` is k."""

    @abstractmethod
    def at_places(self, samples: Any, kind: Any) -> Vectors:
        """Return the pieces of one kind at all places of some samples of one size, region by region."""

    def at_once(self, samples: Any) -> int:
        """Return how many of the samples can be given to :meth:`at_places` together."""
        return 1

    @abstractmethod
    def checked(self, samples: Any) -> Any:
        """Return the samples one by one in the form that the others take, refusing what cannot be compared."""

    def kinds(self, pieces: np.ndarray) -> Iterator[tuple[Any, np.ndarray]]:
        """Yield the kinds of pieces, and the places in the list of those of each kind."""
        yield None, np.arange(len(pieces))

    def finish(self, best: np.ndarray) -> None:
        """Turn the largest dot products, in place, into the similarities k: an increasing function of them."""

    def opposite(self) -> np.ndarray:
        """Return, for every region, the one on the other side of the mirror."""
        return np.arange(self.n_regions)

    @property
    def pools(self) -> tuple[str, ...]:
        """The ways to pool, checked."""
        several = (self.pool,) if isinstance(self.pool, str) else self.pool
        known = isinstance(several, (tuple, list)) and all(several.count(one) == 1 and one in POOLS for one in several)
        if not (known and several):
            raise ValueError(f"pool must be 'max', 'mean' or ('max', 'mean'), got {shown(self.pool)}")
        return tuple(several)

    def bytes_a_row(self, sample: int, n_exemplars: int) -> int:
        tile = WIDTH * sample // self.n_regions
        return 3 * sample + (self.unrolled(sample) + tile) // ROWS + 8 * n_exemplars * self.columns_each

    @abstractmethod
    def unrolled(self, sample: int) -> int:
        """Return the bytes that the pieces of a sample take, and their vectors; every thread has them once."""

    def against(self, basis: Any) -> Callable[[Any], np.ndarray]:
        check_flag("mirror", self.mirror)
        pieces = self._as_pieces(basis)
        n_basis, each = len(pieces), self.columns_each
        packed = [(kind, which, self._packed(pieces[which], kind)) for kind, which in self.kinds(pieces)]

        def similarities(A: Any) -> np.ndarray:
            samples = self.checked(A)
            out = np.empty((n_rows(samples), n_basis, each), dtype=np.float32)

            most = self.at_once(samples)
            together = -(-ROWS // -(-ROWS // most))  # groups that are about alike

            def fill(rows: slice) -> None:
                room = room_to_work()
                for first in range(rows.start, rows.stop, together):
                    own = slice(first, min(first + together, rows.stop))
                    for kind, which, compare in packed:
                        pooled = self._pooled(self.at_places(samples[own], kind), compare, len(which), room)
                        out[own, which] = pooled.transpose(1, 3, 0, 2).reshape(-1, len(which), each)

            for _ in thread_map(fill, slices(len(out), ROWS)):
                pass
            return out.reshape(len(out), n_basis * each)

        return similarities

    def alignment(self, x: Any, b: Any) -> Placement:
        samples = self.checked(take([x], [0]))
        pieces = self._as_pieces(np.asarray(b)[None])
        ((kind, _),) = self.kinds(pieces)
        seen = self.at_places(samples, kind)
        sides = [self.exemplar_vectors(pieces, kind, flipped) for flipped in self._sides]
        vectors = np.concatenate(sides)
        values = seen.values @ vectors.T if self.similarity is None else self._inner.against(vectors)(seen.values)
        opposite = self.opposite()
        best: list[tuple[float, np.ndarray, bool]] = []
        for region in range(self.n_regions):
            found = []
            for side, flipped in enumerate(self._sides):
                where = opposite[region] if flipped else region
                start, stop = seen.bounds[where]
                place = start + int(np.argmax(values[start:stop, side]))
                found.append((float(values[place, side]), seen.places[place], flipped))
            best.append(max(found, key=lambda one: one[0]))
        score, place, mirrored = (np.array(column) for column in zip(*best, strict=True))
        self.finish(score)
        return Placement(score, place, mirrored)

    @property
    def _sides(self) -> tuple[bool, ...]:
        return (False, True) if self.mirror else (False,)

    @abstractmethod
    def _as_pieces(self, basis: Any) -> np.ndarray:
        """Return exemplars as an array of pieces, checked."""

    @property
    def _inner(self) -> Similarity:
        check_is_fitted(self, "inner_")
        return self.inner_

    def _settle_inner(self, pieces: np.ndarray) -> None:
        """Settle k, where the user has another than ours, on some pieces."""
        if self.similarity is None:
            return
        inner = clone(resolve(self.similarity))
        if not (inner.vectors or inner.any_float):
            raise ValueError(f"the similarity of parts must compare vectors, got {shown(inner)}")
        self.inner_: Similarity = inner.fit(self.as_vectors(pieces))

    def _packed(self, pieces: np.ndarray, kind: Any) -> Products | Compared:
        """Return the pieces as what is compared; the mirrored ones come last."""
        vectors = np.concatenate([self.exemplar_vectors(pieces, kind, mirrored) for mirrored in self._sides])
        return Products(vectors) if self.similarity is None else Compared(vectors, self._inner.against)

    def _pooled(self, seen: Vectors, packed: Products | Compared, n: int, room: np.ndarray) -> np.ndarray:
        """Return the similarities of n exemplars to some samples, (pools, samples, regions, n)."""
        pools = self.pools
        found = []
        for own in in_tiles(seen.bounds):
            start, stop = own[0, 0], own[-1, 1]
            found.append(packed.pool(seen.values[start:stop], own - start, pools, room))
        every = found[0] if len(found) == 1 else np.concatenate(found, axis=1)
        out = every.reshape(len(pools), -1, self.n_regions, every.shape[2])
        for name, values in zip(pools, out, strict=True):
            if self.mirror:
                joined = np.maximum if name == "max" else np.add
                joined(values[..., :n], values[:, self.opposite(), n:], out=values[..., :n])
            if name == "max":
                self.finish(values[..., :n])
            else:
                np.sqrt(values, out=values)
                values *= self.mean_factor
        return out[..., :n]
