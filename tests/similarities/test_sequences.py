"""Alignment scores and k-mers, against naive loops."""

import numpy as np
import pandas as pd
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import reference_text as reference
from besvm import BESVMClassifier
from besvm._support.threads import workers
from besvm.similarities import GlobalAlignment, KMers, LocalAlignment
from besvm.testing import check_similarity

RESIDUES = "ARNDCQEGHILKMFPSTWYV"
KINDS = {"global": GlobalAlignment, "local": LocalAlignment}
# a corner of it
BLOSUM62 = {"AA": 4, "AR": -1, "RR": 5, "AN": -2, "RN": 0, "NN": 6, "WW": 11, "AW": -3, "RW": -3, "NW": -4}


def sequences(rng, n, longest=20, symbols=RESIDUES):
    return ["".join(rng.choice(list(symbols), size)) for size in rng.integers(1, longest + 1, n)]


def score_of(pairs):
    return lambda a, b: pairs.get(a + b, pairs.get(b + a))


@st.composite
def problems(draw):
    symbols = "".join(draw(st.lists(st.sampled_from("ACGTacgt*-éß"), min_size=1, max_size=6, unique=True)))
    scores = st.integers(-9, 9) if draw(st.booleans()) else st.integers(-200, 300)
    pairs = {a + b: draw(scores) for i, a in enumerate(symbols) for b in symbols[: i + 1]}
    items = st.lists(st.text(symbols, min_size=1, max_size=12), min_size=1, max_size=4)
    gap_extend = draw(st.integers(0, 5))
    return pairs, gap_extend + draw(st.integers(0, 12)), gap_extend, draw(items), draw(items)


@pytest.mark.parametrize("kind", KINDS)
@given(problem=problems())
@settings(max_examples=100)
def test_scores_equal_the_naive_loop(kind, problem):
    pairs, gap_open, gap_extend, A, B = problem

    def naive(b, a):
        return reference.alignment(b, a, score_of(pairs), gap_open, gap_extend, kind == "local")

    block = KINDS[kind](pairs, gap_open, gap_extend, normalize=False)(A, B)
    assert block.dtype == np.float32
    np.testing.assert_array_equal(block, reference.matrix(naive, A, B))


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("normalize", [True, "exemplar"])
def test_scores_are_divided_by_those_with_oneself(kind, normalize, rng):
    A, B = sequences(rng, 9), sequences(rng, 5)
    similarity = KINDS[kind]((2, -3), 4, 1, normalize=normalize)

    def naive(b, a):
        def score(x, y):
            return reference.alignment(x, y, lambda p, q: 2 if p == q else -3, 4, 1, kind == "local")

        return score(b, a) / (np.sqrt(score(a, a) * score(b, b)) if normalize is True else score(b, b))

    np.testing.assert_allclose(similarity(A, B), reference.matrix(naive, A, B), rtol=1e-5, atol=1e-6)
    np.testing.assert_allclose(similarity(A, A).diagonal(), 1, rtol=1e-6)


@pytest.mark.parametrize("kind", KINDS)
def test_the_default_is_blosum62_with_a_gap_of_11_and_1(kind, rng):
    A, B = sequences(rng, 6, symbols="ARNW"), sequences(rng, 4, symbols="ARNW")

    def naive(b, a):
        return reference.alignment(b, a, score_of(BLOSUM62), 11, 1, kind == "local")

    similarity = KINDS[kind](normalize=False)
    np.testing.assert_array_equal(similarity(A, B), reference.matrix(naive, A, B))
    given_outright = KINDS[kind]({tuple(pair): score for pair, score in BLOSUM62.items()}, normalize=False)
    np.testing.assert_array_equal(given_outright(A, B), similarity(A, B))
    np.testing.assert_array_equal(similarity([a.lower() for a in A], B), similarity(A, B))


def test_scores_too_large_for_small_integers():
    long = "W" * 5000
    assert LocalAlignment(normalize=False)([long], [long, "W"]).tolist() == [[55000, 11]]
    assert GlobalAlignment(normalize=False)([long], [long, "W"]).tolist() == [[55000, 11 - 11 - 4998]]


@pytest.mark.parametrize("kind", KINDS)
def test_sequences_that_score_nothing_with_themselves_give_numbers(kind):
    similarity = KINDS[kind]()
    block = similarity(["XXX", "ARNX", "W"], ["XXXX", "ARN"])
    assert np.isfinite(block).all()
    assert block[0, 0] == (0 if kind == "local" else KINDS[kind](normalize=False)(["XXX"], ["XXXX"])[0, 0])


@pytest.mark.parametrize("name", ["align-global", "align-local", "kmers"])
def test_they_keep_the_contract(name, rng):
    X = sequences(rng, 12)
    check_similarity(name, X)
    check_similarity(name, pd.Series(X))
    check_similarity(name, np.array(X))


def test_an_asymmetric_similarity_says_so(rng):
    check_similarity(LocalAlignment(normalize="exemplar"), sequences(rng, 8))
    assert not LocalAlignment(normalize="exemplar").symmetric
    assert LocalAlignment().symmetric


@pytest.mark.parametrize("similarity", [GlobalAlignment(), LocalAlignment(), KMers()], ids=repr)
def test_any_number_of_threads_gives_the_same(similarity, rng):
    A, B = sequences(rng, 700, 60), sequences(rng, 40, 60)
    with workers(1):
        expected = similarity(A, B)
    with workers(4):
        np.testing.assert_array_equal(similarity(A, B), expected)


