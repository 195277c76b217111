"""A folder of images, one folder a class, of which only the images at work are in memory."""

from __future__ import annotations

import os
from pathlib import Path
from typing import Any

import numpy as np

from besvm._support.row_source import RowSource
from besvm.datasets.images import as_size, list_images, read_images


class ImageFolder(RowSource):
    """The images of a folder that has one folder per class, read when they are asked for.

    The files are those that :func:`besvm.datasets.load_images` reads, in the same order. Needs the extra ``data``.

    Parameters
    ----------
    folder : path
        The folder around the class folders.
    size : (height, width), optional
        Resize every image to this, without keeping its proportions. None keeps each image as it is.

    Attributes
    ----------
    labels : ndarray of shape (n,), str
        The class of every image.

    Examples
    --------
    >>> from besvm import BESVMClassifier, recipes
    >>> from besvm.sources import ImageFolder
    >>> pets = ImageFolder("pets", size=(32, 32))  # doctest: +SKIP
    >>> BESVMClassifier(recipes.images("small")).fit(pets, pets.labels)  # doctest: +SKIP
    """

    gap = 0  # every image is a file of its own

    def __init__(self, folder: str | os.PathLike[str], size: tuple[int, int] | None = None) -> None:
        self.size = as_size(size)
        self.paths, labels = list_images(Path(folder))
        self.labels = np.array(labels)
        one = () if self.size is None else (*self.size, 3)
        super().__init__((len(labels), *one), object if self.size is None else np.uint8)

    def read(self, first: int, stop: int) -> Any:
        images = list(read_images(self.paths[first:stop], self.size))
        problems = [image for image in images if isinstance(image, str)]
        if problems:
            more = f" (and {len(problems) - 1} more)" if len(problems) > 1 else ""
            raise ValueError(f"every file in a folder of images must be an image, got {problems[0]}{more}; remove it")
        return images if self.size is None else np.stack(images)
