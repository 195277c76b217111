"""Functions of two items as similarities."""

from __future__ import annotations

import os
import sys
from contextlib import nullcontext
from datetime import date, timedelta
from decimal import Decimal
from fractions import Fraction
from functools import partial
from threading import Event, Lock, Thread, get_ident
from time import sleep

import numpy as np
import pandas as pd
import pytest
from joblib.externals.loky import get_reusable_executor
from sklearn.preprocessing import OneHotEncoder

from besvm import BasisExpansion, BESVMClassifier, Measure
from besvm._support.threads import workers
from besvm.baselines import DualBESVMClassifier, KernelSVMClassifier
from besvm.similarities import (
    PairFunction,
    Similarity,
    functions,
    resolve,
)
from variants import first_fast


@pytest.fixture
def two_processes(monkeypatch):
    """Let every block be worth spreading."""
    monkeypatch.setattr(functions, "WORTH_PROCESSES", 0.0)
    with workers(2):
        yield


def asymmetric(exemplar, sample):
    return 10 * exemplar + sample


def test_a_function_gets_the_exemplar_first():
    got = resolve(asymmetric)([1, 2], [3, 4, 5])
    np.testing.assert_array_equal(got, [[31, 41, 51], [32, 42, 52]])


class Holds:
    """A function that holds something, which pickling or unpickling may object to."""

    def __init__(self, held=None):
        self.held = held

    def __call__(self, exemplar, sample):
        return float(exemplar * sample)


class Unsendable(Holds):
    def __reduce__(self):
        raise RuntimeError("stays here")


class Unloadable(Holds):
    def __setstate__(self, state):
        raise RuntimeError("not here")


@pytest.mark.parametrize("function", [Holds(Lock()), Holds(i for i in "ab"), Unsendable(), Unloadable()], ids=type)
def test_a_function_that_cannot_be_sent(function, two_processes):
    with pytest.raises(TypeError, match=r"must be picklable to be spread over processes \(.*\); set n_jobs=1, or reg"):
        PairFunction(function)(np.arange(4.0), np.arange(3.0))


def test_a_function_that_cannot_be_sent_or_copied_works_in_one_process():
    X, y = np.arange(20.0), np.arange(20) > 9
    assert BESVMClassifier(Holds(Lock()), basis=5, n_jobs=1).fit(X, y).score(X, y) > 0.9


class DiesElsewhere(Holds):
    def __call__(self, exemplar, sample):
        if os.getpid() != self.held:
            os._exit(3)
        return 1.0


@pytest.mark.slow
def test_a_process_that_dies(two_processes):
    with pytest.raises(RuntimeError, match=r"a worker process died, .* set n_jobs=1"):
        PairFunction(DiesElsewhere(os.getpid()))(np.arange(4.0), np.arange(3.0))


def shared_letters(a, b):
    assert isinstance(a, str)
    assert isinstance(b, str)
    return len(set(a) & set(b))


class SharedLetters(Similarity):
    def __call__(self, A, B):
        return np.array([[shared_letters(b, a) for b in B] for a in A])


@pytest.mark.parametrize("similarity", [shared_letters, SharedLetters()], ids=["function", "similarity"])
@pytest.mark.parametrize("make", [BESVMClassifier, partial(KernelSVMClassifier, spectrum="clip"), DualBESVMClassifier])
def test_a_data_frame_with_one_column_of_texts_is_that_column(similarity, make):
    words, y = ["cat", "cart", "carts", "dog", "dogs", "dig"], [0, 0, 0, 1, 1, 1]
    frame, new = pd.DataFrame({"word": words}, index=range(10, 16)), pd.DataFrame({"word": ["cats", "digs"]})
    expected = make(similarity).fit(words, y).decision_function(["cats", "digs"])
    np.testing.assert_allclose(make(similarity).fit(frame, y).decision_function(new), expected)


def test_features_get_a_data_frame_with_one_column_as_it_is():
    frame = pd.DataFrame({"word": list("aabbcc")})
    clf = BESVMClassifier(Measure("linear", features=OneHotEncoder(sparse_output=False)), basis=3)
    assert clf.fit(frame, [0, 0, 1, 1, 1, 1]).score(frame, [0, 0, 1, 1, 1, 1]) == 1


