"""Similarities of time series: equal to the naive loops, in every layout, and with no sound from bad input."""

import pickle

import numpy as np
import pandas as pd
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import reference_series as reference
from besvm import BESVMClassifier
from besvm.similarities import DDTW, DTW, EDR, ERP, LCSS, MSM, SBD, TWE, WDTW, FromDistance, SeriesEuclidean, resolve
from besvm.similarities.series.items import as_series
from besvm.similarities.series.warping import _bands, band
from besvm.testing import check_similarity
from variants import first_fast

WARPING = (DTW, DDTW, WDTW, ERP, MSM, TWE, LCSS, EDR)
ALL = (*WARPING, SBD, SeriesEuclidean)


def some_series(rng, n, channels=1, lengths=(9, 30)):
    """Return walks, of which some moments repeat the one before."""
    out = []
    for _ in range(n):
        steps = rng.normal(size=(channels, rng.integers(*lengths))) * (rng.random() < 0.8)
        steps[:, 1::3] *= 0
        out.append((steps.cumsum(axis=1) + rng.normal(size=(channels, 1))).astype(np.float32))
    return out


def of_loops(measure, A, B):
    return np.array([[reference.distance(measure, a, b) for b in B] for a in A])


def distances(measure, A, B):
    return measure.distances_to(B)(A)


@pytest.mark.parametrize("channels", [1, 3])
@pytest.mark.parametrize("how", ["dependent", "independent"])
@pytest.mark.parametrize("window", first_fast([0.1, None, 0.0, 0.35, 1.0]))
@pytest.mark.parametrize("cls", WARPING)
def test_warping_equals_the_loops(cls, window, how, channels, rng):
    measure = cls(window=window, channels=how)
    A, B = some_series(rng, 6, channels), some_series(rng, 7, channels)
    np.testing.assert_allclose(distances(measure, A, B), of_loops(measure, A, B), rtol=1e-5, atol=1e-5)


@pytest.mark.parametrize(
    "measure",
    [
        WDTW(g=0.5),
        ERP(g=-1.5),
        MSM(c=0.1),
        MSM(c=0.0, channels="dependent"),
        TWE(nu=0.5, lmbda=0.1),
        LCSS(epsilon=0.3, window=0.2),
        EDR(epsilon=0.3),
        EDR(window=0.2),
    ],
)
def test_parameters_mean_what_they_mean_in_the_loops(measure, rng):
    A, B = some_series(rng, 5, lengths=(20, 21)), some_series(rng, 40, lengths=(20, 21))
    np.testing.assert_allclose(distances(measure, A, B), of_loops(measure, A, B), rtol=1e-5, atol=1e-5)


@settings(max_examples=60)
@given(
    cls=st.sampled_from(WARPING),
    a=st.lists(st.integers(-3, 3), min_size=3, max_size=9),
    b=st.lists(st.integers(-3, 3), min_size=3, max_size=9),
    window=st.sampled_from([None, 0.0, 0.2, 0.6]),
)
def test_whole_numbers_with_many_ties_equal_the_loops(cls, a, b, window):
    measure = cls(window=window)
    np.testing.assert_allclose(distances(measure, [a], [b])[0, 0], reference.distance(measure, a, b), atol=1e-5)
    np.testing.assert_allclose(distances(measure, [b], [a]), distances(measure, [a], [b]), atol=1e-5)


@settings(max_examples=300)
@given(n=st.integers(1, 60), m=st.integers(1, 60), window=st.floats(0, 1))
def test_the_band_is_marked_row_by_row_as_moment_by_moment(n, m, window):
    first, last = band(n, m, window)
    columns = np.arange(1, m + 1)
    inside = (columns >= first[:, None]) & (columns <= last[:, None])
    np.testing.assert_array_equal(inside, reference.band(n, m, window))
    assert (np.diff(first) >= 0).all()
    assert (np.diff(last) >= 0).all()


