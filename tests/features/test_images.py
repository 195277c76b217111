"""FHOG and CellColor against the definition, and what holds whatever the image."""

from __future__ import annotations

import tracemalloc

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from hypothesis.extra.numpy import arrays
from sklearn.base import clone
from sklearn.datasets import load_sample_images
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import FunctionTransformer
from sklearn.svm import LinearSVC

import reference_images as reference
from besvm import BESVMClassifier, MeanNormScaler, Measure
from besvm._support.threads import workers
from besvm.features import FHOG, CellColor

BORDERS = ("keep", "pad", "upsample")
# Where rounding decides between two directions, float32 and float64 may differ: no new examples on every run.
compare = settings(max_examples=40, derandomize=True)


@st.composite
def image_and_cell(draw: st.DrawFn) -> tuple[np.ndarray, int]:
    cell = draw(st.integers(1, 9))
    height, width = (draw(st.integers(cell, 3 * cell + 4)) for _ in range(2))
    shape = (height, width, draw(st.sampled_from([1, 3])))
    if draw(st.booleans()):  # few gray levels make for ties and flat places, noise for the general case
        return draw(arrays(np.uint8, shape, elements=st.sampled_from([0, 100, 101, 255]))), cell
    return np.random.default_rng(draw(st.integers(0, 999))).integers(0, 256, shape, dtype=np.uint8), cell


@pytest.fixture
def images() -> np.ndarray:
    return np.random.default_rng(0).integers(0, 256, (37, 32, 32, 3), dtype=np.uint8)


@pytest.fixture(scope="module")
def photograph() -> np.ndarray:
    return load_sample_images().images[0][100:200:2, 200:330:2]


@compare
@given(image_and_cell(), st.sampled_from(BORDERS))
def test_fhog_follows_the_definition(case: tuple[np.ndarray, int], border: str) -> None:
    image, cell = case
    expected = reference.fhog(image, cell, border)
    np.testing.assert_allclose(FHOG(cell, border=border).transform(image[None])[0], expected, atol=2e-5)


@compare
@given(image_and_cell())
def test_cell_color_follows_the_definition(case: tuple[np.ndarray, int]) -> None:
    image, cell = case
    expected = reference.cell_colors(image, cell)
    np.testing.assert_allclose(CellColor(cell).transform(image[None])[0], expected, atol=1e-6)


@pytest.mark.parametrize("border", BORDERS)
@pytest.mark.parametrize("cell", [4, 8])
def test_fhog_of_a_photograph(photograph: np.ndarray, cell: int, border: str) -> None:
    features = FHOG(cell, border=border).transform(photograph)[0]
    np.testing.assert_allclose(features, reference.fhog(photograph, cell, border), atol=2e-5)


@compare
@given(image_and_cell(), st.sampled_from([np.float32, np.float64, np.int16, np.int64, np.uint16]))
def test_the_same_picture_in_another_type(case: tuple[np.ndarray, int], dtype: type) -> None:
    image, cell = case
    scale = {"f": 1 / 255, "i": 1, "u": 257}[np.dtype(dtype).kind]
    same = (image * dtype(scale)).astype(dtype)
    for descriptor in (FHOG(cell), CellColor(cell)):
        np.testing.assert_allclose(descriptor.transform(same[None]), descriptor.transform(image[None]), atol=2e-5)


def test_bool_images_are_black_and_white() -> None:
    image = np.zeros((16, 16), dtype=bool)
    image[5:, 3:] = True
    np.testing.assert_array_equal(FHOG().transform(image), FHOG().transform(image.astype(np.uint8) * 255))


def test_contrast_and_brightness_are_normalized_away(photograph: np.ndarray) -> None:
    features = FHOG().transform(photograph)
    for changed in (photograph / 255 * 0.1 + 0.4, photograph.astype(float) * 100):
        np.testing.assert_allclose(FHOG().transform(changed), features, atol=5e-4)


