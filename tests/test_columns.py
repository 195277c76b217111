"""One measure a column: Measure(column=...) on data frames and other kinds of records."""

from __future__ import annotations

import pickle
from collections import namedtuple

import numpy as np
import pandas as pd
import pytest
from sklearn.base import clone
from sklearn.impute import SimpleImputer
from sklearn.model_selection import GridSearchCV, cross_val_score
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler

from besvm import FHOG, BasisExpansion, BESVMClassifier, MeanNormScaler, Measure, Nystrom
from besvm._support.sizes import large_one
from besvm.baselines import KernelSVMClassifier
from besvm.features import Column
from besvm.measures import mirrored
from besvm.selection import GreedySelection
from besvm.similarities import Latent

N = 60
y = np.arange(N) % 2


def shared_letters(a, b):
    return len(set(a) & set(b))


def near(a, b):
    return -abs(float(np.mean(a)) - float(np.mean(b)))


@pytest.fixture
def people(rng):
    """Texts, numbers, series of unequal length, vectors and images, with an index that is not 0, 1, 2, ..."""
    return pd.DataFrame(
        {
            "name": [("ab" if label else "xyb") * int(rng.integers(1, 4)) for label in y],
            "age": rng.normal(size=N) + y,
            "height": rng.integers(150, 200, N),
            "ecg": [rng.normal(size=rng.integers(5, 9)) + label for label in y],
            "place": list(rng.normal(size=(N, 3)) + y[:, None]),
            "photo": [(rng.random((16, 16, 3)) * (1 + label) / 2).astype("f4") for label in y],
        },
        index=rng.permutation(1000)[:N],
    )


def expanded(measures, X, basis=10):
    return BasisExpansion(measures, basis=np.arange(basis), normalize=None).fit_transform(X)


@pytest.mark.parametrize(
    ("measure", "column", "alone"),
    [
        (shared_letters, "name", lambda X: X["name"].tolist()),
        (near, "ecg", lambda X: X["ecg"].tolist()),
        ("rbf", "age", lambda X: X[["age"]].to_numpy()),
        ("rbf", ["age", "height"], lambda X: X[["age", "height"]].to_numpy()),
        ("rbf", "place", lambda X: np.stack(X["place"])),
        ("linear", ["place", "age"], lambda X: np.hstack([np.stack(X["place"]), X[["age"]]])),
        (Measure("rbf", features=StandardScaler()), ["age", "height"], lambda X: X[["age", "height"]].to_numpy()),
        (Measure("rbf", features=FHOG(cell=8)), "photo", lambda X: X["photo"].tolist()),
        (
            Measure("rbf", features=make_pipeline(FHOG(cell=8), MeanNormScaler())),
            "photo",
            lambda X: X["photo"].tolist(),
        ),
        (Measure(Latent("linear", exemplar_variants=lambda v: [v, -v])), "place", lambda X: X["place"].tolist()),
        (mirrored(Measure("rigid", features=FHOG(cell=8))), "photo", lambda X: X["photo"].tolist()),
    ],
)
def test_a_column_is_compared_as_if_it_were_all_there_is(measure, column, alone, people):
    measure = measure if isinstance(measure, Measure) else Measure(measure)
    of_column = clone(measure).set_params(column=column)
    np.testing.assert_allclose(expanded(of_column, people), expanded(measure, alone(people)), rtol=1e-6)


def test_variants_of_samples_are_made_of_the_column(people):
    latent = Latent("linear", exemplar_variants=lambda v: [v, -v], sample_variants=lambda v: [v, v[::-1]])
    alone = people["place"].tolist()
    np.testing.assert_allclose(expanded(Measure(latent, column="place"), people), expanded(latent, alone), rtol=1e-6)


MEASURES = [
    ("letters", Measure(shared_letters, column="name")),
    ("pulse", Measure(near, column="ecg")),
    Measure("rbf", column=["age", "height"], features=StandardScaler()),
    mirrored(Measure("rbf", column="photo", features=FHOG(cell=8))),
]