def test_no_exemplars_and_no_samples(rng):
    A = sequences(rng, 3)
    for similarity in (GlobalAlignment(), LocalAlignment(), KMers()):
        assert similarity(A, []).shape == (3, 0)
        assert similarity([], A).shape == (0, 3)


@pytest.mark.parametrize("k", [1, 2, 3, 4, 9])
@pytest.mark.parametrize("normalize", [True, False])
@given(data=st.data())
@settings(max_examples=40)
def test_kmers_equal_the_naive_loop(k, normalize, data):
    items = st.lists(st.text("ab日\U0001f600", min_size=1, max_size=15), max_size=6)
    A, B = data.draw(items), data.draw(items)
    block = KMers(k, normalize=normalize)(A, B)
    expected = reference.matrix(lambda b, a: reference.kmers(b, a, k, normalize), A, B)
    np.testing.assert_allclose(block, expected, rtol=1e-5, atol=1e-6)


@pytest.mark.parametrize("symbols", ["AB", RESIDUES])
def test_kmers_of_few_and_of_many_words(symbols, rng):
    """With few, most exemplars have most of them, and the product is a dense one."""
    A, B = sequences(rng, 600, 40, symbols), sequences(rng, 30, 40, symbols)
    expected = reference.matrix(lambda b, a: reference.kmers(b, a, 3), A, B)
    np.testing.assert_allclose(KMers()(A, B), expected, rtol=1e-5, atol=1e-6)


@pytest.mark.parametrize("measure", ["align-global", "align-local", "kmers"])
def test_a_classifier_of_proteins(measure, rng):
    X = [a[:8] + motif + a[8:] for motif in ("HEAGAWGHEE", "MKTAYIAKQR") for a in sequences(rng, 40, 30)]
    y = np.repeat(["a", "b"], 40)
    assert BESVMClassifier(measure, basis=20, random_state=0).fit(X, y).score(X, y) > 0.95


@pytest.mark.parametrize("similarity", [GlobalAlignment(), LocalAlignment(), KMers()], ids=repr)
@pytest.mark.parametrize(
    ("item", "sentence"),
    [
        ("", "sequences must not be empty, but sequence 1 is"),
        (None, "sequence 1 is None; leave it out"),
        (b"ARN", "sequence 1 is bytes, b'ARN'; decode it"),
        (7, "sequence 1 is 7 of type int"),
    ],
)
def test_what_is_no_sequence_is_refused_by_number(similarity, item, sentence):
    for A, B in ((["ARN", item], ["ARN"]), (["ARN"], ["ARN", item])):
        with pytest.raises((TypeError, ValueError), match=sentence):
            similarity(A, B)


@pytest.mark.parametrize(("symbol", "place"), [("J", 2), ("1", 0), ("é", 1), (" ", 3)])
def test_unknown_symbols_are_refused_by_place(symbol, place):
    wrong = "ARN"[:place] + symbol + "ARN"[place:]
    sentence = rf"symbols of the matrix, ARNDCQEGHILKMFPSTWYVBZX\*, but sequence 1 has '{symbol}' at position {place}"
    for A, B in ((["ARN", wrong], ["ARN"]), (["ARN"], ["ARN", wrong])):
        with pytest.raises(ValueError, match=sentence):
            LocalAlignment()(A, B)


@pytest.mark.parametrize(
    ("params", "sentence"),
    [
        ({"matrix": "BLOSUM63"}, "matrix must be a known name, got 'BLOSUM63'; did you mean 'BLOSUM6"),
        ({"matrix": "BENNER6"}, "matrix must hold whole numbers, but BENNER6 does not"),
        ({"matrix": None}, "matrix must be the name of a substitution matrix"),
        ({"matrix": (1, -0.5)}, "matrix must hold whole numbers from"),
        ({"matrix": {}}, "matrix must have from 1 to 26 symbols, got 0"),
        ({"matrix": {"ABC": 1}}, "matrix must have pairs of single characters as keys, got 'ABC'"),
        ({"matrix": {("A", "AB"): 1}}, "matrix must have pairs of single characters as keys"),
        ({"matrix": {"AA": 1, "AB": 0}}, "has none for 'B' and 'B'"),
        ({"matrix": {"AA": 1, "AB": 0, "BA": 2, "BB": 1}}, "symmetric, but 'A' and 'B' have 0 and 2"),
        ({"matrix": {"AA": None}}, "matrix must hold whole numbers"),
        ({"gap_open": -1}, "gap_open must be a whole number from 0 to 1,048,576, got -1"),
        ({"gap_extend": 0.5}, "gap_extend must be a whole number from 0"),
        ({"gap_open": 1, "gap_extend": 2}, "gap_extend must be at most gap_open, .* got 2 and 1"),
        ({"normalize": "both"}, "normalize must be True, False or 'exemplar', got 'both'"),
    ],
)
def test_wrong_parameters_are_refused(params, sentence):
    with pytest.raises(ValueError, match=sentence):
        GlobalAlignment(**params)(["A"], ["A"])


@pytest.mark.parametrize(("params", "name"), [({"k": 0}, "k"), ({"k": 2.5}, "k"), ({"normalize": "yes"}, "normalize")])
def test_wrong_parameters_of_kmers_are_refused(params, name):
    with pytest.raises(ValueError, match=f"{name} must be"):
        KMers(**params)(["A"], ["A"])