@pytest.mark.parametrize("channels", first_fast([1, 2]))
@pytest.mark.parametrize("window", first_fast([0.3, None]))
@pytest.mark.parametrize("cls", first_fast([DTW, MSM, ERP, TWE, WDTW, DDTW], 3))
def test_the_cost_of_the_path_is_the_distance(cls, window, channels, rng):
    measure = cls(window=window, channels="independent" if cls is MSM and channels == 1 else "dependent")
    for a, b in zip(some_series(rng, 8, channels), some_series(rng, 8, channels), strict=True):
        path = measure.path(a, b)
        first = 1 if cls is DDTW else 0
        ends = [[first, first], [a.shape[1] - 1 - first, b.shape[1] - 1 - first]]
        assert path[-1].tolist() == ends[1]
        if cls is not ERP:  # whose path may begin with moments that are left out
            assert path[0].tolist() == ends[0]
        if path[0].tolist() == ends[0]:
            np.testing.assert_allclose(
                reference.path_cost(measure, a, b, path), reference.distance(measure, a, b), rtol=1e-5, atol=1e-5
            )


def test_the_path_of_lcss_pairs_what_is_alike(rng):
    for a, b in zip(some_series(rng, 8), some_series(rng, 8), strict=True):
        measure = LCSS(epsilon=0.5)
        path = measure.path(a, b)
        assert (np.abs(a[0, path[:, 0]] - b[0, path[:, 1]]) <= 0.5).all()
        assert (np.diff(path, axis=0) > 0).all()
        found = 1 - len(path) / min(a.shape[1], b.shape[1])
        assert found == pytest.approx(reference.distance(measure, a, b), abs=1e-6)


def test_the_path_of_edr_goes_in_steps_of_one(rng):
    a, b = some_series(rng, 2)
    steps = np.diff(EDR().path(a, b), axis=0)
    assert set(map(tuple, steps)) <= {(1, 1), (1, 0), (0, 1)}


def test_channels_with_paths_of_their_own_have_none_in_common(rng):
    a, b = some_series(rng, 2, channels=2)
    with pytest.raises(ValueError, match="gives each of the 2 channels its own"):
        DTW(channels="independent").path(a, b)


@pytest.mark.parametrize("standardize", [True, False])
@pytest.mark.parametrize("how", ["dependent", "independent"])
@pytest.mark.parametrize("channels", [1, 3])
def test_sbd_equals_the_loops(channels, how, standardize, rng):
    A = [rng.normal(size=(channels, n)) + 1 for n in (5, 12, 12, 30)]
    B = [rng.normal(size=(channels, n)) for n in (1 if not standardize else 4, 12, 30, 30, 41)]
    found = distances(SBD(standardize, channels=how), A, B)
    expected = [[reference.shape_distance(a, b, standardize, how) for b in B] for a in A]
    np.testing.assert_allclose(found, expected, atol=1e-6)


def test_constant_series_have_no_shape():
    series = [np.ones(5), np.full(5, 1e3), np.arange(5.0)]
    np.testing.assert_allclose(distances(SBD(), series, series), [[0, 0, 1], [0, 0, 1], [1, 1, 0]], atol=1e-6)


def test_euclidean_equals_the_loops(rng):
    A, B = rng.normal(size=(9, 2, 11)) + 1e3, rng.normal(size=(4, 2, 11)) + 1e3
    expected = np.sqrt(((A.astype(np.float32)[:, None] - B.astype(np.float32)) ** 2).sum(axis=(2, 3)))
    np.testing.assert_allclose(distances(SeriesEuclidean(), A, B), expected, rtol=1e-5)


@pytest.mark.parametrize("cls", ALL)
def test_the_contract_is_kept(cls, rng):
    check_similarity(cls(), rng.normal(size=(9, 12)))
    check_similarity(cls(), rng.normal(size=(9, 2, 12)))
    check_similarity(cls.name, list(rng.normal(size=(9, 12))))
    assert type(resolve(cls.name)) is cls
    assert cls.kind == "series"
    fitted = cls().fit(rng.normal(size=(9, 12)))
    assert pickle.loads(pickle.dumps(fitted)).scale_ == fitted.scale_


@pytest.mark.parametrize("cls", [*WARPING, SBD])
def test_unequal_lengths_keep_the_contract_too(cls, rng):
    check_similarity(cls(), some_series(rng, 9, channels=2))


def test_no_series_and_no_exemplars_give_an_empty_matrix(rng):
    X = rng.normal(size=(5, 12))
    for cls in ALL:
        assert distances(cls(), X[:0], X).shape == (0, 5)
        assert distances(cls(), X, X[:0]).shape == (5, 0)


def test_another_form_of_the_distance(rng):
    X = rng.normal(size=(5, 12))
    np.testing.assert_allclose(
        FromDistance(DTW(window=0.2), how="gaussian", scale=3)(X, X), DTW(window=0.2, how="gaussian", scale=3)(X, X)
    )


