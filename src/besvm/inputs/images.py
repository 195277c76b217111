"""Images: a folder with one folder a class, a folder of images without classes, single files, and CIFAR-10's own."""

from __future__ import annotations

import warnings
from collections.abc import Generator, Sequence
from contextlib import suppress
from itertools import compress
from pathlib import Path
from typing import Any

import numpy as np

from besvm._support.extras import optional
from besvm._support.progress import say
from besvm._support.rows import evenly_spaced
from besvm.datasets.cifar10 import CLASS_NAMES, NAMES_FILE, RECORD_BYTES, SIDE
from besvm.datasets.images import FORMATS, read_images
from besvm.inputs.contract import Asked, Block, Counter, Layout, Source, counted

SUFFIXES = frozenset((".bmp", ".gif", ".jpg", ".jpeg", ".jpe", ".png", ".pgm", ".ppm", ".tif", ".tiff", ".webp"))
USUAL = 32  # pixels: what the recipes are made for
SMALL, LARGE = 16, 64  # sides of images that are taken as they are, if all are alike
LOOKED_AT = 50  # images whose size is looked at
FEW, SHORT = 6, 60  # classes that are named, and the letters of all of them
NAMED = 3  # files that a message names
TRAINING_FILES, TEST_FILE = "data_batch_*.bin", "test_batch.bin"


class ImageFiles(Source):
    """Images in files, with their classes where they lie in a folder each."""

    kinds = ("images",)
    what = "a folder of images"

    def __init__(self, name: str, root: Path, paths: Sequence[Path], labels: list[str] | None, left_out: int) -> None:
        super().__init__(name, Counter(len(paths)))
        self.root, self.paths, self.labels, self.left_out = root, paths, labels, left_out

    def layout(self, asked: Asked) -> Layout:
        self.refuse_kind(asked.kind)
        size, given = asked.size, asked.size is not None
        sizes = [] if given else _sizes(self.paths)
        size = size or usual_size(sizes)
        # how many are images is known once all were read
        said = f"{self.name}: {counted(len(self.paths), 'files' if asked.skip_unreadable else 'images')}"
        if self.labels is not None:
            classes = sorted(set(self.labels))
            named = f" ({', '.join(classes)})" if len(classes) <= FEW and len("".join(classes)) <= SHORT else ""
            said += f" in {counted(len(classes), 'classes')}{named}"
        alike = len(set(sizes)) == 1 and sizes[0] == size
        said += f", {'of' if alike else 'made'} {size[0]} x {size[1]} pixels"
        said += f"; {_not_images(self.left_out)} left out" if self.left_out else ""
        self._skip = asked.skip_unreadable
        label = None if self.labels is None else "folder"
        nbytes = 3 * size[0] * size[1] * len(self.paths)
        return Layout("images", label=label, size=size, rows=len(self.paths), nbytes=nbytes, said=said)

    def blocks(self, layout: Layout, rows: int) -> Generator[Block]:
        for start in range(0, len(self.paths), rows):
            paths = self.paths[start : start + rows]
            found = list(read_images(list(paths), layout.size))
            problems = [image for image in found if isinstance(image, str)]
            if problems and not self._skip:
                listed = "; ".join(problems[:NAMED]) + ("; and more" if len(problems) > NAMED else "")
                raise ValueError(
                    f"{counted(len(problems), 'files')} in {self.name} cannot be read as images: {listed} "
                    "(--skip-unreadable skips such files)"
                )
            for problem in problems:
                say(1, f"skipped: {problem}")
            kept = [not isinstance(image, str) for image in found]
            labels = None if self.labels is None else list(compress(self.labels[start : start + len(paths)], kept))
            self.meter.done = start + len(paths)
            names = [path.relative_to(self.root).as_posix() for path in compress(paths, kept)]
            yield Block(_stacked(list(compress(found, kept)), layout.size), labels, names, kept)


def _stacked(images: list[Any], size: tuple[int, int] | None) -> np.ndarray:
    """Return images as one array, of no rows where there are none."""
    return np.stack(images) if images else np.empty((0, *(size or ()), 3), dtype=np.uint8)


def _not_images(n: int) -> str:
    return f"{counted(n, 'files')} that {'is not an image' if n == 1 else 'are not images'}"


