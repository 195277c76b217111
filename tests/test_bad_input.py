"""One clear sentence for every mistake, and nothing left behind."""

import signal
import subprocess
import sys
import textwrap
import time
from itertools import product

import numpy as np
import pandas as pd
import pytest
from sklearn.base import clone
from sklearn.exceptions import NotFittedError
from sklearn.preprocessing import FunctionTransformer, StandardScaler

from besvm import FHOG, BasisExpansion, BESVMClassifier, LinearSVMClassifier, MeanNormScaler, Measure, Nystrom
from besvm.baselines import DualBESVMClassifier, KernelSVMClassifier, LineSearchMKL
from besvm.basis import FarthestBasis, GradientBasis, IndexBasis, KMeansBasis, KMedoidsBasis, PivotedBasis, RandomBasis
from besvm.normalize import MeanNorm, Unscaled
from besvm.selection import GreedySelection
from besvm.similarities import (
    RBF,
    Deformable,
    Laplacian,
    Latent,
    NegativeDistance,
    PairwiseKernel,
    Polynomial,
    Rigid,
    Sigmoid,
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
    with pytest.raises(ValueError, match="C must be a positive number, got"):
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
        ({"basis": 0}, "basis must be a whole number of at least 1 or a share above 0, up to 1.0, got 0"),
        ({"basis": [1, 40]}, "between 0 and 39"),
        ({"basis": [1, 1]}, "must all differ, got row 1 2 times"),
        ({"normalize": "minmax"}, "normalize must be 'mean-norm', 'z-score', None, a Nystrom instance or another"),
        ({"penalty": "l3"}, "penalty must be 'l2' or 'l1', got 'l3'"),
        ({"multi_class": "all"}, "multi_class must be 'ovr' or 'ovo' or 'ovo-pair-basis', got 'all'"),
        ({"storage": "tape"}, "storage must be 'auto' or 'memory'"),
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


INTERRUPTED = """
    import os, sys, tempfile
    import numpy as np
    from sklearn.utils.validation import check_is_fitted
    from sklearn.exceptions import NotFittedError
    from besvm import BESVMClassifier
    from besvm.blocks import npy

    def slow(b, x):
        import time
        time.sleep(0.001)
        return float(b @ x)

    tempfile.tempdir = sys.argv[1]
    X = np.random.default_rng(0).normal(size=(5000, 3))
    clf = BESVMClassifier(slow if sys.argv[2] == "similarity" else "rbf", basis=200, storage="disk", n_jobs=1,
                          tol=1e-3 if sys.argv[2] == "similarity" else 1e-300, max_iter=10**9)
    if sys.argv[2] == "solver":  # never converges, and never stops by itself
        # all is compiled beforehand: numba answers an interrupt of its compiler with errors of its own
        BESVMClassifier("rbf", basis=200, storage="disk", n_jobs=1).fit(X, np.arange(5000) % 2)
        from besvm.solver.newton import _Newton
        _Newton.step = (lambda step: lambda self: step(self) | True)(_Newton.step)
    print("fitting", os.listdir(sys.argv[1]), flush=True)
    make = npy.TemporaryFile
    def made(**options):
        files.append(make(**options))
        print("on disk", flush=True)
        return files[-1]
    files, npy.TemporaryFile = [], made
    try:
        clf.fit(X, np.arange(5000) % 2)
    except KeyboardInterrupt:
        assert vars(clf).keys() == clf.get_params(deep=False).keys(), "a half-fitted estimator"
        print("interrupted", os.listdir(sys.argv[1]), [file.closed for file in files])
"""


@pytest.mark.parametrize("where", ["similarity", "solver"])
def test_ctrl_c_leaves_no_files_and_no_half_fitted_estimator(where, tmp_path):
    process = subprocess.Popen(
        [sys.executable, "-c", textwrap.dedent(INTERRUPTED), str(tmp_path), where],
        stdout=subprocess.PIPE,
        text=True,
        preexec_fn=lambda: signal.signal(signal.SIGINT, signal.default_int_handler),  # a background shell ignores it
    )
    assert process.stdout.readline() == "fitting []\n"
    assert process.stdout.readline() == "on disk\n"
    time.sleep(1.0)
    process.send_signal(signal.SIGINT)
    out, _ = process.communicate(timeout=60)
    assert out == "interrupted [] [True]\n"


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
    with pytest.raises(AttributeError, match="fit again with probability=True"):
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


IMAGES = np.random.default_rng(0).integers(0, 256, size=(24, 32, 32, 3), dtype=np.uint8)
SERIES = [[float(v) for v in row] for row in X]


def closeness(a, b):
    return -float(np.abs(np.subtract(a, b)).sum())


def letters(a, b):
    return len(set(a) & set(b))


@pytest.mark.parametrize("make", [BESVMClassifier, BasisExpansion, KernelSVMClassifier, DualBESVMClassifier])
@pytest.mark.parametrize(
    ("measure", "many", "one", "sentence"),
    [
        ("H8(1,0)", IMAGES, IMAGES[0], "as many axes as those of fit, 3, got 2; a single sample x goes in as"),
        ("H8R", list(IMAGES), IMAGES[0], "as many axes as those of fit, 3, got 2"),
        ("H8R", IMAGES[..., 0], IMAGES[0, :, :, 0], "as many axes as those of fit, 2, got 1"),
        (
            "H8R",
            IMAGES[..., 0],
            IMAGES[0],
            "a row for every sample, got 1 for .* samples from Pipeline|at least one cell",
        ),
        ("rbf", IMAGES, IMAGES[0], "as many axes as those of fit, 3, got 2"),
        ("rbf", X, X[0], "Expected 2D array, got 1D array"),
        (closeness, X, X[0], "as many axes as those of fit, 1, got 0"),
        (closeness, SERIES, SERIES[0], "as many axes as those of fit, 1, got 0"),
        (letters, ["cat", "dog", "pig", "cow"], "cat", "X must hold samples, got a single str; put it into a list"),
    ],
)
def test_a_single_sample_is_refused(make, measure, many, one, sentence):
    options = {"spectrum": "clip"} if make is KernelSVMClassifier else {"basis": 2}
    model = make(measure, **options).fit(many, y[: len(many)])
    for method in ("predict", "decision_function", "transform"):
        if hasattr(model, method):
            with pytest.raises((TypeError, ValueError), match=sentence):
                getattr(model, method)(one)


def test_images_of_both_kinds_in_a_list_are_no_single_sample():
    mixed = [image if k % 2 else image[:, :, 0] for k, image in enumerate(IMAGES)]
    assert BESVMClassifier("H8R", basis=4).fit(mixed, y[:24]).predict(mixed[:1]).shape == (1,)
    gray = BESVMClassifier("H8R", basis=4).fit(IMAGES[..., 0], y[:24])
    assert gray.predict(IMAGES).shape == (24,)


@pytest.mark.parametrize("similarity", ["rbf", Latent("rbf", exemplar_variants=lambda v: [v, -v])])
@pytest.mark.parametrize("make", [BESVMClassifier, KernelSVMClassifier])
def test_features_that_return_one_row_are_refused(make, similarity):
    measure = Measure(similarity, features=FunctionTransformer(lambda X: np.asarray(X)[:1]))
    with pytest.raises(ValueError, match=r"a row for every sample, got 1 for .* samples from FunctionTransformer"):
        make(measure).fit(X, y)


@pytest.mark.parametrize(
    "data",
    [
        np.full((40, 2), "2020", dtype="M8[D]"),
        np.full((40, 2), 5, dtype="m8[s]"),
        np.full((40, 2), b"5"),
        [[b"5", b"6"]] * 40,
        np.array([[b"5", 6.0]] * 40, dtype=object),
        pd.DataFrame({"day": pd.date_range("2020", periods=40), "number": X[:, 0]}),
    ],
)
@pytest.mark.parametrize(
    "estimator", [BESVMClassifier(), BasisExpansion("precomputed"), LinearSVMClassifier(), MeanNormScaler()]
)
def test_dates_and_bytes_are_no_numbers(estimator, data):
    with pytest.raises(ValueError, match=r"X must hold numbers, got .*; make numbers of dates, durations and bytes"):
        estimator.fit(data, y)


class Odd:
    def __repr__(self):
        return "odd"


NASTY = {
    "None": None, "True": True, "text": "no", "digit": "2", "bytes": b"x", "0": 0, "-1": -1, "1.5": 1.5, "nan": np.nan,
    "inf": np.inf, "huge": 10**400, "1j": 1j, "[]": [], "{}": {}, "set": set(), "object": Odd(),
    "array": np.array([1.0, 2.0]), "0-d": np.array(3), "type": int, "texts": ["a"], "dict": {"a": "b"},
}  # fmt: skip
NOT_OURS = {("exemplar_variants", "type"), ("sample_variants", "type"), ("params", "dict")}  # a function's own words
GRIDS = (Rigid(), Deformable())
TWICE = {"exemplar_variants": lambda v: [v, -v]}
PARTS = [  # (what is tried, the classifier it is part of)
    (BESVMClassifier(basis=5), lambda one: one),
    (LinearSVMClassifier(), lambda one: one),
    (BasisExpansion(basis=5), lambda one: one),
    (KernelSVMClassifier(), lambda one: one),
    (DualBESVMClassifier(), lambda one: one),
    (LineSearchMKL(cv=2, alphas=(0, 0.5)), lambda one: one),
    (GreedySelection(["linear", "rbf"], n_measures=1, basis=5, random_state=0), lambda one: one),
    *((part, lambda one: BasisExpansion(basis=5, normalize=one)) for part in (Nystrom(), MeanNorm(), Unscaled())),
    *(
        (Selector(5), lambda one: BESVMClassifier(basis=one))
        for Selector in (
            *(RandomBasis, IndexBasis, KMeansBasis, KMedoidsBasis),
            *(PivotedBasis, FarthestBasis, GradientBasis),
        )
    ),
    *(
        (part, lambda one: BESVMClassifier(one, basis=5))
        for part in (RBF(), Laplacian(), Polynomial(), Sigmoid(), NegativeDistance(), PairwiseKernel("rbf"), Measure(),
                     Latent("rbf", **TWICE))
    ),
    *((grid, lambda one: BasisExpansion(Measure(one, features=AsGrids()), basis=5)) for grid in GRIDS),
]  # fmt: skip


class AsGrids(FunctionTransformer):
    """A vector of three numbers as a grid of three cells."""

    def __init__(self):
        super().__init__(lambda A: np.asarray(A, dtype=np.float32).reshape(-1, 1, 3, 1))


@pytest.mark.filterwarnings("ignore")
@pytest.mark.parametrize(("part", "whole"), PARTS, ids=lambda one: type(one).__name__)
def test_every_parameter_fits_or_is_refused_in_one_sentence_that_names_it(part, whole, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)  # GreedySelection takes a text for a folder
    for name, (label, value) in product(part.get_params(deep=False), NASTY.items()):
        if (name, label) in NOT_OURS:
            continue
        try:
            whole(clone(part).set_params(**{name: value})).fit(X, y)
        except (ValueError, TypeError) as error:
            text = str(error)
            assert name in text, (name, label, text)
            assert "\n" not in text, (name, label, text)
            assert len(text) < 400, (name, label, text)
        except MemoryError:
            assert name == "memory_limit"
        else:
            assert label not in REFUSED.get(name, ()), (name, label)


REFUSED = dict.fromkeys(
    ("fit_intercept", "penalize_intercept", "probability", "warm_start", "refit", "balanced", "cosine", "verbose",
     "tol", "C", "n_jobs", "max_iter", "gamma", "degree", "coef0", "rigid_penalty", "local_penalty", "max_rows"),
    ("text", "digit", "bytes", "nan", "inf", "huge", "1j", "[]", "{}", "set", "object", "array", "dict", "type"),
) | {"measures": set(NASTY), "basis": {"True", "0", "-1", "1.5", "set", "{}", "type", "object", "bytes"}}  # fmt: skip


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
        ([1, "a"] * 20, "y must hold labels of one kind, numbers or texts, got int and str"),
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
    with pytest.raises(ValueError, match=r"X must hold numbers, .* texts are compared by a function of two texts"):
        Estimator().fit(data, y)
    with pytest.raises(ValueError, match=r"X must hold numbers, .* texts are compared by a function of two texts"):
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
    with pytest.raises(ValueError, match="tol must be at least 1e-13, or rounding keeps LIBSVM from it, got 1e-300"):
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
    with pytest.raises(TypeError, match=r"2 is None.*\(among the samples from number 16 on\)"):
        model.predict([*words[:18], None])
