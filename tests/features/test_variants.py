"""The variants of images: how many, of which type, and where they move."""

from __future__ import annotations

import pickle

import numpy as np
import pytest

from besvm.features import Crops, Rotations, Shifts, mirror

IMAGES = {
    "gray": np.arange(99, dtype=np.uint8).reshape(9, 11),
    "color": np.random.default_rng(0).integers(0, 256, (9, 11, 3), dtype=np.uint8),
    "float": np.random.default_rng(0).random((9, 11, 3), dtype=np.float32),
    "half": np.random.default_rng(0).random((9, 11)).astype(np.float16),
    "wide": np.random.default_rng(0).integers(0, 2**32, (9, 11)),
    "mask": np.random.default_rng(0).random((9, 11)) > 0.5,
}


@pytest.mark.parametrize("image", IMAGES)
@pytest.mark.parametrize(
    ("make", "number"), [(mirror, 2), (Shifts(0), 1), (Shifts(2), 25), (Rotations((-10, 0, 10)), 3), (Crops(3), 6)]
)
def test_variants_of_images(make, number, image):
    image = IMAGES[image]
    before = image.copy()
    variants = pickle.loads(pickle.dumps(make))(image)
    assert len(variants) == number
    assert {(v.shape, v.dtype) for v in variants} == {(image.shape, image.dtype)}
    assert (variants[0] == image).all()
    assert (image == before).all()
    assert min(v.min() for v in variants) >= image.min()
    assert max(v.max() for v in variants) <= image.max()


def test_variants_move_as_they_say():
    image = IMAGES["gray"]
    for (dy, dx), moved in zip(Shifts(2).moves, Shifts(2)(image), strict=True):
        inside = moved[2:-2, 2:-2]
        assert (inside == image[2 - dy : 7 - dy, 2 - dx : 9 - dx]).all()
    square = IMAGES["color"][:, :9]
    assert (Rotations([90])(square)[1] == np.rot90(square)).all()
    smooth = np.add.outer(np.arange(20.0), np.arange(20.0))
    whole, top_left, *_, bottom_right, center = Crops(10)(smooth)
    assert top_left.mean() < center.mean() < bottom_right.mean()
    assert center.mean() == pytest.approx(whole.mean())
    assert top_left.max() == smooth[9, 9]


@pytest.mark.parametrize(
    ("make", "message"),
    [
        (lambda: Shifts(-1), "pixels must be a whole number"),
        (lambda: Shifts(51), "pixels must be at most 50, got 51"),
        (lambda: Crops(0), "margin must be a whole number of pixels, 1 or more"),
        (lambda: Crops(9)(IMAGES["gray"]), "margin must be smaller than the image, 9 x 11"),
        (lambda: Rotations(10), "degrees must be a tuple"),
        (lambda: Rotations((np.inf,)), "degrees must be a tuple of finite"),
        (lambda: mirror(np.zeros(4)), "an image must be an array"),
        (lambda: Shifts(1)("picture"), "an image must be an array"),
    ],
)
def test_variants_refuse_what_they_cannot_do(make, message):
    with pytest.raises(ValueError, match=message):
        make()
