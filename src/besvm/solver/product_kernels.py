"""Products of a block of features with few columns, forth and back, in SIMD vectors.

BLAS is made for large matrices, and copies the features before it multiplies: with ten columns it reaches half of what
a processor can do. Here a register tile holds ROWS rows x COLUMNS columns on the way forth, COLUMNS columns x SPAN
vectors of features on the way back: every number that is loaded serves several products at once, and the next ones
are asked of the memory meanwhile. Where both ways are wanted, PANEL rows go forth and back before the next come: the
features are read from memory once.

Import this module only inside the function that needs it.
"""

from typing import Any

import numpy as np
from numba import types
from numba.extending import intrinsic

from besvm._support.compiled import njit
from besvm._support.vector_code import INDEX, WIDE, Vectors, loop, pointer, prefetch

LANES = 16 if WIDE else 8
ROWS = 4 if WIDE else 2
SPAN = 4 if WIDE else 2
COLUMNS = 5  # ROWS · COLUMNS or SPAN · COLUMNS sums, and the operands beside them, fit the registers
PANEL = 16  # rows that stay in the cache from the way forth to the way back, and a piece of them in the nearest one
LINE = 16  # numbers in a cache line

_vectors = Vectors(LANES)
_READ = types.Array(types.float32, 2, "C", readonly=True)  # what may be written to is taken as well
_WRITTEN = types.float32[:, ::1]
_COLUMNS = types.float32[:, :]  # of any layout: a single row has several at once
_LINE, _SUMS = types.float32[::1], types.float64[::1]


def _products(rows: int) -> Any:
    """Return the code of out[i, j] = Σ_d features[i, d] · weights[j, d], for so many rows and COLUMNS columns.

    The last features, fewer than a vector, are read with some that came before them, for which ``tail`` has zeros.
    """

    @intrinsic
    def tile(typing_context, features, at, size, weights, weights_at, tail, tail_at, out, out_at, width):
        place = types.intp
        signature = types.void(features, place, place, weights, place, tail, place, out, place, place)

        def generate(context, builder, signature, arguments):
            features, at, size, weights, weights_at, tail, tail_at, out, out_at, width = arguments
            first = pointer(context, builder, signature.args[0], features, at)
            weights = pointer(context, builder, signature.args[3], weights, weights_at)
            tail = pointer(context, builder, signature.args[5], tail, tail_at)
            out = pointer(context, builder, signature.args[7], out, out_at)
            samples = [builder.gep(first, [builder.mul(size, INDEX(i))]) for i in range(rows)]
            columns = [builder.gep(weights, [builder.mul(size, INDEX(j))]) for j in range(COLUMNS)]
            following = [builder.gep(first, [builder.mul(size, INDEX(rows + i))]) for i in range(rows)]
            whole = builder.mul(builder.sdiv(size, INDEX(LANES)), INDEX(LANES))

            def add(sums: list[Any], x: list[Any], w: list[Any]) -> list[Any]:
                pairs = [(a, b) for a in x for b in w]
                return [_vectors.add_product(builder, total, a, b) for total, (a, b) in zip(sums, pairs, strict=True)]

            def step(d: Any, sums: list[Any]) -> list[Any]:
                for address in following:
                    prefetch(builder, builder.gep(address, [d]), 2)
                x = [_vectors.load(builder, address, d) for address in samples]
                return add(sums, x, [_vectors.load(builder, address, d) for address in columns])

            def last(d: Any, sums: list[Any]) -> list[Any]:
                back = builder.sub(size, INDEX(LANES))
                x = [_vectors.load(builder, address, back) for address in samples]
                return add(sums, x, [_vectors.load(builder, tail, LANES * j) for j in range(COLUMNS)])

            sums = loop(builder, INDEX(0), whole, [_vectors.zero] * (rows * COLUMNS), step, by=LANES)
            sums = loop(builder, whole, size, sums, last, by=LANES)
            for i in range(rows):
                line = builder.gep(out, [builder.mul(width, INDEX(i))])
                for j in range(COLUMNS):
                    total = _vectors.total(builder, sums[i * COLUMNS + j])
                    builder.store(total, builder.gep(line, [INDEX(j)]))
            return context.get_dummy_value()

        return signature, generate

    return tile


def _outer_products(span: int) -> Any:
    """Return the code of out[j, d] += Σ_i factors[i, j] · features[i, d], for COLUMNS columns and ``span`` vectors."""

    @intrinsic
    def tile(typing_context, features, at, size, factors, factors_at, width, n_rows, out, out_at, stride):
        place = types.intp
        signature = types.void(features, place, place, factors, place, place, place, out, place, place)

        def generate(context, builder, signature, arguments):
            features, at, size, factors, factors_at, width, n_rows, out, out_at, stride = arguments
            features = pointer(context, builder, signature.args[0], features, at)
            factors = pointer(context, builder, signature.args[3], factors, factors_at)
            out = pointer(context, builder, signature.args[7], out, out_at)
            lines = [builder.gep(out, [builder.mul(stride, INDEX(j))]) for j in range(COLUMNS)]
            places = [(j, LANES * s) for j in range(COLUMNS) for s in range(span)]

            def step(i: Any, sums: list[Any]) -> list[Any]:
                row = builder.gep(features, [builder.mul(i, size)])
                for ahead in range(0, span * LANES, LINE):
                    prefetch(builder, builder.gep(row, [INDEX(span * LANES + ahead)]), 3)
                x = [_vectors.load(builder, row, LANES * s) for s in range(span)]
                numbers = builder.gep(factors, [builder.mul(i, width)])
                r = [_vectors.splat(builder, builder.load(builder.gep(numbers, [INDEX(j)]))) for j in range(COLUMNS)]
                pairs = [(a, b) for a in r for b in x]
                return [_vectors.add_product(builder, total, a, b) for total, (a, b) in zip(sums, pairs, strict=True)]

            sums = [_vectors.load(builder, lines[j], d) for j, d in places]
            for (j, d), total in zip(places, loop(builder, INDEX(0), n_rows, sums, step), strict=True):
                _vectors.store(builder, total, lines[j], d)
            return context.get_dummy_value()

        return signature, generate

    return tile