def test_rows_of_a_data_frame_are_named_tuples():
    frame = pd.DataFrame({"age": [1.0, 2.0, 8.0, 9.0], "kind": list("abab")})
    clf = BESVMClassifier(lambda b, x: -abs(b.age - x[0]) + (b.kind == x.kind), basis=[0, 3]).fit(frame, [0, 0, 1, 1])
    np.testing.assert_array_equal(clf.predict(frame), [0, 0, 1, 1])


class Watched(Similarity):
    """Notes the threads that call it."""

    def __init__(self, seen):
        self.seen = seen

    def __sklearn_clone__(self):
        return self

    def __call__(self, A, B):
        self.seen.add(get_ident())
        sleep(0.05)
        return A @ B.T


class WatchedByMany(Watched):
    parallel = True


@pytest.mark.parametrize(("cls", "threads"), [(Watched, 1), (WatchedByMany, 2)])
def test_threads_call_a_similarity_that_says_so(cls, threads, rng):
    X, seen = rng.normal(size=(50, 3)), set()
    similarity = cls(seen)
    got = BasisExpansion(similarity, basis=X[:7], normalize=None, n_jobs=2).fit_transform(X)
    np.testing.assert_allclose(got, X @ X[:7].T, rtol=1e-6)
    assert len(seen) == threads


def slow_process_number(exemplar, sample):
    for _ in range(20_000):
        pass
    return os.getpid()


@pytest.mark.parametrize(("function", "spread"), [(slow_process_number, True), (lambda b, x: os.getpid(), False)])
def test_a_slow_function_is_spread_over_processes_and_a_fast_one_is_not(function, spread):
    compare = PairFunction(function).against(list(range(100)))
    with workers(2):
        compare([0])  # a first row, to see how long it takes
        pids = compare(list(range(40)))
    assert (os.getpid() not in pids) == spread


def test_spread_or_not_the_numbers_are_the_same(two_processes, rng):
    factor = 3.0
    words = ["".join(rng.choice(list("abc"), rng.integers(1, 9))) for _ in range(70)]
    similarity = PairFunction(lambda b, x: factor * len(set(b) & set(x)) - len(x))
    spread = similarity(words, words[:30])
    with workers(1):
        np.testing.assert_array_equal(similarity(words, words[:30]), spread)


class Counted:
    """An exemplar that counts how often it is sent."""

    sent = 0

    def __reduce__(self):
        Counted.sent += 1
        return int, (7,)


def test_the_basis_is_not_sent_again_and_again(two_processes, monkeypatch):
    compare = PairFunction(lambda b, x: 1.0 * x).against([Counted()])
    compare._check_sendable([0])  # which dumps it as well, but sends it nowhere
    monkeypatch.setattr(Counted, "sent", 0)
    for start in range(0, 1000, 50):
        block = list(range(start, start + 50))
        np.testing.assert_array_equal(compare(block), np.reshape(block, (-1, 1)))
    assert 1 <= Counted.sent <= 2 * 8  # to two processes, with each of a block's eight parts at most; not 20 times that


def test_other_threads_may_begin_to_compare(two_processes, monkeypatch):
    """What is in use was looked through while they added to it."""
    monkeypatch.setattr("joblib.Parallel", lambda **_: nullcontext(lambda calls: [f(*given) for f, given, _ in calls]))
    monkeypatch.setattr(functions, "_known", {})
    done, compare = Event(), PairFunction(min).against([1])
    kept = [PairFunction(min).against([1]) for _ in range(1000)]

    def begin():
        while not done.is_set():
            kept.append(PairFunction(min).against([1]))

    other = Thread(target=begin)
    interval = sys.getswitchinterval()
    sys.setswitchinterval(1e-5)
    other.start()
    try:
        for _ in range(200):
            np.testing.assert_array_equal(compare([0, 2]), [[0], [1]])
    finally:
        done.set()
        other.join()
        sys.setswitchinterval(interval)


def n_remembered(exemplar, sample):
    from besvm.similarities.functions import _known

    return len(_known)


def test_processes_forget_what_is_no_longer_used(two_processes):
    for _ in range(3):
        got = PairFunction(n_remembered).against([0])(list(range(50)))
        assert set(got.ravel()[1:]) == {1}


