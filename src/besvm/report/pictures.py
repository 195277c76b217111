"""Images as small pictures, many on one sheet, so that a page of ten thousand stays light and quick."""

from __future__ import annotations

import io
from dataclasses import dataclass
from typing import Any

import numpy as np

from besvm._support.extras import optional
from besvm._support.rows import n_rows, span
from besvm._support.threads import slices
from besvm.features.pixels import WHITE

LARGEST, SMALLEST = 112, 24  # pixels of the longer side of a picture
PIXELS = 11_000_000  # of all pictures of a page's samples together, unless that makes them smaller than that
LOSSLESS = 2_500_000  # pixels up to which they are written as PNG, and beyond as JPEG
SHEET_PIXELS, SHEET_ITEMS = 2_000_000, 1000
BLOCK = 16  # pixels: what JPEG writes together, so that no picture's colors run into the next one's
QUALITY = 90


@dataclass(frozen=True)
class Sheets:
    """Pictures of many items: sheet k holds ``each`` of them, row by row, each in a square of ``step`` pixels.

    Item i lies in the upper left of its square, ``scale[i]`` times as large as it was, ``sizes[i]`` = (height, width).
    """

    files: list[bytes]
    mime: str
    each: int
    columns: int
    step: int
    sizes: np.ndarray  # (n, 2), uint8
    scale: np.ndarray  # (n,), float32


def draw_sheets(images: Any) -> Sheets:
    """Return pictures of all images, no larger than is worth it for so many of them.

    ``images`` is an array (n, h, w), (n, h, w, 1) or (n, h, w, 3), or a list of images (h, w), (h, w, 1) or (h, w, 3).
    """
    Image = optional("PIL.Image", "drawing pictures")
    n = n_rows(images)
    shapes = np.array([np.shape(image)[:2] for image in images]).reshape(n, 2)
    longest = int(np.clip(np.sqrt(PIXELS / max(1, n)), SMALLEST, LARGEST))
    scale = np.minimum(1.0, longest / np.maximum(1, shapes.max(axis=1)))
    sizes = np.maximum(1, np.round(shapes * scale[:, None])).astype(np.uint8)
    side = int(sizes.max(initial=1))
    lossy = n * side * side > LOSSLESS
    step = -(-side // BLOCK) * BLOCK if lossy else side
    each = max(1, min(SHEET_ITEMS, SHEET_PIXELS // step**2, n))
    columns = int(np.ceil(np.sqrt(each)))
    low, high = _range(images)
    files = []
    for rows in slices(n, each):
        several = [as_bytes(image, low, high) for image in span(images, rows)]
        depth = max((image.shape[2] for image in several), default=1)
        sheet = np.zeros((-(-len(several) // columns) * step, columns * step, depth), dtype=np.uint8)
        for k, (image, size) in enumerate(zip(several, sizes[rows].tolist(), strict=True)):
            if image.shape[:2] != tuple(size):
                shape = (size[1], size[0])
                resized = Image.fromarray(image[:, :, 0] if image.shape[2] == 1 else image).resize(shape)
                image = np.asarray(resized).reshape(*size, -1)
            top, left = k // columns * step, k % columns * step
            square = np.pad(image, ((0, step - size[0]), (0, step - size[1]), (0, 0)), mode="edge")
            sheet[top : top + step, left : left + step] = square
        out = io.BytesIO()
        picture = Image.fromarray(sheet[:, :, 0] if depth == 1 else sheet)
        picture.save(out, **({"format": "JPEG", "quality": QUALITY} if lossy else {"format": "PNG"}))
        files.append(out.getvalue())
    return Sheets(files, "image/jpeg" if lossy else "image/png", each, columns, step, sizes, scale.astype(np.float32))


def as_bytes(image: Any, low: float = 0.0, high: float = 255.0) -> np.ndarray:
    """Return an image as (h, w, 1 or 3) of bytes, ``low`` black and ``high`` white."""
    values = np.asarray(image)
    values = values[:, :, None] if values.ndim == 2 else values
    if values.shape[2] not in (1, 3):
        values = values[:, :, :3] if values.shape[2] == 4 else values.mean(axis=2, keepdims=True)
    if values.dtype == np.uint8 and (low, high) == (0.0, 255.0):
        return values
    scaled = (np.nan_to_num(values.astype(np.float32)) - low) * (255 / ((high - low) or 1))
    return np.asarray(np.clip(np.round(scaled), 0, 255).astype(np.uint8))


def _range(images: Any) -> tuple[float, float]:
    """Return which values are black and white: those of the type, or of the data where they go beyond."""
    dtypes = {np.asarray(image).dtype for image in (span(images, slice(0, 1)) if hasattr(images, "dtype") else images)}
    dtype = np.result_type(*dtypes) if dtypes else np.dtype(np.uint8)
    white = WHITE.get(dtype, 1.0 if dtype.kind == "f" else 255.0)
    if dtype.kind in "bu":
        return 0.0, white
    extremes = [(float(np.nanmin(image)), float(np.nanmax(image))) for image in images if np.size(image)]
    low, high = min((a for a, _ in extremes), default=0.0), max((b for _, b in extremes), default=white)
    return (0.0, white) if low >= 0 and high <= white and high > white / 2 else (min(0.0, low), high)
