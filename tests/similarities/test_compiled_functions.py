"""Functions that numba has compiled, and functions of whole blocks, as similarities."""

from __future__ import annotations

import pickle
from threading import get_ident
from time import sleep

import numpy as np
import pandas as pd
import pytest
from numba import njit
from scipy.sparse import csr_matrix
from sklearn.base import clone

from besvm import BasisExpansion, BESVMClassifier, Measure
from besvm._support.rows import items, span
from besvm._support.threads import workers
from besvm.similarities import (
    BlockFunction,
    CompiledFunction,
    FromDistance,
    compiled_functions,
    resolve,
)
from besvm.testing import check_similarity


@njit
def far(exemplar, sample):
    return 10.0 * exemplar.sum() - sample.sum()


@njit
def product(exemplar, sample):
    return exemplar * sample


@njit
def nothing(exemplar, sample):
    return None


@njit
def refuses_17(exemplar, sample):
    if sample[0] == 17:
        raise ValueError("not seventeen")
    return exemplar[0] + sample[0]


ITEMS = {
    "numbers": lambda rng: rng.normal(size=9),
    "list of numbers": lambda rng: [1, 2.5, 3, 4.0, 7],
    "vectors": lambda rng: rng.normal(size=(9, 4)).astype(np.float32),
    "integers": lambda rng: rng.integers(0, 9, (9, 4)),
    "images": lambda rng: rng.normal(size=(9, 4, 3, 2)),
    "not contiguous": lambda rng: rng.normal(size=(4, 9)).T,
    "series of unequal length": lambda rng: [rng.normal(size=n) for n in (3, 1, 0, 8, 2)],
    "channels of unequal length": lambda rng: [rng.normal(size=(2, n)) for n in (3, 1, 9, 8, 2)],
    "volumes": lambda rng: [rng.normal(size=(2, n, 3)) for n in (3, 1, 9)],
    "lists": lambda rng: [[1.0, 2.0], [3.0], [4.0, 5.0, 6.0]],
    "a data frame": lambda rng: pd.DataFrame(rng.normal(size=(5, 3)), index=list("abcde")),
    "sparse": lambda rng: csr_matrix(np.where(rng.random((6, 8)) < 0.4, rng.random((6, 8)), 0.0)),
}


@pytest.mark.parametrize("kind", ITEMS)
@pytest.mark.parametrize("n_jobs", [1, 2])
def test_a_compiled_function_gives_what_its_plain_form_gives(kind, n_jobs, rng):
    X = ITEMS[kind](rng)
    function = product if "numbers" in kind else far
    similarity = resolve(function)
    assert isinstance(similarity, CompiledFunction)
    rows = [np.asarray(item) for item in items(X)]
    expected = [[function.py_func(b, a) for b in rows[:3]] for a in rows]
    with workers(n_jobs):
        got = similarity(X, span(X, slice(0, 3)))
        np.testing.assert_allclose(got, expected, rtol=1e-5, atol=1e-6)
        check_similarity(function, X)


def test_a_compiled_function_within_a_classifier(rng):
    y = np.arange(60) % 2
    X = [rng.normal(size=rng.integers(4, 9)) + 2 * label for label in y]
    clf = BESVMClassifier(far, basis=20, random_state=0).fit(X, y)
    assert clf.score(X, y) > 0.9
    np.testing.assert_array_equal(clone(clf).fit(X, y).predict(X), clf.predict(X))
    np.testing.assert_array_equal(pickle.loads(pickle.dumps(clf)).predict(X), clf.predict(X))
    in_column = BESVMClassifier(Measure(far, column="x"), basis=20, random_state=0).fit(pd.DataFrame({"x": X}), y)
    np.testing.assert_array_equal(in_column.predict(pd.DataFrame({"x": X})), clf.predict(X))
    assert clf._map.expander.labels == ["far"]


def test_integers_and_numbers_with_a_fraction_meet():
    np.testing.assert_array_equal(CompiledFunction(product)([0.5, 3], [1, 2]), [[0.5, 1], [3, 6]])
    np.testing.assert_array_equal(CompiledFunction(product)([1, 3], [0.5, 2]), [[0.5, 2], [1.5, 6]])
    assert CompiledFunction(product)([], [0.5, 2]).shape == (0, 2)


def test_a_compiled_function_runs_on_threads(monkeypatch):
    seen = set()
    original = compiled_functions.thread_map

    def watched(work, parts):
        return original(lambda rows: (seen.add(get_ident()), sleep(0.05), work(rows)), parts)

    monkeypatch.setattr(compiled_functions, "thread_map", watched)
    with workers(2):
        CompiledFunction(product)(np.arange(64.0), np.arange(3.0))
    assert len(seen) == 2


def test_an_error_of_a_compiled_function_names_the_pair():
    X = np.arange(40.0).reshape(-1, 1)
    with pytest.raises(
        RuntimeError, match=r"failed on the pair \(array\(\[3.\]\), array\(\[17.\]\)\): ValueError: not sev"
    ):
        CompiledFunction(refuses_17)(X, X[3:5])
    sentence = r"ValueError: not seventeen \(exemplar 0 \(training row 3\) and sample 17\)"
    with pytest.raises(RuntimeError, match=sentence):
        BasisExpansion(refuses_17, basis=[3, 4]).fit(list(X))
    with pytest.raises(RuntimeError, match=r"failed on the pair .* ZeroDivisionError: division by zero"):
        CompiledFunction(njit(lambda a, b: 1 / (a - b)))(np.arange(3.0), np.arange(3.0))


