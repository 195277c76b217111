"""The compiled loops over pairs of cells. Import this module only inside the function that needs it.

A register tile holds the scores of SAMPLES samples x EXEMPLARS exemplars: twelve AVX2 registers, which leaves
four for the operands. The dot products and the maxima of a tile are short loops whose state must stay in
registers from the first turn to the last. numba has no type for that, so they are written as LLVM vectors,
which every processor LLVM knows can run; all the rest is plain numba.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import numpy as np
from llvmlite import ir
from numba import njit, types
from numba.extending import intrinsic

SAMPLES = 6
EXEMPLARS = 16
TILE = SAMPLES * EXEMPLARS  # a tile is stored sample by sample: entry [i * EXEMPLARS + j]

_VECTOR = ir.VectorType(ir.FloatType(), EXEMPLARS)
_FUSED = ("contract",)  # a product and a sum may become one fused instruction


def _pointer(context: Any, builder: ir.IRBuilder, kind: Any, array: Any, offset: Any) -> Any:
    """Point at element ``offset`` of a flat array."""
    return builder.gep(context.make_array(kind)(context, builder, array).data, [offset])


def _load(builder: ir.IRBuilder, pointer: Any, row: int = 0) -> Any:
    at = builder.gep(pointer, [ir.IntType(64)(row * EXEMPLARS)])
    return builder.load(builder.bitcast(at, _VECTOR.as_pointer()), align=4)


def _store(builder: ir.IRBuilder, vector: Any, pointer: Any, row: int) -> None:
    at = builder.gep(pointer, [ir.IntType(64)(row * EXEMPLARS)])
    builder.store(vector, builder.bitcast(at, _VECTOR.as_pointer()), align=4)


def _splat(builder: ir.IRBuilder, number: Any) -> Any:
    """Repeat one number over a whole vector."""
    undefined = ir.Constant(_VECTOR, ir.Undefined)
    first = builder.insert_element(undefined, number, ir.IntType(32)(0))
    lanes = ir.Constant(ir.VectorType(ir.IntType(32), EXEMPLARS), [0] * EXEMPLARS)
    return builder.shuffle_vector(first, undefined, lanes)


def _loop(
    builder: ir.IRBuilder,
    start: Any,
    stop: Any,
    state: Sequence[Any],
    step: Callable[[Any, list[Any]], list[Any]],
) -> list[Any]:
    """``for k in range(start, stop): state = step(k, state)``, with the state in registers throughout."""
    before = builder.block
    body = builder.append_basic_block("body")
    after = builder.append_basic_block("after")
    builder.cbranch(builder.icmp_signed("<", start, stop), body, after)

    builder.position_at_end(body)
    k = builder.phi(start.type)
    inside = [builder.phi(value.type) for value in state]
    stepped = step(k, inside)
    following = builder.add(k, start.type(1))
    for phi, first, again in zip([k, *inside], [start, *state], [following, *stepped], strict=True):
        phi.add_incoming(first, before)
        phi.add_incoming(again, body)
    builder.cbranch(builder.icmp_signed("<", following, stop), body, after)

    builder.position_at_end(after)
    outside = [builder.phi(value.type) for value in state]
    for phi, first, last in zip(outside, state, stepped, strict=True):
        phi.add_incoming(first, before)
        phi.add_incoming(last, body)
    return outside


@intrinsic
def _dot_products(typing_context, samples, sample_at, basis, basis_at, depth, out, out_at):
    """out tile [i, j] = Σ_k samples[k, i] · basis[k, j], for ``depth`` descriptor entries k."""
    place = types.intp
    signature = types.void(samples, place, basis, place, place, out, place)

    def generate(context, builder, signature, arguments):
        samples, sample_at, basis, basis_at, depth, out, out_at = arguments
        samples = _pointer(context, builder, signature.args[0], samples, sample_at)
        basis = _pointer(context, builder, signature.args[2], basis, basis_at)
        out = _pointer(context, builder, signature.args[5], out, out_at)
        integer = depth.type

        def step(k: Any, sums: list[Any]) -> list[Any]:
            exemplars = _load(builder, builder.gep(basis, [builder.mul(k, integer(EXEMPLARS))]))
            descriptor = builder.gep(samples, [builder.mul(k, integer(SAMPLES))])
            entries = [builder.load(builder.gep(descriptor, [integer(i)])) for i in range(SAMPLES)]
            products = [builder.fmul(_splat(builder, entry), exemplars, flags=_FUSED) for entry in entries]
            return [
                builder.fadd(product, total, flags=_FUSED)
                for product, total in zip(products, sums, strict=True)
            ]

        zeros = [ir.Constant(_VECTOR, [0.0] * EXEMPLARS)] * SAMPLES
        for i, total in enumerate(_loop(builder, integer(0), depth, zeros, step)):
            _store(builder, total, out, i)
        return context.get_dummy_value()

    return signature, generate


@intrinsic
def _add_best(typing_context, dots, cells, values, start, stop, floor, total, total_at):
    """total tile += max(floor, max_k dots[cells[k]] + values[k]), over the candidates start <= k < stop."""
    place = types.intp
    signature = types.void(dots, cells, values, place, place, types.float32, total, place)

    def generate(context, builder, signature, arguments):
        dots, cells, values, start, stop, floor, total, total_at = arguments
        nothing = start.type(0)
        dots = _pointer(context, builder, signature.args[0], dots, nothing)
        cells = _pointer(context, builder, signature.args[1], cells, nothing)
        values = _pointer(context, builder, signature.args[2], values, nothing)
        total = _pointer(context, builder, signature.args[6], total, total_at)

        def step(k: Any, best: list[Any]) -> list[Any]:
            cell = builder.load(builder.gep(cells, [k]))
            tile = builder.gep(dots, [builder.mul(cell, cell.type(TILE))])
            value = _splat(builder, builder.load(builder.gep(values, [k])))
            scores = [builder.fadd(_load(builder, tile, i), value) for i in range(SAMPLES)]
            return [
                builder.select(builder.fcmp_ordered(">", score, known), score, known)
                for score, known in zip(scores, best, strict=True)
            ]

        for i, best in enumerate(_loop(builder, start, stop, [_splat(builder, floor)] * SAMPLES, step)):
            _store(builder, builder.fadd(_load(builder, total, i), best), total, i)
        return context.get_dummy_value()

    return signature, generate


@njit(cache=True, nogil=True)
def deformable_tile(samples, basis, plan, out):
    """Fill out[i, j] with max over z_R of R(z_R) + Σ_c max over z_L of R(z_L) + x_j(c)·y_i(c + z_R + z_L).

    samples: (panels, cells, d, SAMPLES); basis: (blocks, cells, d, EXEMPLARS); both float32, C order.
    plan: a CellPlan, which says what cells each cell is compared with.
    """
    panels, n_cells, depth, _ = samples.shape
    n_rigid = plan.rigid_value.size
    samples_flat, basis_flat = samples.reshape(-1), basis.reshape(-1)
    dots = np.empty(n_cells * TILE, np.float32)
    totals = np.empty(n_rigid * TILE, np.float32)
    for block in range(basis.shape[0]):
        for panel in range(panels):
            for z in range(n_rigid):
                totals[z * TILE : (z + 1) * TILE] = plan.rigid_value[z]
            for c in range(n_cells):
                exemplar_at = (block * n_cells + c) * depth * EXEMPLARS
                for k in range(plan.reach_start[c], plan.reach_start[c + 1]):
                    cell = plan.reach[k]
                    sample_at = (panel * n_cells + cell) * depth * SAMPLES
                    _dot_products(samples_flat, sample_at, basis_flat, exemplar_at, depth, dots, cell * TILE)
                for z in range(n_rigid):
                    at = c * n_rigid + z
                    start, stop = plan.candidate_start[at], plan.candidate_start[at + 1]
                    _add_best(
                        dots, plan.candidate, plan.local_value, start, stop, plan.floor[at], totals, z * TILE
                    )
            _write_best(totals, n_rigid, plan.beyond, out, panel * SAMPLES, block * EXEMPLARS)


@njit(cache=True, nogil=True)
def _write_best(totals, n_rigid, beyond, out, row, column):
    """Write the largest of the totals over z_R where the tile lies inside ``out``."""
    for i in range(min(SAMPLES, out.shape[0] - row)):
        for j in range(min(EXEMPLARS, out.shape[1] - column)):
            best = beyond
            for z in range(n_rigid):
                best = max(best, totals[z * TILE + i * EXEMPLARS + j])
            out[row + i, column + j] = best
