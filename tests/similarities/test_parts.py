"""Parts of grids and of series: against naive loops, at their edges, and told what is wrong."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from sklearn.base import clone
from sklearn.exceptions import NotFittedError

from besvm.features import FHOG, Pixels
from besvm.similarities import RBF, Parts, SeriesParts, resolve
from besvm.testing import check_similarity
from reference_parts import grid_parts, series_parts

SETTINGS = [
    {},
    {"mirror": True},
    {"pool": ("max", "mean"), "mirror": True},
    {"pool": "mean"},
    {"whiten": None},
    {"contrast": None, "whiten": None},
    {"components": 5},
    {"components": None},
    {"stride": 2},
    {"similarity": "linear"},
]


@pytest.fixture
def rng():
    return np.random.default_rng(0)


@pytest.mark.parametrize("options", SETTINGS, ids=str)
def test_a_part_finds_its_best_place_as_the_naive_loop_does(options, rng):
    grids = rng.random((5, 9, 11, 2))
    parts = Parts(3, 2, **options).fit(grids)
    pieces = parts.draw(grids, 2, rng).items
    np.testing.assert_allclose(parts(grids, pieces), grid_parts(parts, grids, pieces), rtol=1e-4, atol=1e-4)


@given(st.integers(1, 4), st.integers(1, 3), st.integers(1, 2), st.integers(0, 5), st.integers(0, 5), st.integers(1, 3))
@settings(max_examples=20)
def test_any_shape_gives_what_the_naive_loop_gives(size, regions, stride, wider, higher, depth):
    rng = np.random.default_rng(size + 7 * wider)
    least = size + (regions - 1) * stride
    grids = rng.normal(size=(2, least + higher, least + wider, depth))
    parts = Parts(size, regions, stride=stride, whiten=None, contrast=None, mirror=True)
    pieces = parts.draw(grids, 2, rng).items
    np.testing.assert_allclose(parts(grids, pieces), grid_parts(parts, grids, pieces), rtol=1e-4, atol=1e-4)


def test_the_similarity_of_the_vectors_may_be_any(rng):
    grids = rng.random((4, 8, 8, 1))
    parts = Parts(3, 1, similarity=RBF(gamma=0.5)).fit(grids)
    pieces = parts.draw(grids, 1, rng).items
    found = parts.alignment(grids[1], pieces[2])
    there = grids[1][found.place[0, 0] : found.place[0, 0] + 3, found.place[0, 1] : found.place[0, 1] + 3]
    own, other = parts.as_vectors(np.stack([pieces[2], there.astype(np.float32)]))
    best = np.exp(-0.5 * ((own - other) ** 2).sum())
    np.testing.assert_allclose([parts(grids, pieces)[1, 2], found.score[0]], best, rtol=1e-4)


def test_mirrored_images_have_the_same_similarities_to_mirrored_parts(rng):
    images = rng.random((6, 14, 14, 3))
    parts = Parts(4, 2, mirror=True).fit(images)
    pieces = parts.draw(images, 2, rng).items
    np.testing.assert_allclose(parts(images[:, :, ::-1], pieces), parts(images, pieces), rtol=1e-4, atol=1e-5)


def test_mirrored_descriptors_are_those_of_mirrored_images(rng):
    images = rng.integers(0, 256, (3, 32, 32, 3), dtype=np.uint8)
    hog = FHOG(cell=4)
    channels = hog.transform(images).reshape(-1, 31)
    mirrored = hog.transform(images[:, :, ::-1])[:, :, ::-1].reshape(-1, 31)
    # a vertical gradient is not mirrored along with its image (see FHOG), so that a few cells differ
    apart = np.abs(mirrored[:, :, None] - channels[:, None]).mean(axis=0)
    np.testing.assert_array_equal(apart.argmin(axis=1), hog.mirror_order)
    parts = Parts(3, 2, mirror=True).behind(hog).fit(hog.transform(images))
    pieces = parts.draw(hog.transform(images), 2, rng).items
    expected = grid_parts(parts, hog.transform(images), pieces, hog.mirror_order)
    np.testing.assert_allclose(parts(hog.transform(images), pieces), expected, rtol=1e-4, atol=1e-4)


def test_more_parts_and_places_than_are_compared_at_once(rng, monkeypatch):
    grids = rng.random((3, 8, 8, 1))
    parts = Parts(3, 2, mirror=True).fit(grids)
    pieces = parts.draw(grids, 5, rng).items
    whole = parts(grids, pieces)
    monkeypatch.setattr("besvm.similarities.parts.pooling.WIDTH", 7)
    monkeypatch.setattr("besvm.similarities.parts.pooling.PLACES", 20)  # two of the four regions, of nine places each
    np.testing.assert_allclose(parts(grids, pieces), whole, rtol=1e-5, atol=1e-6)


def test_images_of_different_sizes_are_compared(rng):
    images = [rng.random((h, w, 3)) for h, w in ((10, 12), (9, 9), (14, 8))]
    parts = Parts(4, 2).fit(images)
    pieces = parts.draw(images, 2, rng)
    np.testing.assert_allclose(
        parts(images, pieces.items), grid_parts(parts, images, pieces.items), rtol=1e-4, atol=1e-4
    )
    for item, number, (y, x) in zip(pieces.items, pieces.samples, pieces.places, strict=True):
        np.testing.assert_array_equal(item, images[number][y : y + 4, x : x + 4].astype(np.float32))


@pytest.mark.parametrize("at_once", [1_000, 7])
def test_pieces_drawn_many_at_once_are_those_cut_one_by_one(at_once, rng, monkeypatch):
    """Images in one array are cut together, those in a list one after the other."""
    monkeypatch.setattr("besvm.similarities.parts.grid.DRAWN_AT_ONCE", at_once)
    grids = rng.random((6, 9, 7, 3)).astype(np.float32)
    drawn, one_by_one = (Parts(4).draw(X, 5, np.random.default_rng(1)) for X in (grids, list(grids)))
    cuts = [grids[k, y : y + 4, x : x + 4] for k, (y, x) in zip(drawn.samples, drawn.places, strict=True)]
    np.testing.assert_array_equal(drawn.items, cuts)
    np.testing.assert_array_equal(drawn.items, one_by_one.items)


def test_constant_images_are_like_nothing(rng):
    images = np.concatenate([np.full((2, 8, 8, 3), 0.5), rng.random((4, 8, 8, 3))])
    parts = Parts(3, 2, mirror=True).fit(images)
    values = parts(images, parts.draw(images, 3, rng).items)
    assert np.isfinite(values).all()
    flat = Parts(3, 2, mirror=True).fit(images[:2])
    np.testing.assert_allclose(flat(images[:2], flat.draw(images[:2], 1, rng).items), 0, atol=1e-6)


def test_pixels_are_between_0_and_1():
    image = np.array([[0, 255], [51, 102]], np.uint8)
    for levels in (image, image / 255, image / np.float32(255)):
        np.testing.assert_allclose(Pixels().transform(levels)[0, :, :, 0], [[0, 1], [0.2, 0.4]], rtol=1e-6)


@pytest.mark.parametrize(
    ("parts", "grids", "sentence"),
    [
        (Parts(9, 1), np.zeros((2, 8, 12, 1)), "9 x 9 must be no larger than the samples, but sample 0 is 8 x 12"),
        (
            Parts(5, 3),
            [np.zeros((9, 9, 1)), np.zeros((6, 9, 1))],
            "parts of 5 x 5 have 2 x 5 places in sample 1, got 3 x 3 regions",
        ),
        (Parts(3), np.zeros((2, 8, 8)), r"got \(2, 8, 8\); for images, use features=Pixels"),
        (Parts(3), [np.zeros((8, 8, 1)), np.zeros((8, 8, 3))], "grid 1 has .* make all images gray or all color"),
        (Parts(3), np.full((1, 8, 8, 1), np.nan), "finite numbers.* grid 0"),
        (Parts(3), np.full((1, 8, 8, 1), 1e30), "small enough to square in float32"),
        (Parts(0), np.zeros((1, 8, 8, 1)), "size must be a whole number of at least 1, got 0"),
        (Parts(3, 1.5), np.zeros((1, 8, 8, 1)), "regions must be a whole number"),
        (Parts(3, whiten=-1), np.zeros((1, 8, 8, 1)), "whiten must be None or a number above 0, got -1"),
        (Parts(3, contrast="a"), np.zeros((1, 8, 8, 1)), "contrast must be None or a number above 0"),
        (Parts(3, components=0), np.zeros((1, 8, 8, 1)), "components must be None or a whole number"),
        (Parts(3, pool=("max", "max")), np.zeros((1, 8, 8, 1)), "pool must be 'max', 'mean' or"),
        (Parts(3, pool="sum"), np.zeros((1, 8, 8, 1)), "pool must be 'max', 'mean' or"),
        (SeriesParts(9), np.zeros((3, 8)), "9 time points must be no longer than the series, but series 0 has 8"),
        (SeriesParts(3), [np.zeros(8), np.zeros((2, 8))], "the same number of channels"),
        (SeriesParts(3), [np.zeros(8), np.full(8, np.nan)], "series 1 has nan at time point 0; fill in"),
        (SeriesParts(1), np.zeros((3, 8)), "length must be a whole number of at least 2"),
        (SeriesParts(3, normalized=2), np.zeros((3, 8)), "normalized must be a share"),
        (SeriesParts(3, max_dilation=0), np.zeros((3, 8)), "max_dilation must be None or"),
    ],
)
def test_what_cannot_be_cut_is_refused_with_a_sentence(parts, grids, sentence):
    with pytest.raises(ValueError, match=sentence):
        parts.fit(grids)


def test_parts_of_another_kind_are_refused(rng):
    color, gray = rng.random((4, 8, 8, 3)), rng.random((4, 8, 8, 1))
    parts = Parts(3, 1).fit(color)
    with pytest.raises(ValueError, match="must have 27 values like those used in fit, got 9"):
        parts(gray, parts.draw(color, 1, rng).items)
    with pytest.raises(ValueError, match=r"shape \(parts, 3, 3, values\), got \(4, 8, 8, 3\)"):
        parts(color, color)
    with pytest.raises(NotFittedError):
        Parts(3, 1)(color, parts.draw(color, 1, rng).items)
    with pytest.raises(ValueError, match="must compare vectors, got Rigid"):
        Parts(3, 1, whiten=None, similarity="rigid").fit(color)
    with pytest.raises(ValueError, match="mirror=True works with the features of Pixels, CellColor and FHOG"):
        Parts(3, mirror=True).behind(object())


@pytest.mark.parametrize("regions", [1, 2])
@pytest.mark.parametrize("pool", ["max", "mean", ("max", "mean")])
@pytest.mark.parametrize("channels", [1, 3])
def test_a_piece_of_a_series_finds_its_best_place_as_the_naive_loop_does(regions, pool, channels, rng):
    series = [rng.normal(size=(channels, length)).cumsum(axis=1) for length in (40, 55, 43)]
    parts = SeriesParts(6, regions, pool=pool, normalized=0.5).fit(series)
    pieces = parts.draw(series, 6, rng)
    assert set(pieces.items["normalized"]) == {False, True}
    assert len(set(pieces.items["dilation"])) > 2
    np.testing.assert_allclose(
        parts(series, pieces.items), series_parts(parts, series, pieces.items), rtol=1e-3, atol=1e-3
    )
    for item, number, (start,) in zip(pieces.items, pieces.samples, pieces.places, strict=True):
        cut = series[number][:, start : start + 5 * item["dilation"] + 1 : item["dilation"]]
        np.testing.assert_array_equal(item["values"], cut.astype(np.float32))


def test_the_place_in_a_series_is_where_the_piece_was_cut(rng):
    series = rng.normal(size=(3, 60))
    parts = SeriesParts(8).fit(series)
    pieces = parts.draw(series, 5, rng)
    for item, number, place in zip(pieces.items, pieces.samples, pieces.places, strict=True):
        found = parts.alignment(series[number], item)
        assert found.place[0] == place
        np.testing.assert_allclose(found.score, -np.log(0.005), atol=1e-3)


def test_constant_series_are_like_nothing(rng):
    series = np.concatenate([np.full((2, 30), 7.0), rng.normal(size=(3, 30))])
    parts = SeriesParts(5, normalized=1.0, pool="max").fit(series)
    pieces = parts.draw(series, 4, rng)
    values = parts(series, pieces.items)
    assert np.isfinite(values).all()
    np.testing.assert_allclose(values[:2], -np.log(1.005), atol=1e-6)
    flat = SeriesParts(5).fit(series[:2])
    assert np.isfinite(flat(series[:2], flat.draw(series[:2], 4, rng).items)).all()


def test_a_series_shorter_than_a_dilated_piece_is_continued_by_its_last_value(rng):
    long, short = rng.normal(size=(4, 60)), rng.normal(size=(1, 10))
    parts = SeriesParts(5, normalized=0.5).fit(long)
    pieces = parts.draw(long, 20, rng).items
    wide = pieces[pieces["dilation"] > 2]
    assert len(wide) > 10
    for piece in wide:
        span = 4 * int(piece["dilation"]) + 1
        continued = np.append(short, np.full((1, span - 10), short[0, -1]), axis=1) if span > 10 else short
        np.testing.assert_allclose(parts(short, piece[None]), parts(continued, piece[None]), rtol=1e-5, atol=1e-6)


def test_plain_arrays_are_pieces_of_series_too(rng):
    series = rng.normal(size=(3, 30))
    parts = SeriesParts(5, pool="max").fit(series)
    np.testing.assert_allclose(parts(series, series[:, 4:9]).diagonal(), -np.log(0.005), atol=1e-3)
    with pytest.raises(ValueError, match=r"\(parts, 5\) or \(parts, channels, 5\), got \(3, 30\)"):
        parts(series, series)


@pytest.mark.parametrize("parts", [Parts(3), Parts(3, 2, mirror=True, pool=("max", "mean"))], ids=str)
def test_parts_of_grids_keep_the_contract(parts, rng):
    check_similarity(parts, rng.random((5, 9, 9, 2)))


def test_parts_of_series_keep_the_contract(rng):
    check_similarity(SeriesParts(5), rng.normal(size=(5, 40)))
    check_similarity(SeriesParts(5, 2), [rng.normal(size=(2, length)) for length in (30, 33, 41)])


def test_parts_are_known_by_name_and_can_be_cloned():
    assert clone(resolve("parts")).get_params()["size"] == 6
    assert clone(resolve("series-parts")).columns_each == 2


@pytest.mark.parametrize("channels", [1, 3, 5])
def test_a_part_is_framed_where_it_is_found(axes, rng, channels):
    image = rng.random((9, 12, channels)).astype(np.float32)
    parts = Parts(3, 1, whiten=None)
    assert parts.plot(image, image[2:5, 6:9], axes) is axes
    (frame,) = axes.patches
    assert (frame.get_x(), frame.get_y(), frame.get_width(), frame.get_linestyle()) == (5.5, 1.5, 3, "-")
    parts = Parts(3, 1, whiten=None, mirror=True)
    parts.plot(image, image[2:5, 6:9][:, ::-1], axes, color="red")
    assert axes.patches[1].get_linestyle() == "--"
    assert len(axes.images) == 1


@pytest.mark.parametrize("channels", [1, 2])
@pytest.mark.parametrize("normalized", [0.0, 1.0])
def test_a_part_of_a_series_is_drawn_over_it(axes, rng, channels, normalized):
    series = rng.normal(size=(channels, 50)).astype(np.float32)
    parts = SeriesParts(7, normalized=normalized).fit([series])
    piece = parts.draw([series], 1, np.random.default_rng(3)).items[0]
    parts.plot(series, piece, axes)
    assert len(axes.lines) == 2 * channels
    x, y = axes.lines[1].get_data()
    np.testing.assert_allclose(y, series[0, np.asarray(x, int)], rtol=1e-4, atol=1e-4)