def test_several_columns_side_by_side(people):
    clf = BESVMClassifier(MEASURES, basis=20, random_state=0).fit(people, y)
    assert clf.score(people, y) == 1
    margins = clf.decision_function(people)
    backwards = pickle.loads(pickle.dumps(clf)).decision_function(people.iloc[::-1].drop(columns="place"))
    np.testing.assert_allclose(backwards[::-1], margins, rtol=1e-5, atol=1e-6)
    np.testing.assert_allclose(clone(clf).fit(people, y).decision_function(people), margins, rtol=1e-5, atol=1e-6)
    assert cross_val_score(clf, people, y, cv=3).min() > 0.9


def test_every_store_and_normalization_takes_columns(people):
    clf = BESVMClassifier(MEASURES, basis=20, random_state=0, C=1.0)
    expected = clf.fit(people, y).decision_function(people)
    for storage in ("disk", "recompute"):
        got = clone(clf).set_params(storage=storage).fit(people, y).decision_function(people)
        np.testing.assert_allclose(got, expected, rtol=1e-3, atol=1e-3)
    assert clone(clf).set_params(normalize=Nystrom()).fit(people, y).score(people, y) > 0.9


def test_columns_are_tuned_selected_and_taken_by_kernel_machines(people):
    grid = {"measures__letters__column": ["nick", "name"]}
    search = GridSearchCV(BESVMClassifier(MEASURES[:1], basis=10, random_state=0), grid, cv=2)
    search.fit(people.assign(nick="ab"), y)
    assert search.best_params_ == {"measures__letters__column": "name"}
    chosen = GreedySelection(MEASURES, n_measures=2, random_state=0).fit(people, y)
    assert chosen.score(people, y) == 1
    kernel = KernelSVMClassifier(Measure("rbf", column="age")).fit(people, y)
    np.testing.assert_allclose(
        kernel.decision_function(people),
        KernelSVMClassifier("rbf").fit(people[["age"]], y).decision_function(people[["age"]]),
    )


def test_measures_of_one_column_share_it(people):
    measures = [Measure("rbf", column="age"), Measure("linear", column="age"), Measure("linear", column="height")]
    clf = BESVMClassifier(measures, basis=10).fit(people, y)
    assert len(clf._map.expander.transformers) == 2


def test_labels_name_the_column(people):
    measures = [Measure("rbf", column="age"), Measure("rbf", column=["age", "height"]), ("n", Measure("rbf", column=1))]
    names = BasisExpansion(measures, basis=[3]).fit(people).get_feature_names_out()
    assert list(names) == ["rbf[age]_3", "rbf[age,height]_3", "n_3"]


Row = namedtuple("Row", "name age")
RECORDS = {
    "frame": (pd.DataFrame({"name": list("abcd"), "age": [1, 2, 3, 5]}, index=list("wxyz")), "name", "age"),
    "strings": (pd.DataFrame({"name": pd.array(list("abcd"), "string"), "age": pd.array([1, 2, 3, 5], "Int64")}), 0, 1),
    "structured": (np.array([("a", 1), ("b", 2), ("c", 3), ("d", 5)], [("name", "U1"), ("age", int)]), "name", "age"),
    "objects": (np.array([["a", 1], ["b", 2], ["c", 3], ["d", 5]], dtype=object), 0, 1),
    "tuples": ([("a", 1), ("b", 2), ("c", 3), ("d", 5)], 0, -1),
    "named tuples": ([Row("a", 1), Row("b", 2), Row("c", 3), Row("d", 5)], "name", "age"),
    "dicts": ([{"name": name, "age": age} for name, age in zip("abcd", (1, 2, 3, 5), strict=True)], "name", "age"),
}


@pytest.mark.parametrize("kind", RECORDS)
def test_all_kinds_of_records_have_columns(kind):
    X, name, age = RECORDS[kind]
    assert Column(name).fit(X).transform(X) == list("abcd")
    np.testing.assert_array_equal(Column(age).transform(X), [[1], [2], [3], [5]])
    np.testing.assert_array_equal(Column([age, age], vectors=True).transform(X), [[1, 1], [2, 2], [3, 3], [5, 5]])
    got = expanded([Measure(shared_letters, column=name), Measure("linear", column=age)], X, basis=2)
    np.testing.assert_array_equal(got, [[1, 0, 1, 2], [0, 1, 2, 4], [0, 0, 3, 6], [0, 0, 5, 10]])


