"""Gower's similarity of records."""

from __future__ import annotations

import pickle
from datetime import UTC, date, datetime, timedelta
from decimal import Decimal

import numpy as np
import pandas as pd
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from sklearn.model_selection import cross_val_score

from besvm import BasisExpansion, BESVMClassifier, Measure
from besvm.baselines import KernelSVMClassifier
from besvm.similarities import FromDistance, Gower
from besvm.testing import check_similarity
from reference_records import gower_matrix, ranges


def share(*args, **params):
    """Gower's own form: the share of columns in which records are alike."""
    return Gower(*args, **{"how": "complement"} | params)


def records(rng, n, gaps=0.2):
    """Every kind of column, with gaps."""
    frame = pd.DataFrame(
        {
            "age": rng.normal(40, 10, n),
            "count": pd.array(rng.integers(0, 5, n), "Int64"),
            "city": rng.choice(["Rome", "Oslo", "Bonn"], n).astype(object),
            "grade": pd.Categorical(rng.choice(["low", "high"], n)),
            "member": rng.random(n) < 0.5,
            "born": pd.Timestamp("1970-01-01") + pd.to_timedelta(rng.integers(0, 20_000, n), "D"),
            "took": pd.to_timedelta(rng.integers(0, 5000, n), "s"),
            "same": 3.0,
        },
        index=rng.permutation(10 * n)[:n],
    )
    return frame.mask(rng.random(frame.shape) < gaps) if gaps else frame


@pytest.mark.parametrize("gaps", [0, 0.3, 0.9])
@pytest.mark.parametrize("weights", [None, {"city": 3.0, "age": 0.5}])
def test_it_is_what_the_loop_says(gaps, weights, rng):
    X, new = records(rng, 70, gaps), records(rng, 30, gaps)
    new["city"] = new["city"].replace({"Bonn": "Wien"})  # which no training row has
    new["age"] = new["age"] * 1.5  # beyond the range
    similarity = share(weights).fit(X)
    expected = gower_matrix(new, X.iloc[:20], ranges(X), weights)
    np.testing.assert_allclose(similarity(new, X.iloc[:20]), expected, atol=2e-6)
    np.testing.assert_allclose(similarity(new[sorted(new)], new), gower_matrix(new, new, ranges(X), weights), atol=2e-6)


@settings(max_examples=40)
@given(st.data())
def test_any_small_records(data):
    n = data.draw(st.integers(1, 6))
    cells = {
        "a": st.none() | st.integers(-3, 3),
        "b": st.none() | st.sampled_from("xyz"),
        "c": st.none() | st.booleans(),
        "d": st.none() | st.floats(-1e300, 1e300),
    }
    columns = {name: data.draw(st.lists(cell, min_size=n, max_size=n)) for name, cell in cells.items()}
    X = pd.DataFrame({name: pd.Series(values, dtype=object) for name, values in columns.items()})
    expected_of = X.assign(a=X["a"].astype("float64"), d=X["d"].astype("float64"))
    K = share().fit(X)(X, X)
    extent = {name: span for name, span in ranges(expected_of).items() if np.isfinite(span)}
    np.testing.assert_allclose(K, gower_matrix(expected_of, expected_of, extent), atol=1e-5)


@pytest.mark.parametrize("how", ["complement", "exponential", "negative"])
def test_it_keeps_the_contract(how, rng):
    X = records(rng, 12)
    check_similarity(share({"age": 2}, how=how), X)
    check_similarity(FromDistance(Gower(), how="exponential"), X)
    fitted = pickle.loads(pickle.dumps(share(how=how).fit(X)))
    np.testing.assert_array_equal(fitted(X, X), share(how=how).fit(X)(X, X))


def test_forms_follow_from_the_distance(rng):
    X = records(rng, 30)
    d = 1 - share().fit(X)(X, X)
    np.testing.assert_allclose(share(how="negative", scale=1.0).fit(X)(X, X), -d, atol=1e-6)
    np.testing.assert_allclose(
        FromDistance("gower", "gaussian", 0.5).fit(X)(X, X), np.exp(-((d / 0.5) ** 2)), atol=1e-5
    )


def test_without_gaps_it_is_positive_definite_and_with_gaps_it_need_not_be(rng):
    X = records(rng, 60, 0)
    assert np.linalg.eigvalsh(share().fit(X)(X, X).astype(float))[0] > -1e-5
    assert not share().psd
    gaps = pd.DataFrame({"a": ["x", "x", None], "b": [None, "u", "u"], "c": ["p", "q", "r"]})
    K = share({"c": 1e-3}).fit(gaps)(gaps, gaps)
    assert np.linalg.eigvalsh(K.astype(float))[0] < -0.1


