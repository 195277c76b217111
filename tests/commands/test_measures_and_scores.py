"""Measures as users write them, and the numbers that users are told."""

import numpy as np
import pytest
from scipy.stats import binomtest
from sklearn.metrics import confusion_matrix, precision_recall_fscore_support

from besvm._support.shares import wilson
from besvm.commands.measures import candidates, chosen, not_installed, parsed
from besvm.commands.scores import Accuracy, Confusion, natural
from besvm.commands.training import Check, Recipe, check_trainable
from besvm.inputs import Data
from besvm.similarities import DTW, Gower

VECTORS = Data(np.zeros((4, 2)), None, "vectors", list("1234"), {"a": "number", "b": "number"}, source="t.csv")
RECORDS = Data(
    [{"age": 3.0, "city": "Rome", "name": "Ann"}] * 4,
    None,
    "records",
    list("1234"),
    {"age": "number", "city": "category", "name": "text"},
    source="t.csv",
)
IMAGES = Data(np.zeros((4, 16, 16, 3), np.uint8), None, "images", list("1234"), source="pets")
SERIES = Data(np.zeros((4, 20)), None, "series", list("1234"), source="t.ts")


def test_measures_as_users_write_them():
    assert parsed("dtw(window=0.1)", SERIES).similarity.window == 0.1
    assert parsed("dtw(window=0.1)", SERIES).label == "dtw(window=0.1)"
    assert type(parsed("rbf", VECTORS).features).__name__ == "StandardScaler"
    assert parsed("chi2", VECTORS).features is None
    assert parsed("H4(2,0)", IMAGES).label == "H4(2,0)"
    assert parsed("H8R|mirror", IMAGES).label == "H8R|mirror"
    edit = parsed("edit[name]", RECORDS)
    assert (edit.column, edit.label) == ("name", "edit[name]")
    assert parsed("edit", RECORDS).column == "name"
    assert parsed("rbf", RECORDS).column == ["age"]
    gower = parsed("gower(how=complement)", RECORDS)
    assert (gower.similarity.how, gower.similarity.weights) == ("complement", {"name": 0.0})
    assert parsed("gower[age,city]", RECORDS).column == ["age", "city"]


@pytest.mark.parametrize(
    ("text", "data", "sentence"),
    [
        ("rbff", VECTORS, r"--measure must be a known name, got 'rbff'; did you mean 'rbf'\?"),
        ("rbf[a]", VECTORS, r"--measure can name a column only for records, but t.csv has vectors, got 'rbf\[a\]'"),
        ("edit[nam]", RECORDS, "t.csv has no column 'nam' to compare; its columns are age, city, name"),
        (
            "dtw(windo=1)",
            SERIES,
            "--measure dtw has no parameter 'windo'; its parameters are channels, how, scale, win",
        ),
        ("dtw(0.1)", SERIES, r"--measure must have its parameters as key=value, as in dtw\(key=value\), got '0.1'"),
        ("dtw((", SERIES, "--measure must be a name, optionally with parameters or a column"),
        ("H4(2,0)", SERIES, r"--measure H4\(2,0\) compares images, but t.ts has series"),
        ("gower", VECTORS, "--measure gower compares records, but t.csv has vectors"),
        ("H4(2)", IMAGES, "a measure's shorthand must be H, the cell size in pixels"),
    ],
)
def test_measures_that_are_none(text, data, sentence):
    with pytest.raises(ValueError, match=sentence):
        parsed(text, data)


def test_alignments_are_for_letters_they_suit_and_missing_extras_are_named(monkeypatch):
    def of(*sequences):
        return Data(list(sequences), np.array(["a", "b"]), "sequences", ["1", "2"])

    proteins, dna = of("MKWMKWMKW", "KLVKLVKLV"), of("ACGACGACG", "TTATTATTA")
    kmers = ["kmers(k=1)", "kmers(k=2)", "kmers(k=3)"]
    assert [measure.label for measure in chosen(proteins, [], "small")] == ["align-global", "align-local", *kmers]
    local = "align-local(matrix=NUC.4.4,gap_open=10)"
    assert [measure.label for measure in chosen(dna, [], "small")] == [local, *kmers]
    long = of(501 * "A", 501 * "C")
    assert [measure.label for measure in chosen(long, [], "small")] == kmers
    assert [measure.label for measure in candidates(dna, [])] == [*kmers, local]
    assert not_installed(proteins) == ""
    monkeypatch.setattr("besvm.commands.measures.find_spec", lambda name: None)
    assert [measure.label for measure in chosen(proteins, [], "small")] == kmers
    assert not_installed(proteins) == (
        "align-global and align-local left out: install besvm with the extra 'bio' to use them"
    )
    assert not_installed(dna).startswith(f"{local} left out: install besvm with the extra 'bio'")
    assert not_installed(long) == ""


