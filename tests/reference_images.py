"""FHOG and mean colors in float64, straight from the definition, to check the fast code by."""

from __future__ import annotations

import math

import numpy as np


def fhog(image: np.ndarray, cell: int, border: str = "keep") -> np.ndarray:
    """Return the features (h // cell, w // cell, 31) of one image (h, w, channels) with white at 255."""
    image = image.astype(np.float64)
    if border == "keep":
        return features_of(histograms(image, cell))
    larger = padded(image, cell) if border == "pad" else upsampled(image, cell)
    return features_of(histograms(larger, cell))[1:-1, 1:-1]


def gradient(image: np.ndarray, y: int, x: int) -> tuple[float, float]:
    """Return (dx, dy) of the channel with the longest gradient, the first channel of (nearly) equals."""
    height, width, n_channels = image.shape
    best, best_strength = (0.0, 0.0), -1.0
    for channel in range(n_channels):
        dx = image[y, min(x + 1, width - 1), channel] - image[y, max(x - 1, 0), channel]
        dy = image[min(y + 1, height - 1), x, channel] - image[max(y - 1, 0), x, channel]
        if dx * dx + dy * dy > best_strength * 1.000005 + 1e-3:
            best, best_strength = (dx, dy), dx * dx + dy * dy
    return best


def direction(dx: float, dy: float) -> int:
    """Return which of 18 unit vectors, 20 degrees apart, has the largest dot product; the first of equals."""
    if abs(dx) < 1e-3:
        dx = 0.0
    dots = [dx * math.cos(o * math.pi / 9) + dy * math.sin(o * math.pi / 9) for o in range(18)]
    return next(o for o in range(18) if dots[o] >= max(dots) - 1e-9)


def histograms(image: np.ndarray, cell: int) -> np.ndarray:
    """Return (rows, columns, 18): every gradient's length, shared bilinearly between the nearest cells."""
    rows, columns = image.shape[0] // cell, image.shape[1] // cell
    votes = np.zeros((rows, columns, 18))
    for y in range(rows * cell):
        for x in range(columns * cell):
            dx, dy = gradient(image, y, x)
            where, length = direction(dx, dy), math.hypot(dx, dy)
            for row in range(rows):
                down = 1 - abs((y + 0.5) / cell - (row + 0.5))
                for column in range(columns) if down > 0 else ():
                    across = 1 - abs((x + 0.5) / cell - (column + 0.5))
                    if across > 0:
                        votes[row, column, where] += down * across * length
    return votes


def features_of(votes: np.ndarray) -> np.ndarray:
    """Return the 31 channels of histograms (rows, columns, 18)."""
    rows, columns, _ = votes.shape
    undirected = votes[:, :, :9] + votes[:, :, 9:]
    energy = (undirected**2).sum(axis=2)
    out = np.zeros((rows, columns, 31))
    for row in range(rows):
        for column in range(columns):
            for block, (down, across) in enumerate([(1, 1), (-1, 1), (1, -1), (-1, -1)]):
                near_row = min(max(row + down, 0), rows - 1)
                near_column = min(max(column + across, 0), columns - 1)
                total = energy[row, column] + energy[near_row, column]
                total += energy[row, near_column] + energy[near_row, near_column]
                directed = np.minimum(votes[row, column] / math.sqrt(total + 1e-4), 0.2)
                out[row, column, :18] += 0.5 * directed
                out[row, column, 18:27] += 0.5 * np.minimum(undirected[row, column] / math.sqrt(total + 1e-4), 0.2)
                out[row, column, 27 + block] = 0.2357 * directed.sum()
    return out


def padded(image: np.ndarray, cell: int) -> np.ndarray:
    """Return the image with its border pixels repeated for one cell on every side."""
    height, width, _ = image.shape
    rows = [min(max(y, 0), height - 1) for y in range(-cell, height + cell)]
    columns = [min(max(x, 0), width - 1) for x in range(-cell, width + cell)]
    return image[rows][:, columns]


def upsampled(image: np.ndarray, cell: int) -> np.ndarray:
    """Return the whole cells of the image, enlarged bilinearly to two more cells in each direction."""
    rows, columns = image.shape[0] // cell, image.shape[1] // cell
    whole = image[: rows * cell, : columns * cell]
    out = np.zeros(((rows + 2) * cell, (columns + 2) * cell, image.shape[2]))
    for y in range(out.shape[0]):
        for x in range(out.shape[1]):
            out[y, x] = between(whole, (y + 0.5) * rows / (rows + 2) - 0.5, (x + 0.5) * columns / (columns + 2) - 0.5)
    return out


def between(image: np.ndarray, y: float, x: float) -> np.ndarray:
    """Return the bilinear mixture of the four pixels around (y, x)."""
    y, x = min(max(y, 0), image.shape[0] - 1), min(max(x, 0), image.shape[1] - 1)
    top, left = int(y), int(x)
    bottom, right = min(top + 1, image.shape[0] - 1), min(left + 1, image.shape[1] - 1)
    upper = (1 - (x - left)) * image[top, left] + (x - left) * image[top, right]
    lower = (1 - (x - left)) * image[bottom, left] + (x - left) * image[bottom, right]
    return (1 - (y - top)) * upper + (y - top) * lower


def cell_colors(image: np.ndarray, cell: int) -> np.ndarray:
    """Return the mean of every whole cell of one image (h, w, channels), white at 255, on a scale of 0..1."""
    rows, columns = image.shape[0] // cell, image.shape[1] // cell
    out = np.zeros((rows, columns, image.shape[2]))
    for row in range(rows):
        for column in range(columns):
            patch = image[row * cell : (row + 1) * cell, column * cell : (column + 1) * cell]
            out[row, column] = patch.reshape(-1, image.shape[2]).mean(axis=0) / 255
    return out
