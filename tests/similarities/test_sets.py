"""The similarities of sets, in every form that sets come in, against the naive loops."""

import pickle

import numpy as np
import pandas as pd
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy.sparse import coo_matrix, csr_array, csr_matrix

import reference
import reference_sets
from besvm import BESVMClassifier
from besvm._support.threads import workers
from besvm.similarities import Jaccard, Parts, Tanimoto, resolve
from besvm.testing import check_similarity

WIDTH = 70  # bits: not a whole number of bytes, and more than a word of 64
FORMS = {
    "sets": lambda sets: sets,
    "bool": lambda sets: reference_sets.as_rows(sets, WIDTH),
    "uint8": lambda sets: reference_sets.as_rows(sets, WIDTH).astype(np.uint8),
    "float64": lambda sets: reference_sets.as_rows(sets, WIDTH).astype(float),
    "csr": lambda sets: csr_matrix(reference_sets.as_rows(sets, WIDTH).astype(np.int64)),
    "csr_array": lambda sets: csr_array(reference_sets.as_rows(sets, WIDTH).astype(np.float32)),
    "lists": lambda sets: reference_sets.as_rows(sets, WIDTH).astype(int).tolist(),
}
MIXED = pd.DataFrame({"a": [True, False], "b": [0, 1]})  # which NumPy takes for objects
SEVERAL = [{1, 2, 69}, {2, 3}, set(), {1, 2, 69}, {0}, {3, 4, 5, 6}]

several_sets = st.lists(st.sets(st.integers(0, WIDTH - 1), max_size=12), min_size=1, max_size=8)


@pytest.mark.parametrize("name", ["jaccard", "tanimoto"])
@pytest.mark.parametrize("form", FORMS)
@given(A=several_sets, B=several_sets)
@settings(max_examples=20)
def test_equals_the_naive_loop_in_every_form(name, form, A, B):
    make = FORMS[form]
    expected = reference_sets.all_pairs(reference_sets.jaccard, A, B)
    np.testing.assert_allclose(resolve(name)(make(A), make(B)), expected, rtol=1e-6)


@given(A=several_sets, B=several_sets)
@settings(max_examples=20)
def test_packed_bits_equal_the_naive_loop(A, B):
    packed = [np.packbits(reference_sets.as_rows(sets, WIDTH), axis=1) for sets in (A, B)]
    expected = reference_sets.all_pairs(reference_sets.jaccard, A, B)
    np.testing.assert_allclose(Tanimoto(packed=True)(*packed), expected, rtol=1e-6)


@pytest.mark.parametrize("name", ["jaccard", "tanimoto"])
@pytest.mark.parametrize("form", FORMS)
def test_keeps_the_contract_in_every_form(name, form):
    check_similarity(name, FORMS[form](SEVERAL))
    assert pickle.loads(pickle.dumps(resolve(name)))(FORMS[form](SEVERAL), FORMS[form](SEVERAL)).shape == (6, 6)


def test_packed_bits_keep_the_contract():
    check_similarity(Tanimoto(packed=True), np.packbits(reference_sets.as_rows(SEVERAL, WIDTH), axis=1))


def test_the_elements_may_be_anything_that_can_be_in_a_set():
    A, B = [{"a", 1, None}, frozenset({(1, 2), "a"})], [{"a"}, {"elsewhere"}]
    np.testing.assert_allclose(Jaccard()(A, B), [[1 / 3, 0], [1 / 2, 0]], rtol=1e-6)
    np.testing.assert_allclose(Jaccard()(pd.Series(A), np.array([*B, None], dtype=object)[:2]), Jaccard()(A, B))


@pytest.mark.parametrize("name", ["jaccard", "tanimoto"])
def test_sparse_and_dense_rows_go_together(name):
    dense, sparse = FORMS["uint8"](SEVERAL), FORMS["csr"](SEVERAL)
    similarity = resolve(name)
    expected = similarity(dense, dense)
    for A, B in [(dense, sparse), (sparse, dense), (coo_matrix(sparse), sparse.tocsc())]:
        np.testing.assert_allclose(similarity(A, B), expected, rtol=1e-6)


def test_sparse_entries_that_are_zero_or_come_twice():
    entries = ([1, 0, 1, 1], ([0, 0, 0, 1], [0, 1, 2, 2]))
    with_zero = csr_matrix(entries, shape=(2, 3))
    np.testing.assert_allclose(Jaccard()(with_zero, with_zero), [[1, 0.5], [0.5, 1]])
    twice = csr_matrix((np.ones(3), [0, 0, 1], [0, 3]), shape=(1, 2))
    np.testing.assert_allclose(Tanimoto()(twice, np.array([[1.0, 1.0]])), [[3 / 4]])