# layouts


def layouts(X):
    """Return series (n, channels, moments) in every layout there is."""
    n, channels, moments = X.shape
    index = pd.MultiIndex.from_product([[f"s{k}" for k in range(n)][::-1], range(moments)])
    yield "array", X
    yield "list", list(X)
    yield "lists", X.tolist()
    yield "objects", np.array([*X, None], dtype=object)[:-1]
    yield "nested", pd.DataFrame({f"c{c}": [pd.Series(x[c]) for x in X] for c in range(channels)})
    yield "cells", pd.DataFrame({f"c{c}": [x[c] for x in X] for c in range(channels)}).to_numpy()
    yield "column", pd.DataFrame({"series": list(X)})
    yield "series", pd.Series(list(X), index=np.arange(n)[::-1])
    yield "long", pd.DataFrame(X.transpose(0, 2, 1).reshape(-1, channels), index=index)
    yield "frames", [pd.DataFrame(x.T) for x in X]
    if channels == 1:
        yield "matrix", X[:, 0]
        yield "table", pd.DataFrame(X[:, 0])
        yield "vectors", list(X[:, 0])
        yield "masked", np.ma.masked_array(X[:, 0], mask=False)


@pytest.mark.parametrize("channels", [1, 2])
def test_every_layout_is_the_same_series(channels, rng):
    X = rng.normal(size=(12, channels, 7))
    for name, layout in layouts(X):
        series = as_series(layout)
        np.testing.assert_array_equal(series, X.astype(np.float32), err_msg=name)
        assert all(one.dtype == np.float32 and one.flags.c_contiguous for one in series), name


@pytest.mark.parametrize("channels", first_fast([2, 1]))
@pytest.mark.parametrize("measure", ["dtw", "sbd", "series-euclidean"])
def test_every_layout_trains_the_same_model(measure, channels, rng):
    y = np.arange(40) % 2
    X = rng.normal(size=(40, channels, 15)) + np.sin(np.arange(15) * (1 + y[:, None, None]))
    wanted = BESVMClassifier(measure, basis=10, random_state=0).fit(X, y).decision_function(X)
    for name, layout in layouts(X):
        found = BESVMClassifier(measure, basis=10, random_state=0).fit(layout, y).decision_function(layout)
        np.testing.assert_allclose(found, wanted, rtol=1e-3, atol=1e-3, err_msg=name)


def test_a_record_with_an_index_of_two_levels_is_no_series():
    index = pd.MultiIndex.from_product([["a", "b"], range(10)])
    X, y = pd.DataFrame({"v": np.arange(20.0)}, index=index), np.arange(20) // 10
    clf = BESVMClassifier(lambda a, b: -abs(a.v - b.v), basis=5).fit(X, y)
    assert clf.predict(X).shape == (20,)


# bad input

SOUND = np.arange(6.0)


@pytest.mark.parametrize(
    ("X", "sentence"),
    [
        ([SOUND, [1, None, 3]], "series must hold numbers, but series 1 has None"),
        ([SOUND, None], "series must hold numbers, but series 1 has None"),
        ([SOUND, "abc"], "series must be an array of numbers.* series 1 is 'abc'"),
        ([SOUND, ["a", "b"]], r"series must be an array of numbers.* series 1 is \['a', 'b'\]"),
        ([SOUND, [1.0, "b"]], "series 1 is"),
        ([SOUND, 3.0], "series must be an array of numbers.* series 1 is 3.0"),
        ([SOUND, []], "series must not be empty, but series 1 is"),
        ([SOUND, np.zeros((2, 0))], "series must not be empty, but series 1 is"),
        (np.zeros((3, 0)), "series must not be empty, but series 0 is"),
        ([SOUND, np.array([1, np.nan])], "finite numbers, but series 1 has nan at time point 1; fill in"),
        ([SOUND, np.array([1, -np.inf])], "finite numbers, but series 1 has -inf at time point 1; fill in"),
        (np.array([[1.0, 2.0], [np.nan, 1.0]]), "finite numbers, but series 1 has nan at time point 0; fill in"),
        (np.array([[[1.0, 2.0], [1.0, np.inf]]]), "series 0 has inf at time point 1 of channel 1"),
        (
            np.array([[1.0, 1e200]]),
            r"small enough to square in float32, but series 0 has 1e\+200 at time point 1; scale",
        ),
        ([SOUND, [1, 10**400]], "series 1 has"),
        ([SOUND, np.zeros((2, 6))], "the same number of channels, but series 0 has 1 and series 1 has 2"),
        ([SOUND, [[1, 2], [1]]], "equally long, but those of series 1 are not"),
        ([SOUND, np.zeros((1, 1, 6))], r"series 1 is shape \(1, 1, 6\)"),
        ([SOUND, np.array([1j])], "series must be an array of numbers"),
        ([SOUND, np.array(["2020-01-01"], dtype="datetime64[D]")], "series must be an array of numbers"),
        (pd.Series([SOUND, np.array([1, pd.NA], dtype=object)]), "series must hold numbers, but series 1 has <NA>"),
        (pd.DataFrame({"a": [SOUND, SOUND], "b": [SOUND, SOUND[1:]]}), "those of series 1 have 6 and 5"),
        (np.ma.masked_array([SOUND], mask=[[0, 1, 0, 0, 0, 0]]), "series 0 has nan at time point 1"),
    ],
)
def test_what_is_no_series_is_refused_by_its_number(X, sentence):
    with pytest.raises(ValueError, match=sentence):
        as_series(X)
    with pytest.raises(ValueError, match=sentence):
        DTW().fit(X)


