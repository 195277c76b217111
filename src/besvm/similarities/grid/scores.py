"""Which way cells may move, and fast ways to score: by frequency where they move together, by pairs where not."""

import math
from collections.abc import Callable
from typing import Any, NamedTuple

import numpy as np

from besvm._support.threads import slices
from besvm.similarities.grid.tile import tile_module

Penalty = float | np.ndarray  # a weight λ, for R(z) = -λ|z|², or the table of R(z) itself
Fill = Callable[[np.ndarray, np.ndarray], Any]  # (grids of some samples, rows of the output to fill)

MOST_CELLS = 10_000  # that a displacement may be long, more than any grid has
ROWS = 72  # samples scored by one thread at a time: a whole number of tiles of either kind
_BLOCK = 128  # exemplars scored at a time by frequency, at most: the products of a block stay in the last cache,
_BLOCK_BYTES = 1 << 23  # if they are no more than this


class Displacements(NamedTuple):
    """The set Z of displacements z = (dy, dx) and the regularization R(z) of each, smallest move first."""

    z: np.ndarray  # (n, 2) integers
    value: np.ndarray  # (n,)

    def within(self, dy: float, dx: float) -> tuple[np.ndarray, float]:
        """Return R as far as (dy, dx), a table counted from its center, and the largest R(z) of all other z."""
        near = (np.abs(self.z) <= (dy, dx)).all(axis=1)
        z, value = self.z[near], self.value[near]
        table = value[np.lexsort(z.T[::-1])].reshape(2 * np.abs(z).max(axis=0) + 1)
        return table, float(self.value[~near].max(initial=-np.inf))


def displacements(radius: int, penalty: Penalty, reach: tuple[int, int]) -> Displacements:
    """Return {-radius, …, radius}² in order of size.

    No cell meets another beyond ``reach``, so under a weight only the nearest displacements there can matter.
    """
    if np.ndim(penalty) == 0:
        z = box(min(radius, reach[0] + 1), min(radius, reach[1] + 1))
        value = -float(penalty) * (z**2).sum(axis=1)
    else:
        z = box(radius, radius)
        value = np.asarray(penalty, dtype=np.float64).ravel()
    order = np.lexsort((z[:, 1], z[:, 0], (z**2).sum(axis=1)))
    return Displacements(z[order], value[order])


def box(dy: int, dx: int) -> np.ndarray:
    """Return {-dy, …, dy} x {-dx, …, dx}, in order."""
    return np.mgrid[-dy : dy + 1, -dx : dx + 1].reshape(2, -1).T


def linear_scores(basis: np.ndarray) -> Fill:
    """Score without any displacement: the dot product of whole grids."""
    numbers = math.prod(basis.shape[1:])
    exemplars = np.ascontiguousarray(basis.reshape(len(basis), numbers).T)
    return lambda samples, out: np.matmul(samples.reshape(len(samples), numbers), exemplars, out=out)


class _Spectrum(NamedTuple):
    """The real discrete Fourier transform of a grid, on one frequency of every conjugate pair.

    Padded with zeros to (h + r, w + r) cells, r the largest displacement, every correlation that is asked for
    is a circular one. Its value under z is the inverse transform of the products of the spectra,
    Σ_f even[z, f] Re(X̄_f Y_f) + odd[z, f] Im(X̄_f Y_f); under -z the second sum changes sign.
    """

    real: np.ndarray  # (frequencies, cells)
    imaginary: np.ndarray
    even: np.ndarray  # (displacements, frequencies)
    odd: np.ndarray

    def of(self, grids: np.ndarray) -> np.ndarray:
        """Return Re and Im of the transform, side by side: (grids, frequencies, 2d)."""
        cells = grids.reshape(len(grids), -1, grids.shape[-1])
        return np.concatenate([self.real @ cells, self.imaginary @ cells], axis=2)


def _spectrum(shape: tuple[int, int], z: np.ndarray) -> _Spectrum:
    size = np.add(shape, np.abs(z).max(axis=0))
    frequency = np.indices(size).reshape(2, -1).T
    conjugate = -frequency % size
    number, conjugate_number = frequency @ [size[1], 1], conjugate @ [size[1], 1]
    kept = number <= conjugate_number
    weight = np.where(number == conjugate_number, 1, 2)[kept] / size.prod()
    turns = frequency[kept] / size
    at_cell = 2 * np.pi * turns @ np.indices(shape).reshape(2, -1)
    at_z = 2 * np.pi * z @ turns.T
    parts = np.cos(at_cell), -np.sin(at_cell), np.cos(at_z) * weight, -np.sin(at_z) * weight
    return _Spectrum(*(np.ascontiguousarray(part, dtype=np.float32) for part in parts))