def test_samples_that_are_no_sets_against_exemplars_that_are(rng):
    bits, numbers = rng.integers(0, 2, (5, 9)), rng.integers(0, 4, (4, 9))
    expected = reference.all_pairs(reference.tanimoto, numbers, bits)
    np.testing.assert_allclose(Tanimoto()(numbers, bits), expected, rtol=1e-6)
    np.testing.assert_allclose(Tanimoto()(csr_matrix(numbers), bits), expected, rtol=1e-6)


def test_vectors_of_any_numbers_are_positive_definite(rng):
    check_similarity("tanimoto", np.concatenate([rng.normal(size=(30, 3)), 10 * rng.normal(size=(30, 3))]))


def test_nothing_to_compare():
    for form, make in FORMS.items():
        items = make(SEVERAL)
        for similarity in (Jaccard(), Tanimoto()):
            assert similarity(items, items[:0]).shape == (6, 0)
            if form != "lists":
                assert similarity(items[:0], items).shape == (0, 6)


def test_many_rows_and_threads_equal_one(rng):
    rows = rng.random((3000, 200)) < 0.1
    for X in (rows, csr_matrix(rows)):
        with workers(1):
            one = Jaccard()(X, X[:300])
        with workers(3):
            assert np.array_equal(Jaccard()(X, X[:300]), one)


@pytest.mark.parametrize("form", [*FORMS, "packed"])
def test_a_classifier_takes_every_form(form, rng):
    common = [set(range(10)), set(range(8, 18))]
    y = np.arange(80) % 2
    sets = [set(rng.choice(list(common[k]), 5).tolist()) | set(rng.integers(20, WIDTH, 3).tolist()) for k in y]
    similarity = Tanimoto(packed=True) if form == "packed" else Jaccard()
    X = np.packbits(FORMS["bool"](sets), axis=1) if form == "packed" else FORMS[form](sets)
    clf = BESVMClassifier(similarity, basis=30, random_state=0).fit(X, y)
    assert clf.score(X, y) > 0.95


def test_parts_may_be_compared_by_it(rng):
    images = rng.random((6, 8, 8, 1), dtype=np.float32)
    parts = Parts(3, similarity="tanimoto").fit(images)
    assert np.isfinite(parts(images, parts.draw(images, 1, rng).items)).all()


@pytest.mark.parametrize(
    ("A", "B", "sentence"),
    [
        ([{1}, None], [{1}], "item 1 is None"),
        ([{1}], [{1}, {2}, "ab"], "item 2 is 'ab'"),
        ([{1}], [[1, 0]], "cannot be compared with rows of numbers"),
        ([[1, 0]], [{1}], "rows of numbers cannot be compared with sets"),
        (["ab", "b"], ["ab"], "a list of sets, or an array or sparse matrix .* item 0 is 'ab'"),
        ([["a", "b"]], [["a", "c"]], "got items such as 'a'"),
        ([["a"], ["a", "b"]], [["a"], ["a", "b"]], r"rows of different lengths, such as \['a'\]; make a set of each"),
        (MIXED, MIXED, "got items such as True in an array of dtype object; .* give all columns one type"),
    ],
)
def test_what_is_no_set_is_named(A, B, sentence):
    for similarity in (Jaccard(), Tanimoto()):
        with pytest.raises(TypeError, match=sentence):
            similarity(A, B)


@pytest.mark.parametrize("make", [np.array, csr_matrix])
def test_other_numbers_than_zero_and_one_are_named(make):
    for value in (0.5, np.nan, -1.0, 2.0):
        X = make([[1.0, 0.0], [0.0, 0.0], [value, 1.0]])
        with pytest.raises(ValueError, match=rf"row 2 has {value}; use 'tanimoto' for other numbers"):
            Jaccard().fit(X)
        with pytest.raises(ValueError, match=r"row 2 has"):
            Jaccard()(X, make([[1.0, 0.0]]))


def test_rows_of_other_widths_are_refused():
    for similarity in (Jaccard(), Tanimoto()):
        with pytest.raises(ValueError, match="must have 3 numbers, as the exemplars do, got 2"):
            similarity(np.eye(2, dtype=int), np.eye(3, dtype=int))
    bits = np.zeros((2, 4), np.uint8)
    with pytest.raises(ValueError, match="must have 4 bytes, as the exemplars do, got 3"):
        Tanimoto(packed=True)(bits[:, :3], bits)


def test_what_is_not_packed_is_refused():
    with pytest.raises(ValueError, match=r"must be a 2-D array of uint8, .* got 2 dimensions of int64"):
        Tanimoto(packed=True)(np.eye(3, dtype=np.int64), np.eye(3, dtype=np.int64))
    with pytest.raises(ValueError, match="packed must be True or False, got 'yes'"):
        Tanimoto(packed="yes")(np.eye(2), np.eye(2))
