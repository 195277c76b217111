import threading

from besvm._support.threads import n_workers, thread_map, workers


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