def test_usual_measures():
    assert [m.label for m in chosen(RECORDS, [], "small")] == ["gower", "edit[name]"]
    (gower,) = chosen(Data([{"a": 1.0}], None, "records", ["1"], {"a": "number"}), [], "small")
    assert isinstance(gower.similarity, Gower)
    (short,) = chosen(Data(np.zeros((4, 5)), None, "series", list("1234")), [], "small")
    assert isinstance(short.similarity, DTW)
    long = Data(["a text that is longer than forty characters, surely"] * 3, None, "text", list("123"))
    assert chosen(long, [], "small")[0].label == "token-ratio"
    with pytest.raises(ValueError, match="--size must be one of small, medium, large, got 'huge'"):
        Recipe(size="huge")
    with pytest.raises(ValueError, match="so there are no measures to choose from"):
        candidates(Data(np.eye(2), None, "precomputed", ["1", "2"], source="k.npy"), [])


@pytest.mark.parametrize("column", ["last, first", "name [full]", "a|mirror", "(x)"])
def test_texts_in_columns_of_any_name(column):
    data = Data([{column: "Ann", "age": 1.0}] * 3, None, "records", list("123"), {column: "text", "age": "number"})
    for measures in (chosen(data, [], "small"), candidates(data, [])):
        assert (measures[-1].column, measures[-1].label) == (column, f"edit[{column}]")
    if "|" not in column:
        assert parsed(f"edit[{column}]", data).column == column


@pytest.mark.parametrize(("right", "n"), [(0, 1), (1, 1), (8, 10), (90, 100), (0, 50), (9999, 10000)])
def test_the_interval_is_wilsons(right, n):
    expected = binomtest(right, n).proportion_ci(method="wilson")
    np.testing.assert_allclose(wilson(right, n), expected, atol=1e-12)


def test_confusions_are_counted_as_scikit_learn_does(rng):
    true, predicted = rng.integers(0, 11, 500), rng.integers(0, 11, 500)
    found = Confusion()
    for rows in np.array_split(np.arange(500), 7):
        found.add(true[rows], predicted[rows])
    assert found.classes == [str(k) for k in range(11)]  # 2 before 10
    np.testing.assert_array_equal(found.matrix(), confusion_matrix(true, predicted))
    expected = precision_recall_fscore_support(true, predicted, zero_division=0)
    for row, precision, recall, f1, n in zip(found.by_class(), *expected, strict=True):
        assert (row["precision"] or 0, row["recall"], row["f1"]) == pytest.approx((precision, recall, f1))
        assert row["rows"] == n
    assert (found.rows, found.right) == (500, (true == predicted).sum())


def test_many_classes_show_those_that_are_confused():
    found = Confusion()
    found.add(range(20), range(20))
    assert "no sample was taken for another class" in str(found)
    found.add(["3", "3", "4"], ["5", "5", "1"])
    assert str(found).splitlines()[-2:] == ["3              5             2", "4              1             1"]


def test_classes_in_the_order_that_people_expect():
    assert sorted(["b10", "b9", "a", "10", "9"], key=natural) == ["9", "10", "a", "b9", "b10"]


def test_accuracies_of_strangers():
    good = Accuracy.of(3, 4, "held out")
    assert Accuracy.known(good.facts()) == good
    for facts in (None, 3, {}, {"value": "high"}, {**good.facts(), "rows": 1.5}, {**good.facts(), "low": None}):
        assert Accuracy.known(facts) is None


@pytest.mark.parametrize("folds", [None, 3])
@pytest.mark.parametrize("y", ["aabbab" * 4, "aaaaaaab", "abcdef" * 2])
def test_every_row_is_trained_on_or_tested(y, folds):
    y = np.array(list(y))
    tested = []
    for train, test in Check(0.25, folds).splits(y, seed=0):
        assert sorted([*train, *test]) == list(range(len(y)))
        tested += list(test)
    assert len(tested) == (len(y) if folds else round(len(y) / 4))
    assert len(set(tested)) == len(tested)


@pytest.mark.parametrize(
    ("y", "sentence"),
    [
        (None, "t.csv must have a class for every sample to train on, but has none; name their column"),
        (
            ["a", "", "b", ""],
            "it is missing for 2 samples, the first being 2; fill in the classes, or remove the samples",
        ),
        (["a"] * 4, "t.csv must have samples of at least two classes, got only a"),
        (["a", "b", "c", "c"], "t.csv must have at least two samples for each class, got 4 samples of 3 classes"),
    ],
)
def test_nothing_can_be_learned_from(y, sentence):
    data = Data(np.zeros((4, 1)), None if y is None else np.array(y), "vectors", list("1234"), source="t.csv")
    with pytest.raises(ValueError, match=sentence):
        check_trainable(data)


def test_as_many_folds_as_rows_at_most():
    y = np.array(["a", "b"] * 5)
    assert len(list(Check(folds=50).splits(y, seed=0))) == 10
    assert Check(folds=50).how(len(y)) == "10-fold cross-validation"
    assert Check(folds=3).how(len(y)) == "3-fold cross-validation"
    assert Check().how(len(y)) == "held out"


def test_the_accuracy_says_the_folds_that_there_were():
    X, y = np.arange(10.0)[:, None], np.array(["a", "b"] * 5)
    data = Data(X, y, "vectors", list("0123456789"), {"a": "number"}, source="t.csv")
    recipe, check = Recipe(basis=4, C=1.0), Check(folds=50)
    found = check.accuracy(recipe, data, recipe.chosen(data), check.stages(y, 0))
    assert (found.rows, found.how) == (10, "10-fold cross-validation")