@pytest.mark.parametrize("descriptor", [FHOG(8), FHOG(4), FHOG(8, border="pad"), FHOG(4, border="upsample")])
def test_cifar_shapes(descriptor: FHOG, images: np.ndarray) -> None:
    features = descriptor.transform(images)
    side = 32 // descriptor.cell
    assert features.shape == (37, side, side, 31)
    assert features.dtype == np.float32


@pytest.mark.parametrize(
    ("shape", "expected"),
    [
        ((32, 40), (1, 4, 5)),
        ((32, 40, 3), (1, 4, 5)),
        ((32, 40, 1), (1, 4, 5)),
        ((6, 32, 40), (6, 4, 5)),
        ((6, 32, 40, 3), (6, 4, 5)),
        ((6, 32, 40, 1), (6, 4, 5)),
        ((6, 39, 47), (6, 4, 5)),
        ((8, 8), (1, 1, 1)),
        ((0, 32, 40, 3), (0, 4, 5)),
    ],
)
def test_one_image_or_many_gray_or_color(shape: tuple[int, ...], expected: tuple[int, ...]) -> None:
    assert FHOG(8).transform(np.zeros(shape, dtype=np.uint8)).shape == (*expected, 31)
    assert CellColor(8).transform(np.zeros(shape, dtype=np.uint8)).shape[:3] == expected


def test_a_list_of_sizes_gives_a_list(images: np.ndarray) -> None:
    mixed = [images[0], images[1, :20, :, 0], images[2, :, :9] / 255]
    for descriptor in (FHOG(8), CellColor(4)):
        result = descriptor.transform(mixed)
        assert isinstance(result, list)
        for image, features in zip(mixed, result, strict=True):
            np.testing.assert_array_equal(features, descriptor.transform(image)[0])


def test_gray_equals_three_equal_channels(photograph: np.ndarray) -> None:
    gray = photograph[:, :, 1]
    np.testing.assert_array_equal(FHOG().transform(gray), FHOG().transform(np.dstack([gray] * 3)))


@pytest.mark.parametrize("border", BORDERS)
@pytest.mark.parametrize("dtype", [np.uint8, np.float32, np.float64])
def test_flat_images_have_no_features(border: str, dtype: type) -> None:
    flat = np.full((3, 20, 24, 3), 200, dtype=np.uint8).astype(dtype) / (1 if dtype is np.uint8 else 255)
    assert not FHOG(4, border=border).transform(flat).any()


@pytest.mark.parametrize("border", ["keep", "upsample"])  # the columns "pad" repeats hold only vertical ties
def test_mirroring_an_image_mirrors_its_features(border: str) -> None:
    images = np.random.default_rng(1).uniform(size=(4, 24, 32, 3))
    directions = [(9 - o) % 18 for o in range(18)]
    orientations = [18 + (9 - o) % 9 for o in range(9)]
    textures = [29, 30, 27, 28]  # the blocks to the left and to the right change places
    mirrored_channels = [*directions, *orientations, *textures]
    features, mirrored = (FHOG(8, border=border).transform(x) for x in (images, images[:, :, ::-1]))
    np.testing.assert_allclose(mirrored, features[:, :, ::-1, mirrored_channels], atol=1e-5)


@pytest.mark.parametrize("turns", range(18))
def test_a_ramp_points_in_its_direction(turns: int) -> None:
    y, x = np.mgrid[:24, :24] / 48
    angle = turns * np.pi / 9
    features = FHOG(8).transform(x * np.cos(angle) + y * np.sin(angle))[0, 1, 1]
    assert features[:18].argmax() == turns
    assert features[18:27].argmax() == turns % 9


@pytest.mark.parametrize("descriptor", [FHOG(8), FHOG(4), FHOG(4, border="upsample"), CellColor(4)])
def test_one_thread_equals_two_and_parts_equal_the_whole(descriptor: FHOG | CellColor) -> None:
    images = np.random.default_rng(2).integers(0, 256, (300, 32, 32, 3), dtype=np.uint8)
    with workers(1):
        whole = descriptor.transform(images)
    with workers(2):
        np.testing.assert_array_equal(descriptor.transform(images), whole)
    np.testing.assert_array_equal(descriptor.transform(images[117:119]), whole[117:119])


