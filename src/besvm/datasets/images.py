"""Folders of images, one folder a class."""

import os
import threading
import warnings
from collections.abc import Callable, Iterator
from contextlib import ExitStack, closing, nullcontext
from pathlib import Path
from typing import Any

import numpy as np

from besvm._support.extras import optional
from besvm._support.parameters import check_choice, is_whole, shown
from besvm._support.settings import SharedSetting
from besvm._support.threads import n_waiting, n_workers, slices, thread_map

# Nothing else is opened, whatever a file is called: some formats that Pillow knows start other programs.
FORMATS = ("BMP", "GIF", "JPEG", "PNG", "PPM", "TIFF", "WEBP")
MAX_PIXELS = 64_000_000  # that an image may have; a file of some kilobytes can claim any number
TOO_LARGE = f"an image must have at most {MAX_PIXELS:,} pixels"
LARGE = 1_000_000  # pixels above which images are decoded one at a time, and not one in every thread
TOGETHER = 1 << 24  # bytes of images that are read before the first of them is given
_one_at_a_time = threading.Lock()


def load_images(
    folder: str | os.PathLike[str], size: tuple[int, int] | None = None, errors: str = "raise"
) -> tuple[np.ndarray | list[np.ndarray], np.ndarray]:
    """Read images from a folder that has one folder per class, named after it.

    Hidden files are passed over. Images are turned upright as their EXIF data say, and gray, 16-bit and
    transparent ones become RGB. Only BMP, GIF, JPEG, PNG, PPM, TIFF and WebP files of at most 64 million pixels are
    read, large ones one at a time. Needs the extra ``data``.

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
    check_choice("errors", errors, ("raise", "skip"))
    size = as_size(size)
    paths, classes = list_images(Path(folder))
    images: Any = [] if size is None else np.empty((len(paths), *size, 3), dtype=np.uint8)
    labels: list[str] = []
    problems: list[str] = []
    for label, image in zip(classes, read_images(paths, size), strict=True):
        if isinstance(image, str):
            problems.append(image)
            continue
        if size is None:
            images.append(image)
        else:
            images[len(labels)] = image  # into the array at once: a list of them would double the memory
        labels.append(label)
    if problems:
        lines = "\n".join(f"  {problem}" for problem in problems)
        if errors == "raise" or not labels:
            raise ValueError(
                f"all files must be images, but {len(problems)} of {len(paths)} files cannot be read; remove them or "
                "pass "
                f'errors="skip":\n{lines}'
            )
        warnings.warn(f"skipped {len(problems)} of {len(paths)} files that cannot be read:\n{lines}", stacklevel=2)
    return images[: len(labels)], np.array(labels)


def as_size(size: Any) -> tuple[int, int] | None:
    """Return the size that images are to be given, or None; refuse what is neither."""
    if size is None:
        return None
    if not (np.shape(size) == (2,) and all(is_whole(side, 1) for side in size)):
        raise ValueError(f"size must be (height, width) of at least one pixel each, got {shown(size)}")
    return int(size[0]), int(size[1])


def list_images(folder: Path) -> tuple[list[Path], list[str]]:
    """Return every file in the class folders, in order of class and name, and the class of each."""
    if not folder.is_dir():
        raise FileNotFoundError(
            f"folder must be a directory with one subdirectory per class, but {folder} is not a directory"
        )
    classes = sorted(path for path in folder.iterdir() if path.is_dir() and not path.name.startswith("."))
    if not classes:
        raise ValueError(
            f"folder must have one subdirectory per class, but {folder} has none; move the images into subdirectories"
        )
    files = {
        path.name: sorted(file for file in path.rglob("*") if file.is_file() and not file.name.startswith("."))
        for path in classes
    }
    empty = [name for name, found in files.items() if not found]
    if empty:
        raise ValueError(
            f"every class must have at least one image, got none for {', '.join(empty)}; add images or remove the class"
        )
    return [file for found in files.values() for file in found], [name for name, found in files.items() for _ in found]


def read_images(paths: list[Path], size: tuple[int, int] | None) -> Iterator[np.ndarray | str]:
    """Yield every image (h, w, 3), or what is wrong with it."""
    together = 0 if size is None else TOGETHER // (3 * size[0] * size[1])
    for some in slices(len(paths), max(together, n_waiting(n_workers()))):
        with _no_bomb_warnings:
            found = list(thread_map(lambda path: _read_image(path, size), paths[some]))
        yield from found


def _ignore_bomb_warnings() -> Callable[[], Any]:
    """Leave what is too large to our own limit, which is lower; return what ends that."""
    inside = ExitStack()
    bomb = optional("PIL.Image", "reading images").DecompressionBombWarning
    inside.enter_context(warnings.catch_warnings(action="ignore", category=bomb))
    return inside.close


_no_bomb_warnings = SharedSetting(_ignore_bomb_warnings)


def _read_image(path: Path, size: tuple[int, int] | None) -> np.ndarray | str:
    """Return the image (h, w, 3), or what is wrong with it."""
    image_module, operations = (optional(name, "reading images") for name in ("PIL.Image", "PIL.ImageOps"))
    try:
        file = image_module.open(path, formats=FORMATS)
        alone = _one_at_a_time if file.width * file.height > LARGE else nullcontext()
        with alone, closing(file):  # which frees what was decoded, before the next one is
            if file.width * file.height > MAX_PIXELS:
                raise ValueError(f"{TOO_LARGE}, got {file.width} x {file.height}")
            if size is not None:  # JPEG is decoded at a fraction of its size, twice what is wanted or more
                file.draft(None, (2 * max(size), 2 * max(size)))
            operations.exif_transpose(file, in_place=True)  # upright, as a viewer would show it
            return _pixels(file, size, image_module)
    except image_module.DecompressionBombError:  # Pillow's limit, far above ours
        return f"{path}: {TOO_LARGE}, got far more"
    except image_module.UnidentifiedImageError:
        return f"{path}: must be an image as {', '.join(FORMATS)}, got another format or a damaged file"
    except Exception as error:  # decoders raise whatever a broken file leads them to
        return f"{path}: {str(error) or type(error).__name__}"


def _pixels(file: Any, size: tuple[int, int] | None, image_module: Any) -> np.ndarray:
    image = _as_rgb(file, image_module)
    if size is not None:
        image = image.resize((size[1], size[0]), image_module.Resampling.BILINEAR)
    return np.array(image, dtype=np.uint8)


def _as_rgb(image: Any, image_module: Any) -> Any:
    """Return the image as Pillow's "RGB"."""
    if image.mode == "F":
        raise ValueError("an image must have 8 or 16 bits per color, got floating-point numbers")
    if image.mode.startswith("I"):  # 16 bits, which Pillow itself would clip at 255
        levels = np.asarray(image)
        if levels.min() < 0 or levels.max() > 0xFFFF:
            raise ValueError("an image must have 8 or 16 bits per color, got 32")
        return image_module.fromarray(((levels.astype(np.uint32) + 128) // 257).astype(np.uint8)).convert("RGB")
    if image.mode in ("P", "PA"):
        image = image.convert("RGBA")  # a palette may hold transparency that RGB cannot take
    return image.convert("RGB")
