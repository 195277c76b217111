"""Loops around a function of the user's that numba has compiled. Import this only inside the function that needs it."""

from functools import lru_cache

from besvm._support.compiled import njit


@njit(nogil=True)
def _number(flat, starts, shapes, i):
    return flat[i]


@njit(nogil=True)
def _line(flat, starts, shapes, i):
    return flat[starts[i] : starts[i + 1]]


@njit(nogil=True)
def _plane(flat, starts, shapes, i):
    return flat[starts[i] : starts[i + 1]].reshape((shapes[i, 0], shapes[i, 1]))


@njit(nogil=True)
def _volume(flat, starts, shapes, i):
    return flat[starts[i] : starts[i + 1]].reshape((shapes[i, 0], shapes[i, 1], shapes[i, 2]))


ITEM = (_number, _line, _plane, _volume)  # by how many axes an item has


@lru_cache(maxsize=64)
def tile_of(function, sample_axes, exemplar_axes):
    """Return the loop that fills a tile by ``function(exemplar, sample)``, and notes in ``at`` which pair it is at."""
    sample_of, exemplar_of = ITEM[sample_axes], ITEM[exemplar_axes]

    @njit(nogil=True)
    def tile(samples, exemplars, first, out, at):
        for i in range(out.shape[0]):
            sample = sample_of(samples[0], samples[1], samples[2], first + i)
            at[0] = first + i
            for j in range(out.shape[1]):
                at[1] = j
                out[i, j] = function(exemplar_of(exemplars[0], exemplars[1], exemplars[2], j), sample)

    return tile
