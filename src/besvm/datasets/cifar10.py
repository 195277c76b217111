"""CIFAR-10: read from its official files, or fetched."""

import hashlib
import os
import tarfile
from collections.abc import Mapping
from functools import partial
from pathlib import Path
from tempfile import TemporaryFile
from typing import Any, BinaryIO, NamedTuple, cast

import numpy as np

from besvm._support.extras import optional
from besvm._support.files import as_folder, sweep, write_bytes

CIFAR10_URL = "https://www.cs.toronto.edu/~kriz/cifar-10-binary.tar.gz"
FOLDER_NAME = "cifar-10-batches-bin"
NAMES_FILE = "batches.meta.txt"
FOLD_FILES = (*(f"data_batch_{k}.bin" for k in range(1, 6)), "test_batch.bin")
CLASS_NAMES = ("airplane", "automobile", "bird", "cat", "deer", "dog", "frog", "horse", "ship", "truck")

SIDE, N_COLORS = 32, 3
RECORD_BYTES = 1 + N_COLORS * SIDE * SIDE  # the label, then the red, green and blue planes


class Checksums(NamedTuple):
    """The MD5 sums of the archive, and of the file of each fold."""

    archive: str
    files: Mapping[str, str]


OFFICIAL = Checksums(
    archive="c32a1d4ab5d03f1284b67883e8d87530",
    files={
        "data_batch_1.bin": "5dd7e06a14cb22eb9f671a540d1b7c25",
        "data_batch_2.bin": "5ea93a67294ea407fff1d09f752e9692",
        "data_batch_3.bin": "942cd6a4bcdd0dd3c604fbe906cb4421",
        "data_batch_4.bin": "ae636b3ba5c66a11e91e8cb52e771fcb",
        "data_batch_5.bin": "53f37980c15c3d472c316c40844f3f0d",
        "test_batch.bin": "803d5f7f4d78ea53de84dbe85f74fb6d",
    },
)


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

    Examples
    --------
    >>> from besvm.datasets import Cifar10
    >>> Cifar10.class_names[3]
    'cat'
    """

    class_names: tuple[str, ...] = CLASS_NAMES


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
    return _read_cifar10(_cifar_folder(folder), verify)


def fetch_cifar10(folder: str | os.PathLike[str] | None = None, url: str = CIFAR10_URL) -> Cifar10:
    """Download CIFAR-10 (162 MB) unless it is there already, and load it.

    The archive and every file in it are checked against their MD5 checksums; a download that fails leaves
    nothing behind. Official files that are missing or damaged are written, and no other file is touched. Needs the
    extra ``data``.

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
    target = as_folder("folder", _data_folder(folder) / FOLDER_NAME)
    if not all(map(_is_official, _paths(target))):
        _fetch_files(target, url)
    return _read_cifar10(target, verify=False)  # verified by one of the two lines above


def _read_cifar10(folder: Path, verify: bool) -> Cifar10:
    sizes = [_n_records(folder / name) for name in FOLD_FILES]
    images = np.empty((sum(sizes), SIDE, SIDE, N_COLORS), dtype=np.uint8)
    labels = np.empty(sum(sizes), dtype=np.int64)
    start = 0
    for name, size in zip(FOLD_FILES, sizes, strict=True):
        rows = slice(start, start + size)
        records = _read_records(folder / name, verify)
        labels[rows] = records[:, 0]
        images[rows] = records[:, 1:].reshape(-1, N_COLORS, SIDE, SIDE).transpose(0, 2, 3, 1)
        start += size
    data = Cifar10(images, labels, np.repeat(np.arange(len(sizes)), sizes))
    names = folder / NAMES_FILE
    if names.is_file():
        data.class_names = tuple(names.read_text(encoding="utf-8").split())
    return data


def _data_folder(folder: str | os.PathLike[str] | None) -> Path:
    if folder is None:
        folder = os.environ.get("BESVM_DATA") or Path("~/.cache/besvm")
    return as_folder("folder", folder)


def _cifar_folder(folder: str | os.PathLike[str] | None) -> Path:
    """Return the folder of the files, whether it was given itself or the one around it was."""
    outer = _data_folder(folder)
    inner = outer / FOLDER_NAME
    return inner if folder is None or inner.is_dir() else outer


def _paths(folder: Path) -> list[Path]:
    return [folder / name for name in FOLD_FILES]


def _is_official(path: Path) -> bool:
    """Return whether a file is there, unaltered."""
    return path.is_file() and _md5(path.read_bytes()) == OFFICIAL.files[path.name]


def _fetch_files(folder: Path, url: str) -> None:
    """Download the archive, verify all that is in it, and write what ``folder`` lacks."""
    folder.parent.mkdir(parents=True, exist_ok=True)
    with TemporaryFile(dir=folder.parent) as archive:  # without a name: nothing is left, however this ends
        _download(url, archive)
        with tarfile.open(fileobj=archive) as tar:
            contents = {name: _content(tar, name) for name in (*FOLD_FILES, NAMES_FILE)}
    for path in _paths(folder):
        _verify(path, contents[path.name], remedy="use another url")
    sweep(folder)
    for name, content in contents.items():
        path = folder / name
        if not (path.exists() if name == NAMES_FILE else _is_official(path)):
            write_bytes(path, content)


def _download(url: str, archive: Any) -> None:
    pooch = optional("pooch", "fetching CIFAR-10")
    try:
        pooch.HTTPDownloader()(url, archive, None)
    except OSError as error:  # what requests raises is an OSError too
        raise OSError(f"{url} cannot be downloaded: {error}; try again or use another url") from error
    archive.seek(0)
    found = hashlib.file_digest(archive, _new_md5).hexdigest()
    if found != OFFICIAL.archive:
        raise ValueError(
            f"{url} must be the official archive or an exact copy, with the MD5 checksum {OFFICIAL.archive}, got "
            f"{found}; try again or use another url"
        )
    archive.seek(0)


def _content(tar: tarfile.TarFile, name: str) -> bytes:
    """Return what is in a file we know by name: no path, link, owner or mode is taken from the archive."""
    for member in tar.getmembers():
        if member.isreg() and member.name == f"{FOLDER_NAME}/{name}":
            return cast(BinaryIO, tar.extractfile(member)).read()
    raise ValueError(f"the archive must contain {FOLDER_NAME}/{name}, but does not; use another url")


def _n_records(path: Path) -> int:
    if not path.is_file():
        raise FileNotFoundError(
            f"CIFAR-10 needs the file {path.name}, which is not in {path.parent}; pass the folder that has it, "
            "or call besvm.datasets.fetch_cifar10()"
        )
    return path.stat().st_size // RECORD_BYTES


def _read_records(path: Path, verify: bool) -> np.ndarray:
    remedy = "delete it and call fetch_cifar10()"
    content = path.read_bytes()
    if verify:
        _verify(path, content, remedy)
    if len(content) % RECORD_BYTES:
        raise ValueError(f"{path} must hold records of {RECORD_BYTES} bytes, got {len(content)} bytes; {remedy}")
    return np.frombuffer(content, dtype=np.uint8).reshape(-1, RECORD_BYTES)


def _verify(path: Path, content: bytes, remedy: str) -> None:
    """Refuse what is not the content of the official file of this name."""
    found, expected = _md5(content), OFFICIAL.files[path.name]
    if found != expected:
        raise ValueError(
            f"{path} is damaged or was changed: its MD5 checksum must be {expected}, got {found} "
            f"({len(content)} bytes); {remedy}"
        )


_new_md5 = partial(hashlib.md5, usedforsecurity=False)


def _md5(content: bytes) -> str:
    return _new_md5(content).hexdigest()
