import os
import signal
import subprocess
import sys
import threading
from concurrent.futures import ThreadPoolExecutor
from time import perf_counter

import numpy as np
import pytest

from besvm import BESVMClassifier
from besvm._support.threads import _libraries, _seats, n_workers, one_blas_thread, thread_map, workers

pytestmark = pytest.mark.filterwarnings("ignore:.*fork:DeprecationWarning")


def test_pool_threads_see_the_number_of_workers_asked_for():
    """5 is no number that BLAS would say by itself."""
    with workers(5):
        seen = list(thread_map(lambda _: (threading.current_thread().name, n_workers()), range(20)))
    assert all(name.startswith("besvm") for name, _ in seen)
    assert {n for _, n in seen} == {5}


def test_results_come_in_order_and_only_a_few_wait():
    begun = []

    def work(item):
        begun.append(item)
        return item * item

    with workers(3):
        results = thread_map(work, range(100))
        assert [next(results) for _ in range(5)] == [0, 1, 4, 9, 16]
        assert len(begun) <= 5 + 2 * 3
        assert list(results) == [item * item for item in range(5, 100)]


def test_fits_in_threads_give_the_same_numbers_and_take_no_longer(rng):
    """Every fit started threads of its own, and BLAS had one or several as the others left it."""
    X = rng.normal(size=(1500, 20))
    y = (X[:, 0] * X[:, 1] > 0) + 2 * (X[:, 2] > 0)

    def decisions(seed):
        return BESVMClassifier(basis=200, random_state=seed).fit(X, y).decision_function(X[:50])

    decisions(0)
    start = perf_counter()
    alone = [decisions(seed) for seed in range(6)]
    one_by_one = perf_counter() - start
    with ThreadPoolExecutor(6) as pool:
        together = list(pool.map(decisions, range(6)))
    assert perf_counter() - start - one_by_one < 3 * one_by_one + 1
    np.testing.assert_array_equal(together, alone)


def test_pools_share_the_threads_there_are():
    def inner(_):
        with seats:
            inside.add(threading.get_ident())
        return [threading.get_ident() for _ in thread_map(lambda _: threading.get_ident(), range(4))]

    inside, seats = set(), threading.Lock()
    with workers(2):
        for idents in thread_map(inner, range(6)):
            assert set(idents) <= inside  # nobody started threads of their own
    assert len(inside) <= 2


def test_blas_has_one_thread_whoever_asks_first():
    threads = []
    with ThreadPoolExecutor(1) as other:
        for run in (other.submit, lambda ask: ask()):

            def ask():
                with one_blas_thread():
                    threads.extend(n for _, n in _libraries())

            done = run(ask)
            if done is not None:
                done.result()
    assert set(threads) <= {1}


def in_child(work):
    """Run the work in a child of this process, and return how that ended: 0 is well."""
    if not hasattr(os, "fork"):
        pytest.skip("this system has no fork")
    child = os.fork()
    if child == 0:
        signal.alarm(5)
        ended = 1
        try:
            work()
            ended = 0
        finally:
            os._exit(ended)
    return os.waitpid(child, 0)[1]


@pytest.fixture
def other_thread():
    """Return a function that starts a thread; it is told by an event when to end."""
    done, threads = threading.Event(), []

    def start(work):
        threads.append(threading.Thread(target=work, args=(done,)))
        threads[-1].start()

    yield start
    done.set()
    for thread in threads:
        thread.join()


@pytest.fixture
def several():
    """Give BLAS two threads, whatever the machine has."""
    with one_blas_thread():
        pass  # the libraries are known from here on
    if os.environ.get("OPENBLAS_NUM_THREADS") == "1":  # as where tests share the cores: BLAS has no others to give
        pytest.skip("test_with_threads_of_blas runs it in a process that has some")
    found = _libraries()
    for library, _ in found:
        library.set_num_threads(2)
    yield [2] * len(found)
    for library, n in found:
        library.set_num_threads(n)


def blas_threads():
    return [n for _, n in _libraries()]


def test_a_child_is_not_held_up_by_threads_that_it_does_not_have(other_thread):
    """Of 60 children of a process with a thread that predicts, 51 waited forever."""

    def begin_and_end(done):
        while not done.is_set():
            with one_blas_thread(), _seats.take(2):
                pass

    def work():
        with workers(2):
            assert list(thread_map(len, ["a", "bc"])) == [1, 2]

    other_thread(begin_and_end)
    assert [in_child(work) for _ in range(6)] == [0] * 6


def test_with_threads_of_blas():
    """The two tests below, wherever the tests themselves are held to one thread."""
    environment = {**os.environ, "OPENBLAS_NUM_THREADS": "2", "OMP_NUM_THREADS": "2"}
    environment.pop("PYTEST_XDIST_WORKER", None)
    command = [sys.executable, "-m", "pytest", "-q", "-p", "no:xdist", "-p", "no:cacheprovider", __file__]
    command += ["-W", "ignore::DeprecationWarning", "-k", "had_taken"]  # of old packages, as in make test-oldest
    done = subprocess.run(command, env=environment, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stdout
    assert "skipped" not in done.stdout


def test_a_child_has_what_such_threads_had_taken(other_thread, several):
    inside = threading.Event()

    def hold(done):
        with one_blas_thread(), _seats.take(2):
            inside.set()
            done.wait()

    def work():
        assert blas_threads() == several
        with _seats.take(2) as n:
            assert n == 2

    other_thread(hold)
    inside.wait()
    assert in_child(work) == 0
    assert set(blas_threads()) == {1}  # here, the thread is still inside


def test_a_child_keeps_what_its_own_thread_had_taken(several):
    def work():
        assert set(blas_threads()) == {1}
        with _seats.take(2) as n:
            assert n == 1
        inside.close()
        assert blas_threads() == several

    def hold():
        with one_blas_thread(), _seats.take(2):
            yield

    inside = hold()
    next(inside)
    assert in_child(work) == 0
    inside.close()
    assert blas_threads() == several
