"""What a row of somebody else's features takes is measured, and nothing else that happens meanwhile counts."""

import numpy as np
import pytest

from besvm.expand.room import LEAST, TRIES, agreed, measured


def test_a_row_is_measured_to_a_power_of_2():
    def compute(rows):
        return np.ones((len(rows), 3000)).sum(axis=1)  # 24,000 bytes a row

    assert measured(compute, np.zeros((1, 4))) == 1 << 15


def test_small_rows_give_one_number_whatever_else_is_allocated(rng):
    """The files of two models of the same data and seed differed: a row took 1 or 2 kB, as the noise would have it."""
    noise = rng.integers(0, 4000, 1000).tolist()

    def compute(rows):
        return np.ones((len(rows), 128)).sum(axis=1), bytes(noise.pop())  # 1,024 bytes a row, and any number beside

    assert {measured(compute, np.zeros((1, 4))) for _ in range(50)} == {LEAST}
    assert measured(lambda rows: None, np.zeros((1, 4))) == LEAST


def test_what_happens_once_does_not_count():
    """A model file differed from run to run: somebody else's allocations came into one measurement."""
    calls = []

    def compute(rows):
        calls.append(len(rows))
        once = np.ones(10**6) if calls == [1, 2, 6] else None
        return np.ones((len(rows), 3000)).sum(axis=1), once

    assert measured(compute, np.zeros((1, 4))) == 1 << 15
    assert calls[:5] == [1, 2, 6, 2, 6]


@pytest.mark.parametrize(
    ("found", "number", "measurements"),
    [([4, 4, 9], 4, 2), ([8, 4, 4, 9], 4, 3), ([4, 8, 4, 9], 4, 3), ([8, 4, 2, 8, 9], 8, 4), ([8, 4, 2, 16, 9], 2, 4)],
)
def test_what_is_measured_twice_counts_and_else_the_least(found, number, measurements):
    left = iter(found)
    assert agreed(lambda: next(left)) == number
    assert len(list(left)) == len(found) - measurements
    assert measurements <= TRIES


def test_what_fails_is_met_again_where_the_sample_can_be_named():
    def compute(rows):
        raise ValueError("no")

    assert measured(compute, np.zeros((1, 4))) == 0
