"""Similarities of texts, against naive loops."""

import pickle

import numpy as np
import pandas as pd
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import reference_text as reference
from besvm import BESVMClassifier
from besvm._support.threads import workers
from besvm.similarities import CommonSubsequence, Edit, FromDistance, JaroWinkler, PartialRatio, TokenRatio
from besvm.testing import check_similarity

NAMES = ["maria", "mario", "marta", "anna", "hannah", "johann", "", "Ünal", "mary ann", "ann mary", "日本語"]

MEASURES = {
    "edit": (Edit(False, how="negative", scale=1), lambda a, b: -reference.edits(a, b)),
    "edit, normalized": (
        Edit(how="negative", scale=1),
        lambda a, b: -reference.over_longer(reference.edits(a, b), a, b),
    ),
    "edit, exponential": (
        Edit(scale=0.3),
        lambda a, b: np.exp(-reference.over_longer(reference.edits(a, b), a, b) / 0.3),
    ),
    "edit, transpositions": (
        Edit(False, True, how="negative", scale=1),
        lambda a, b: -reference.edits(a, b, transpositions=True),
    ),
    "lcs": (
        CommonSubsequence(False, how="negative", scale=1),
        lambda a, b: reference.common(a, b) - max(len(a), len(b)),
    ),
    "lcs, normalized": (
        CommonSubsequence(how="inverse", scale=1),
        lambda a, b: 1 / (1 + reference.over_longer(max(len(a), len(b)) - reference.common(a, b), a, b)),
    ),
    "jaro-winkler": (JaroWinkler(), reference.jaro_winkler),
    "jaro": (JaroWinkler(prefix_weight=0), lambda a, b: reference.jaro_winkler(a, b, 0)),
    "partial-ratio": (PartialRatio(), reference.partial_ratio),
}
OF_WORDS = {
    "token-ratio, set": (TokenRatio(), reference.token_set_ratio),
    "token-ratio, sort": (TokenRatio("sort"), reference.token_sort_ratio),
    "token-ratio, best": (
        TokenRatio("best"),
        lambda a, b: max(reference.token_set_ratio(a, b), reference.token_sort_ratio(a, b)),
    ),
}
texts = st.lists(st.text("abc é日", max_size=12), max_size=6)


@pytest.mark.parametrize("name", [*MEASURES, *OF_WORDS])
@given(A=texts, B=texts)
@settings(max_examples=60)
def test_they_equal_the_naive_loop(name, A, B):
    similarity, naive = (MEASURES | OF_WORDS)[name]
    block = similarity(A, B)
    assert block.dtype == np.float32
    np.testing.assert_allclose(block, reference.matrix(naive, A, B), rtol=1e-5, atol=1e-6)


@pytest.mark.parametrize("name", MEASURES)
@given(data=st.data())
@settings(max_examples=30)
def test_tokens_are_compared_as_characters_are(name, data):
    similarity, naive = MEASURES[name]
    items = st.lists(st.lists(st.sampled_from(["the", "rose", -1, -2, 300, ("a", 1)]), max_size=8), max_size=5)
    A, B = data.draw(items), data.draw(items)
    np.testing.assert_allclose(similarity(A, B), reference.matrix(naive, A, B), rtol=1e-5, atol=1e-6)


@pytest.mark.parametrize("name", ["edit", "edit, transpositions", "lcs", "jaro-winkler"])
def test_long_texts_equal_the_naive_loop(name, rng):
    """Beyond 64 characters, where rapidfuzz takes other ways."""
    similarity, naive = MEASURES[name]
    A, B = (["".join(rng.choice(list("abcd"), size)) for size in sizes] for sizes in ([63, 64, 65, 150], [64, 90]))
    np.testing.assert_allclose(similarity(A, B), reference.matrix(naive, A, B), rtol=1e-5)


@pytest.mark.parametrize("name", ["edit", "lcs", "jaro-winkler", "token-ratio", "partial-ratio"])
def test_they_keep_the_contract(name):
    check_similarity(name, NAMES)
    check_similarity(name, pd.Series(NAMES, index=range(50, 50 + len(NAMES))))


@pytest.mark.parametrize("similarity", [Edit(), PartialRatio(), TokenRatio()], ids=repr)
def test_texts_come_in_anything(similarity):
    expected = similarity.fit(NAMES)(NAMES, NAMES[:3])
    for kind in (tuple, np.array, pd.Series, lambda X: np.array(X, object), lambda X: pd.DataFrame({"name": X})):
        np.testing.assert_array_equal(similarity(kind(NAMES), kind(NAMES[:3])), expected)
    np.testing.assert_array_equal(similarity(np.array(NAMES)[:, None], NAMES[:3]), expected)


