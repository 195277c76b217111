"""Folders of images, one folder a class."""

from __future__ import annotations

import os
from pathlib import Path
from typing import Any

import numpy as np

from besvm.datasets.picture_files import list_pictures, read_pictures, report


def load_images(
    folder: str | os.PathLike[str], size: tuple[int, int] | None = None, errors: str = "raise"
) -> tuple[np.ndarray | list[np.ndarray], np.ndarray]:
    """Read images from a folder that has one folder per class, named after it.

    Hidden files are passed over. Images are turned upright as their EXIF data say, and gray, 16-bit and
    transparent ones become RGB. Needs the extra ``data``.

    Parameters
    ----------
    folder : path
        The folder around the class folders.
    size : (height, width), optional
        Resize every image to this, without keeping its proportions. None keeps each image as it is.
    errors : {"raise", "skip"}, default="raise"
        Whether files that cannot be read raise one error that names them all, or are skipped with a warning
        that does.

    Returns
    -------
    images : array of shape (n, height, width, 3), uint8
        In order of class and file name. Without a size, a list of arrays (h, w, 3).
    labels : array of shape (n,), str
        The class names.

    Examples
    --------
    >>> from besvm.datasets import load_images
    >>> images, labels = load_images("flowers", size=(64, 64))  # doctest: +SKIP
    """
    _check_reading_options(size, errors)
    paths, classes = list_pictures(Path(folder))
    images, places, problems = read_pictures(paths, size)
    report(problems, len(paths), skip=errors == "skip")
    return images, np.array(classes)[places]


def _check_reading_options(size: Any, errors: str) -> None:
    if errors not in ("raise", "skip"):
        raise ValueError(f'errors must be "raise" or "skip", got {errors!r}')
    if size is not None and (len(size) != 2 or min(size) < 1):
        raise ValueError(f"size must be (height, width) of at least one pixel each, got {size!r}")
