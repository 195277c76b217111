"""Draw orientation histograms as bundles of strokes, for people to look at."""

from __future__ import annotations

import numpy as np

N_ORIENTATIONS = 9
BRIGHTEST = 0.4  # no contrast-insensitive channel of FHOG can be larger: half of four truncated values of 0.2


def strokes(size: int) -> np.ndarray:
    """Return (9, size, size) in 0..1: stroke o runs along the edges whose gradient points 20·o degrees."""
    y, x = np.mgrid[:size, :size] - (size - 1) / 2
    angles = np.arange(N_ORIENTATIONS)[:, None, None] * np.pi / N_ORIENTATIONS
    off_line = np.abs(x * np.cos(angles) + y * np.sin(angles))
    along_line = np.abs(y * np.cos(angles) - x * np.sin(angles))
    half_width = max(0.5, size / 24)
    # Distances beyond the stroke fade over one pixel, so slanted strokes look smooth.
    stroke: np.ndarray = np.clip(half_width + 0.5 - off_line, 0, 1) * np.clip(size / 2 - along_line, 0, 1)
    return stroke


def draw(orientations: np.ndarray, size: int) -> np.ndarray:
    """Return a uint8 picture (h·size, w·size) of a grid (h, w, 9) of orientation strengths."""
    height, width, _ = orientations.shape
    # The strongest stroke wins where strokes cross: their sum would be a blob in the middle of every cell.
    picture = np.zeros((height, size, width, size), dtype=np.float32)
    for stroke, strength in zip(strokes(size), np.moveaxis(orientations, 2, 0), strict=True):
        np.maximum(picture, strength[:, None, :, None] * stroke[None, :, None, :], out=picture)
    # Squared, so that the main orientation stands out of the even rest.
    levels = np.round(255 * np.clip(picture / BRIGHTEST, 0, 1) ** 2)
    return levels.astype(np.uint8).reshape(height * size, width * size)


def side_by_side(pictures: list[np.ndarray], gap: int) -> np.ndarray:
    """Put pictures in a row on black, their tops aligned, ``gap`` gray columns between them."""
    height = max(len(picture) for picture in pictures)
    columns: list[np.ndarray] = []
    for picture in pictures:
        if columns:
            columns.append(np.full((height, gap), 96, dtype=np.uint8))
        columns.append(np.pad(picture, ((0, height - len(picture)), (0, 0))))
    return np.hstack(columns)