def test_tokens_come_in_lists_tuples_and_arrays():
    items = [[1, 2, 3], [2, 3], [9]]
    expected = [[0, 1, 3], [1, 0, 2], [3, 2, 1]]
    edits = Edit(False, how="negative", scale=1)
    for kind in (list, tuple, np.array):
        block = edits([kind(item) for item in items], [[1, 2, 3], [2, 3], [7]])
        np.testing.assert_array_equal(-block, expected)


def test_a_token_that_no_exemplar_has_equals_none():
    assert Edit(False, how="negative", scale=1)([["x", "y"]], [["a", "b"]]) == -2
    assert JaroWinkler()([["x", "a"]], [["a", "b"]]) == JaroWinkler()(["xa"], ["ab"])


@pytest.mark.parametrize("n_jobs", [1, 2])
def test_any_number_of_threads_gives_the_same(n_jobs, rng):
    A = ["".join(rng.choice(list("abcde "), size)) for size in rng.integers(1, 40, 300)]
    expected = JaroWinkler()(A, A[:20])
    with workers(n_jobs):
        np.testing.assert_array_equal(JaroWinkler()(A, A[:20]), expected)


def test_an_edit_distance_has_every_form():
    d = FromDistance("edit", "negative", scale=1).fit(NAMES)(NAMES, NAMES)
    np.testing.assert_allclose(FromDistance(Edit(), "inverse", scale=2)(NAMES, NAMES), 1 / (1 - d / 2), rtol=1e-6)
    again = pickle.loads(pickle.dumps(Edit().fit(NAMES)))
    np.testing.assert_allclose(again(NAMES, NAMES), np.exp(d / again.scale_), rtol=1e-5)


@pytest.mark.parametrize("measure", ["edit", "jaro-winkler", "lcs", "partial-ratio", Edit(transpositions=True)])
def test_a_classifier_of_names(measure, rng):
    X = [stem + str(rng.integers(1000)) for stem in ("anna", "bertram") for _ in range(40)]
    y = np.repeat(["f", "m"], 40)
    model = BESVMClassifier(measure, basis=10, random_state=0).fit(X, y)
    assert model.score(X, y) == 1
    assert list(model.predict(pd.DataFrame({"name": ["anna7", "bertram"]}))) == ["f", "m"]


BAD = [
    (None, "text 1 is None; leave it out"),
    (float("nan"), "text 1 is nan; leave it out"),
    (pd.NA, "text 1 is <NA>; leave it out"),
    (3, "text 1 is 3 of type int"),
    (b"anna", "text 1 is bytes, b'anna'; decode it"),
    (["anna"], r"text 1 is \['anna'\] of type list"),
]


@pytest.mark.parametrize(("item", "sentence"), BAD, ids=repr)
@pytest.mark.parametrize("name", MEASURES | OF_WORDS)
def test_what_is_no_text_is_refused_by_number(name, item, sentence):
    similarity, _ = (MEASURES | OF_WORDS)[name]
    with pytest.raises(TypeError, match=sentence):
        similarity(["anna", item], ["anna"])


@pytest.mark.parametrize("bad", [None, float("nan"), 3])
def test_an_exemplar_that_is_no_text_is_named_and_not_the_texts_around_it(bad):
    with pytest.raises(TypeError, match=r"texts must be strings, but text 1 is (None|nan|3)"):
        Edit(scale=1)(["anna"], ["anna", bad, "maria"])


@pytest.mark.parametrize("bad", [None, 3, "text", 2.5])
def test_what_is_no_list_of_tokens_is_refused_by_number(bad):
    with pytest.raises(TypeError, match="items must be strings, or all of them lists of tokens, but item 1 is"):
        Edit(scale=1)([[1, 2], bad], [[1, 2]])


@pytest.mark.parametrize("token", [None, float("nan"), [1], b"a", 1.5])
def test_what_is_no_token_is_refused(token):
    with pytest.raises(TypeError, match="tokens must be strings or whole numbers, but item 0 has"):
        Edit(scale=1)([[1, token]], [[1, 2]])


def test_words_of_lists_are_refused():
    with pytest.raises(TypeError, match=r"text 0 is \['a', 'b'\] of type list"):
        TokenRatio()([["a", "b"]], [["a", "b"]])


def test_several_columns_are_refused():
    with pytest.raises(ValueError, match="a table must have a single column of texts, got 2"):
        Edit(scale=1)(pd.DataFrame({"a": ["x"], "b": ["y"]}), ["x"])


@pytest.mark.parametrize(
    ("similarity", "sentence"),
    [
        (Edit(normalized="yes", scale=1), "normalized must be True or False, got 'yes'"),
        (Edit(transpositions=2, scale=1), "transpositions must be True or False, got 2"),
        (JaroWinkler(0.5), "prefix_weight must be a number between 0 and 0.25, got 0.5"),
        (TokenRatio("words"), "of must be 'set', 'sort' or 'best', got 'words'"),
    ],
)
def test_wrong_parameters_are_refused(similarity, sentence):
    with pytest.raises(ValueError, match=sentence):
        similarity(["a"], ["b"])
