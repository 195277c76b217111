"""CIFAR-10: read from its official files, or fetched."""

from __future__ import annotations

import os
from pathlib import Path
from typing import NamedTuple

import numpy as np

from besvm.datasets import cifar_files

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

    class_names: tuple[str, ...] = cifar_files.CLASS_NAMES


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
    return _read_cifar10(_cifar_folder(folder), cifar_files.OFFICIAL if verify else None)


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
    return _fetch_cifar10(folder, url, cifar_files.OFFICIAL)


def _read_cifar10(folder: Path, checksums: cifar_files.Checksums | None) -> Cifar10:
    data = Cifar10(*cifar_files.read(folder, checksums))
    data.class_names = cifar_files.read_class_names(folder)
    return data


def _fetch_cifar10(folder: str | os.PathLike[str] | None, url: str, checksums: cifar_files.Checksums) -> Cifar10:
    target = _data_folder(folder) / cifar_files.FOLDER_NAME
    if not cifar_files.is_complete(target, checksums):
        cifar_files.fetch(target, url, checksums)
    return _read_cifar10(target, None)  # verified by one of the two lines above


def _data_folder(folder: str | os.PathLike[str] | None) -> Path:
    if folder is None:
        folder = os.environ.get("BESVM_DATA") or Path("~/.cache/besvm")
    return Path(folder).expanduser()


def _cifar_folder(folder: str | os.PathLike[str] | None) -> Path:
    """Return the folder of the files, whether it was given itself or the one around it was."""
    outer = _data_folder(folder)
    inner = outer / cifar_files.FOLDER_NAME
    return inner if folder is None or inner.is_dir() else outer