SAME = pd.DataFrame({"a": [1.0, np.nan, 3.0, 2.0], "b": ["x", "y", None, "x"]})


@pytest.mark.parametrize(
    "X",
    [
        SAME,
        SAME.to_numpy(dtype=object),
        list(SAME.itertuples(index=False)),
        list(SAME.itertuples(index=False, name=None)),
        SAME.to_dict("records"),
        np.array([(1, "x"), (np.nan, "y"), (3, None), (2, "x")], [("a", float), ("b", object)]),
        pd.DataFrame({"a": pd.array([1, None, 3, 2], "Int64"), "b": pd.Categorical(["x", "y", None, "x"])}),
        pd.DataFrame({"a": [Decimal(1), None, Decimal(3), Decimal(2)], "b": pd.array(SAME["b"], "string")}),
    ],
    ids=lambda X: type(X).__name__,
)
def test_every_kind_of_records(X):
    np.testing.assert_allclose(share().fit(X)(X, X), share().fit(SAME)(SAME, SAME), atol=1e-6)


def test_numbers_alone_come_as_an_array_with_gaps(rng):
    X = rng.normal(size=(80, 4))
    y = (X[:, 0] > 0).astype(int)
    X[rng.random(X.shape) < 0.1] = np.nan
    clf = BESVMClassifier("gower", basis=40, random_state=0).fit(X, y)
    assert clf.score(X, y) > 0.8
    K = share(categories=[0, 1, 2, 3]).fit(X)(X, X)
    assert set(np.unique(K)) <= {0, 1}


def test_dates_of_every_kind_are_the_same(rng):
    days = [date(2020, 1, 1), date(2020, 1, 11), date(2020, 1, 6)]
    noon = [datetime(day.year, day.month, day.day) for day in days]
    shapes = [
        days,
        noon,
        [moment.replace(tzinfo=UTC) for moment in noon],
        np.array(days, "M8[D]"),
        pd.to_datetime(days),
    ]
    expected = [[1, 0, 0.5], [0, 1, 0.5], [0.5, 0.5, 1]]
    for shape in shapes:
        X = pd.DataFrame({"day": shape})
        np.testing.assert_allclose(share().fit(X)(X, X), expected, atol=1e-6)
        objects = np.array(list(shape), dtype=object).reshape(-1, 1)
        np.testing.assert_allclose(share().fit(X.set_axis([0], axis=1))(objects, objects), expected, atol=1e-6)
    spans = pd.DataFrame({"took": pd.Series([timedelta(0), timedelta(10), timedelta(5)], dtype=object)})
    np.testing.assert_allclose(share().fit(spans)(spans, spans), expected, atol=1e-6)


def test_large_numbers_that_stand_for_categories_differ():
    X = pd.DataFrame({"id": [2**60, 2**60 + 1, 2**60]})
    np.testing.assert_array_equal(share(categories=["id"]).fit(X)(X, X), [[1, 0, 1], [0, 1, 0], [1, 0, 1]])


def test_what_is_constant_or_missing_in_training_is_compared_as_equal_or_not():
    X = pd.DataFrame({"a": [5, 5], "b": [None, np.nan]})
    new = pd.DataFrame({"a": [5, 6, 7], "b": [1.0, 1.0, None]})
    np.testing.assert_array_equal(share().fit(X)(new, X), [[1, 1], [0, 0], [0, 0]])
    np.testing.assert_array_equal(share().fit(X)(new, new), [[1, 0.5, 0], [0.5, 1, 0], [0, 0, 1]])


def test_records_with_nothing_in_common_are_not_alike():
    X = pd.DataFrame({"a": [1.0, None, 2.0], "b": [None, "x", "y"]})
    np.testing.assert_array_equal(share().fit(X)(X, X)[0, :2], [1, 0])


def test_columns_of_no_weight_and_columns_that_training_did_not_have_are_not_looked_at(rng):
    X = records(rng, 20)
    with_more = X.assign(ecg=[np.zeros(3)] * 20)
    np.testing.assert_array_equal(share({"ecg": 0}).fit(with_more)(with_more, with_more), share().fit(X)(with_more, X))


def test_rows_of_weight_zero_do_not_settle_ranges():
    X = pd.DataFrame({"a": [0.0, 1.0, 100.0]})
    assert share().fit(X, [1, 1, 0]).ranges_ == [1]