def rigid_scores(basis: np.ndarray, rigid: Displacements, exemplar_moves: bool) -> Fill:
    """Score by equation 11: one matrix product per frequency, which costs less than one per displacement.

    z and -z share their sums: with e the even, o the odd one, the best of R(z) + e + o and R(-z) + e - o is
    e + (R(z) + R(-z))/2 + abs(o + (R(z) - R(-z))/2).
    """
    h, w = basis.shape[1:3]
    table, beyond = rigid.within(h - 1, w - 1)
    if exemplar_moves:  # to move one of two grids is to move the other one back
        table = np.flip(table)
    half = slice(table.size // 2, None)  # the others are their opposites
    common, opposed = (
        ((table + sign * np.flip(table)) / 2).reshape(-1, 1)[half].astype(np.float32) for sign in (1, -1)
    )
    spectrum = _spectrum((h, w), box(table.shape[0] // 2, table.shape[1] // 2)[half])
    each = max(1, min(_BLOCK, _BLOCK_BYTES // (8 * ROWS * len(spectrum.real))))
    blocks = [(columns, _pack_spectrum(spectrum.of(basis[columns]))) for columns in slices(len(basis), each)]

    def fill(samples: np.ndarray, out: np.ndarray) -> None:
        transformed = np.ascontiguousarray(spectrum.of(samples).transpose(1, 0, 2))  # (frequencies, n, 2d)
        for columns, exemplars in blocks:
            products = np.matmul(transformed, exemplars)  # (2, frequencies, n, block)
            real, imaginary = products.reshape(2, len(transformed), -1)
            score = spectrum.odd @ imaginary
            score += opposed
            np.abs(score, out=score)
            score += common
            score += spectrum.even @ real
            best = score.max(axis=0, initial=beyond)
            out[:, columns] = best.reshape(len(samples), -1)

    return fill


def _pack_spectrum(exemplars: np.ndarray) -> np.ndarray:
    """Arrange X so that [Re Y, Im Y] times it gives Re(X̄Y) and Im(X̄Y): (2, frequencies, 2d, exemplars)."""
    real, imaginary = np.split(exemplars, 2, axis=2)
    turned = np.concatenate([-imaginary, real], axis=2)
    return np.ascontiguousarray(np.stack([exemplars, turned]).transpose(0, 2, 3, 1))


def deformable_scores(basis: np.ndarray, rigid: Displacements, local: Displacements, exemplar_moves: bool) -> Fill:
    """Score by equation 12: multiply every pair of cells that can meet, once, then take the maxima."""
    h, w = basis.shape[1:3]
    local_table, _ = local.within(np.inf, np.inf)
    far = (local_table.shape[0] // 2, local_table.shape[1] // 2)
    rigid_table, rigid_beyond = rigid.within(h - 1 + far[0], w - 1 + far[1])
    local_value = local_table.ravel().astype(np.float32) if local_table.any() else None
    beyond = np.float32(h * w * local_table.max() + rigid_beyond)
    rigid_value = rigid_table.astype(np.float32)
    compiled = tile_module(penalized=local_value is not None)
    exemplars = _pack_cells(basis, compiled.EXEMPLARS)

    def fill(samples: np.ndarray, out: np.ndarray) -> None:
        packed = _pack_cells(samples, compiled.SAMPLES)
        compiled.deformable_tile(packed, exemplars, exemplar_moves, rigid_value, far, local_value, beyond, out)

    return fill


def _pack_cells(grids: np.ndarray, width: int) -> np.ndarray:
    """Put ``width`` grids side by side, zeros after the last: (groups, h, w, d, width)."""
    n, h, w, d = grids.shape
    padded = np.zeros((-(-n // width) * width, h, w, d), dtype=np.float32)
    padded[:n] = grids
    return np.ascontiguousarray(padded.reshape(-1, width, h, w, d).transpose(0, 2, 3, 4, 1))
