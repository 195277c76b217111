"""The files of CIFAR-10: their names, checksums and layout, reading them, and fetching them."""

from __future__ import annotations

import hashlib
import shutil
import tarfile
from collections.abc import Mapping
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import NamedTuple

import numpy as np

from besvm._support.extras import optional

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


def read(folder: Path, checksums: Checksums | None) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Return images, labels and folds of the files in ``folder``, verified if checksums are given."""
    sizes = [_n_records(folder / name) for name in FOLD_FILES]
    images = np.empty((sum(sizes), SIDE, SIDE, N_COLORS), dtype=np.uint8)
    labels = np.empty(sum(sizes), dtype=np.int64)
    start = 0
    for name, size in zip(FOLD_FILES, sizes, strict=True):
        rows = slice(start, start + size)
        records = _read_records(folder / name, checksums)
        labels[rows] = records[:, 0]
        images[rows] = records[:, 1:].reshape(-1, N_COLORS, SIDE, SIDE).transpose(0, 2, 3, 1)
        start += size
    return images, labels, np.repeat(np.arange(len(sizes)), sizes)


def read_class_names(folder: Path) -> tuple[str, ...]:
    """Return the names in the folder's list, or the well-known ones if it came without."""
    path = folder / NAMES_FILE
    return tuple(path.read_text(encoding="utf-8").split()) if path.is_file() else CLASS_NAMES


def is_complete(folder: Path, checksums: Checksums) -> bool:
    """Return whether ``folder`` holds every file, unaltered."""
    paths = [folder / name for name in FOLD_FILES]
    return all(path.is_file() and _md5(path.read_bytes()) == checksums.files[path.name] for path in paths)


def fetch(folder: Path, url: str, checksums: Checksums) -> None:
    """Download the archive and put its files into ``folder``, all of them verified or none at all."""
    folder.parent.mkdir(parents=True, exist_ok=True)
    # Beside the folder, so that the last step is a rename; whatever fails before it leaves nothing behind.
    with TemporaryDirectory(dir=folder.parent, prefix=".fetching-") as workshop:
        archive = _download(url, Path(workshop), checksums.archive)
        fresh = Path(workshop) / FOLDER_NAME
        _extract(archive, fresh)
        for name in FOLD_FILES:
            _check_md5(fresh / name, (fresh / name).read_bytes(), checksums.files[name], remedy="use another url")
        if folder.exists():
            folder.rename(Path(workshop) / "replaced")
        fresh.rename(folder)


def _download(url: str, folder: Path, md5: str) -> Path:
    pooch = optional("pooch", "fetching CIFAR-10")
    try:
        return Path(pooch.retrieve(url, known_hash=f"md5:{md5}", fname="archive.tar.gz", path=folder))
    except ValueError as error:
        raise ValueError(f"{url} must be the official archive or an exact copy: {error}; try again") from error
    except OSError as error:  # what requests raises is an OSError too
        raise OSError(f"{url} cannot be downloaded: {error}; try again or use another url") from error


def _extract(archive: Path, folder: Path) -> None:
    """Write the files we know by name, and nothing else the archive may hold, into ``folder``."""
    folder.mkdir()
    with tarfile.open(archive) as tar:
        plain_files = {member.name: member for member in tar if member.isreg()}
        for name in (*FOLD_FILES, NAMES_FILE):
            member = plain_files.get(f"{FOLDER_NAME}/{name}")
            content = tar.extractfile(member) if member else None
            if content is None:
                raise ValueError(f"the archive must hold {FOLDER_NAME}/{name}, got none; use another url")
            # The content alone is copied: no path, link, owner or mode comes from the archive.
            with content, open(folder / name, "wb") as target:
                shutil.copyfileobj(content, target)


def _n_records(path: Path) -> int:
    if not path.is_file():
        raise FileNotFoundError(
            f"CIFAR-10 needs the file {path.name}, got none in {path.parent}; give the folder that has it, "
            "or call besvm.datasets.toy.fetch_cifar10()"
        )
    return path.stat().st_size // RECORD_BYTES


def _read_records(path: Path, checksums: Checksums | None) -> np.ndarray:
    content = path.read_bytes()
    if checksums is not None:
        _check_md5(path, content, checksums.files[path.name], remedy="delete it and call fetch_cifar10()")
    if len(content) % RECORD_BYTES:
        raise ValueError(
            f"{path} must hold records of {RECORD_BYTES} bytes, got {len(content)} bytes; delete it and call "
            "fetch_cifar10()"
        )
    return np.frombuffer(content, dtype=np.uint8).reshape(-1, RECORD_BYTES)


def _check_md5(path: Path, content: bytes, expected: str, remedy: str) -> None:
    found = _md5(content)
    if found != expected:
        raise ValueError(
            f"{path} is damaged or altered: its MD5 checksum must be {expected}, got {found} "
            f"({len(content)} bytes); {remedy}"
        )


def _md5(content: bytes) -> str:
    return hashlib.md5(content, usedforsecurity=False).hexdigest()