@pytest.mark.parametrize("n_jobs", [1, 2])
def test_it_classifies_records_behind_a_column_or_not(n_jobs, rng):
    X = records(rng, 200, 0.1)
    y = ((X["age"].fillna(40) > 40) ^ (X["city"] == "Rome")).astype(int)
    clf = BESVMClassifier("gower", basis=80, random_state=0, n_jobs=n_jobs)
    assert cross_val_score(clf, X, y, cv=3).mean() > 0.65  # two of eight columns tell
    columns = BESVMClassifier(Measure("gower", column=["city", "age"]), basis=80, random_state=0, n_jobs=n_jobs)
    assert cross_val_score(columns, X, y, cv=3).mean() > 0.85
    assert KernelSVMClassifier("gower", spectrum="clip", C=100.0).fit(X, y).score(X, y) > 0.9


def test_a_block_is_compared_like_the_whole(rng):
    X = records(rng, 300)
    whole = BasisExpansion("gower", basis=np.arange(50), normalize=None).fit(X)
    np.testing.assert_allclose(whole.transform(X)[100:110], whole.transform(X.iloc[100:110]), atol=1e-6)


@pytest.mark.parametrize("X", [[{}] * 3, [()] * 3, pd.DataFrame(index=range(3)), np.empty((3, 0))], ids=repr)
def test_records_without_a_column_are_refused(X):
    with pytest.raises(ValueError, match="records must have at least one column to be compared by, got none"):
        Gower().fit(X)


@pytest.mark.parametrize(
    ("similarity", "X", "sentence"),
    [
        (share(), {"a": [1, "x"]}, "column 'a' must hold values of one kind, got 1 in row 7 and 'x' in row 8"),
        (share(), {"a": [None, date(2020, 1, 1), 2.5]}, "column 'a' must hold values of one kind, got datetime.date"),
        (
            share(),
            {"a": [1.0, np.inf]},
            r"column 'a' must hold finite numbers \(.*\), or missing ones, got inf in row 8",
        ),
        (share(), {"a": [1, 10**400]}, r"column 'a' must hold finite numbers \(.*\), .* got 10{56}\.\.\. in row 8"),
        (share(), {"a": [1, -(10**400)]}, r"column 'a' must hold finite numbers \(.*\), .* got -10{55}\.\.\. in row 8"),
        (
            share(),
            {"a": [[1], [2]]},
            r"got a list in row 7; use a separate measure for it, as in Measure\(..., column='",
        ),
        (
            share([1, 2]),
            {"a": [1, 2]},
            r"weights must be a finite number >= 0 for each of the 1 columns, .*got \[1, 2\]",
        ),
        (share({"a": 0}), {"a": [1, 2]}, "weights must be a finite number >= 0 for each of the 1 columns, not all 0"),
        (share({"b": 1}), {"a": [1, 2]}, r"weights must name columns of X, which are \['a'\], got 'b'"),
        (share("a"), {"a": [1, 2]}, "weights must be a finite number"),
        (share(categories="a"), {"a": [1, 2]}, "categories must be a list of columns, got 'a'"),
        (share(categories=["b"]), {"a": [1, 2]}, "categories must name columns of X"),
        (share(how="square"), {"a": [1, 2]}, "how must be .* or 'complement', got 'square'"),
        (share(how="negative", scale=0), {"a": [1, 2]}, "scale must be a positive number"),
    ],
)
def test_what_is_no_record_is_refused_by_name(similarity, X, sentence):
    def dtype(values):  # pandas makes no column of such numbers by itself
        return object if any(isinstance(one, int) and abs(one) > 1 << 1023 for one in values) else None

    frame = pd.DataFrame({name: pd.Series(values, dtype=dtype(values)) for name, values in X.items()}).set_index(
        np.arange(7, 7 + len(next(iter(X.values()))))
    )
    with pytest.raises((TypeError, ValueError), match=sentence):
        similarity.fit(frame)


def test_columns_that_differ_from_those_of_fit_are_named():
    X = pd.DataFrame({"age": [1, 2, 3], "city": list("abc")})
    fitted = share().fit(X)
    with pytest.raises(ValueError, match="X has no column 'age'; did you mean 'Age'"):
        fitted(X.rename(columns={"age": "Age"}), X)
    with pytest.raises(TypeError, match="column 'age' must hold number values, as in the training rows, got t"):
        fitted(X.assign(age=list("xyz")), X)
    with pytest.raises(TypeError, match=r"column 'city' must hold text values, as in the training rows, got number"):
        fitted(X.assign(city=[1, 2, 3]), X)
    with pytest.raises(
        TypeError, match="records must be a DataFrame, an array with two axes, dicts or tuples, got str"
    ):
        share().fit(["a", "b"])
    with pytest.raises(ValueError, match=r"Gower needs the training rows to find the ranges .* call fit\(X\) first"):
        share()(X, X)
