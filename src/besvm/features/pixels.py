"""Images of any kind, handed to a descriptor as blocks of float32 gray levels."""

from collections.abc import Callable
from typing import Any

import numpy as np

from besvm._support.parameters import check_count, is_whole, shown
from besvm._support.threads import slices, thread_map

BLOCK_VALUES = 1 << 18  # a megabyte of float32 pixels, which stays in a core's cache until the loop reads it
LARGEST_VALUE = 1e9  # large enough for any unit, small enough for its square times many pixels in float32

# What white is; any other integer type is taken to hold the usual 0..255, any float type 0..1.
WHITE = {np.dtype(np.bool_): 1.0, np.dtype(np.uint16): 65535.0}

Fill = Callable[[np.ndarray, np.ndarray], None]  # (pixels (n, channels, h, w), out (n, H, W, values))


def describe(X: Any, cell: int, n_values: int | None, fill: Fill) -> np.ndarray | list[np.ndarray]:
    """Describe each whole cell of each image by ``n_values`` numbers (None: one per color channel).

    An array of images gives an array (n, H, W, n_values), a list of images a list of arrays (H, W, n_values).
    """
    if not is_whole(cell):
        raise TypeError(f"cell must be a whole number of pixels, got {shown(cell)}")
    check_count("cell", cell)
    if isinstance(X, (list, tuple)) or getattr(X, "dtype", None) == np.dtype(object):
        return list(thread_map(lambda item: _describe_one(*item, cell, n_values, fill), enumerate(X)))
    images = _as_batch(np.asarray(X))
    out = _empty_grids(images, cell, n_values)
    rows_each = max(1, BLOCK_VALUES // max(1, images[:1].size))

    def work(rows: slice) -> None:
        fill(_gray_levels(images[rows], first=rows.start), out[rows])

    for _ in thread_map(work, slices(len(images), rows_each)):
        pass
    return out


def channels_of(X: Any) -> set[int]:
    """Return how many colors the images have: 1, 3, or what each image of a list has."""
    if isinstance(X, (list, tuple)) or getattr(X, "dtype", None) == np.dtype(object):
        return {shape[2] if len(shape) == 3 else 1 for shape in map(np.shape, X)}
    return {_as_batch(np.asarray(X)).shape[3]}


def _describe_one(number: int, image: Any, cell: int, n_values: int | None, fill: Fill) -> np.ndarray:
    image = np.asarray(image)
    if image.ndim == 2:
        image = image[:, :, None]
    if image.ndim != 3 or image.shape[2] not in (1, 3):
        raise ValueError(
            f"every image in a list must have shape (h, w), (h, w, 1) or (h, w, 3), but image {number} has "
            f"{image.shape}; pass a single image as an array"
        )
    _check_numeric(image)
    out = _empty_grids(image[None], cell, n_values)
    fill(_gray_levels(image[None], first=number), out)
    return out[0]


def _as_batch(images: np.ndarray) -> np.ndarray:
    """Return ``images`` as (n, h, w, channels)."""
    _check_numeric(images)
    if images.ndim == 2:
        return images[None, :, :, None]
    if images.ndim == 3 and images.shape[2] not in (2, 4):  # with an alpha channel, or images too narrow to mean it
        return images[None] if images.shape[2] in (1, 3) else images[:, :, :, None]
    if images.ndim == 4 and images.shape[3] in (1, 3):
        return images
    raise ValueError(
        "images must have shape (h, w), (h, w, 3), (n, h, w) or (n, h, w, 3), or be a list of images, "
        f"got {images.shape}; put the color channels last and drop any alpha channel (X[..., :3])"
    )


def _check_numeric(images: np.ndarray) -> None:
    if images.dtype.kind not in "buif":
        raise TypeError(f"pixels must be real numbers, got {images.dtype}; convert them to uint8 or float32")


def _empty_grids(images: np.ndarray, cell: int, n_values: int | None) -> np.ndarray:
    n, height, width, n_channels = images.shape
    if min(height, width) < cell:
        raise ValueError(
            f"images must be at least one cell, {shown(cell)} x {shown(cell)} pixels, got {height} x {width}; "
            "enlarge them or use a smaller cell"
        )
    return np.empty((n, height // cell, width // cell, n_values or n_channels), dtype=np.float32)


def _gray_levels(images: np.ndarray, first: int) -> np.ndarray:
    """Return a fresh float32 (n, channels, h, w), white at 255; ``first`` numbers the images in an error."""
    if images.dtype.kind == "f" or images.dtype.itemsize > 2:
        _check_values(images, first)
    # Copied even if float32 already: the loop wants each channel of each row in one piece.
    pixels = images.transpose(0, 3, 1, 2).astype(np.float32, order="C", copy=True)
    scale = 255.0 / WHITE.get(images.dtype, 1.0 if images.dtype.kind == "f" else 255.0)
    if scale != 1.0:
        pixels *= np.float32(scale)
    return pixels


def _check_values(images: np.ndarray, first: int) -> None:
    # As Python's floats: in float16 the limit itself would be infinite. NaN is not within it either.
    if images.size == 0 or (float(images.min()) >= -LARGEST_VALUE and float(images.max()) <= LARGEST_VALUE):
        return
    where = np.argwhere(~(np.abs(images.astype(np.float64)) <= LARGEST_VALUE))[0]
    raise ValueError(
        f"pixels must be finite and at most {LARGEST_VALUE:g} in size, but image {first + where[0]} has "
        f"{images[tuple(where)]}; replace or remove it"
    )