def test_several_columns_that_are_no_numbers_stay_records():
    for X, *columns in RECORDS.values():
        records = Column(columns).transform(X)
        names = records.iloc[:, 0] if hasattr(records, "iloc") else [row[0] for row in records]
        assert list(names) == list("abcd")


def test_missing_numbers_go_to_features_or_are_named():
    X = pd.DataFrame({"age": pd.array([1, None, 3, 4], "Int64"), "old": [None, 2.5, 3, 4]}, index=[7, 8, 9, 10])
    np.testing.assert_array_equal(Column(["age", "old"]).transform(X)[:2], [[1, np.nan], [np.nan, 2.5]])
    assert np.isfinite(expanded(Measure("rbf", column="age", features=SimpleImputer()), X, basis=2)).all()
    with pytest.raises(
        ValueError, match=r"column 'age' must hold finite numbers .* got nan in row 8; remove such rows"
    ):
        expanded(Measure("rbf", column="age"), X, basis=2)
    clf = BESVMClassifier(Measure("rbf", column="age"), basis=2).fit(X.iloc[[0, 2, 3]], [0, 1, 1])
    with pytest.raises(ValueError, match="got nan in row 8"):
        clf.predict(X)


def test_a_missing_text_comes_to_the_similarity_as_it_is():
    X = pd.DataFrame({"name": ["a", None, "b"]})
    with pytest.raises(RuntimeError, match="failed on the pair"):
        expanded(Measure(shared_letters, column="name"), X, basis=2)


@pytest.mark.parametrize(
    ("measures", "sentence"),
    [
        (Measure("rbf", column="hight"), "X has no column 'hight'; did you mean 'height'?"),
        (Measure("rbf", column="q"), r"X has no column 'q'; its columns are \['name', 'age'"),
        (Measure("rbf", column=["age", 77]), "X has no column 77"),
        (Measure("rbf", column=[]), "column must name at least one column, got an empty list"),
        (Measure("rbf", column="name"), r"column 'name' must hold numbers, or arrays of one shape, .* got 'x?y?a?b?"),
        (Measure("rbf", column="ecg"), r"column 'ecg' must hold numbers, .* got the shape \(\d,\) in row \d+; use"),
        (
            ["rbf", Measure("rbf", column="age")],
            "'rbf' compares rows of numbers, but column 'name' of X has no numbers",
        ),
    ],
)
def test_what_is_no_column_of_the_right_kind_is_named(measures, sentence, people):
    with pytest.raises(ValueError, match=sentence):
        BESVMClassifier(measures, basis=5).fit(people, y)


def test_what_has_no_columns_is_refused():
    with pytest.raises(TypeError, match=r"column='name' needs records \(a DataFrame, .*got a str in row 0"):
        BESVMClassifier(Measure(shared_letters, column="name")).fit(["a", "b"], [0, 1])
    with pytest.raises(ValueError, match=r"X has no column 5; its columns are \[0, 1\]"):
        BESVMClassifier(Measure("rbf", column=5)).fit(np.ones((2, 2)), [0, 1])
    with pytest.raises(ValueError, match="X must have one column 'a', got 2; rename them"):
        Column("a").fit(pd.DataFrame([[1, 2]], columns=["a", "a"]))


def test_a_column_of_numbers_and_texts_is_refused():
    X = pd.DataFrame({"a": [None, 3, "three"]}, index=[5, 6, 7])
    with pytest.raises(TypeError, match="values of one kind, got the number 3 in row 6 and 'three' in row 7"):
        Column("a").fit(X)


def test_a_column_missing_when_predicting_is_named(people):
    clf = BESVMClassifier(Measure("rbf", column="age"), basis=5).fit(people, y)
    with pytest.raises(ValueError, match="X has no column 'age'; did you mean 'Age'"):
        clf.predict(people.rename(columns={"age": "Age"}))


def test_a_large_record_is_found_by_its_items():
    X = pd.DataFrame({"a": [1.0] * 5, "b": [np.zeros(3), np.zeros(4), np.zeros(99), np.zeros(5), np.zeros(2)]})
    assert large_one(X).index[0] == 2
    assert large_one(X[["a"]]).index[0] == 0