@pytest.mark.parametrize("dtype", [np.uint8, np.float64])
def test_memory_beyond_the_result_is_a_few_blocks(dtype: type) -> None:
    images = np.zeros((5000, 32, 32, 3), dtype=dtype)
    FHOG(4).transform(images[:2])  # compiled before we look
    tracemalloc.start()
    try:
        features = FHOG(4).transform(images)
        peak = tracemalloc.get_traced_memory()[1]
    finally:
        tracemalloc.stop()
    assert peak < features.nbytes + 16 * 2**20


def test_views_and_read_only_arrays(images: np.ndarray) -> None:
    expected = FHOG().transform(images[::-1, ::-1, :, ::-1].copy())
    images.flags.writeable = False
    np.testing.assert_array_equal(FHOG().transform(images[::-1, ::-1, :, ::-1]), expected)


def test_scikit_learn_conventions(images: np.ndarray) -> None:
    assert clone(FHOG(4, border="pad")).get_params() == {"cell": 4, "border": "pad"}
    assert FHOG().set_params(cell=16).fit_transform(images).shape == (37, 2, 2, 31)
    flatten = FunctionTransformer(lambda grids: grids.reshape(len(grids), -1))
    pipeline = make_pipeline(FHOG(8), flatten, LinearSVC())
    assert pipeline.fit(images, np.arange(37) % 2).predict(images).shape == (37,)
    assert make_pipeline(CellColor(8)).transform(images).shape == (37, 4, 4, 3)


@pytest.mark.parametrize(
    ("X", "message"),
    [
        (np.zeros(64), r"must have shape .* got \(64,\)"),
        (np.zeros((2, 3, 32, 32)), r"got \(2, 3, 32, 32\); put the color channels last"),
        (np.zeros((2, 32, 32, 4)), "alpha"),
        (np.zeros((64, 64, 4)), r"got \(64, 64, 4\); .* drop any alpha channel \(X\[..., :3\]\)"),
        (np.zeros((64, 64, 2)), "alpha"),
        (np.zeros((2, 7, 32, 3)), "at least one cell, 8 x 8 pixels, got 7 x 32"),
        ([np.zeros((32, 32)), np.zeros((5, 5))], "got 5 x 5"),
        ([np.zeros((32, 32)), np.zeros(32)], r"image 1 has \(32,\)"),
    ],
)
def test_wrong_shapes_are_refused(X: object, message: str) -> None:
    for descriptor in (FHOG(8), CellColor(8)):
        with pytest.raises(ValueError, match=message):
            descriptor.transform(X)


@pytest.mark.parametrize("value", [np.nan, np.inf, -np.inf, 1e30, -1e10])
def test_values_that_are_no_pixels_are_refused(value: float) -> None:
    images = np.zeros((500, 32, 32, 3))
    images[412, 3, 4, 1] = value
    with pytest.raises(ValueError, match="image 412 has"):
        FHOG().transform(images)
    with pytest.raises(ValueError, match="image 1 has"):
        FHOG().transform([images[0], images[412]])


def test_half_precision_that_has_overflowed_is_refused() -> None:
    images = np.full((3, 16, 16), 0.5, dtype=np.float16)
    for descriptor in (FHOG(8), CellColor(8)):
        np.testing.assert_array_equal(descriptor.transform(images), descriptor.transform(images.astype(np.float32)))
    images[1, 3, 3] = np.inf
    for descriptor in (FHOG(8), CellColor(8)):
        with pytest.raises(ValueError, match="image 1 has inf"):
            descriptor.transform(images)


def test_integers_that_are_no_pixels_are_refused() -> None:
    image = np.zeros((16, 16), dtype=np.int64)
    image[3, 3] = np.iinfo(np.int64).min
    with pytest.raises(ValueError, match="image 0 has -9223372036854775808"):
        FHOG().transform(image)