@pytest.mark.parametrize(
    ("function", "X", "sentence"),
    [
        (
            nothing,
            [1.0, 2.0],
            r"must return a number, got NoneType for the pair \(np.float64\(1.0\), np.float64\(1.0\)\)",
        ),
        (far, [1.0, 2.0], r"numba cannot compile the similarity function 'far' for these items \(.*\); call it on two"),
        (
            far,
            ["a", "b"],
            "compares numbers, or arrays of numbers .*, got 'a'; a plain function of two items takes anyt",
        ),
        (far, [np.ones(2), None], r"compares numbers, or arrays of numbers .*, got None; .* \(exemplar 1 .*row 1\)\)"),
        (far, [np.ones(2), np.ones((2, 2))], r"with the same number of axes, at most 3, got array\(\[\[1., 1.\]"),
        (far, np.ones((2, 1, 1, 1, 1)), "at most 3, got array"),
        (far, [[[1.0], [1.0, 2.0]]] * 2, r"compares numbers, or arrays of numbers .*, got \[\[1.0\], \[1.0, 2.0\]\]"),
    ],
)
def test_what_a_compiled_function_cannot_compare_is_refused(function, X, sentence):
    with pytest.raises(TypeError, match=sentence):
        BasisExpansion(function, basis=[0, 1], normalize=None).fit(X)


def letters(A, B):
    return np.array([[len(set(a) & set(b)) - 0.1 * len(a) for b in B] for a in A])


def test_a_function_of_blocks_gets_the_samples_first(rng):
    words = ["".join(rng.choice(list("abcdef"), rng.integers(1, 6))) for _ in range(30)]
    np.testing.assert_array_equal(BlockFunction(letters)(words, words[:4]), letters(words, words[:4]))
    check_similarity(BlockFunction(letters), words)
    expansion = BasisExpansion(BlockFunction(letters), basis=[1, 5], normalize=None).fit(words)
    np.testing.assert_allclose(expansion.transform(words), letters(words, [words[1], words[5]]), rtol=1e-6)
    assert expansion._map.expander.labels == ["letters"]
    clf = BESVMClassifier(BlockFunction(letters), basis=10).fit(words, np.arange(30) % 2)
    np.testing.assert_array_equal(pickle.loads(pickle.dumps(clf)).predict(words), clf.predict(words))


@pytest.mark.parametrize("threads", [False, True])
def test_threads_call_a_function_of_blocks_that_says_so(threads, rng):
    X, seen = rng.normal(size=(50, 3)), set()

    def watched(A, B):
        seen.add(get_ident())
        sleep(0.05)
        return A @ B.T

    got = BasisExpansion(BlockFunction(watched, threads=threads), basis=X[:7], normalize=None, n_jobs=2).fit_transform(
        X
    )
    np.testing.assert_allclose(got, X @ X[:7].T, rtol=1e-6)
    assert len(seen) == 1 + threads


@pytest.mark.parametrize(
    ("answer", "sentence"),
    [
        (None, r"must return a matrix of shape \(40, 2\) \(samples, exemplars\), got NoneType"),
        (1.0, "got float"),
        (np.ones(40), r"got the shape \(40,\)"),
        (np.ones((2, 40)), r"got the shape \(2, 40\); transpose it"),
        ("matrix", "got str"),
        (np.full((40, 2), 1j), r"must return real numbers, got .*1j.* for the pair \(3, 0\)"),
        (np.array([[1.0, 2.0]] * 9 + [[1.0, None]] + [[1.0, 2.0]] * 30), "got None for the pair"),
    ],
    ids=str,
)
def test_a_function_of_blocks_must_return_a_matrix(answer, sentence):
    with pytest.raises((TypeError, ValueError), match=sentence):
        BlockFunction(lambda A, B: answer)(list(range(40)), [3, 4])


def block_fails_at_17(A, B):
    if 17 in A and 4 in B:
        raise KeyError("seventeen")
    return np.multiply.outer(A, B)


@pytest.mark.parametrize("threads", [False, True])
def test_an_error_of_a_function_of_blocks_names_the_pair(threads):
    sentence = r"failed on the pair \(4, 17\): KeyError: 'seventeen' \(exemplar 1 \(training row 4\) and sample 17\)"
    with pytest.raises(RuntimeError, match=sentence):
        BasisExpansion(BlockFunction(block_fails_at_17, threads=threads), basis=[3, 4], n_jobs=2).fit(list(range(40)))


def test_an_error_that_only_a_whole_block_makes():
    def small(A, B):
        if len(A) > 1:
            raise ValueError("too many")
        return np.ones((1, len(B)))

    with pytest.raises(
        RuntimeError, match="the function of blocks failed on 3 samples and 2 exemplars: ValueError: too"
    ):
        BlockFunction(small)([1, 2, 3], [1, 2])


def test_a_number_that_is_not_finite_in_a_block_names_the_pair():
    def infinite(A, B):
        return np.where(np.equal.outer(A, np.full(len(B), 17)), np.inf, 1.0)

    with pytest.raises(ValueError, match=r"must be finite, got inf for the pair of exemplar 0 .* and sample 17"):
        BasisExpansion(BlockFunction(infinite), basis=[3, 4]).fit(list(range(40)))


@njit
def apart(exemplar, sample):
    return abs(exemplar - sample)


@pytest.mark.parametrize(
    "distance", [apart, BlockFunction(lambda A, B: np.abs(np.subtract.outer(A, B)))], ids=["compiled", "of blocks"]
)
def test_distances_of_every_kind_of_function_become_similarities(distance):
    X = np.array([0.0, 1.0, 3.0])
    got = FromDistance(distance, how="inverse", scale=1.0)(X, X)
    np.testing.assert_allclose(got, 1 / (1 + np.abs(np.subtract.outer(X, X))))
