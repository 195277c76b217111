"""One clear sentence for every mistake, and nothing left behind."""

import numpy as np
import pandas as pd
import pytest
from sklearn.exceptions import NotFittedError
from sklearn.preprocessing import FunctionTransformer, StandardScaler

from besvm import FHOG, BasisExpansion, BESVMClassifier, LinearSVMClassifier, Measure
from besvm.baselines import DualBESVMClassifier, KernelSVMClassifier
from besvm.basis import KMedoidsBasis
from besvm.similarities import (
    Polynomial,
    Similarity,
)

X = np.random.default_rng(0).normal(size=(40, 3))
y = np.arange(40) % 2


class Says(Similarity):
    """Returns whatever it is told to."""

    vectors = True

    def __init__(self, answer):
        self.answer = answer

    def __call__(self, A, B):
        S = np.asarray(A) @ np.asarray(B).T
        if self.answer == "nan":
            S[np.asarray(A)[:, 0] == X[17, 0]] = np.nan
        elif self.answer == "transposed":
            S = S.T
        elif self.answer == "text":
            S = S.astype(str)
        return S


def with_value(value):
    bad = X.copy()
    bad[5, 1] = value
    return bad


@pytest.mark.parametrize("Estimator", [LinearSVMClassifier, BESVMClassifier])
@pytest.mark.parametrize(
    ("data", "labels", "sentence"),
    [
        (with_value(np.nan), y, "contains NaN"),
        (with_value(np.inf), y, "contains infinity"),
        (X, np.zeros(40), "at least two classes, got only one class: 0"),
        (X, y[:30], "X and y must have the same length.* 40 rows and 30 labels"),
        (X[:, 0], y, "Expected 2D array, got 1D array"),
        (X, np.linspace(0, 1, 40), "Unknown label type: continuous"),
        (X, None, "requires y to be passed"),
    ],
)
def test_bad_data(Estimator, data, labels, sentence):
    with pytest.raises(ValueError, match=sentence):
        Estimator().fit(data, labels)


@pytest.mark.parametrize("Estimator", [LinearSVMClassifier, BESVMClassifier])
@pytest.mark.parametrize("C", [0, -1.0, np.nan, "1"])
def test_bad_c(Estimator, C):
    with pytest.raises(ValueError, match=r"C must be ('auto' or )?a positive number, got"):
        Estimator(C=C).fit(X, y)


@pytest.mark.parametrize(
    ("params", "sentence"),
    [
        (
            {"measures": Says("nan")},
            r"must be finite, got nan for the pair of exemplar 0 \(training row 2\) and sample 17",
        ),
        (
            {"measures": Says("transposed")},
            r"must return a matrix of shape \(40, 2\) \(samples, exemplars\), got \(2, 40\)",
        ),
        ({"measures": Says("text")}, "must return real numbers"),
        ({"measures": "rbff"}, "did you mean 'rbf'"),
        ({"measures": []}, "at least one similarity"),
        ({"basis": 0}, "basis must be a whole number of at least 1, or a share above 0.0 and up to 1.0, got 0"),
        ({"basis": [1, 40]}, "between 0 and 39"),
        ({"basis": [1, 1]}, "must not repeat, got row 1 2 times"),
        ({"normalize": "minmax"}, "normalize must be 'mean-norm', 'z-score', None, a Nystrom instance or another"),
        ({"penalty": "l3"}, "penalty must be 'l2' or 'l1', got 'l3'"),
        ({"multi_class": "all"}, "multi_class must be 'ovr', 'ovo' or 'ovo-pair-basis', got 'all'"),
        ({"storage": "tape"}, "storage must be 'auto', 'memory'"),
        ({"memory_limit": "much"}, "memory_limit must be"),
        ({"tol": 0}, "tol must be a positive number"),
        ({"class_weight": {0: 0.0, 1: 1.0}}, "rows of at least two classes must weigh more than 0"),
    ],
)
def test_bad_parameters(params, sentence):
    params = {"measures": "linear", "basis": [2, 3]} | params
    clf = BESVMClassifier(**params)
    with pytest.raises(ValueError, match=sentence):
        clf.fit(X, y)
    assert not hasattr(clf, "classes_")


