"""Pieces of grids as rows of a matrix. Import this module only inside the function that needs it."""

import numpy as np

from besvm._support.compiled import njit


@njit(cache=True, nogil=True, fastmath={"contract", "reassoc", "nsz"})
def _even_contrast(row, count, softening):
    """Center a piece of ``count`` values, and divide it by √(variance + softening)."""
    total = np.float32(0)
    for k in range(len(row)):
        total += row[k]
    mean = total / count
    squares = np.float32(0)
    for k in range(len(row)):
        centered = row[k] - mean
        squares += centered * centered
    factor = np.float32(1) / np.sqrt(squares / count + softening)
    for k in range(len(row)):
        row[k] = (row[k] - mean) * factor


@njit(cache=True, nogil=True, fastmath={"contract", "reassoc", "nsz"})
def unroll(grids, size, places, softening, out):
    """Fill every row of ``out`` with the piece of a grid (n, h, w, d) that begins at a place, grid by grid.

    With ``softening`` >= 0 a piece is centered and divided by √(variance + softening).
    """
    n, height, width, d = grids.shape
    lines = grids.reshape(n, height, width * d)
    run = size * d
    count = np.float32(size * run)
    for g in range(n):
        for p in range(len(places)):
            row = out[g * len(places) + p]
            y, x = places[p, 0], places[p, 1] * d
            for dy in range(size):
                cells = lines[g, y + dy, x : x + run]
                target = row[dy * run : (dy + 1) * run]
                for k in range(run):
                    target[k] = cells[k]
            if softening >= 0:
                _even_contrast(row, count, softening)


@njit(cache=True, nogil=True, fastmath={"contract", "reassoc", "nsz"})
def to_unit(rows, shift, least):
    """Subtract ``shift`` from every row and divide it by its length; one not longer than ``least`` becomes 0."""
    for p in range(len(rows)):
        row = rows[p]
        squares = np.float32(0)
        for k in range(len(row)):
            row[k] -= shift[k]
            squares += row[k] * row[k]
        length = np.sqrt(squares)
        factor = np.float32(1) / length if length > least else np.float32(0)
        for k in range(len(row)):
            row[k] *= factor


@njit(cache=True, nogil=True, fastmath={"contract", "reassoc", "nsz"})
def _window(series, p, length, step, normalized, factor, least, row):
    """Fill a row with the piece of a series (channels, moments) that begins at p."""
    n_channels = len(series)
    count = n_channels * length
    squares = np.float32(0)
    for c in range(n_channels):
        first = c * length
        shift = np.float32(0)
        for k in range(length):
            value = series[c, p + k * step]
            row[first + k] = value
            shift += value
        shift = shift / np.float32(length) if normalized else np.float32(0)
        for k in range(length):
            row[first + k] -= shift
            squares += row[first + k] * row[first + k]
    scale = factor
    if normalized:
        scale = np.float32(1) / np.sqrt(squares) if squares > least * least * np.float32(count) else np.float32(0)
    for k in range(count):
        row[k] *= scale
    if len(row) > count:
        row[count] = -squares * scale * scale / 2
        row[count + 1] = 1


@njit(cache=True, nogil=True, fastmath={"contract", "reassoc", "nsz"})
def windows(several, length, step, normalized, factor, least, out):
    """Fill every row of ``out`` with ``length`` time points, ``step`` apart, of a series (n, channels, moments).

    Normalized, every channel is centered and the whole has length 1, or is 0 if it varies less than ``least``. Others
    are multiplied by ``factor``; where there is room for it, -‖row‖²/2 and 1 follow.
    """
    n_places = several.shape[2] - (length - 1) * step
    for s in range(len(several)):
        for p in range(n_places):
            _window(several[s], p, length, step, normalized, factor, least, out[s * n_places + p])


@njit(cache=True, nogil=True, fastmath={"contract", "reassoc", "nsz"})
def pool(tile, regions, least, best, mean):
    """Pool the similarities of places (rows) to exemplars (columns), region by region.

    A region is the places from ``regions[r, 0]`` to ``regions[r, 1]``. Row r of ``best`` becomes their maximum, and
    that of ``mean`` the mean of what they have above ``least``; without rows, neither is computed. NaN stays NaN where
    the whole column is.
    """
    for r in range(len(regions)):
        first, end = regions[r]
        if len(best):
            best[r] = tile[first]
        if len(mean):
            mean[r] = 0
        for p in range(first, end):
            row = tile[p]
            if len(best):
                largest = best[r]
                for k in range(len(row)):
                    largest[k] = row[k] if row[k] > largest[k] else largest[k]
            if len(mean):
                total = mean[r]
                for k in range(len(row)):
                    above = row[k] - least
                    total[k] += np.float32(0) if above <= 0 else above
        if len(mean):
            mean[r] /= np.float32(end - first)


@njit(cache=True, nogil=True, fastmath={"contract", "reassoc", "nsz"})
def pool_products(values, tiles, regions, least, room, best, mean):
    """Pool the products of places (p, k) with exemplars, (tiles, k, width), while a tile is still in cache.

    ``best`` and ``mean`` are (tiles, regions, width), or have no tiles, as in :func:`pool`.
    """
    n, width = len(values), tiles.shape[2]
    tile = room[: n * width].reshape(n, width)
    none = np.empty((0, width), np.float32)
    for t in range(len(tiles)):
        np.dot(values, tiles[t], tile)
        pool(tile, regions, least, best[t] if len(best) else none, mean[t] if len(mean) else none)