@pytest.mark.parametrize("X", ["abc", {"a": SOUND}, {1.0, 2.0}, 3])
def test_what_has_no_rows_is_refused(X):
    with pytest.raises(TypeError, match="must h"):
        as_series(X)


@pytest.mark.parametrize(
    ("measure", "sentence"),
    [
        (DTW(window=3), "window must be None or a share of the length between 0 and 1, got 3"),
        (DTW(window="a"), "window must be"),
        (DTW(window=np.nan), "window must be"),
        (DTW(channels="both"), "channels must be 'dependent' or 'independent', got 'both'"),
        (DTW(how="square"), "how must be"),
        (WDTW(g=-1), "g must be a number of at least 0, got -1"),
        (ERP(g=np.inf), "g must be a finite number, got inf"),
        (MSM(c=None), "c must be a number of at least 0, got None"),
        (TWE(nu=-0.1), "nu must be"),
        (TWE(lmbda="a"), "lmbda must be"),
        (LCSS(epsilon=-1), "epsilon must be"),
        (EDR(epsilon=-1), "epsilon must be a number of at least 0, got -1"),
        (SBD(standardize=2), "standardize must be True or False"),
        (SBD(channels="all"), "channels must be"),
    ],
)
def test_a_wrong_parameter_is_refused_with_a_sentence(measure, sentence, rng):
    with pytest.raises(ValueError, match=sentence):
        measure.fit(rng.normal(size=(4, 8)))


def test_samples_must_have_the_channels_of_the_exemplars(rng):
    for cls in ALL:
        with pytest.raises(ValueError, match="as many channels as the exemplars, 2, got 3"):
            distances(cls(), rng.normal(size=(2, 3, 8)), rng.normal(size=(2, 2, 8)))


def test_slopes_need_three_moments():
    with pytest.raises(ValueError, match="at least 3 time points to have slopes, but series 1 has 2"):
        DDTW().fit([SOUND, SOUND[:2]])


def test_euclidean_needs_one_length():
    with pytest.raises(
        ValueError, match=r"the same length .* an exemplar has 6 time points and series 1 has 5; use 'dtw'"
    ):
        distances(SeriesEuclidean(), [SOUND, SOUND[:5]], [SOUND])


@pytest.mark.parametrize("room", [0, 3000])
@pytest.mark.parametrize("channels", ["dependent", "independent"])
def test_sbd_without_room_for_what_it_keeps(channels, room, rng, monkeypatch):
    A, B = some_series(rng, 20, 2), some_series(rng, 10, 2)
    wanted = distances(SBD(channels=channels), A, B)
    monkeypatch.setattr("besvm.similarities.series.sbd.SPECTRA", room)
    np.testing.assert_array_equal(distances(SBD(channels=channels), A, B), wanted)


def test_bands_of_many_lengths_take_little_memory():
    for n in range(4000, 4040):
        for m in range(4000, 4040):
            band(n, m, None)
    assert _bands.nbytes <= _bands.room < 20_000_000
    assert band(50, 60, 0.1)[0] is band(50, 60, 0.1)[0]