def test_not_enough_memory_says_how_much():
    with pytest.raises(MemoryError, match="within 10 kB, but with storage='disk' it needs"):
        BESVMClassifier("linear", memory_limit=10_000).fit(X, y)


def test_nan_at_prediction_names_the_pair_too():
    clf = BESVMClassifier(lambda b, x: np.nan if x == 3 else b * x, basis=[0, 1]).fit([1, 2, 4, 5], [0, 0, 1, 1])
    with pytest.raises(ValueError, match=r"exemplar 0 \(training row 0\) and sample 1"):
        clf.predict([1, 3])


@pytest.mark.parametrize("estimator", [LinearSVMClassifier(), BESVMClassifier()])
def test_predicting_before_fitting_and_on_other_features(estimator):
    with pytest.raises(NotFittedError):
        estimator.predict(X)
    with pytest.raises(NotFittedError):
        estimator.predict_proba(X)
    estimator.fit(X, y)
    with pytest.raises(ValueError, match=r"X has 2 features, but .* is expecting 3 features"):
        estimator.predict(X[:, :2])


def test_expansion_checks_too():
    with pytest.raises(ValueError, match="contains NaN"):
        BasisExpansion().fit(with_value(np.nan))
    with pytest.raises(TypeError, match="must have a length"):
        BasisExpansion(lambda a, b: 0.0).fit(iter([1, 2]))
    with pytest.raises(ValueError, match="at least one row"):
        BasisExpansion(lambda a, b: 0.0).fit([])


def test_a_failed_refit_leaves_the_fitted_estimator_as_it_was():
    clf = BESVMClassifier("linear", basis=[1, 2, 3]).fit(X, y)
    before = clf.decision_function(X)
    with pytest.raises(ValueError, match="between 0 and 39"):
        clf.set_params(basis=[99]).fit(X, y)
    np.testing.assert_array_equal(clf.set_params(basis=[1, 2, 3]).decision_function(X), before)


def test_float64_data_far_from_zero_keeps_its_digits():
    """Seconds since 1970: in float32 they would all be equal. Large enough for float32 otherwise."""
    rng = np.random.default_rng(0)
    times = 1.7e9 + rng.normal(size=(1500, 3))
    labels = times[:, 0] > 1.7e9
    assert BESVMClassifier("rbf", basis=300, random_state=0).fit(times, labels).score(times, labels) > 0.95


def test_a_users_similarity_gets_its_samples_as_they_are():
    seen = set()

    def spy(exemplar, sample):
        seen.add((exemplar.dtype.str, sample.dtype.str))
        return float(exemplar[0] * sample[0])

    big = np.random.default_rng(0).normal(size=(600, 2))
    BESVMClassifier(spy, basis=500, n_jobs=1, probability=False).fit(big, np.arange(600) % 2)
    assert seen == {("<f8", "<f8")}


@pytest.mark.parametrize(
    ("estimator", "sentence"),
    [
        (BESVMClassifier(lambda b, x: np.nan, basis=KMedoidsBasis(2)), "got nan for the pair of training rows"),
        (BESVMClassifier("linear", class_weight={0: -1.0, 1: 1.0}), r"class_weight must be .* got -1 for class 0"),
        (BESVMClassifier("linear", max_iter=-1), "max_iter must be a whole number of at least 1, got -1"),
        (LinearSVMClassifier(max_iter=1.5), "max_iter must be a whole number of at least 1, got 1.5"),
        (BESVMClassifier(Polynomial(gamma="median")), "gamma must be a positive number or 'scale', got 'median'"),
    ],
)
def test_more_bad_parameters(estimator, sentence):
    with pytest.raises(ValueError, match=sentence):
        estimator.fit(X, y)


