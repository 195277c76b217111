"""Pieces of texts, found wherever they match best."""

import pickle

import numpy as np
import pandas as pd
import pytest

import reference_text as reference
from besvm import BasisExpansion, BESVMClassifier
from besvm.basis import Exemplars, GradientBasis, IndexBasis, KMedoidsBasis, RandomBasis
from besvm.similarities import LocalAlignment, TextParts
from besvm.similarities.parts import PartSimilarity
from besvm.testing import check_similarity


@pytest.fixture
def problem(rng):
    """Letters at random, with a word somewhere in half of the texts."""
    X = ["".join(rng.choice(list("abcdefgh "), size)) for size in rng.integers(20, 40, 160)]
    y = np.arange(160) % 2
    for row in np.flatnonzero(y):
        at = rng.integers(0, len(X[row]))
        X[row] = X[row][:at] + "xylophone" + X[row][at:]
    return X, y


def naive(length, regions, b, x):
    """Return the best local match of b in each region of x: in all that its places cover, those in two of them too."""
    n = max(1, len(x) - length + 1)
    starts = [[i for i in range(n) if i + 1 > r * n / regions and i < (r + 1) * n / regions] for r in range(regions)]
    return [reference.partial_ratio(b, x[own[0] : own[-1] + length]) for own in starts]


@pytest.mark.parametrize("regions", [1, 3])
def test_they_equal_the_naive_loop(regions, problem, rng):
    X = [*problem[0][:12], "ab", "", "abcde"]
    parts = TextParts(6, regions)
    pieces = parts.draw(X, 1, rng).items
    block = parts(X, pieces)
    expected = [[value for b in pieces.tolist() for value in naive(6, regions, b, x)] for x in X]
    np.testing.assert_allclose(block, expected, rtol=1e-5, atol=1e-6)


@pytest.mark.parametrize("parts", [TextParts(), TextParts(3, 2), TextParts(similarity="align-local")], ids=repr)
def test_they_keep_the_contract(parts):
    check_similarity(parts, ["annabella", "bertram", "annalena", "dan", "emanvela"])
    assert isinstance(parts, PartSimilarity)


def test_pieces_are_cut_at_random_places(rng):
    X = ["abcdefghij", "xyz", ""]
    pieces = TextParts(4).draw(X, 50, rng)
    for item, number, (place,) in zip(pieces.items, pieces.samples, pieces.places, strict=True):
        assert item == X[number][place : place + 4]
    assert set(pieces.places[:50, 0]) == set(range(7))
    assert set(pieces.items[50:]) == {"xyz", ""}


def test_a_piece_is_found_where_it_comes_from():
    text = "the quick brown fox jumps over the lazy dog"
    found = TextParts(5).alignment(text, "brown")
    assert found.score.tolist() == [1]
    assert text[found.place[0, 0] :].startswith("brown")
    left, right = TextParts(5, 2).alignment(text, "brown").score
    assert left == 1 > right
    found = TextParts(5, 3).alignment(text, "lazy ")
    assert text[found.place[2, 0] :].startswith("lazy ")
    np.testing.assert_allclose(found.score, TextParts(5, 3)([text], ["lazy "])[0])


def test_a_piece_of_a_sequence_is_found_by_local_alignment():
    parts = TextParts(8, similarity=LocalAlignment(normalize="exemplar"))
    sequence = "MKTAYIAKQRQISFVKSHFSRQ"
    found = parts.alignment(sequence, "QISFVKSH")
    assert found.score.tolist() == [1]
    assert found.place.tolist() == [[10]]
    assert parts.alignment("PPPP", "W").place.tolist() == [[0]]
    with pytest.raises(ValueError, match="sequence 0 has 'J' at position 1"):
        parts(["AJA"], ["ARN"])


def test_texts_are_told_apart_by_a_piece_that_may_lie_anywhere(problem):
    X, y = problem
    model = BESVMClassifier(TextParts(5), basis=200, random_state=0).fit(X[:100], y[:100])
    assert model.score(X[100:], y[100:]) > 0.9
    (pieces,) = model.basis_parts_
    for item, row, (place,) in zip(pieces.items, pieces.samples, pieces.places, strict=True):
        assert X[row][place : place + 5] == item
    row, place = pieces.samples[0], pieces.places[0, 0]
    assert model.get_feature_names_out()[0] == f"text-parts_{row}@{place}_r0"
    again = pickle.loads(pickle.dumps(model))
    np.testing.assert_array_equal(again.decision_function(X), model.decision_function(X))


@pytest.mark.parametrize("storage", ["disk", "recompute"])
def test_every_store_gives_the_same_model(problem, storage):
    X, y = problem
    options = {"basis": 40, "random_state": 0, "C": 1.0}
    expected = BESVMClassifier("text-parts", **options).fit(X, y)
    model = BESVMClassifier("text-parts", storage=storage, **options).fit(pd.Series(X), y)
    np.testing.assert_allclose(model.decision_function(X), expected.decision_function(X), rtol=1e-4, atol=1e-4)


@pytest.mark.parametrize(
    "basis",
    [RandomBasis(per_class=5), IndexBasis(10), KMedoidsBasis(10, max_rows=500), GradientBasis(10, max_rows=100)],
    ids=lambda basis: type(basis).__name__,
)
def test_every_selector_chooses_pieces(problem, basis):
    X, y = problem
    model = BESVMClassifier(TextParts(5, 2), basis=basis, random_state=0).fit(X, y)
    assert len(model.basis_parts_[0]) == 10
    assert model.coef_.shape == (1, 20)


def test_parts_stand_beside_whole_texts_and_may_be_given(problem):
    X, y = problem
    model = BESVMClassifier(["text-parts", "edit"], basis=30, random_state=0).fit(X, y)
    assert model.basis_parts_[1] is None
    expansion = BasisExpansion(TextParts(), basis=Exemplars(["xylop", "phone"])).fit(X, y)
    assert expansion.transform(X).shape == (160, 2)


@pytest.mark.parametrize(
    ("parts", "sentence"),
    [
        (TextParts(0), "length must be a whole number of at least 1, got 0"),
        (TextParts(regions=1.5), "regions must be a whole number of at least 1, got 1.5"),
        (TextParts(similarity="rbf"), "must be 'partial-ratio' or 'align-local', got 'rbf'"),
    ],
)
def test_wrong_parameters_are_refused(parts, sentence, rng):
    with pytest.raises(ValueError, match=sentence):
        parts.draw(["abc"], 1, rng)
    with pytest.raises(ValueError, match=sentence):
        parts(["abc"], ["ab"])


def test_what_is_no_text_is_refused_by_number(rng):
    with pytest.raises(TypeError, match="text 1 is None"):
        TextParts().draw(["abc", None], 1, rng)
    with pytest.raises(TypeError, match="text 0 is 3 of type int"):
        TextParts()([3], ["abc"])
