"""The scores of grids whose cells move one by one, in SIMD vectors.

A register tile holds the scores of SAMPLES samples x EXEMPLARS exemplars: twelve AVX2 registers, which leaves
four for the operands. The dot products and the maxima of a tile are short loops whose state must stay in
registers from the first turn to the last. numba has no type for that, so they are written as LLVM vectors;
all the rest is plain numba. plain_tile does the same without them, and tile.py chooses.

Import this module only inside the function that needs it.
"""

from typing import Any

import numpy as np
from llvmlite import ir
from numba import types
from numba.extending import intrinsic

from besvm._support.compiled import njit
from besvm._support.vector_code import Vectors, loop, pointer

SAMPLES = 6
EXEMPLARS = 16
TILE = SAMPLES * EXEMPLARS  # a tile is stored sample by sample: entry [i * EXEMPLARS + j]

_vectors = Vectors(EXEMPLARS)


def _load(builder: ir.IRBuilder, address: Any, row: int = 0) -> Any:
    """Load line ``row`` of the tile at ``address`` (a line beyond the last belongs to the next tile)."""
    return _vectors.load(builder, address, row * EXEMPLARS)


def _store(builder: ir.IRBuilder, vector: Any, address: Any, row: int) -> None:
    _vectors.store(builder, vector, address, row * EXEMPLARS)


def _max(builder: ir.IRBuilder, a: Any, b: Any) -> Any:
    return builder.select(builder.fcmp_ordered(">", a, b), a, b)


@intrinsic
def _dot_products(typing_context, samples, sample_at, basis, basis_at, depth, out, out_at):
    """out tile [i, j] = Σ_k samples[k, i] · basis[k, j], for ``depth`` descriptor entries k."""
    place = types.intp
    signature = types.void(samples, place, basis, place, place, out, place)

    def generate(context, builder, signature, arguments):
        samples, sample_at, basis, basis_at, depth, out, out_at = arguments
        samples = pointer(context, builder, signature.args[0], samples, sample_at)
        basis = pointer(context, builder, signature.args[2], basis, basis_at)
        out = pointer(context, builder, signature.args[5], out, out_at)
        integer = depth.type

        def step(k: Any, sums: list[Any]) -> list[Any]:
            exemplars = _load(builder, builder.gep(basis, [builder.mul(k, integer(EXEMPLARS))]))
            descriptor = builder.gep(samples, [builder.mul(k, integer(SAMPLES))])
            entries = [builder.load(builder.gep(descriptor, [integer(i)])) for i in range(SAMPLES)]
            return [
                _vectors.add_product(builder, total, _vectors.splat(builder, entry), exemplars)
                for entry, total in zip(entries, sums, strict=True)
            ]

        zeros = [_vectors.zero] * SAMPLES
        for i, total in enumerate(loop(builder, integer(0), depth, zeros, step)):
            _store(builder, total, out, i)
        return context.get_dummy_value()

    return signature, generate


@intrinsic
def _add_best(typing_context, dots, dots_at, offsets, n_offsets, values, total, total_at):
    """total tile += max_k dots[dots_at + offsets[k]] + values[k]; values may be None, for zeros."""
    place = types.intp
    signature = types.void(dots, place, offsets, place, values, total, place)
    has_values = not isinstance(values, types.NoneType)

    def generate(context, builder, signature, arguments):
        dots, dots_at, offsets, n_offsets, values, total, total_at = arguments
        nothing = dots_at.type(0)
        dots = pointer(context, builder, signature.args[0], dots, dots_at)
        offsets = pointer(context, builder, signature.args[2], offsets, nothing)
        total = pointer(context, builder, signature.args[5], total, total_at)
        if has_values:
            values = pointer(context, builder, signature.args[4], values, nothing)

        def scores(k: Any) -> list[Any]:
            tile = builder.gep(dots, [builder.load(builder.gep(offsets, [k]))])
            products = [_load(builder, tile, i) for i in range(SAMPLES)]
            if not has_values:  # the sums would cost as much as the maxima
                return products
            value = _vectors.splat(builder, builder.load(builder.gep(values, [k])))
            return [builder.fadd(product, value) for product in products]

        def step(k: Any, best: list[Any]) -> list[Any]:
            return [_max(builder, *pair) for pair in zip(scores(k), best, strict=True)]

        for i, best in enumerate(loop(builder, nothing.type(1), n_offsets, scores(nothing), step)):
            _store(builder, builder.fadd(_load(builder, total, i), best), total, i)
        return context.get_dummy_value()

    return signature, generate