_products_of_rows, _products_of_one_row = _products(ROWS), _products(1)
_outer_wide, _outer_narrow = _outer_products(SPAN), _outer_products(1)


@njit
def _forth(x, first, n, size, w, width, t, to):
    """to[i, j] = Σ_d x[first + i, d] · w[j, d] for n rows; all arrays flat."""
    whole = n // ROWS * ROWS
    for i in range(0, whole, ROWS):
        for k in range(0, width, COLUMNS):
            _products_of_rows(x, (first + i) * size, size, w, k * size, t, k * LANES, to, i * width + k, width)
    for i in range(whole, n):
        for k in range(0, width, COLUMNS):
            _products_of_one_row(x, (first + i) * size, size, w, k * size, t, k * LANES, to, i * width + k, width)


@njit
def _back(x, first, n, size, r, r_at, width, to, tail):
    """to[j, d] += Σ_i r[i, j] · x[first + i, d] for at most PANEL rows; all arrays flat.

    The last features, fewer than a vector, go to ``tail``, behind some that are done already.
    """
    wide, whole = size // (SPAN * LANES) * (SPAN * LANES), size // LANES * LANES
    for k in range(0, width, COLUMNS):
        at = r_at + k
        for d in range(0, wide, SPAN * LANES):
            _outer_wide(x, first * size + d, size, r, at, width, n, to, k * size + d, size)
        for d in range(wide, whole, LANES):
            _outer_narrow(x, first * size + d, size, r, at, width, n, to, k * size + d, size)
        if whole < size:
            _outer_narrow(x, (first + 1) * size - LANES, size, r, at, width, n, tail, k * LANES, LANES)


@njit
def _take_tail(out, tail):
    """Put the last features, which :func:`_back` left in ``tail``, where they belong."""
    width, size = out.shape
    rest = size % LANES
    for k in range(width):
        out[k, size - rest :] = tail[(k + 1) * LANES - rest : (k + 1) * LANES]


@njit(types.void(_READ, _READ, _READ, _WRITTEN), cache=True, nogil=True)
def multiply(features, weights, tail, out):
    """out = features @ weights.T; float32, C order, the columns a multiple of COLUMNS, the features at least LANES.

    ``tail`` (columns, LANES) holds the last of the weights, as many as do not fill a vector, at its end behind zeros.
    """
    n, size = features.shape
    _forth(features.reshape(-1), 0, n, size, weights.reshape(-1), len(weights), tail.reshape(-1), out.reshape(-1))


@njit(types.void(_READ, _READ, _WRITTEN), cache=True, nogil=True)
def multiply_back(features, factors, out):
    """out = factors.T @ features; float32, C order, the columns a multiple of COLUMNS, the features at least LANES."""
    n, size = features.shape
    width = factors.shape[1]
    x, r, to = features.reshape(-1), factors.reshape(-1), out.reshape(-1)
    last = np.zeros(width * LANES, np.float32)
    out[:] = 0
    for i in range(0, n, PANEL):
        _back(x, i, min(PANEL, n - i), size, r, i * width, width, to, last)
    _take_tail(out, last)


@njit(types.void(_READ, _READ, _READ, _LINE, _COLUMNS, _COLUMNS, _WRITTEN, _SUMS, _SUMS), cache=True, nogil=True)
def multiply_both(features, weights, tail, offset, active, products, out, totals, squares):
    """products = features @ weights.T + offset, and out = (active * products).T @ features.

    ``totals`` are the sums of active * products, ``squares`` of active * products²; as many columns as ``active`` has.
    """
    n, size = features.shape
    width, wanted = len(weights), active.shape[1]
    x, w, t, to = features.reshape(-1), weights.reshape(-1), tail.reshape(-1), out.reshape(-1)
    panel, factors = np.empty(PANEL * width, np.float32), np.zeros(PANEL * width, np.float32)
    last = np.zeros(width * LANES, np.float32)
    out[:] = 0
    totals[:] = 0
    squares[:] = 0
    for i in range(0, n, PANEL):
        m = min(PANEL, n - i)
        _forth(x, i, m, size, w, width, t, panel)
        for k in range(wanted):
            total = square = np.float32(0)
            for row in range(m):
                product = panel[row * width + k] + offset[k]
                factor = active[i + row, k] * product
                products[i + row, k] = product
                factors[row * width + k] = factor
                total += factor
                square += factor * product
            totals[k] += total
            squares[k] += square
        _back(x, i, m, size, factors, 0, width, to, last)
    _take_tail(out, last)
