import threading
from concurrent.futures import ThreadPoolExecutor
from time import perf_counter

import numpy as np

from besvm import BESVMClassifier
from besvm._support.threads import _libraries, n_workers, one_blas_thread, thread_map, workers


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