@intrinsic
def _add_best_of_nine(typing_context, dots, dots_at, row_stride, n_rows, total, total_at, total_stride):
    """total tile [y] += max of the 3 x 3 dots tiles from [y, 0] to [y + 2, 2], for y < n_rows.

    Each row's best of three is found once and serves the three windows it lies in.
    """
    place = types.intp
    signature = types.void(dots, place, place, place, total, place, place)

    def generate(context, builder, signature, arguments):
        dots, dots_at, row_stride, n_rows, total, total_at, total_stride = arguments
        dots = pointer(context, builder, signature.args[0], dots, dots_at)
        total = pointer(context, builder, signature.args[4], total, total_at)
        integer = row_stride.type

        def best_of_row(y: Any, i: int) -> Any:
            row = builder.gep(dots, [builder.mul(y, row_stride)])
            left, middle, right = (_load(builder, row, x * SAMPLES + i) for x in range(3))
            return _max(builder, _max(builder, left, middle), right)

        for top in range(0, SAMPLES, 2):  # two lines of the tile at a time: more would not fit in registers
            lines = (top, top + 1)

            def step(y: Any, state: list[Any], lines: tuple[int, ...] = lines) -> list[Any]:
                above, above_two = state[:2], state[2:]
                rows = [best_of_row(builder.add(y, integer(2)), i) for i in lines]
                at = builder.gep(total, [builder.mul(y, total_stride)])
                for i, row, two in zip(lines, rows, above_two, strict=True):
                    _store(builder, builder.fadd(_load(builder, at, i), _max(builder, row, two)), at, i)
                return [*rows, *(_max(builder, *pair) for pair in zip(rows, above, strict=True))]

            first = [best_of_row(integer(0), i) for i in lines]
            second = [best_of_row(integer(1), i) for i in lines]
            both = [_max(builder, *pair) for pair in zip(first, second, strict=True)]
            loop(builder, integer(0), n_rows, [*second, *both], step)
        return context.get_dummy_value()

    return signature, generate


@njit(cache=True, nogil=True)
def deformable_tile(samples, basis, exemplar_moves, rigid_value, local, local_value, beyond, out):
    """Fill out[i, j] with max over z_R of R(z_R) + Σ_c max over z_L of R(z_L) + x(c)·y(c + z_R + z_L).

    x is sample i and y exemplar j if the exemplar moves, and the other way round if the sample does.
    samples: (panels, h, w, d, SAMPLES); basis: (blocks, h, w, d, EXEMPLARS); both float32, C order.
    rigid_value: R of every z_R, a table whose shape says how far z_R goes; local: how far z_L goes, (dy, dx);
    local_value: R of every z_L, a flat table, or None for zeros; beyond: the best score of all other z_R.
    """
    panels, h, w, depth, _ = samples.shape
    n_y, n_x = rigid_value.shape
    far_y, far_x = n_y // 2 + local[0], n_x // 2 + local[1]
    stride = w + 2 * far_x
    offsets = np.array([dy * stride + dx for dy in range(2 * local[0] + 1) for dx in range(2 * local[1] + 1)])
    offsets *= TILE
    samples_flat, basis_flat = samples.reshape(-1), basis.reshape(-1)
    # What a cell yields with each cell of the frame, in a margin of zeros that nothing ever overwrites.
    dots = np.zeros((h + 2 * far_y) * stride * TILE, np.float32)
    totals = np.empty(n_y * n_x * TILE, np.float32)
    for block in range(basis.shape[0]):
        for panel in range(panels):
            totals.reshape(n_y, n_x, TILE)[:] = rigid_value.reshape(n_y, n_x, 1)
            for y in range(h):
                for x in range(w):
                    for to_y in range(max(0, y - far_y), min(h, y + far_y + 1)):
                        for to_x in range(max(0, x - far_x), min(w, x + far_x + 1)):
                            still, moved = y * w + x, to_y * w + to_x
                            of_sample, of_exemplar = (still, moved) if exemplar_moves else (moved, still)
                            sample_at = (panel * h * w + of_sample) * depth * SAMPLES
                            exemplar_at = (block * h * w + of_exemplar) * depth * EXEMPLARS
                            to = ((to_y + far_y) * stride + to_x + far_x) * TILE
                            _dot_products(samples_flat, sample_at, basis_flat, exemplar_at, depth, dots, to)
                    _add_cell(dots, (y * stride + x) * TILE, stride, offsets, local_value, totals, n_y, n_x)
            _write_best(totals, n_y * n_x, beyond, out, panel * SAMPLES, block * EXEMPLARS)


@njit(cache=True, nogil=True)
def _add_cell(dots, dots_at, stride, offsets, local_value, totals, n_y, n_x):
    """Add to the total of every z_R what one cell gains by its best z_L."""
    if local_value is None and offsets.size == 9:
        for x in range(n_x):
            _add_best_of_nine(dots, dots_at + x * TILE, stride * TILE, n_y, totals, x * TILE, n_x * TILE)
    else:
        for y in range(n_y):
            for x in range(n_x):
                at, total_at = dots_at + (y * stride + x) * TILE, (y * n_x + x) * TILE
                _add_best(dots, at, offsets, offsets.size, local_value, totals, total_at)


@njit(cache=True, nogil=True)
def _write_best(totals, n_rigid, beyond, out, row, column):
    """Write the largest of the totals over z_R where the tile lies inside ``out``."""
    for z in range(1, n_rigid):
        for k in range(TILE):
            totals[k] = max(totals[k], totals[z * TILE + k])
    for i in range(min(SAMPLES, out.shape[0] - row)):
        for j in range(min(EXEMPLARS, out.shape[1] - column)):
            out[row + i, column + j] = max(beyond, totals[i * EXEMPLARS + j])