@pytest.mark.parametrize("features", ["pca", StandardScaler])
def test_features_must_be_a_transformer(features):
    with pytest.raises(TypeError, match="features must be a transformer"):
        BasisExpansion(Measure("rbf", features=features)).fit(X)


def test_features_need_not_be_picklable():
    double = FunctionTransformer(lambda a: a * 2)
    got = BasisExpansion(Measure("linear", features=double), basis=[1], normalize=None).fit_transform(X)
    np.testing.assert_allclose(got[:, 0], 4 * X @ X[1], rtol=1e-5)


@pytest.mark.parametrize("answer", [None, "1"])
def test_a_function_that_returns_no_number(answer):
    with pytest.raises(TypeError, match="must return a number, got"):
        BESVMClassifier(lambda b, x: answer, basis=3).fit(X, y)


def test_features_that_never_vary_have_converged():
    clf = LinearSVMClassifier().fit(np.full((20, 3), 0.1), [0] * 7 + [1] * 13)
    assert clf.converged_
    assert BESVMClassifier(lambda b, x: 1.0, basis=3).fit(X, y).converged_


def test_a_refit_forgets_what_it_does_not_learn():
    clf = LinearSVMClassifier().fit(X, y).set_params(probability=False).fit(X, y).set_params(probability=True)
    with pytest.raises(AttributeError, match="fitted with probability=True; set it and fit again"):
        clf.predict_proba(X)
    assert not hasattr(BasisExpansion(basis=3).fit(X).set_params(normalize=None).fit(X), "mean_")


def test_prediction_follows_the_fit_and_not_later_parameters():
    clf = BESVMClassifier("linear").fit(X, y)
    expected = clf.predict(X)
    np.testing.assert_array_equal(clf.set_params(measures="nothing", basis=99).predict(X), expected)


def test_little_data_fits_a_little_memory():
    assert BESVMClassifier("linear", memory_limit="5 MB").fit(X, y).storage_ == "memory"


def test_exemplars_shared_by_measures_are_counted_once():
    assert BESVMClassifier(["linear", "rbf"], basis=X[:5]).fit(X, y).n_basis_ == 5


@pytest.mark.parametrize("missing", [None, np.nan, pd.NA, pd.NaT, float("nan")], ids=str)
@pytest.mark.parametrize("labels", ["texts", "numbers", "series"])
@pytest.mark.parametrize("Estimator", [BESVMClassifier, LinearSVMClassifier, KernelSVMClassifier, BasisExpansion])
def test_missing_labels(Estimator, labels, missing):
    y = ["ab"[i % 2] for i in range(40)] if labels == "texts" else [i % 2 for i in range(40)]
    y[7] = missing
    with pytest.raises(ValueError, match=r"y must hold a label .* it contains .* in row 7, 1 missing"):
        Estimator().fit(X, pd.Series(y, dtype=object) if labels == "series" else y)


@pytest.mark.parametrize("Estimator", [BESVMClassifier, LinearSVMClassifier, KernelSVMClassifier])
@pytest.mark.parametrize(
    ("labels", "sentence"),
    [
        (y + 0j, "y must hold the labels of classes, got complex numbers"),
        (np.where(y == 1, np.inf, 0.0), "it contains inf in row 1"),
        ([1, "a"] * 20, "y must hold labels of one kind, numbers or strings, got int and str"),
        (set(range(40)), "y must have rows in an order .* got a set"),
        (dict.fromkeys(range(40)), "y must have rows in an order .* got a dict"),
        ("ab" * 20, "y must have rows in an order .* got a str"),
    ],
)
def test_labels_that_are_none(Estimator, labels, sentence):
    with pytest.raises((TypeError, ValueError), match=sentence):
        Estimator().fit(X, labels)


