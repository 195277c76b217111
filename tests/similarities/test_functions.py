"""Functions of two items as similarities."""

from __future__ import annotations

import numpy as np
import pytest

from besvm._support.threads import workers
from besvm.similarities import PairFunction, resolve


def asymmetric(exemplar, sample):
    return 10 * exemplar + sample


def slow(exemplar, sample):
    total = 0
    for _ in range(20000):
        total += 1
    return exemplar * sample + total * 0


def test_a_function_gets_the_exemplar_first():
    got = resolve(asymmetric)([1, 2], [3, 4, 5])
    np.testing.assert_array_equal(got, [[31, 41, 51], [32, 42, 52]])


def test_a_slow_function_is_spread_over_processes(rng):
    A, B = list(range(40)), list(range(30))
    with workers(2):
        spread = PairFunction(slow)(A, B)
    np.testing.assert_array_equal(spread, np.outer(A, B))


def test_a_function_must_return_a_number():
    with pytest.raises(TypeError, match=r"must return a number, got str for the pair \('x', 'y'\)"):
        resolve(lambda a, b: "no")(["y"], ["x"])