class CifarFiles(Source):
    """CIFAR-10's binary files: records of a class and 32 x 32 pixels in three planes."""

    kinds = ("images",)
    what = "CIFAR-10's files"

    def __init__(self, name: str, paths: Sequence[Path], note: str = "") -> None:
        super().__init__(name, Counter())
        self.paths, self.note = paths, note
        sizes = [path.stat().st_size for path in paths]
        for path, size in zip(paths, sizes, strict=True):
            if size % RECORD_BYTES or not size:
                raise ValueError(
                    f"{path.name} must hold records of {RECORD_BYTES} bytes, as CIFAR-10's files do, got {size:,} "
                    "bytes; it is incomplete, or of another type"
                )
        self.meter.total = sum(sizes) // RECORD_BYTES

    def layout(self, asked: Asked) -> Layout:
        self.refuse_kind(asked.kind)
        size = asked.size or (SIDE, SIDE)
        said = f"{self.name}: {counted(self.meter.total, 'images')} in CIFAR-10's format{self.note}"
        nbytes = 3 * size[0] * size[1] * self.meter.total
        return Layout("images", label="class", size=size, rows=self.meter.total, nbytes=nbytes, said=said)

    def blocks(self, layout: Layout, rows: int) -> Generator[Block]:
        self.meter.done = 0
        for path in self.paths:
            names, first = _class_names(path.parent), 0
            with open(path, "rb") as file:
                while content := file.read(rows * RECORD_BYTES):
                    records = np.frombuffer(content, dtype=np.uint8).reshape(-1, RECORD_BYTES)
                    if records[:, 0].max() >= len(names):
                        wrong = first + int((records[:, 0] >= len(names)).argmax())
                        raise ValueError(
                            f"record {wrong} of {path.name} must have a class from 0 to {len(names) - 1}, got "
                            f"{records[wrong - first, 0]}; is it one of CIFAR-10's files?"
                        )
                    planes = records[:, 1:].reshape(-1, 3, SIDE, SIDE).transpose(0, 2, 3, 1)
                    X = np.ascontiguousarray(planes)
                    X = X if layout.size == (SIDE, SIDE) else resized(X, layout.size)
                    labels = [names[label] for label in records[:, 0]]
                    called = [f"{path.stem}:{first + row}" for row in range(len(records))]
                    first += len(records)
                    self.meter.done += len(records)
                    yield Block(X, labels, called)


def open_folder(folder: Path) -> ImageFiles | CifarFiles:
    """Return what reads a folder: CIFAR-10's files, images in a folder for each class, or images without classes."""
    name = folder.resolve().name or str(folder)
    cifar = sorted(folder.glob(TRAINING_FILES))
    if cifar:
        rest = f" ({TEST_FILE} is left to be tested on)" if (folder / TEST_FILE).exists() else ""
        return CifarFiles(name, cifar, rest)
    classes = sorted(path for path in folder.iterdir() if path.is_dir() and not path.name.startswith("."))
    found = {one.name: _files_in(one) for one in classes}
    images = {one: [path for path in paths if path.suffix.lower() in SUFFIXES] for one, paths in found.items()}
    if any(images.values()):
        empty = [one for one, paths in images.items() if not paths]
        if empty:
            listed = ", ".join(empty)
            raise ValueError(
                f"every class in {name} must have at least one image, got none in {listed}; add images or remove the "
                "folder"
            )
        paths = [path for one in images.values() for path in one]
        labels = [one for one, own in images.items() for _ in own]
        return ImageFiles(name, folder, paths, labels, sum(map(len, found.values())) - len(paths))
    flat = sorted(path for path in folder.iterdir() if path.is_file() and not path.name.startswith("."))
    paths = [path for path in flat if path.suffix.lower() in SUFFIXES]
    if not paths:
        raise ValueError(
            f"{name} must have images, or one folder of images per class, got neither "
            f"(the formats are {', '.join(FORMATS)})"
        )
    return ImageFiles(name, folder, paths, None, len(flat) - len(paths))


def usual_size(sizes: Sequence[tuple[int, ...]]) -> tuple[int, int]:
    """Return the size that images of these sizes are brought to: their own if all are alike and small."""
    found = set(sizes)
    if len(found) == 1 and min(sizes[0]) >= SMALL and max(sizes[0]) <= LARGE:
        return int(sizes[0][0]), int(sizes[0][1])
    return USUAL, USUAL


def resized(images: np.ndarray, size: tuple[int, int] | None) -> np.ndarray:
    """Return images (n, h, w, 3) of 8 bits a color in another size."""
    if size is None:
        return images
    if images.dtype != np.uint8:
        raise ValueError(
            f"images must be {size[0]} x {size[1]} pixels, or of type uint8 so that they can be resized, got "
            f"{images.shape[1]} x {images.shape[2]} of type {images.dtype}"
        )
    module = optional("PIL.Image", "resizing images")
    small = [
        module.fromarray(image).resize((size[1], size[0]), module.Resampling.BILINEAR)
        for image in np.ascontiguousarray(images)
    ]
    return np.stack([np.asarray(image) for image in small])


def _sizes(paths: Sequence[Path]) -> list[tuple[int, int]]:
    """Return height and width of some of the images, as far as they can be read."""
    module = optional("PIL.Image", "reading images")
    out = []
    with warnings.catch_warnings(action="ignore"):  # of files that claim to be huge: reading them will refuse them
        for place in evenly_spaced(np.arange(len(paths)), LOOKED_AT):
            with suppress(Exception), module.open(paths[place], formats=FORMATS) as image:
                out.append((int(image.height), int(image.width)))
    return out


def _files_in(folder: Path) -> list[Path]:
    return sorted(file for file in folder.rglob("*") if file.is_file() and not file.name.startswith("."))


def _class_names(folder: Path) -> Sequence[Any]:
    try:
        names = (folder / NAMES_FILE).read_text(encoding="utf-8").split()
    except (OSError, UnicodeDecodeError):
        return CLASS_NAMES
    return names if len(names) == len(CLASS_NAMES) else CLASS_NAMES