@pytest.mark.slow
def test_new_processes_are_sent_the_basis(two_processes):
    compare = PairFunction(lambda b, x: b * x).against([3, 5])
    before = compare([1, 2, 3])
    get_reusable_executor().shutdown(wait=True)
    np.testing.assert_array_equal(compare([1, 2, 3]), before)


def test_what_cannot_be_sent_is_refused_with_a_way_out(two_processes):
    lock = Lock()

    def locked(exemplar, sample):
        with lock:
            return 1.0

    with pytest.raises(
        TypeError,
        match=r"must be picklable .*lock.*; set n_jobs=1, or register a Similarity of your own",
    ):
        PairFunction(locked)([1, 2, 3], [1, 2])
    with workers(1):
        assert PairFunction(locked)([1, 2, 3], [1, 2]).all()


@pytest.mark.parametrize(
    "answer",
    [None, "1", b"1", bytearray(b"1"), np.str_("1"), np.bytes_(b"1"), date(2000, 1, 1), timedelta(1), 1j,
     np.datetime64("2000-01-01"), np.timedelta64(1, "s"), np.complex64(1), np.ones(1), [1.0]],
    ids=repr,
)  # fmt: skip
def test_a_function_must_return_a_number(answer):
    got = type(answer).__name__
    with pytest.raises(TypeError, match=rf"must return a number, got {got} for the pair \('x', 'y'\)"):
        resolve(lambda a, b: answer)(["y"], ["x"])


@pytest.mark.parametrize(
    "answer", [2, 2.0, Decimal(2), Fraction(2), np.float32(2), np.uint8(2), np.array(2.0), np.array(2)], ids=repr
)
def test_any_real_number_will_do(answer):
    assert resolve(lambda a, b: answer)(["y"], ["x"]) == 2
    assert resolve(lambda a, b: answer == 2)(["y"], ["x"]) == 1  # True, or np.True_


def reciprocal(exemplar, sample):
    return 1 / (exemplar - sample)


def test_an_error_of_the_function_names_the_pair():
    with pytest.raises(RuntimeError, match=r"failed on the pair \(5, 5\): ZeroDivisionError: division") as caught:
        PairFunction(reciprocal)([3, 4, 5], [6, 5])
    assert isinstance(caught.value.__cause__, ZeroDivisionError)


def test_an_error_in_another_process_names_the_pair_too(two_processes):
    with pytest.raises(RuntimeError, match=r"failed on the pair \(5, 5\): ZeroDivisionError: division"):
        PairFunction(reciprocal)([3, 4, 5], [6, 5])


def test_an_integer_beyond_all_floats_is_refused():
    with pytest.raises(ValueError, match=r"must be finite, got inf for the pair of exemplar 0 \(training row 0\)"):
        BasisExpansion(lambda a, b: 10**400, basis=[0, 1]).fit(["a", "b", "c"])


def fails_at_17(exemplar, sample):
    if sample == 17:
        raise KeyError("seventeen")
    return float(exemplar * sample)


@pytest.mark.parametrize("n_jobs", first_fast([1, 2]))
def test_a_failure_within_a_fit_names_the_rows(n_jobs, monkeypatch):
    monkeypatch.setattr(functions, "WORTH_PROCESSES", 0.0)
    sentence = r"failed on the pair \(3, 17\): KeyError: 'seventeen' \(exemplar 0 \(training row 3\) and sample 17\)"
    with pytest.raises(RuntimeError, match=sentence):
        BasisExpansion(fails_at_17, basis=[3, 4], n_jobs=n_jobs).fit(list(range(40)))


def test_what_is_no_number_within_a_fit_names_the_rows():
    sentence = r"must return a number, got NoneType .* \(exemplar 1 \(training row 4\) and sample 9\)"
    with pytest.raises(TypeError, match=sentence):
        BasisExpansion(lambda b, x: None if (b, x) == (4, 9) else 1.0, basis=[3, 4]).fit(list(range(40)))


@pytest.mark.parametrize(
    ("name", "near"),
    [("Series_Parts", "series-parts"), ("series parts", "series-parts"), ("FROM-DISTANCE", "from_distance"),
     ("gowr", "gower"), ("DTWW", None), ("rfb", "rbf")],
)  # fmt: skip
def test_the_nearest_name_is_suggested_however_it_is_spelled(name, near):
    with pytest.raises(ValueError, match=f"did you mean '{near}'" if near else "must be a known name, got 'DTWW'"):
        resolve(name)