@pytest.mark.parametrize(
    "estimator",
    [
        BESVMClassifier(),
        LinearSVMClassifier(),
        BasisExpansion(),
        BESVMClassifier(lambda b, x: 1.0),
        KernelSVMClassifier(),
    ],
    ids=["rbf", "linear", "expansion", "function", "kernel"],
)
@pytest.mark.parametrize(
    "data", [set(range(40)), dict.fromkeys(range(40)), "a" * 40, b"a" * 40, {"a": [1] * 40}.items()]
)
def test_what_has_no_rows(estimator, data):
    with pytest.raises(TypeError, match=r"X must have rows in an order|X must hold samples, got a single"):
        estimator.fit(data, y)


@pytest.mark.parametrize(
    "data", [["ab"] * 40, [["ab", "c"]] * 40, pd.DataFrame({"a": ["x"] * 40}), pd.Series(["x"] * 40)]
)
@pytest.mark.parametrize("Estimator", [BESVMClassifier, BasisExpansion, KernelSVMClassifier, LinearSVMClassifier])
def test_texts_for_vectors(Estimator, data):
    with pytest.raises(ValueError, match=r"X must hold numbers, .* to compare texts, use a measure such as"):
        Estimator().fit(data, y)
    with pytest.raises(ValueError, match=r"X must hold numbers, .* to compare texts, use a measure such as"):
        getattr(fitted := Estimator().fit(X, y), "predict" if hasattr(fitted, "predict") else "transform")(
            np.array(data)
        )


@pytest.mark.parametrize("C", [1e300, 1e31, 10**400])
@pytest.mark.parametrize("Estimator", [BESVMClassifier, LinearSVMClassifier, KernelSVMClassifier, DualBESVMClassifier])
def test_a_c_that_overflows_is_named_as_the_cause(Estimator, C):
    with pytest.raises(ValueError, match="C must be a positive number"):
        Estimator(C=C).fit(np.ones((40, 3)), y)


@pytest.mark.parametrize("Estimator", [KernelSVMClassifier, DualBESVMClassifier])
def test_a_tolerance_that_libsvm_never_reaches(Estimator):
    with pytest.raises(
        ValueError, match="tol must be at least 1e-13, because rounding keeps LIBSVM from reaching less, got 1e-300"
    ):
        Estimator(tol=1e-300).fit(X, y)


@pytest.mark.parametrize("features", [5, None, "text", [], [np.zeros((2, 2, 31), dtype=complex)], np.zeros((2, 2, 3))])
def test_what_cannot_be_drawn(features):
    with pytest.raises(ValueError, match="features must"):
        FHOG.render(features)


def test_an_item_of_a_later_block_is_found(monkeypatch):
    """Messages of similarities count within a block; where that begins is said, too."""
    words = ["cat", "cart", "dog", "dig"] * 5
    model = BESVMClassifier("kmers", basis=4, random_state=0).fit(words, [0, 0, 1, 1] * 5)
    monkeypatch.setattr("besvm.expand.expander.rows_per_block", lambda *_: 8)
    with pytest.raises(TypeError, match=r"2 is None.*\(in a block that starts at sample 16\)"):
        model.predict([*words[:18], None])


def test_an_error_that_takes_more_than_a_text(monkeypatch):
    """Made again with a text alone, a UnicodeDecodeError was a TypeError about its own arguments."""

    class Letters(Similarity):
        def __call__(self, A, B):
            return np.array([[float(len(a.decode()) - len(b)) for b in B] for a in A])

    monkeypatch.setattr("besvm.expand.expander.rows_per_block", lambda *_: 8)
    model = BESVMClassifier(Letters(), basis=4, random_state=0, C=1.0).fit([b"a", b"bb"] * 10, [0, 1] * 10)
    with pytest.raises(ValueError, match=r"can't decode byte 0xff.*\(in a block that starts at sample 8\)") as caught:
        model.predict([b"a"] * 10 + [b"\xff"])
    assert type(caught.value) is ValueError
    assert isinstance(caught.value.__cause__, UnicodeDecodeError)