@pytest.mark.parametrize("dtype", [complex, "U3", "M8[s]"])
def test_types_that_are_no_pixels_are_refused(dtype: object) -> None:
    with pytest.raises(TypeError, match="real numbers"):
        FHOG().transform(np.zeros((16, 16), dtype=dtype))


@pytest.mark.parametrize("cell", [0, -4])
def test_wrong_cells_are_refused(cell: int, images: np.ndarray) -> None:
    for descriptor in (FHOG(cell), CellColor(cell)):
        with pytest.raises(ValueError, match="cell"):
            descriptor.transform(images)


@pytest.mark.parametrize("cell", [10**400, -(10**400), 10**5000], ids=["long", "negative", "longer"])
def test_a_huge_cell_is_not_printed_whole(cell: int, images: np.ndarray) -> None:
    with pytest.raises(ValueError, match="cell") as refused:
        FHOG(cell).transform(images)
    assert len(str(refused.value)) < 250


def test_gray_images_are_not_compared_with_color_ones() -> None:
    """The sentence was about the sizes of cells and descriptors."""
    color = np.random.default_rng(0).integers(0, 256, (24, 16, 16, 3), dtype=np.uint8)
    gray = color[..., 0]
    for measure in (Measure("rigid", features=CellColor(8)), "rbf"):
        model = BESVMClassifier(measure, basis=5).fit(color, np.arange(24) % 2)
        with pytest.raises(ValueError, match="gray images to a model of color images as"):
            model.predict(gray)
    for features in (CellColor(8), make_pipeline(CellColor(8), MeanNormScaler())):
        model = BESVMClassifier(Measure("rigid", features=features), basis=5)
        for seen, other, sentence in (
            (gray, color, "images must be gray like those used in fit, got color images"),
            (list(gray), list(color), "images must be gray like those used in fit, got color images"),
            (color, gray[..., None], "images must be color like those used in fit, got gray images"),
        ):
            model.fit(seen, np.arange(24) % 2).predict(seen)
            with pytest.raises(ValueError, match=sentence):
                model.predict(other)


def test_other_wrong_parameters_are_refused(images: np.ndarray) -> None:
    with pytest.raises(TypeError, match="cell"):
        FHOG(4.0).transform(images)
    with pytest.raises(ValueError, match="border must be 'keep', 'pad' or 'upsample', got 'crop'"):
        FHOG(border="crop").transform(images)


def test_render_draws_strokes_along_edges() -> None:
    image = np.zeros((48, 48))
    image[:, 24:] = 1  # an upright edge between the third and the fourth of six cells
    picture = FHOG.render(FHOG(8).transform(image)[0], size=21)
    assert (picture.shape, picture.dtype) == ((126, 126), np.uint8)
    cell = picture[42:63, 42:63]
    assert cell[1:-1, 10].min() > 100  # the stroke runs from top to bottom
    assert cell[10, :6].max() == 0
    assert picture[:, :21].max() == 0  # nothing where the image is flat


def test_render_puts_several_side_by_side(images: np.ndarray) -> None:
    grids = FHOG(8).transform(images[:3])
    assert FHOG.render(grids, size=8).shape == (32, 3 * 32 + 2 * 2)
    assert FHOG.render([grids[0], grids[1, :2]], size=8).shape == (32, 66)
    np.testing.assert_array_equal(FHOG.render(grids, size=8)[:, :32], FHOG.render(grids[0], size=8))


@pytest.mark.parametrize("features", [np.zeros((4, 4, 9)), np.zeros((2, 4, 4, 3)), np.zeros((4, 31)), []])
def test_render_refuses_what_is_no_feature(features: object) -> None:
    with pytest.raises(ValueError, match="features must"):
        FHOG.render(features)


def test_render_refuses_tiny_cells() -> None:
    with pytest.raises(ValueError, match="size must be"):
        FHOG.render(np.zeros((4, 4, 31)), size=1)
