"""Data to try things on: CIFAR-10, folders of images, and a toy problem in the plane."""

from __future__ import annotations

import os
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
from sklearn.utils import check_random_state

from besvm import _cifar
from besvm._folders import list_pictures, read_pictures, report

__all__ = ["Cifar10", "fetch_cifar10", "load_cifar10", "load_images", "make_digit_images", "make_toy"]

CIFAR10_URL = "https://www.cs.toronto.edu/~kriz/cifar-10-binary.tar.gz"


class _ImagesLabelsFold(NamedTuple):
    images: np.ndarray
    labels: np.ndarray
    fold: np.ndarray


class Cifar10(_ImagesLabelsFold):
    """CIFAR-10 in memory; unpacks as ``images, labels, fold``.

    Attributes
    ----------
    images : array of shape (60000, 32, 32, 3), uint8
    labels : array of shape (60000,), int64
        Numbers of the classes, 0 to 9.
    fold : array of shape (60000,), int64
        0 to 4 for the five training files, 5 for the test file.
    class_names : tuple of str
        ``class_names[label]`` is what the label means.
    """

    class_names: tuple[str, ...] = _cifar.CLASS_NAMES


def load_cifar10(folder: str | os.PathLike[str] | None = None, verify: bool = True) -> Cifar10:
    """Read CIFAR-10 from its official binary files.

    Parameters
    ----------
    folder : path, optional
        Where data_batch_1.bin to data_batch_5.bin and test_batch.bin are, or the folder around their
        ``cifar-10-batches-bin``. By default that is looked for in the folder that the environment variable
        BESVM_DATA names, or in ~/.cache/besvm.
    verify : bool, default=True
        Refuse files whose MD5 checksum is not that of the official ones.

    Returns
    -------
    Cifar10
        Unpacks as ``images, labels, fold``, and also has ``class_names``.

    See Also
    --------
    fetch_cifar10 : Download the files first, if they are not there yet.

    Examples
    --------
    >>> from besvm.datasets import load_cifar10
    >>> images, labels, fold = load_cifar10()  # doctest: +SKIP
    >>> images[fold == 0].shape  # doctest: +SKIP
    (10000, 32, 32, 3)
    """
    return _read_cifar10(_cifar_folder(folder), _cifar.OFFICIAL if verify else None)


def fetch_cifar10(folder: str | os.PathLike[str] | None = None, url: str = CIFAR10_URL) -> Cifar10:
    """Download CIFAR-10 (162 MB) unless it is there already, and load it.

    The archive and every file in it are checked against their MD5 checksums; a download that fails leaves
    nothing behind. Needs the extra ``data``.

    Parameters
    ----------
    folder : path, optional
        Where to put the folder ``cifar-10-batches-bin``. By default the folder that the environment variable
        BESVM_DATA names, or ~/.cache/besvm.
    url : str, optional
        Where the official archive, or an exact copy of it, is.

    Returns
    -------
    Cifar10
        As :func:`load_cifar10` returns it.

    Examples
    --------
    >>> from besvm.datasets import fetch_cifar10
    >>> fetch_cifar10().class_names[:2]  # doctest: +SKIP
    ('airplane', 'automobile')
    """
    return _fetch_cifar10(folder, url, _cifar.OFFICIAL)


