"""What is kept within so many bytes, and settings of the process that are set back by the last one."""

import os
from multiprocessing import get_context
from threading import Barrier

import numpy as np
import pytest

from besvm._support.kept import Kept
from besvm._support.settings import SharedSetting
from besvm._support.threads import thread_map, workers


def test_what_was_used_last_is_kept():
    kept, made = Kept(3 * 80), []

    def make(n):
        made.append(n)
        return (np.full(10, float(n)),)

    for n in (1, 2, 3, 1, 4, 1, 2):
        assert kept.get(n, lambda n=n: make(n))[0][0] == n
    assert made == [1, 2, 3, 4, 2]
    assert kept.nbytes == 3 * 80


def test_what_is_larger_than_the_room_is_made_every_time():
    kept = Kept(10)
    assert [len(kept.get("a", lambda: (np.zeros(100),))[0]) for _ in range(2)] == [100, 100]
    assert kept.nbytes == 0


def test_threads_keep_to_the_room():
    kept = Kept(800)

    def work(k):
        return kept.get(k % 17, lambda: (np.full(10, float(k % 17)),))[0][0]

    with workers(4):
        assert list(thread_map(work, range(500))) == [k % 17 for k in range(500)]
    assert kept.nbytes == 800 == sum(arrays[0].nbytes for arrays in kept._arrays.values())


def test_a_setting_is_set_back_by_the_last_one():
    calls, together = [], Barrier(2)
    setting = SharedSetting(lambda: calls.append("changed") or (lambda: calls.append("set back")))

    def work(_):
        with setting:
            together.wait(10)

    with workers(2):
        list(thread_map(work, range(2)))
    assert calls == ["changed", "set back"]


@pytest.mark.skipif(not hasattr(os, "fork"), reason="the system has no fork")
@pytest.mark.filterwarnings("ignore:.*fork.*:DeprecationWarning")
def test_the_child_of_a_fork_waits_for_no_thread_of_its_parent():
    kept, setting = Kept(800), SharedSetting(lambda: lambda: None)

    def work():
        with setting:
            kept.get("a", lambda: (np.zeros(10),))

    with kept._lock, setting._lock:  # as another thread may have them
        child = get_context("fork").Process(target=work)
        child.start()
    child.join(20)
    assert child.exitcode == 0
