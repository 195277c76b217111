"""What is taken for a sample, and what for several."""

from collections import deque

import numpy as np
import pandas as pd
import pytest
from sklearn.preprocessing import FunctionTransformer

from besvm import BasisExpansion, BESVMClassifier, LinearSVMClassifier, MeanNormScaler, Measure
from besvm.baselines import DualBESVMClassifier, KernelSVMClassifier
from besvm.similarities import (
    Latent,
)

X = np.random.default_rng(0).normal(size=(40, 3))
y = np.arange(40) % 2


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
        ("H8(1,0)", IMAGES, IMAGES[0], "as many axes as those of fit, 3, got 2; pass a single sample x as"),
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


@pytest.mark.parametrize("samples", [deque(["ab", "cd"] * 10), dict(enumerate(["ab", "cd"] * 10)).values()])
def test_what_has_no_slices_is_refused(samples):
    with pytest.raises(TypeError, match=r"X must have slices \(.*\), got (deque|dict_values); pass list\(X\)"):
        BESVMClassifier(letters, basis=2).fit(samples, y[:20])


PEOPLE = pd.DataFrame({"age": 20.0 + np.arange(24), "city": np.array(["Rome", "Oslo"])[y[:24]]})


@pytest.mark.parametrize("measures", ["gower", [Measure("edit", column="city"), Measure("rbf", column=["age"])]])
@pytest.mark.parametrize("make", [BESVMClassifier, KernelSVMClassifier])
def test_records_come_in_any_form(make, measures):
    """A model of a data frame took the dicts of a file for parts of a single record."""
    forms = [PEOPLE, PEOPLE.to_dict("records"), PEOPLE.to_records(index=False)]
    for fitted in forms:
        options = {"basis": 6, "random_state": 0} if make is BESVMClassifier else {"spectrum": "clip"}
        model = make(measures, C=1.0, **options).fit(fitted, y[:24])
        found = [model.decision_function(form) for form in forms]
        assert all(np.array_equal(found[0], other) for other in found)


@pytest.mark.parametrize("many", [IMAGES[:, :1, :, 0], list(IMAGES[:, :1, :, 0]), IMAGES[:, :1, :, 0].tolist()])
def test_series_of_one_channel_come_with_or_without_it(many):
    model = BESVMClassifier("dtw", basis=6, C=1.0, random_state=0).fit(many, y[:24])
    plain = IMAGES[:, 0, :, 0]
    for form in (plain, list(plain), plain[:, None]):
        assert np.array_equal(model.decision_function(form), model.decision_function(many))
    assert np.array_equal(model.decision_function(plain[:1]), model.decision_function(np.asarray(many)[0]))
    with pytest.raises(ValueError, match="as many axes as those of fit, 1, got 0"):
        model.predict(plain[0])


def test_a_single_series_of_several_channels_is_refused():
    series = IMAGES[:, :3, :, 0]
    model = BESVMClassifier("dtw", basis=6, C=1.0, random_state=0).fit(series, y[:24])
    with pytest.raises(ValueError, match="as many axes as those of fit, 2, got 1"):
        model.predict(series[0])


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
    with pytest.raises(ValueError, match=r"X must hold numbers, got .*; convert dates, durations and bytes to numbers"):
        estimator.fit(data, y)