def load_images(
    folder: str | os.PathLike[str], size: tuple[int, int] | None = None, errors: str = "raise"
) -> tuple[np.ndarray | list[np.ndarray], np.ndarray]:
    """Read images from a folder that has one folder per class, named after it.

    Hidden files are passed over. Images are turned upright as their EXIF data say, and grey, 16-bit and
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


def make_toy(
    n_samples: int = 200, noise: float = 0.0, random_state: Any = None, imbalance: float = 1.0
) -> tuple[np.ndarray, np.ndarray]:
    """Make a two-class problem in the plane that no straight line solves: two spirals, one inside the other.

    It stands in for the toy problem of the paper's 2-D demonstration, whose points the paper does not list:
    it needs a curved boundary, suits the paper's levels of noise, and can be made imbalanced. The same
    ``random_state`` gives the same points at every level of noise, moved by more or less in the same
    directions, so that levels can be compared.

    Parameters
    ----------
    n_samples : int, default=200
        The number of points in both classes together.
    noise : float, default=0.0
        The standard deviation of the Gaussian noise added to both coordinates (the paper: 0.01 to 0.2).
    random_state : int, RandomState or None, default=None
        Where the random numbers come from.
    imbalance : float, default=1.0
        How many points class 0 has for each one of class 1.

    Returns
    -------
    X : array of shape (n_samples, 2), float64
        The points, in random order; without noise inside [-1, 1] x [-1, 1].
    y : array of shape (n_samples,), int64
        Their classes, 0 and 1.

    Examples
    --------
    >>> from besvm.datasets import make_toy
    >>> X, y = make_toy(100, noise=0.02, imbalance=3, random_state=0)
    >>> X.shape, (y == 0).sum(), (y == 1).sum()
    ((100, 2), np.int64(75), np.int64(25))
    """
    n_ones = _check_toy_options(n_samples, noise, imbalance)
    random = check_random_state(random_state)
    y = random.permutation((np.arange(n_samples) < n_ones).astype(np.int64))
    along = np.sqrt(random.uniform(size=n_samples))  # the root spreads points evenly along a spiral
    angle = 2.5 * np.pi * along + np.pi * y
    radius = 0.2 + 0.8 * along  # leaves 0.32 between the spirals; the noise of the paper goes up to 0.2
    spirals = radius[:, None] * np.column_stack([np.cos(angle), np.sin(angle)])
    return spirals + noise * random.standard_normal((n_samples, 2)), y


def make_digit_images(n_samples: int = 1800, random_state: Any = None) -> tuple[np.ndarray, np.ndarray]:
    """Draw small colour images of ten classes, offline: scikit-learn's handwritten digits, displaced on noise.

    They have the shape of CIFAR-10's images, for trying out what is meant for those.

    Parameters
    ----------
    n_samples : int, default=1800
        A digit may be drawn more than once if there are more samples than the 1,797 digits.
    random_state : int, RandomState or None, default=None

    Returns
    -------
    images : array of shape (n_samples, 32, 32, 3), uint8
    labels : array of shape (n_samples,), int64

    Examples
    --------
    >>> from besvm.datasets import make_digit_images
    >>> images, labels = make_digit_images(20, random_state=0)
    >>> images.shape, np.bincount(labels, minlength=10)
    ((20, 32, 32, 3), array([2, 2, 2, 2, 2, 2, 2, 2, 2, 2]))
    """
    from sklearn.datasets import load_digits

    digits, classes = load_digits(return_X_y=True)
    random = check_random_state(random_state)
    labels = random.permutation(np.arange(n_samples) % 10)
    images = np.empty((n_samples, 32, 32, 3), dtype=np.uint8)
    for image, label in zip(images, labels, strict=True):
        digit = digits[random.choice(np.flatnonzero(classes == label))].reshape(8, 8) / 16
        top, left = random.randint(0, 9, size=2)
        strength = np.zeros((32, 32))
        strength[top : top + 24, left : left + 24] = np.kron(digit, np.ones((3, 3)))
        ink, ground = random.uniform(120, 255, size=3), random.uniform(0, 90, size=3)
        drawn = ground + strength[..., None] * (ink - ground) + random.normal(scale=12, size=(32, 32, 3))
        image[:] = np.clip(drawn, 0, 255)
    return images, labels


def _read_cifar10(folder: Path, checksums: _cifar.Checksums | None) -> Cifar10:
    data = Cifar10(*_cifar.read(folder, checksums))
    data.class_names = _cifar.read_class_names(folder)
    return data


def _fetch_cifar10(folder: str | os.PathLike[str] | None, url: str, checksums: _cifar.Checksums) -> Cifar10:
    target = _data_folder(folder) / _cifar.FOLDER_NAME
    if not _cifar.is_complete(target, checksums):
        _cifar.fetch(target, url, checksums)
    return _read_cifar10(target, None)  # verified by one of the two lines above


def _data_folder(folder: str | os.PathLike[str] | None) -> Path:
    if folder is None:
        folder = os.environ.get("BESVM_DATA") or Path("~/.cache/besvm")
    return Path(folder).expanduser()


def _cifar_folder(folder: str | os.PathLike[str] | None) -> Path:
    """Return the folder of the files, whether it was given itself or the one around it was."""
    outer = _data_folder(folder)
    inner = outer / _cifar.FOLDER_NAME
    return inner if folder is None or inner.is_dir() else outer


def _check_reading_options(size: Any, errors: str) -> None:
    if errors not in ("raise", "skip"):
        raise ValueError(f'errors must be "raise" or "skip", got {errors!r}')
    if size is not None and (len(size) != 2 or min(size) < 1):
        raise ValueError(f"size must be (height, width) of at least one pixel each, got {size!r}")


def _check_toy_options(n_samples: int, noise: float, imbalance: float) -> int:
    """Return how many points class 1 gets."""
    if noise < 0:
        raise ValueError(f"noise must be at least 0, got {noise!r}")
    if imbalance <= 0:
        raise ValueError(f"imbalance must be above 0, got {imbalance!r}")
    n_ones = round(n_samples / (1 + imbalance))
    if not 0 < n_ones < n_samples:
        raise ValueError(
            f"both classes must have a point, got none with n_samples={n_samples} and imbalance={imbalance}; "
            "use more samples or less imbalance"
        )
    return n_ones
