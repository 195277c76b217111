"""What is taken of the similarities of exemplars to the places of a sample: region by region, the best and the mean."""

from collections.abc import Callable, Iterator

import numpy as np

from besvm._support.threads import slices

POOLS = ("max", "mean")
SILENT = np.float32(0.1)  # a similarity that is not above this does not count in the mean
WIDTH, PLACES = 192, 1024  # exemplars and places compared at once: enough for the product, and they stay in cache


def room_to_work() -> np.ndarray:
    """Return what a thread compares in."""
    return np.empty(WIDTH * PLACES, dtype=np.float32)


class Products:
    """Exemplars as vectors (n, k), compared by the dot product: a product and its maxima in one go, tile by tile."""

    def __init__(self, vectors: np.ndarray) -> None:
        n, k = vectors.shape
        n_tiles = -(-n // WIDTH)
        width = -(-n // (16 * max(1, n_tiles))) * 16  # whole SIMD registers, and hardly more than there are exemplars
        padded = np.zeros((n_tiles * width, k), dtype=np.float32)
        padded[:n] = vectors
        self.n = n
        self.tiles = np.ascontiguousarray(padded.reshape(n_tiles, width, k).transpose(0, 2, 1))

    def pool(self, values: np.ndarray, regions: np.ndarray, pools: tuple[str, ...], room: np.ndarray) -> np.ndarray:
        """Return what is pooled of vectors (places, k), region by region: (pools, regions, n)."""
        from besvm.similarities.parts.kernels import pool_products

        n_tiles, _, width = self.tiles.shape
        shape = n_tiles, len(regions), width
        best, mean = (np.empty(shape if name in pools else (0, *shape[1:]), dtype=np.float32) for name in POOLS)
        if len(values) * width > len(room):
            room = np.empty(len(values) * width, dtype=np.float32)
        pool_products(values, self.tiles, regions, SILENT, room, best, mean)
        found = [best if name == "max" else mean for name in pools]
        return np.stack([one.transpose(1, 0, 2).reshape(len(regions), -1)[:, : self.n] for one in found])


class Compared:
    """Exemplars compared by a similarity of the user's, which is called for some of them at a time."""

    def __init__(
        self, vectors: np.ndarray, against: Callable[[np.ndarray], Callable[[np.ndarray], np.ndarray]]
    ) -> None:
        self.several = [against(vectors[part]) for part in slices(len(vectors), WIDTH)]

    def pool(self, values: np.ndarray, regions: np.ndarray, pools: tuple[str, ...], room: np.ndarray) -> np.ndarray:
        """Return what is pooled of vectors (places, k), region by region: (pools, regions, n)."""
        from besvm.similarities.parts.kernels import pool

        found = []
        for compare in self.several:
            tile = _clearly_nan(np.ascontiguousarray(compare(values), dtype=np.float32))
            shape = len(regions), tile.shape[1]
            best, mean = (np.empty(shape if name in pools else (0, shape[1]), dtype=np.float32) for name in POOLS)
            pool(tile, regions, SILENT, best, mean)
            found.append(np.stack([best if name == "max" else mean for name in pools]))
        return np.concatenate(found, axis=2)


def in_tiles(bounds: np.ndarray) -> Iterator[np.ndarray]:
    """Yield the bounds of regions, in order, in groups of no more than PLACES places, unless one alone has more."""
    if bounds[-1, 1] - bounds[0, 0] <= PLACES:
        yield bounds
        return
    first = 0
    for number in range(1, len(bounds) + 1):
        if number == len(bounds) or bounds[number, 1] - bounds[first, 0] > PLACES:
            yield bounds[first:number]
            first = number


def _clearly_nan(tile: np.ndarray) -> np.ndarray:
    """Let one NaN or infinity in a column make all of it NaN, so that the pair is refused by name."""
    sound = np.isfinite(tile).all(axis=0)
    if not sound.all():
        tile[:, ~sound] = np.nan
    return tile
